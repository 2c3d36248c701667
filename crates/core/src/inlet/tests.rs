use super::*;
use std::collections::HashSet;

pub(super) fn message<T>(result: Result<T>) -> String {
    match result {
        Err(Error::Inlet(message)) => message,
        Err(other) => panic!("{other:?}"),
        Ok(_) => panic!("accepted"),
    }
}

pub(super) fn all_distinct(places: &[[f64; 3]]) {
    let bits: HashSet<[u64; 3]> = places.iter().map(|p| p.map(f64::to_bits)).collect();
    assert_eq!(bits.len(), places.len());
}

/// 3 x 2, at z = 7, its own coordinates x and y.
pub(super) fn rectangle() -> Patch {
    Patch::rectangle([0.0, 0.0, 7.0], [3.0, 0.0, 0.0], [0.0, 2.0, 0.0]).unwrap()
}

/// Of radius 2 about the origin, across z.
pub(super) fn disc() -> Patch {
    Patch::disc([0.0; 3], [0.0, 0.0, 3.0], 2.0).unwrap()
}

/// A concave star of four points about the origin, 4 x 4, of area 4.
pub(super) fn star() -> Patch {
    let (tip, notch) = ([2.0, 0.0], [0.5, 0.5]);
    let turned = |[x, y]: [f64; 2]| [[x, y, 0.0], [-y, x, 0.0], [-x, -y, 0.0], [y, -x, 0.0]];
    let pairs = turned(tip).into_iter().zip(turned(notch));
    Patch::polygon(&pairs.flat_map(|(a, b)| [a, b]).collect::<Vec<_>>()).unwrap()
}

/// A patch's own coordinates of a place, counted from its centroid.
pub(super) fn from_centre(patch: &Patch, place: [f64; 3]) -> [f64; 2] {
    let own = patch.own(place);
    [0, 1].map(|k| own[k] - patch.centre[k])
}

/// Whether a place is inside a patch that is shrunk about its centroid.
pub(super) fn inside(patch: &Patch, place: [f64; 3], shrink: f64) -> bool {
    let p = from_centre(patch, place);
    patch.contains([0, 1].map(|k| patch.centre[k] + p[k] / shrink))
}

fn no_flow(_: &[[f64; 3]]) -> Result<Vec<[f64; 3]>> {
    panic!("the flow is asked for a flux only")
}

fn places_in(inlet: &Inlet, domain: &Domain, seeds: &[[f64; 3]], slots: usize) -> Result<Places> {
    inlet.places(&mut Request { domain, seeds, slots, velocity: &mut no_flow })
}

fn inlet(shape: InletShape, pattern: Pattern) -> Inlet {
    Inlet::new(shape, pattern).unwrap()
}

fn all_patterns() -> [Pattern; 4] {
    [Pattern::Lattice, Pattern::Uniform, Pattern::Gaussian { deviation: 0.2 }, Pattern::Flux]
}

/// Places with a flow of (1, 1, 1).
fn with_flow(inlet: &Inlet, domain: &Domain, seeds: &[[f64; 3]]) -> Result<Places> {
    let mut velocity = |p: &[[f64; 3]]| Ok(vec![[1.0; 3]; p.len()]);
    inlet.places(&mut Request { domain, seeds, slots: 100, velocity: &mut velocity })
}

#[test]
fn a_face_keeps_the_pattern_of_the_seeds() {
    let domain = Domain::new([0.1, 0.0, 0.0], [0.7, 1.0, f64::INFINITY]).unwrap();
    let seeds = [[0.5, 0.25, 3.0], [0.2, 0.75, 1e9], [0.3, 1.5, -1.0]];
    let found = inlet(InletShape::Face(Face::XHigh), Pattern::Lattice);
    let found = places_in(&found, &domain, &seeds, 3).unwrap();
    assert_eq!(found.positions, [[0.7, 0.25, 3.0], [0.7, 0.75, 1e9], [0.7, 1.0, 0.0]]);
    assert_eq!((found.scatter, found.stride), (1, 0));
}

#[test]
fn places_of_every_pattern_lie_exactly_on_the_face() {
    let domain = Domain::new([0.1, -1.3, 0.0], [0.7, 1.1, 3.0]).unwrap();
    for face in Face::ALL {
        let axis = face as usize / 2;
        let coordinate = [domain.low, domain.high][face as usize % 2][axis];
        for pattern in all_patterns() {
            let inlet = inlet(InletShape::Face(face), pattern);
            // The flow comes in through the low faces only.
            if pattern == Pattern::Flux && face as usize % 2 == 1 {
                let refused = message(with_flow(&inlet, &domain, &[]));
                assert!(refused.contains("choose a face where it comes in"), "{refused}");
                continue;
            }
            let places = with_flow(&inlet, &domain, &[]).unwrap();
            all_distinct(&places.positions);
            for p in &places.positions {
                assert_eq!(p[axis], coordinate);
                let within = |d: usize| domain.low[d] < p[d] && p[d] < domain.high[d];
                assert!((0..3).all(|d| d == axis || within(d)), "{p:?}");
            }
        }
    }
}

#[test]
fn a_face_of_a_flat_domain_is_a_segment() {
    let domain = Domain::new([0.0, 0.0, 0.5], [2.0, 1.0, 0.5]).unwrap();
    for pattern in all_patterns() {
        let inlet = inlet(InletShape::Face(Face::XLow), pattern);
        let places = with_flow(&inlet, &domain, &[]).unwrap();
        all_distinct(&places.positions);
        let mean = places.positions.iter().map(|p| p[1]).sum::<f64>();
        assert!((mean / places.positions.len() as f64 - 0.5).abs() < 1e-3);
        assert!(
            places
                .positions
                .iter()
                .all(|p| { (p[0], p[2]) == (0.0, 0.5) && 0.0 < p[1] && p[1] < 1.0 })
        );
        if pattern == Pattern::Lattice {
            assert_eq!(places.positions[7], [0.0, 0.075, 0.5]);
        }
    }
}

#[test]
fn a_flat_axis_without_a_coordinate_has_that_of_the_first_seed() {
    let domain = Domain { low: [0.0, 0.0, f64::INFINITY], high: [2.0, 1.0, f64::INFINITY] };
    let inlet = inlet(InletShape::Face(Face::XLow), Pattern::Uniform);
    for (seeds, z) in [(vec![], 0.0), (vec![[0.5, 0.5, 0.3]], 0.3)] {
        let places = places_in(&inlet, &domain, &seeds, 4).unwrap();
        assert!(places.positions.iter().all(|p| p[0] == 0.0 && p[2] == z && p[1] < 1.0));
    }
}

#[test]
fn a_flux_through_a_segment_is_as_the_flow_comes_in() {
    let domain = Domain::new([0.0; 3], [2.0, 1.0, 0.0]).unwrap();
    let inlet = inlet(InletShape::Face(Face::XLow), Pattern::Flux);
    let mut velocity = |p: &[[f64; 3]]| Ok(p.iter().map(|p| [p[1], 0.0, 0.0]).collect());
    let places = inlet
        .places(&mut Request { domain: &domain, seeds: &[], slots: 1, velocity: &mut velocity })
        .unwrap();
    for q in [0.1, 0.5, 0.9] {
        let below = places.positions.iter().filter(|p| p[1] < q).count() as f64;
        assert!((below / places.positions.len() as f64 - q * q).abs() < 1e-3);
    }
}

#[test]
fn slots_begin_apart_and_walk_through_all_places() {
    let domain = Domain::unbounded();
    let edges = ([1.0, 0.0, 0.0], [0.0, 1.0, 1.0]);
    let shape = InletShape::Rectangle { origin: [0.0; 3], edge1: edges.0, edge2: edges.1 };
    let inlet = inlet(shape, Pattern::Uniform);
    for (slots, count) in [(1, 65_536), (65_536, 65_536), (100_000, 131_072)] {
        let places = places_in(&inlet, &domain, &[], slots).unwrap();
        assert_eq!((places.positions.len(), places.stride), (count, 1));
        let offsets: HashSet<u32> =
            (0..slots as u32).map(|s| s.wrapping_mul(places.scatter) % count as u32).collect();
        assert_eq!(offsets.len(), slots);
        let section = f64::from(places.scatter) / count as f64;
        assert!((section - 0.618).abs() < 1e-3, "{section}");
    }
}

#[test]
fn scatter_has_no_factor_in_common_with_any_count() {
    for count in (1..200).chain([99_991, 100_000, 300_000, 1 << 22]) {
        let step = scatter(count, count);
        let offsets: HashSet<u32> = (0..count).map(|s| s.wrapping_mul(step) % count).collect();
        assert_eq!(offsets.len(), count as usize, "{count}");
    }
}

#[test]
fn places_that_are_left_are_walked_through() {
    let positions: Vec<[f64; 3]> = (0..65_536).map(|i| [f64::from(i), 0.0, 0.0]).collect();
    let left = walked(positions, 100).only(|i| i % 3 == 1, 20_000);
    assert_eq!((left.positions.len(), left.stride), (21_845, 1));
    assert!(left.positions.iter().all(|p| p[0] % 3.0 == 1.0));
    let offsets: HashSet<u32> =
        (0..20_000_u32).map(|s| s.wrapping_mul(left.scatter) % 21_845).collect();
    assert_eq!(offsets.len(), 20_000);
}

#[test]
fn points_are_taken_in_turn_or_walked_through() {
    let (domain, points) = (Domain::unbounded(), vec![[1.0; 3], [2.0; 3], [3.0; 3]]);
    for (pattern, stride) in [(Pattern::Lattice, 0), (Pattern::Uniform, 1)] {
        let inlet = inlet(InletShape::Points(points.clone()), pattern);
        let places = places_in(&inlet, &domain, &[[9.0; 3]], 5).unwrap();
        assert_eq!((&places.positions, places.stride, places.scatter), (&points, stride, 1));
    }
    let outside = inlet(InletShape::Points(points), Pattern::Lattice);
    let domain = Domain::new([0.0; 3], [2.5; 3]).unwrap();
    assert!(message(places_in(&outside, &domain, &[], 5)).contains("point 2 [3.0, 3.0, 3.0]"));
}

#[test]
fn what_does_not_fit_the_domain_is_refused() {
    let refused = |face, pattern, low, high| {
        let domain = Domain { low, high };
        message(places_in(&inlet(InletShape::Face(face), pattern), &domain, &[], 5))
    };
    let infinite = f64::INFINITY;
    for pattern in [Pattern::Lattice, Pattern::Uniform] {
        let flat = refused(Face::ZLow, pattern, [0.0; 3], [1.0, 1.0, 0.0]);
        assert!(flat.contains("flat along z, so it has no face z-low"), "{flat}");
        let far = refused(Face::XHigh, pattern, [0.0; 3], [infinite, 1.0, 1.0]);
        assert!(far.contains("x-high is at x = inf"), "{far}");
        let long = refused(Face::XLow, pattern, [0.0; 3], [1.0, infinite, 1.0]);
        assert!(long.contains("x-low has no end along y: it goes from 0 to inf"), "{long}");
    }
    let disc = InletShape::Disc { centre: [0.5; 3], normal: [1.0, 0.0, 0.0], radius: 0.6 };
    let inlet = inlet(disc, Pattern::Uniform);
    let domain = Domain::new([0.0; 3], [1.0; 3]).unwrap();
    let wide = message(places_in(&inlet, &domain, &[], 5));
    assert!(wide.contains("along y, beyond the domain, which goes from 0 to 1"), "{wide}");
    // One that touches the faces fits, and nothing is carried out by rounding.
    let disc = InletShape::Disc { centre: [0.5; 3], normal: [1.0, 0.0, 0.0], radius: 0.5 };
    let touching = Inlet::new(disc, Pattern::Uniform).unwrap();
    let places = places_in(&touching, &domain, &[], 5).unwrap();
    assert!(places.positions.iter().all(|p| p[0] == 0.5 && domain.contains(*p)));
    assert!(message(places_in(&inlet, &domain, &[], 0)).contains("no particles"));
}

#[test]
fn a_flux_may_reach_beyond_the_domain() {
    let disc = InletShape::Disc { centre: [0.0; 3], normal: [1.0, 0.0, 0.0], radius: 1.0 };
    let domain = Domain::new([0.0; 3], [2.0; 3]).unwrap();
    let places = with_flow(&inlet(disc, Pattern::Flux), &domain, &[]).unwrap();
    assert!(places.positions.iter().all(|p| domain.contains(*p)));
}

#[test]
fn shapes_that_cannot_be_are_refused() {
    let new = |shape| message(Inlet::new(shape, Pattern::Uniform));
    let disc = |centre, normal, radius| new(InletShape::Disc { centre, normal, radius });
    let x = [1.0, 0.0, 0.0];
    assert!(disc([f64::NAN, 0.0, 0.0], x, 1.0).contains("centre"));
    assert!(disc([0.0; 3], [0.0; 3], 1.0).contains("normal (0, 0, 0) has no direction"));
    assert!(disc([0.0; 3], x, 0.0).contains("radius is 0; it must be positive"));
    assert!(disc([0.0; 3], x, f64::INFINITY).contains("radius [inf] has inf"));
    let rectangle = |edge1, edge2| new(InletShape::Rectangle { origin: [0.0; 3], edge1, edge2 });
    assert!(rectangle(x, [-2.0, 0.0, 0.0]).contains("span no area"));
    assert!(rectangle([0.0; 3], x).contains("span no area"));
    assert!(rectangle([0.1, 0.2, 0.3], [0.3, 0.6, 0.9]).contains("span no area"));
    assert!(rectangle(x, [0.0, 1e200, 0.0]).contains("second edge"));
    assert!(new(InletShape::Points(vec![])).contains("no points"));
    assert!(new(InletShape::Points(vec![[f64::NAN; 3]])).contains("a point"));
}

#[test]
fn polygons_that_cannot_be_are_refused() {
    let new = |corners: &[[f64; 3]]| {
        message(Inlet::new(InletShape::Polygon(corners.to_vec()), Pattern::Flux))
    };
    let [o, x, y] = [[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
    assert!(new(&[o, x]).contains("2 corners; it needs three"));
    assert!(new(&[o, x, [0.0, f64::INFINITY, 0.0]]).contains("a corner of the polygon"));
    assert!(new(&[o, x, [2.0, 0.0, 0.0]]).contains("enclose no area"));
    // A bow tie: its halves cancel.
    assert!(new(&[o, [1.0, 1.0, 0.0], x, y]).contains("enclose no area"));
    assert!(new(&[o, x, [1.0, 1.0, 0.01], y]).contains("not plane: corner 1 lies 0.00"));
    assert!(new(&[o, x, [0.0, 2.0, 0.0], [2.0, 1.0, 0.0]]).contains("meets itself"));
    let thin = [o, [1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.9999, 1.0, 0.0], [0.9999, 1e-4, 0.0]];
    let thin = new(&[&thin[..], &[[0.0, 1e-4, 0.0]]].concat());
    assert!(thin.contains("of the rectangle around it"), "{thin}");
}

#[test]
fn patterns_that_cannot_be_are_refused() {
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
fn the_flow_comes_in_along_the_normal() {
    let [o, x, y] = [[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
    let normal = |shape: &InletShape| patch(shape, &Domain::unbounded(), &[]).unwrap().normal;
    let z = [0.0, 0.0, 1.0];
    assert_eq!(normal(&InletShape::Rectangle { origin: o, edge1: x, edge2: [5.0, 2.0, 0.0] }), z);
    assert_eq!(normal(&InletShape::Disc { centre: o, normal: [0.0, 0.0, 9.0], radius: 1.0 }), z);
    assert_eq!(normal(&InletShape::Polygon(vec![o, x, [1.0, 1.0, 0.0], y])), z);
    assert_eq!(normal(&InletShape::Polygon(vec![o, y, x])), [0.0, 0.0, -1.0]);
}

#[test]
fn a_skew_rectangle_has_all_of_its_places_inside() {
    let shape = InletShape::Rectangle {
        origin: [1.0, 2.0, 3.0],
        edge1: [0.0, 2.0, 0.0],
        edge2: [0.0, 1.5, 1.0],
    };
    for pattern in [Pattern::Lattice, Pattern::Uniform, Pattern::Gaussian { deviation: 1.0 }] {
        let places =
            places_in(&inlet(shape.clone(), pattern), &Domain::unbounded(), &[], 1000).unwrap();
        all_distinct(&places.positions);
        let count = places.positions.len() as f64;
        let centre: [f64; 3] =
            std::array::from_fn(|d| places.positions.iter().map(|p| p[d]).sum::<f64>() / count);
        assert_eq!(centre[0], 1.0);
        // A lattice of 1000 places: rows of 44 or 45.
        assert!((centre[1] - 3.75).abs() < 0.01 && (centre[2] - 3.5).abs() < 0.01, "{centre:?}");
        for p in &places.positions {
            let t = p[2] - 3.0;
            let s = (p[1] - 2.0 - 1.5 * t) / 2.0;
            assert!(0.0 < t && t < 1.0 && 0.0 < s && s < 1.0);
        }
    }
}
