use super::*;
use crate::mesh::Cells;
use burntrace_kernels::CellKind;

/// Frames of values at given places.
struct Made {
    axes: [Vec<f64>; 3],
    points: Vec<[f64; 3]>,
    cells: Cells,
    placement: Placement,
    times: Vec<f64>,
    arrays: Vec<FieldArray>,
    frame: Box<dyn Fn(f64) -> FrameData>,
}

impl FrameSource for Made {
    fn times(&self) -> &[f64] {
        &self.times
    }

    fn arrays(&self) -> &[FieldArray] {
        &self.arrays
    }

    fn read(&mut self, frame: usize) -> std::result::Result<FrameData, SourceError> {
        Ok((self.frame)(self.times[frame]))
    }
}

impl GridSource for Made {
    fn axes(&self) -> &[Vec<f64>; 3] {
        &self.axes
    }

    fn placement(&self) -> Placement {
        self.placement
    }
}

impl MeshSource for Made {
    fn points(&self) -> &[[f64; 3]] {
        &self.points
    }

    fn cells(&self) -> &Cells {
        &self.cells
    }

    fn placement(&self) -> Placement {
        self.placement
    }
}

type Velocity = fn([f64; 3], f64) -> [f64; 3];

/// Velocities at places, and an array `T` that is x + 2 y z.
fn made(
    axes: [Vec<f64>; 3],
    places: Vec<[f64; 3]>,
    placement: Placement,
    velocity: Velocity,
) -> Made {
    let points = places.clone();
    let frame = move |time: f64| {
        let numbers = places.iter().flat_map(|p| velocity(*p, time)).collect();
        let scalars = places.iter().map(|[x, y, z]| x + 2.0 * y * z).collect();
        FrameData::new(Floats::F64(numbers)).with_arrays(vec![Floats::F64(scalars)])
    };
    let arrays = vec![FieldArray::new("T", 1)];
    let (cells, times) = (Cells::default(), vec![0.0, 0.5, 2.0]);
    Made { axes, points, cells, placement, times, arrays, frame: Box::new(frame) }
}

fn axes() -> [Vec<f64>; 3] {
    [vec![0.0, 0.5, 2.0, 3.0], vec![-1.0, 0.0, 0.25], vec![1.0, 2.0, 4.0, 4.5]]
}

fn nodes([xs, ys, zs]: &[Vec<f64>; 3]) -> Vec<[f64; 3]> {
    let row = |y: f64, z: f64| xs.iter().map(move |x| [*x, y, z]);
    zs.iter().flat_map(|z| ys.iter().flat_map(move |y| row(*y, *z))).collect()
}

const ALL: [&str; 7] = [
    "shear_rate",
    "vorticity",
    "q_criterion",
    "divergence",
    "velocity_gradient",
    "acceleration",
    "gradient(T)",
];

fn wanted() -> Vec<Derived> {
    ALL.map(|name| name.parse().unwrap()).to_vec()
}

/// A flow that is linear in space and time.
const LINEAR: Velocity =
    |[x, y, z], t| [1.0 + 2.0 * x - y + 3.0 * t, 0.5 * x + y - 4.0 * z, -3.0 * z + x - 2.0 * t];
const SLOPES: [f64; 9] = [2.0, -1.0, 0.0, 0.5, 1.0, -4.0, 1.0, 0.0, -3.0];

fn assert_near(found: f64, expected: f64, what: &str) {
    assert!((found - expected).abs() < 1e-11, "{what}: {found} instead of {expected}");
}

/// Compares the derived arrays of a linear flow at a place.
fn check(arrays: &[Floats], i: usize, ([x, y, z], t): ([f64; 3], f64)) {
    let [shear, vorticity, q, divergence, slopes, acceleration, _] =
        [1, 2, 3, 4, 5, 6, 7].map(|k| &arrays[k]);
    let symmetric = |a: usize, b: usize| 0.5 * (SLOPES[3 * a + b] + SLOPES[3 * b + a]);
    let square: f64 = (0..9).map(|k| symmetric(k / 3, k % 3).powi(2)).sum();
    assert_near(shear.get(i), (2.0 * square).sqrt(), "shear_rate");
    for (found, expected) in vorticity.vector(i).into_iter().zip([4.0, -1.0, 1.5]) {
        assert_near(found, expected, "vorticity");
    }
    let second: f64 = (0..9).map(|k| SLOPES[k] * SLOPES[3 * (k % 3) + k / 3]).sum();
    assert_near(q.get(i), -0.5 * second, "q_criterion");
    assert_near(divergence.get(i), 0.0, "divergence");
    (0..9).for_each(|k| assert_near(slopes.get(9 * i + k), SLOPES[k], "velocity_gradient"));
    let [u, v, w] = LINEAR([x, y, z], t);
    for (d, by_time) in [3.0, 0.0, -2.0].into_iter().enumerate() {
        let expected = by_time + SLOPES[3 * d] * u + SLOPES[3 * d + 1] * v + SLOPES[3 * d + 2] * w;
        assert_near(acceleration.get(3 * i + d), expected, "acceleration");
    }
}

#[test]
fn linear_flow_has_exact_arrays_on_grids() {
    let centres =
        axes().map(|axis| axis.windows(2).map(|pair| 0.5 * (pair[0] + pair[1])).collect());
    for (placement, places) in
        [(Placement::Nodes, nodes(&axes())), (Placement::Cells, nodes(&centres))]
    {
        let source = made(axes(), places.clone(), placement, LINEAR);
        let mut source = WithDerived::on_grid(source, &wanted(), None).unwrap();
        let names: Vec<&str> = source.arrays().iter().map(|array| &array.name[..]).collect();
        assert_eq!(names[1..], ALL);
        for (frame, time) in [0.0, 0.5, 2.0].into_iter().enumerate() {
            let data = source.read_many(&[frame]).pop().unwrap().unwrap();
            for (i, place) in places.iter().enumerate() {
                check(&data.arrays, i, (*place, time));
                let [_, y, z] = *place;
                for (found, expected) in
                    data.arrays[7].vector(i).into_iter().zip([1.0, 2.0 * z, 2.0 * y])
                {
                    assert_near(found, expected, "gradient(T)");
                }
            }
        }
    }
}

#[test]
fn linear_flow_has_exact_arrays_on_meshes() {
    // A warped hexahedron, two wedges' worth of tetrahedra beside it, and a pyramid on top.
    let points = vec![
        [0.0, 0.0, 0.0],
        [1.0, 0.1, 0.0],
        [1.1, 1.0, 0.2],
        [0.0, 0.9, 0.0],
        [0.0, 0.0, 1.0],
        [1.0, 0.0, 1.2],
        [1.0, 1.0, 1.0],
        [0.1, 1.0, 1.0],
        [0.5, 0.5, 2.0],
        [2.0, 0.5, 0.5],
    ];
    let cells = Cells {
        kinds: vec![CellKind::Hexahedron, CellKind::Pyramid, CellKind::Tetra],
        offsets: vec![0, 8, 13, 17],
        connectivity: vec![0, 1, 2, 3, 4, 5, 6, 7, 4, 5, 6, 7, 8, 1, 2, 6, 9],
    };
    let empty = || [Vec::new(), Vec::new(), Vec::new()];
    let source =
        Made { cells: cells.clone(), ..made(empty(), points.clone(), Placement::Nodes, LINEAR) };
    let mut source = WithDerived::on_mesh(source, &wanted(), None).unwrap();
    let data = source.read(1).unwrap();
    for (i, place) in points.iter().enumerate() {
        check(&data.arrays, i, (*place, 0.5));
    }
    // A flat mesh, where nothing changes along z.
    let flat: Vec<[f64; 3]> = points[..4].iter().map(|[x, y, _]| [*x, *y, 0.0]).collect();
    let quad =
        Cells { kinds: vec![CellKind::Quad], offsets: vec![0, 4], connectivity: vec![0, 1, 2, 3] };
    let source = Made { cells: quad, ..made(empty(), flat, Placement::Nodes, LINEAR) };
    let mut source = WithDerived::on_mesh(source, &[Derived::Vorticity], None).unwrap();
    for i in 0..4 {
        let [x, y, z] = source.read(0).unwrap().arrays[1].vector(i);
        assert_near(x, 0.0, "x");
        assert_near(y, -1.0, "y");
        assert_near(z, 1.5, "z");
    }
}

#[test]
fn values_in_cells_give_the_slopes_between_them() {
    // A row of unit cubes with u = their number.
    let mut points = Vec::new();
    for k in 0..2 {
        for j in 0..2 {
            points.extend((0..6).map(|i| [f64::from(i), f64::from(j), f64::from(k)]));
        }
    }
    let at = |i: u32, j: u32, k: u32| i + 6 * (j + 2 * k);
    let mut cells = Cells { offsets: vec![0], ..Cells::default() };
    for i in 0..5 {
        cells.connectivity.extend((0..8).map(|n| at(i + n % 2, n / 2 % 2, n / 4)));
        cells.kinds.push(CellKind::Voxel);
        cells.offsets.push(cells.connectivity.len() as u32);
    }
    let middles = (0..5).map(|i| [f64::from(i) + 0.5, 0.5, 0.5]).collect();
    let empty = [Vec::new(), Vec::new(), Vec::new()];
    let source = made(empty, middles, Placement::Cells, |[x, ..], _| [x, 0.0, 0.0]);
    let source = Made { cells, points, ..source };
    let mut source = WithDerived::on_mesh(source, &[Derived::Divergence], None).unwrap();
    let data = source.read(0).unwrap();
    // The outer cells, too.
    for i in 0..5 {
        assert_near(data.arrays[1].get(i), 1.0, "divergence");
    }
}

/// Sheared cubes of 3 x 3 x 3, in all of which a linear flow has its arrays, at walls, edges and corners; also where each cube has points of
/// its own, as in files in pieces.
#[test]
fn linear_flow_has_exact_arrays_in_cells() {
    let (mut points, mut cells) = (Vec::new(), Cells { offsets: vec![0], ..Cells::default() });
    let numbers = (0..64_u32).map(|n| [n % 4, n / 4 % 4, n / 16]);
    for [i, j, k] in numbers {
        let [x, y, z] = [i, j, k].map(f64::from);
        points.push([x + 0.2 * y, 0.7 * y + 0.1 * z * z, z - 0.3 * x]);
        if i < 3 && j < 3 && k < 3 {
            let at = |n: u32| (i + n % 2) + 4 * (j + n / 2 % 2) + 16 * (k + n / 4);
            cells.connectivity.extend((0..8).map(at));
            cells.kinds.push(CellKind::Voxel);
            cells.offsets.push(cells.connectivity.len() as u32);
        }
    }
    let own: Vec<[f64; 3]> = cells.connectivity.iter().map(|at| points[*at as usize]).collect();
    let apart = Cells { connectivity: (0..own.len() as u32).collect(), ..cells.clone() };
    for (points, cells) in [(points, cells), (own, apart)] {
        let flow: Velocity = |[x, y, z], _| [y, 2.0 * z - x, 0.5 * x];
        let middles: Vec<[f64; 3]> = (0..27).map(|cell| cells.centre(cell, &points)).collect();
        let empty = [Vec::new(), Vec::new(), Vec::new()];
        let source = made(empty, middles, Placement::Cells, flow);
        let source = Made { cells, points, ..source };
        let wanted = [Derived::Vorticity, Derived::ShearRate];
        let mut source = WithDerived::on_mesh(source, &wanted, None).unwrap();
        let data = source.read(0).unwrap();
        for cell in 0..27 {
            let [x, y, z] = data.arrays[1].vector(cell);
            assert_near(x, -2.0, "x");
            assert_near(y, -0.5, "y");
            assert_near(z, -2.0, "z");
            assert_near(data.arrays[2].get(cell), (4.0_f64 + 0.25).sqrt(), "shear rate");
        }
    }
}

/// Two cubes with points of their own, between which the slope of a value changes: where they meet it is the mean, on both.
#[test]
fn points_that_coincide_have_one_derivative() {
    let mut points = Vec::new();
    for start in [0.0, 1.0] {
        let corner = |n: u32| [start + f64::from(n % 2), f64::from(n / 2 % 2), f64::from(n / 4)];
        points.extend((0..8).map(corner));
    }
    let cells = Cells {
        kinds: vec![CellKind::Voxel; 2],
        offsets: vec![0, 8, 16],
        connectivity: (0..16).collect(),
    };
    let empty = [Vec::new(), Vec::new(), Vec::new()];
    let source = made(empty, points.clone(), Placement::Nodes, |[x, ..], _| {
        [x.max(1.0 + 3.0 * (x - 1.0)), 0.0, 0.0]
    });
    let mut source =
        WithDerived::on_mesh(Made { cells, ..source }, &[Derived::Divergence], None).unwrap();
    let data = source.read(0).unwrap();
    for (i, [x, ..]) in points.into_iter().enumerate() {
        assert_near(data.arrays[1].get(i), [1.0, 2.0, 3.0][x as usize], "divergence");
    }
}

#[test]
fn solid_rotation_of_a_sphere_has_its_vorticity() {
    let radius = 6.4e6;
    let degrees =
        |from: f64, to: f64| (0..=200).map(|i| from + (to - from) * f64::from(i) / 200.0).collect();
    let axes: [Vec<f64>; 3] = [degrees(0.0, 20.0), degrees(30.0, 50.0), vec![0.0]];
    // Once around in 2 pi s: the vorticity upwards is 2 sin(latitude).
    let velocity: Velocity = |[_, lat, _], _| [6.4e6 * lat.to_radians().cos(), 0.0, 0.0];
    let source = made(axes.clone(), nodes(&axes), Placement::Nodes, velocity);
    let wanted = [Derived::Vorticity, Derived::ShearRate, Derived::Acceleration];
    let mut source = WithDerived::on_grid(source, &wanted, Some(radius)).unwrap();
    let data = source.read(0).unwrap();
    for (i, [_, lat, _]) in nodes(&axes).into_iter().enumerate() {
        let (sin, cos) = lat.to_radians().sin_cos();
        let [_, _, up] = data.arrays[1].vector(i);
        assert!((up - 2.0 * sin).abs() < 1e-5, "{lat}: {up}");
        // R cos(latitude) towards the axis, which is north and down.
        let [_, north, up] = data.arrays[3].vector(i).map(|x| x / radius);
        assert!((north - cos * sin).abs() < 1e-5 && (up + cos * cos).abs() < 1e-5, "{north} {up}");
    }
}

#[test]
fn missing_values_are_left_out() {
    let axes = [vec![0.0, 1.0, 2.0, 3.0, 4.0], vec![0.0], vec![0.0]];
    let mut source = made(axes.clone(), nodes(&axes), Placement::Nodes, |_, _| [0.0; 3]);
    source.frame = Box::new(|_| {
        let scalars = vec![0.0, 1.0, f64::NAN, 9.0, 16.0];
        let mut velocity = Floats::F64(vec![1.0; 15]);
        velocity.set_vector(1, [f64::NAN; 3]);
        FrameData::new(velocity).with_arrays(vec![Floats::F64(scalars)])
    });
    let wanted = ["gradient(T)", "divergence"].map(|name| name.parse().unwrap());
    let mut source = WithDerived::on_grid(source, &wanted, None).unwrap();
    let data = source.read(0).unwrap();
    let found: Vec<f64> = (0..5).map(|i| data.arrays[1].vector(i)[0]).collect();
    assert!(found[2].is_nan());
    assert_eq!([found[0], found[1], found[3], found[4]], [1.0, 1.0, 7.0, 7.0]);
    // A missing velocity counts as 0.
    let found: Vec<f64> = (0..5).map(|i| data.arrays[2].get(i)).collect();
    assert_eq!(found, [-2.0, 0.0, 0.5, 0.0, 0.0]);
}

#[test]
fn what_cannot_be_derived_is_refused() {
    let axes = axes();
    let source = || made(axes.clone(), nodes(&axes), Placement::Nodes, LINEAR);
    let refused = |names: &[&str]| {
        let wanted: Vec<Derived> = names.iter().map(|name| name.parse().unwrap()).collect();
        WithDerived::on_grid(source(), &wanted, None).map(drop).unwrap_err().to_string()
    };
    assert!(refused(&["gradient(p)"]).contains("the source has no array `p`; it has `T`"));
    assert!(refused(&["vorticity", "vorticity"]).contains("an array `vorticity` already"));
    let faces = Made { placement: Placement::Faces, ..source() };
    let error = WithDerived::on_mesh(faces, &[Derived::ShearRate], None).map(drop).unwrap_err();
    assert!(error.to_string().contains("on a mesh with velocities on faces"), "{error}");
    assert!("enstrophy".parse::<Derived>().unwrap_err().contains("these are shear_rate"));
}
