use super::{
    models::{Model, all, ball, block, distance, knife, star, torus, winding},
    *,
};
use fastrand::Rng;

fn flaw(points: &[[f64; 3]], triangles: &[[usize; 3]]) -> SurfaceError {
    ClosedSurface::new(points, triangles).unwrap_err()
}

#[test]
fn triangles_that_bound_nothing_are_refused() {
    let Model { points, triangles } = block([0.0; 3], [1.0; 3]);
    assert_eq!(flaw(&points, &[]), SurfaceError::Empty);
    let mut wrong = triangles.clone();
    wrong[5][1] = 8;
    assert_eq!(flaw(&points, &wrong), SurfaceError::NoPoint { triangle: 5, point: 8, points: 8 });
    let mut wild = points.clone();
    wild[7][1] = f64::NAN;
    let SurfaceError::NotFinite { triangle, others } = flaw(&wild, &triangles) else { panic!() };
    let wild = triangles.iter().filter(|corners| corners.contains(&7)).count();
    assert!(triangles[triangle].contains(&7) && others == wild - 1, "{triangle} {others}");
    // A hole: three edges with one triangle each.
    let found = flaw(&points, &triangles[1..]);
    assert!(matches!(found, SurfaceError::Open { count: 3, .. }), "{found}");
    assert!(found.to_string().contains("not closed: 3 edges"), "{found}");
    // A wall within.
    let mut wall = triangles.clone();
    wall.push([0, 3, 7]);
    assert!(matches!(flaw(&points, &wall), SurfaceError::Crowded { count: 1 | 2, .. }));
    // A corner in the middle of a side.
    let mut split = block([0.0; 3], [1.0; 3]);
    split.points.push([0.5, 0.0, 0.0]);
    let edge = split.triangles.iter().position(|t| t.contains(&0) && t.contains(&1)).unwrap();
    let [third] =
        *split.triangles[edge].iter().filter(|i| ![0, 1].contains(*i)).copied().collect::<Vec<_>>()
    else {
        panic!()
    };
    split.triangles[edge] = [0, 8, third];
    split.triangles.extend([[8, 1, third], [0, 1, 8]]);
    let found = flaw(&split.points, &split.triangles);
    assert!(matches!(found, SurfaceError::NoArea { others: 0, .. }), "{found}");
}

#[test]
fn a_surface_with_one_side_is_refused() {
    // The projective plane of six points, which is closed.
    let points: Vec<_> = (0..6).map(|i| [i as f64, (i * i) as f64, (i * i * i) as f64]).collect();
    let triangles = [
        [0, 1, 2],
        [0, 2, 3],
        [0, 3, 4],
        [0, 4, 5],
        [0, 5, 1],
        [1, 2, 4],
        [2, 3, 5],
        [3, 4, 1],
        [4, 5, 2],
        [5, 1, 3],
    ];
    assert!(matches!(flaw(&points, &triangles), SurfaceError::OneSided { .. }));
}

#[test]
fn triangles_may_come_in_any_order_and_direction() {
    let mut rng = Rng::with_seed(1);
    for (name, model) in all() {
        let surface = model.made();
        let Model { points, mut triangles } = model;
        rng.shuffle(&mut triangles);
        for corners in &mut triangles {
            corners.rotate_left(rng.usize(0..3));
            if rng.bool() {
                corners.swap(0, 1);
            }
        }
        // As in a file of corners, and with triangles that have shrunk to a line.
        let mut corners: Vec<_> = triangles.iter().map(|t| t.map(|i| points[i])).collect();
        corners.push([points[0], points[1], points[1]]);
        let again = ClosedSurface::from_corners(&corners).unwrap();
        assert_eq!(again.points().len(), points.len(), "{name}");
        assert!((again.volume() - surface.volume()).abs() < 1e-13, "{name}");
        assert!(surface.volume() > 0.0, "{name}");
        assert_eq!(again.bounds(), surface.bounds());
    }
    let shell = ball(2).with(ball(2).moved(0.6, [0.1, 0.0, 0.0])).made();
    let solid = ball(2).made().volume();
    assert!((shell.volume() / solid - (1.0 - 0.6_f64.powi(3))).abs() < 1e-13);
    assert!((block([0.0; 3], [1.0, 2.0, 3.0]).made().volume() - 6.0).abs() < 1e-13);
}

#[test]
fn shells_may_be_nested_and_beside_each_other() {
    let model = ball(1)
        .with(ball(1).moved(0.8, [0.0; 3]))
        .with(ball(1).moved(0.2, [-0.4, 0.0, 0.0]))
        .with(ball(1).moved(0.2, [0.4, 0.0, 0.0]))
        .with(ball(1).moved(0.5, [3.0, 0.0, 0.0]));
    let surface = model.made();
    let along = [0.0, 0.4, -0.4, 0.65, 0.9, 1.5, 3.0, 3.7];
    let inside = [false, true, true, false, true, false, true, false];
    for (x, inside) in along.into_iter().zip(inside) {
        let around = winding(&surface, [x, 0.01, 0.02]);
        assert!((around - f64::from(u8::from(inside))).abs() < 1e-9, "{x}: {around}");
    }
}

/// Signs of all corners and edges, by places around them.
#[test]
fn sides_of_edges_and_corners_are_right() {
    let mut rng = Rng::with_seed(2);
    for (name, model) in all().into_iter().chain([("coarse ball", ball(0)), ("thin", torus(5, 3))])
    {
        let surface = model.made();
        let rows = surface.double();
        for _ in 0..3000 {
            let corners = surface.triangles()[rng.usize(0..surface.triangles().len())];
            let [a, b] =
                [corners[0], corners[rng.usize(0..2)]].map(|i| surface.points()[i as usize]);
            let part = rng.f64();
            let reach = 10.0_f64.powi(rng.i32(-6..0));
            let p = [0, 1, 2].map(|d| a[d] + part * (b[d] - a[d]) + reach * (rng.f64() - 0.5));
            let squares = (0..surface.triangles().len())
                .map(|i| facet::Facet::of(&rows, i).square(&p).sqrt());
            let squares: Vec<_> = squares.collect();
            let least = squares.iter().copied().fold(f64::INFINITY, f64::min);
            let truth = distance(&surface, p);
            assert!((least - truth.abs()).abs() < 1e-14, "{name}: {least} {truth}");
            // All that are as near say the same.
            for i in (0..squares.len()).filter(|i| squares[*i] <= least + 1e-15) {
                let facet = facet::Facet::of(&rows, i);
                let [x, y, z] = facet.local(&p);
                let part = facet.nearest(x, y).part;
                let is_outside = surface.sides(i).is_outside(part, z);
                assert_eq!(is_outside, truth > 0.0, "{name} {p:?} {part} {truth}");
            }
        }
    }
}

#[test]
fn surfaces_are_the_same_by_their_triangles() {
    assert_eq!(knife().made(), knife().made());
    assert_ne!(knife().made(), star().made());
    assert!(format!("{:?}", knife().made()).contains("triangles: 8"));
}
