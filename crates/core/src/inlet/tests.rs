use super::{positions::scatter, *};
use std::collections::HashSet;

pub(super) fn message<T>(result: Result<T>) -> String {
    match result {
        Err(Error::Inlet(message)) => message,
        Err(other) => panic!("{other:?}"),
        Ok(_) => panic!("accepted"),
    }
}

pub(super) fn all_distinct(found: &[[f64; 3]]) {
    let bits: HashSet<[u64; 3]> = found.iter().map(|p| p.map(f64::to_bits)).collect();
    assert_eq!(bits.len(), found.len());
}

/// A rectangle 3 x 2 at z = 7, with local coordinates x and y.
pub(super) fn rectangle() -> Patch {
    Patch::rectangle([0.0, 0.0, 7.0], [3.0, 0.0, 0.0], [0.0, 2.0, 0.0]).unwrap()
}

/// A disc of radius 2 about the origin, normal to z.
pub(super) fn disc() -> Patch {
    Patch::disc([0.0; 3], [0.0, 0.0, 3.0], 2.0).unwrap()
}

/// A concave star with four points about the origin, 4 x 4, of area 4.
pub(super) fn star() -> Patch {
    let (tip, notch) = ([2.0, 0.0], [0.5, 0.5]);
    let turned = |[x, y]: [f64; 2]| [[x, y, 0.0], [-y, x, 0.0], [-x, -y, 0.0], [y, -x, 0.0]];
    let pairs = turned(tip).into_iter().zip(turned(notch));
    Patch::polygon(&pairs.flat_map(|(a, b)| [a, b]).collect::<Vec<_>>()).unwrap()
}

/// Local coordinates of a position, relative to the centroid.
pub(super) fn from_centre(patch: &Patch, position: [f64; 3]) -> [f64; 2] {
    let local = patch.local(position);
    [0, 1].map(|k| local[k] - patch.centre[k])
}

/// Whether a position is inside a patch that is scaled about its centroid.
pub(super) fn inside(patch: &Patch, position: [f64; 3], shrink: f64) -> bool {
    let p = from_centre(patch, position);
    patch.contains([0, 1].map(|k| patch.centre[k] + p[k] / shrink))
}

fn no_flow(_: &[[f64; 3]]) -> Result<Vec<[f64; 3]>> {
    panic!("only a flux evaluates the velocity")
}

/// There is no mesh.
const NO_PATCH: &PatchPositions<'static> = &|_, _, _| panic!("only an inlet on a patch needs one");

fn positions_in(
    inlet: &Inlet,
    domain: &Domain,
    seeds: &[[f64; 3]],
    slots: usize,
) -> Result<InletPositions> {
    let (velocity, on_patch) = (&mut no_flow, NO_PATCH);
    inlet.positions(&mut InletRequest { domain, seeds, slots, number: 0, velocity, on_patch })
}

fn inlet(shape: InletShape, pattern: Pattern) -> Inlet {
    Inlet::new(shape, pattern).unwrap()
}

fn all_patterns() -> [Pattern; 4] {
    [Pattern::Lattice, Pattern::Uniform, Pattern::Gaussian { deviation: 0.2 }, Pattern::Flux]
}

/// Release positions in a flow of (1, 1, 1).
fn with_flow(inlet: &Inlet, domain: &Domain, seeds: &[[f64; 3]]) -> Result<InletPositions> {
    let mut velocity = |p: &[[f64; 3]]| Ok(vec![[1.0; 3]; p.len()]);
    let (velocity, on_patch) = (&mut velocity, NO_PATCH);
    inlet.positions(&mut InletRequest { domain, seeds, slots: 100, number: 0, velocity, on_patch })
}

#[test]
fn face_keeps_the_pattern_of_the_seeds() {
    let domain = Domain::new([0.1, 0.0, 0.0], [0.7, 1.0, f64::INFINITY]).unwrap();
    let seeds = [[0.5, 0.25, 3.0], [0.2, 0.75, 1e9], [0.3, 1.5, -1.0]];
    let found = inlet(InletShape::Face(Face::XHigh), Pattern::Lattice);
    let found = positions_in(&found, &domain, &seeds, 3).unwrap();
    assert_eq!(found.positions, [[0.7, 0.25, 3.0], [0.7, 0.75, 1e9], [0.7, 1.0, 0.0]]);
    assert_eq!((found.scatter, found.stride), (1, 0));
}

#[test]
fn positions_of_every_pattern_are_exactly_on_the_face() {
    let domain = Domain::new([0.1, -1.3, 0.0], [0.7, 1.1, 3.0]).unwrap();
    for face in Face::ALL {
        let axis = face as usize / 2;
        let coordinate = [domain.low, domain.high][face as usize % 2][axis];
        for pattern in all_patterns() {
            let inlet = inlet(InletShape::Face(face), pattern);
            // The flow enters through the low faces only.
            if pattern == Pattern::Flux && face as usize % 2 == 1 {
                let refused = message(with_flow(&inlet, &domain, &[]));
                assert!(refused.contains("choose a face with inflow"), "{refused}");
                continue;
            }
            let found = with_flow(&inlet, &domain, &[]).unwrap();
            all_distinct(&found.positions);
            for p in &found.positions {
                assert_eq!(p[axis], coordinate);
                let within = |d: usize| domain.low[d] < p[d] && p[d] < domain.high[d];
                assert!((0..3).all(|d| d == axis || within(d)), "{p:?}");
            }
        }
    }
}

#[test]
fn face_of_a_flat_domain_is_a_segment() {
    let domain = Domain::new([0.0, 0.0, 0.5], [2.0, 1.0, 0.5]).unwrap();
    for pattern in all_patterns() {
        let inlet = inlet(InletShape::Face(Face::XLow), pattern);
        let found = with_flow(&inlet, &domain, &[]).unwrap();
        all_distinct(&found.positions);
        let mean = found.positions.iter().map(|p| p[1]).sum::<f64>();
        assert!((mean / found.positions.len() as f64 - 0.5).abs() < 1e-3);
        assert!(
            found
                .positions
                .iter()
                .all(|p| { (p[0], p[2]) == (0.0, 0.5) && 0.0 < p[1] && p[1] < 1.0 })
        );
        if pattern == Pattern::Lattice {
            assert_eq!(found.positions[7], [0.0, 0.075, 0.5]);
        }
    }
}

#[test]
fn unbounded_flat_axis_uses_the_coordinate_of_the_first_seed() {
    let domain = Domain { low: [0.0, 0.0, f64::INFINITY], high: [2.0, 1.0, f64::INFINITY] };
    let inlet = inlet(InletShape::Face(Face::XLow), Pattern::Uniform);
    for (seeds, z) in [(vec![], 0.0), (vec![[0.5, 0.5, 0.3]], 0.3)] {
        let found = positions_in(&inlet, &domain, &seeds, 4).unwrap();
        assert!(found.positions.iter().all(|p| p[0] == 0.0 && p[2] == z && p[1] < 1.0));
    }
}

#[test]
fn flux_through_a_segment_is_proportional_to_the_inflow_speed() {
    let domain = Domain::new([0.0; 3], [2.0, 1.0, 0.0]).unwrap();
    let inlet = inlet(InletShape::Face(Face::XLow), Pattern::Flux);
    let mut velocity = |p: &[[f64; 3]]| Ok(p.iter().map(|p| [p[1], 0.0, 0.0]).collect());
    let found = inlet
        .positions(&mut InletRequest {
            domain: &domain,
            seeds: &[],
            slots: 1,
            number: 0,
            velocity: &mut velocity,
            on_patch: NO_PATCH,
        })
        .unwrap();
    for q in [0.1, 0.5, 0.9] {
        let below = found.positions.iter().filter(|p| p[1] < q).count() as f64;
        assert!((below / found.positions.len() as f64 - q * q).abs() < 1e-3);
    }
}

#[test]
fn slots_start_apart_and_use_all_positions() {
    let domain = Domain::unbounded();
    let edges = ([1.0, 0.0, 0.0], [0.0, 1.0, 1.0]);
    let shape = InletShape::Rectangle { origin: [0.0; 3], edge1: edges.0, edge2: edges.1 };
    let inlet = inlet(shape, Pattern::Uniform);
    for (slots, count) in [(1, 65_536), (65_536, 65_536), (100_000, 131_072)] {
        let found = positions_in(&inlet, &domain, &[], slots).unwrap();
        assert_eq!((found.positions.len(), found.stride), (count, 1));
        let offsets: HashSet<u32> =
            (0..slots as u32).map(|s| s.wrapping_mul(found.scatter) % count as u32).collect();
        assert_eq!(offsets.len(), slots);
        let section = f64::from(found.scatter) / count as f64;
        assert!((section - 0.618).abs() < 1e-3, "{section}");
    }
}

#[test]
fn scatter_is_coprime_to_every_count() {
    for count in (1..200).chain([99_991, 100_000, 300_000, 1 << 22]) {
        let step = scatter(count, count);
        let offsets: HashSet<u32> = (0..count).map(|s| s.wrapping_mul(step) % count).collect();
        assert_eq!(offsets.len(), count as usize, "{count}");
    }
}

#[test]
fn slots_use_all_retained_positions() {
    let positions: Vec<[f64; 3]> = (0..65_536).map(|i| [f64::from(i), 0.0, 0.0]).collect();
    let left = shared(positions, 100).retain(|i| i % 3 == 1, 20_000);
    assert_eq!((left.positions.len(), left.stride), (21_845, 1));
    assert!(left.positions.iter().all(|p| p[0] % 3.0 == 1.0));
    let offsets: HashSet<u32> =
        (0..20_000_u32).map(|s| s.wrapping_mul(left.scatter) % 21_845).collect();
    assert_eq!(offsets.len(), 20_000);
}

#[test]
fn points_are_used_in_turn_or_in_sequence() {
    let (domain, points) = (Domain::unbounded(), vec![[1.0; 3], [2.0; 3], [3.0; 3]]);
    for (pattern, stride) in [(Pattern::Lattice, 0), (Pattern::Uniform, 1)] {
        let inlet = inlet(InletShape::Points(points.clone()), pattern);
        let found = positions_in(&inlet, &domain, &[[9.0; 3]], 5).unwrap();
        assert_eq!((&found.positions, found.stride, found.scatter), (&points, stride, 1));
    }
    let outside = inlet(InletShape::Points(points), Pattern::Lattice);
    let domain = Domain::new([0.0; 3], [2.5; 3]).unwrap();
    assert!(message(positions_in(&outside, &domain, &[], 5)).contains("point 2 [3.0, 3.0, 3.0]"));
}

#[test]
fn inlets_outside_the_domain_are_refused() {
    let refused = |face, pattern, low, high| {
        let domain = Domain { low, high };
        message(positions_in(&inlet(InletShape::Face(face), pattern), &domain, &[], 5))
    };
    let infinite = f64::INFINITY;
    for pattern in [Pattern::Lattice, Pattern::Uniform] {
        let flat = refused(Face::ZLow, pattern, [0.0; 3], [1.0, 1.0, 0.0]);
        assert!(flat.contains("flat along z, so it has no face z-low"), "{flat}");
        let far = refused(Face::XHigh, pattern, [0.0; 3], [infinite, 1.0, 1.0]);
        assert!(far.contains("x-high is at x = inf"), "{far}");
        let long = refused(Face::XLow, pattern, [0.0; 3], [1.0, infinite, 1.0]);
        assert!(long.contains("x-low is unbounded along y: it extends from 0 to inf"), "{long}");
    }
    let disc = InletShape::Disc { centre: [0.5; 3], normal: [1.0, 0.0, 0.0], radius: 0.6 };
    let inlet = inlet(disc, Pattern::Uniform);
    let domain = Domain::new([0.0; 3], [1.0; 3]).unwrap();
    let wide = message(positions_in(&inlet, &domain, &[], 5));
    assert!(wide.contains("along y, outside the domain, which extends from 0 to 1"), "{wide}");
    // A disc that touches the faces fits, and rounding moves no position outside.
    let disc = InletShape::Disc { centre: [0.5; 3], normal: [1.0, 0.0, 0.0], radius: 0.5 };
    let touching = Inlet::new(disc, Pattern::Uniform).unwrap();
    let found = positions_in(&touching, &domain, &[], 5).unwrap();
    assert!(found.positions.iter().all(|p| p[0] == 0.5 && domain.contains(*p)));
    assert!(message(positions_in(&inlet, &domain, &[], 0)).contains("no particles"));
}

#[test]
fn flux_may_extend_outside_the_domain() {
    let disc = InletShape::Disc { centre: [0.0; 3], normal: [1.0, 0.0, 0.0], radius: 1.0 };
    let domain = Domain::new([0.0; 3], [2.0; 3]).unwrap();
    let found = with_flow(&inlet(disc, Pattern::Flux), &domain, &[]).unwrap();
    assert!(found.positions.iter().all(|p| domain.contains(*p)));
}

#[test]
fn shapes_that_coordinates_do_not_resolve_are_refused() {
    let domain = Domain::new([0.0; 3], [2.0; 3]).unwrap();
    let (edge1, edge2) = ([0.0, 5e-324, 0.0], [0.0, 0.0, 1.0]);
    let narrow = InletShape::Rectangle { origin: [0.0, 0.5, 0.5], edge1, edge2 };
    let flux = with_flow(&inlet(narrow, Pattern::Flux), &domain, &[]);
    assert!(message(flux).contains("too narrow to find positions"));
    let corners = vec![[0.0; 3], [0.0, 5e-324, 0.0], [0.0, 0.0, 5e-324]];
    assert!(Inlet::new(InletShape::Polygon(corners), Pattern::Uniform).is_err());
}

#[test]
fn invalid_shapes_are_refused() {
    let new = |shape| message(Inlet::new(shape, Pattern::Uniform));
    let disc = |centre, normal, radius| new(InletShape::Disc { centre, normal, radius });
    let x = [1.0, 0.0, 0.0];
    assert!(disc([f64::NAN, 0.0, 0.0], x, 1.0).contains("centre"));
    assert!(disc([0.0; 3], [0.0; 3], 1.0).contains("normal (0, 0, 0) has no direction"));
    assert!(disc([0.0; 3], x, 0.0).contains("radius is 0; give a positive number"));
    assert!(disc([0.0; 3], x, f64::INFINITY).contains("radius [inf] contains inf"));
    let rectangle = |edge1, edge2| new(InletShape::Rectangle { origin: [0.0; 3], edge1, edge2 });
    assert!(rectangle(x, [-2.0, 0.0, 0.0]).contains("span no area"));
    assert!(rectangle([0.0; 3], x).contains("span no area"));
    assert!(rectangle([0.1, 0.2, 0.3], [0.3, 0.6, 0.9]).contains("span no area"));
    assert!(rectangle(x, [0.0, 1e200, 0.0]).contains("second edge"));
    assert!(new(InletShape::Points(vec![])).contains("no points"));
    assert!(new(InletShape::Points(vec![[f64::NAN; 3]])).contains("a point"));
}

#[test]
fn invalid_polygons_are_refused() {
    let new = |corners: &[[f64; 3]]| {
        message(Inlet::new(InletShape::Polygon(corners.to_vec()), Pattern::Flux))
    };
    let [o, x, y] = [[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
    assert!(new(&[o, x]).contains("2 corners; give three"));
    assert!(new(&[o, x, [0.0, f64::INFINITY, 0.0]]).contains("a corner of the polygon"));
    assert!(new(&[o, x, [2.0, 0.0, 0.0]]).contains("enclose no area"));
    // A bow tie: its halves cancel.
    assert!(new(&[o, [1.0, 1.0, 0.0], x, y]).contains("enclose no area"));
    assert!(new(&[o, x, [1.0, 1.0, 0.01], y]).contains("not planar: corner 1 is 0.00"));
    assert!(new(&[o, x, [0.0, 2.0, 0.0], [2.0, 1.0, 0.0]]).contains("intersects itself"));
    let thin = [o, [1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.9999, 1.0, 0.0], [0.9999, 1e-4, 0.0]];
    let thin = new(&[&thin[..], &[[0.0, 1e-4, 0.0]]].concat());
    assert!(thin.contains("of its bounding rectangle"), "{thin}");
}

#[test]
fn invalid_patterns_are_refused() {
    let new = |shape, pattern| message(Inlet::new(shape, pattern));
    let gaussian = |deviation| Pattern::Gaussian { deviation };
    for deviation in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let refused = new(InletShape::Face(Face::XLow), gaussian(deviation));
        assert!(refused.contains(&format!("standard deviation is {deviation}")), "{refused}");
    }
    for pattern in [gaussian(1.0), Pattern::Flux] {
        let refused = new(InletShape::Points(vec![[0.0; 3]]), pattern);
        assert!(refused.contains("points have no area"), "{refused}");
    }
}

#[test]
fn inflow_is_along_the_normal() {
    let [o, x, y] = [[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
    let normal = |shape: &InletShape| patch(shape, &Domain::unbounded(), &[]).unwrap().normal;
    let z = [0.0, 0.0, 1.0];
    assert_eq!(normal(&InletShape::Rectangle { origin: o, edge1: x, edge2: [5.0, 2.0, 0.0] }), z);
    assert_eq!(normal(&InletShape::Disc { centre: o, normal: [0.0, 0.0, 9.0], radius: 1.0 }), z);
    assert_eq!(normal(&InletShape::Polygon(vec![o, x, [1.0, 1.0, 0.0], y])), z);
    assert_eq!(normal(&InletShape::Polygon(vec![o, y, x])), [0.0, 0.0, -1.0]);
}

#[test]
fn positions_of_a_skew_rectangle_are_inside() {
    let shape = InletShape::Rectangle {
        origin: [1.0, 2.0, 3.0],
        edge1: [0.0, 2.0, 0.0],
        edge2: [0.0, 1.5, 1.0],
    };
    for pattern in [Pattern::Lattice, Pattern::Uniform, Pattern::Gaussian { deviation: 1.0 }] {
        let found =
            positions_in(&inlet(shape.clone(), pattern), &Domain::unbounded(), &[], 1000).unwrap();
        all_distinct(&found.positions);
        let count = found.positions.len() as f64;
        let centre: [f64; 3] =
            std::array::from_fn(|d| found.positions.iter().map(|p| p[d]).sum::<f64>() / count);
        assert_eq!(centre[0], 1.0);
        // A lattice of 1000 positions: rows of 44 or 45.
        assert!((centre[1] - 3.75).abs() < 0.01 && (centre[2] - 3.5).abs() < 0.01, "{centre:?}");
        for p in &found.positions {
            let t = p[2] - 3.0;
            let s = (p[1] - 2.0 - 1.5 * t) / 2.0;
            assert!(0.0 < t && t < 1.0 && 0.0 < s && s < 1.0);
        }
    }
}
