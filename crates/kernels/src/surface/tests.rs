use super::{
    models::{Model, all, ball, block, distance, knife, star, torus, winding},
    *,
};
use fastrand::Rng;

fn flaw(points: &[[f64; 3]], triangles: &[[usize; 3]]) -> SurfaceError {
    ClosedSurface::new(points, triangles).unwrap_err()
}

#[test]
fn triangles_that_bound_no_body_are_rejected() {
    let Model { points, triangles } = block([0.0; 3], [1.0; 3]);
    assert_eq!(flaw(&points, &[]), SurfaceError::Empty);
    let mut wrong = triangles.clone();
    wrong[5][1] = 8;
    assert_eq!(flaw(&points, &wrong), SurfaceError::NoPoint { triangle: 5, point: 8, points: 8 });
    let mut invalid = points.clone();
    invalid[7][1] = f64::NAN;
    let SurfaceError::NotFinite { triangle, others } = flaw(&invalid, &triangles) else { panic!() };
    let invalid = triangles.iter().filter(|corners| corners.contains(&7)).count();
    assert!(triangles[triangle].contains(&7) && others == invalid - 1, "{triangle} {others}");
    // A hole: three edges with one triangle each.
    let found = flaw(&points, &triangles[1..]);
    assert!(matches!(found, SurfaceError::Open { count: 3, .. }), "{found}");
    assert!(found.to_string().contains("not closed: 3 edges"), "{found}");
    // An internal wall.
    let mut wall = triangles.clone();
    wall.push([0, 3, 7]);
    assert!(matches!(flaw(&points, &wall), SurfaceError::Crowded { count: 1 | 2, .. }));
    // A hanging node on a side.
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
fn one_sided_surface_is_rejected() {
    // The projective plane on six points, which is closed.
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
fn order_and_orientation_of_triangles_do_not_matter() {
    let mut rng = Rng::with_seed(1);
    for (name, model) in all() {
        let surface = model.build();
        let Model { points, mut triangles } = model;
        rng.shuffle(&mut triangles);
        for corners in &mut triangles {
            corners.rotate_left(rng.usize(0..3));
            if rng.bool() {
                corners.swap(0, 1);
            }
        }
        // As in a file of corner coordinates, with degenerate triangles.
        let mut corners: Vec<_> = triangles.iter().map(|t| t.map(|i| points[i])).collect();
        corners.push([points[0], points[1], points[1]]);
        let again = ClosedSurface::from_corners(&corners).unwrap();
        assert_eq!(again.points().len(), points.len(), "{name}");
        assert!((again.volume() - surface.volume()).abs() < 1e-13, "{name}");
        assert!(surface.volume() > 0.0, "{name}");
        assert_eq!(again.bounds(), surface.bounds());
    }
    let shell = ball(2).with(ball(2).moved(0.6, [0.1, 0.0, 0.0])).build();
    let solid = ball(2).build().volume();
    assert!((shell.volume() / solid - (1.0 - 0.6_f64.powi(3))).abs() < 1e-13);
    assert!((block([0.0; 3], [1.0, 2.0, 3.0]).build().volume() - 6.0).abs() < 1e-13);
}

#[test]
fn shells_may_be_nested_or_side_by_side() {
    let model = ball(1)
        .with(ball(1).moved(0.8, [0.0; 3]))
        .with(ball(1).moved(0.2, [-0.4, 0.0, 0.0]))
        .with(ball(1).moved(0.2, [0.4, 0.0, 0.0]))
        .with(ball(1).moved(0.5, [3.0, 0.0, 0.0]));
    let surface = model.build();
    let along = [0.0, 0.4, -0.4, 0.65, 0.9, 1.5, 3.0, 3.7];
    let inside = [false, true, true, false, true, false, true, false];
    for (x, inside) in along.into_iter().zip(inside) {
        let around = winding(&surface, [x, 0.01, 0.02]);
        assert!((around - f64::from(u8::from(inside))).abs() < 1e-9, "{x}: {around}");
    }
}

/// Signs near all corners and edges, at random points around them.
#[test]
fn sides_of_edges_and_corners_are_correct() {
    let mut rng = Rng::with_seed(2);
    for (name, model) in all().into_iter().chain([("coarse ball", ball(0)), ("thin", torus(5, 3))])
    {
        let surface = model.build();
        let rows = &surface.rows;
        for _ in 0..3000 {
            let corners = surface.triangles()[rng.usize(0..surface.triangles().len())];
            let [a, b] =
                [corners[0], corners[rng.usize(0..2)]].map(|i| surface.points()[i as usize]);
            let part = rng.f64();
            let reach = 10.0_f64.powi(rng.i32(-6..0));
            let p = [0, 1, 2].map(|d| a[d] + part * (b[d] - a[d]) + reach * (rng.f64() - 0.5));
            let squares = (0..surface.triangles().len())
                .map(|i| facet::Facet::of(rows, i).squared_distance(&p).sqrt());
            let squares: Vec<_> = squares.collect();
            let smallest = squares.iter().copied().fold(f64::INFINITY, f64::min);
            let truth = distance(&surface, p);
            assert!((smallest - truth.abs()).abs() < 1e-14, "{name}: {smallest} {truth}");
            // All equally near triangles agree.
            for i in (0..squares.len()).filter(|i| squares[*i] <= smallest + 1e-15) {
                let facet = facet::Facet::of(rows, i);
                let [x, y, z] = facet.local(&p);
                let part = facet.nearest(x, y).part;
                let is_outside = facet::Sides(surface.numbers[i]).is_outside(part, z);
                assert_eq!(is_outside, truth > 0.0, "{name} {p:?} {part} {truth}");
            }
        }
    }
}

#[test]
fn surfaces_are_compared_by_triangles() {
    assert_eq!(knife().build(), knife().build());
    assert_ne!(knife().build(), star().build());
    assert!(format!("{:?}", knife().build()).contains("triangles: 8"));
}
