//! Obstacles and faces on the host: against exact shapes, brute force, and devices.

#[cfg(feature = "cube")]
mod device;
#[cfg(feature = "cube")]
mod device_normals;
mod facets;
mod land;
mod normals;
pub(crate) mod random;
mod searches;
pub(crate) mod shapes;

use crate::{
    Allowed, Boundary, BoundaryCondition, ClosedSurface, Obstacle, Shape, Status,
    cpu::{
        Real,
        launch::LaunchData,
        paths::{follow, free_end, replayed},
    },
    geometry::tables,
    physics::{
        facets::host as surfaces, features::Features, obstacles::host as obstacles,
        prelude::host::Vec3, region::host::known, tables::Tables,
    },
    status::{ACTIVE, STUCK},
};
use burn::backend::DType;

/// The rows and numbers of obstacles, as in [`GeometryTensors`](crate::GeometryTensors).
fn geometry<F: Real>(obstacles: &[Obstacle]) -> (Vec<[F; 3]>, Vec<i32>) {
    let tables = || tables(obstacles, &[]);
    let rows = tables().flat_map(|(rows, _)| rows.iter().map(|row| row.map(F::of)));
    (rows.collect(), tables().flat_map(|(_, numbers)| numbers.iter().copied()).collect())
}

/// Obstacles in a box, with the functions of the event loop.
struct Obstacles<F: Real> {
    tables: Vec<i32>,
    floats: Vec<f64>,
    rows: Vec<[F; 3]>,
    numbers: Vec<i32>,
    features: Features,
    low: [F; 3],
    high: [F; 3],
}

#[derive(Debug)]
struct Hit<F> {
    fraction: F,
    normal: [F; 3],
}

/// The end of a path.
#[derive(Debug)]
struct Ended<F> {
    position: [F; 3],
    image: [i32; 3],
    end: Option<(i32, F)>,
    face: Option<i32>,
}

impl<F: Real> Obstacles<F> {
    fn new(obstacles: &[Obstacle], boundary: &Boundary) -> Self {
        let bounded = |x: f64| F::of(x).max(F::min_value()).min(-F::min_value());
        let Tables { floats, ints } = Tables::of_surroundings(boundary, obstacles);
        let (rows, numbers) = geometry(obstacles);
        Obstacles {
            tables: ints,
            floats,
            rows,
            numbers,
            features: Features::among(obstacles),
            low: boundary.low.map(bounded),
            high: boundary.high.map(bounded),
        }
    }

    fn data(&self) -> LaunchData<'_, F> {
        let tables = Tables { floats: self.floats.clone(), ints: self.tables.clone() };
        LaunchData::new(tables, (&self.rows, &self.numbers), self.features)
    }

    fn first_hit(&self, from: &[F; 3], to: &[F; 3]) -> Option<Hit<F>> {
        let data = self.data();
        let hit = obstacles::first_hit(&data.launch(None), Vec3(*from), Vec3(*to));
        (hit.which >= 0).then_some(Hit { fraction: hit.fraction, normal: hit.normal.0 })
    }

    fn is_clear(&self, from: &[F; 3], to: &[F; 3]) -> bool {
        let data = self.data();
        let launch = data.launch(None);
        let (from, to) = (Vec3(*from), Vec3(*to));
        obstacles::is_clear_of_all(&launch, from, to)
    }

    fn nearest_allowed(&self, point: [F; 3]) -> Option<[F; 3]> {
        let data = self.data();
        let nearest = obstacles::nearest_allowed(&data.launch(None), Vec3(point));
        nearest.is_allowed.then_some(nearest.point.0)
    }

    fn pass(&self, from: &[F; 3], to: &[F; 3]) -> Ended<F> {
        let data = self.data();
        let passage = follow(&data.launch(None), [Vec3(*from), Vec3(*to)], &mut known(0));
        let has_ended = passage.status != ACTIVE;
        Ended {
            position: passage.position.0,
            image: [passage.image_x, passage.image_y, passage.image_z],
            end: has_ended.then_some((passage.status, passage.fraction)),
            face: (has_ended && passage.which >= 0).then_some(passage.which),
        }
    }
}

/// A closed surface.
struct Facets<F: Real>(Obstacles<F>);

impl<F: Real> Facets<F> {
    fn new(surface: &std::sync::Arc<ClosedSurface>) -> Self {
        let shape = Shape::Surface(surface.clone());
        let solid =
            Obstacle { shape, allowed: Allowed::Outside, surface: BoundaryCondition::Reflect };
        Facets(Obstacles::new(&[solid], &shapes::OPEN))
    }

    /// Signed distance, and the point corrected to the outside.
    fn probe(&self, p: &[F; 3]) -> (F, [F; 3]) {
        let data = self.0.data();
        let launch = data.launch(None);
        let facets = surfaces::load(&launch, 0);
        let value = surfaces::probe(&launch, &facets, Vec3(*p), false).clearance;
        let probe = surfaces::probe(&launch, &facets, Vec3(*p), true);
        assert!(value == probe.clearance);
        (value, probe.off.0)
    }
}

fn dot<F: Real>(a: &[F; 3], b: &[F; 3]) -> F {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

fn minus<F: Real>(a: &[F; 3], b: &[F; 3]) -> [F; 3] {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

/// `a + factor * b`.
fn plus<F: Real>(a: &[F; 3], b: &[F; 3], factor: F) -> [F; 3] {
    [a[0] + factor * b[0], a[1] + factor * b[1], a[2] + factor * b[2]]
}

fn number<F: Real>(x: F) -> f64 {
    x.exact()
}

/// The end of a path among obstacles.
#[derive(Clone, Copy, Debug, PartialEq)]
struct ObstaclePassage {
    position: [f64; 3],
    image: [i32; 3],
    end: Option<(Status, f64)>,
    obstacle: Option<usize>,
}

/// The ends of the paths `from -> to`.
fn obstacle_passages(
    obstacles: &[Obstacle],
    boundary: &Boundary,
    dtype: DType,
    from: &[[f64; 3]],
    to: &[[f64; 3]],
) -> Vec<ObstaclePassage> {
    match dtype {
        DType::F32 => Obstacles::<f32>::new(obstacles, boundary).passages(from, to),
        _ => Obstacles::<f64>::new(obstacles, boundary).passages(from, to),
    }
}

impl<F: Real> Obstacles<F> {
    fn passages(&self, from: &[[f64; 3]], to: &[[f64; 3]]) -> Vec<ObstaclePassage> {
        let data = self.data();
        let (launch, exact) = (data.launch(None), data.launch_dual(None));
        let passage = |(from, to): (&[f64; 3], &[f64; 3])| {
            let (from, to) = (from.map(F::of), to.map(F::of));
            if free_end(&launch, from, to, 0).is_some() {
                let (position, image) = (to.map(F::exact), [0; 3]);
                return ObstaclePassage { position, image, end: None, obstacle: None };
            }
            let end = replayed(&exact, from, to, 0);
            use Status::{Beached, HitObstacle, LeftField, Stuck};
            let at_one = matches!(end.end, Some((Stuck | HitObstacle | Beached | LeftField, _)));
            ObstaclePassage {
                position: end.position,
                image: end.image,
                end: end.end,
                obstacle: usize::try_from(end.location).ok().filter(|_| at_one),
            }
        };
        from.iter().zip(to).map(passage).collect()
    }
}
