//! A device compared with the host, on random paths.

use super::{
    random::{self, Case, case, random_point},
    shapes::is_allowed,
    *,
};
use crate::{
    FieldShape, GridShape, Placement, Scheme, Spacing,
    cube::{
        FieldKind, Form,
        launch::{EndLog, EndLogLaunch, Launch, LaunchLaunch},
        upload::{DeviceTables, upload},
    },
    physics::{
        gates::device::noting, obstacles::device::is_clear_of_all, path::device::pass,
        prelude::device::*, region::device::known, vector::device::vec3,
    },
};
use burn_cubecl::{
    CubeDevice,
    cubecl::{calculate_cube_count_elemwise, device::WgpuDeviceKind},
};
use fastrand::Rng;

const COUNT: usize = 512;
const CASES: usize = 24;

#[cube(launch)]
fn pass_kernel<F: Float>(
    paths: &[F],
    launch: &Launch<F>,
    log: &mut EndLog<F>,
    output: &mut [F],
    codes: &mut [i32],
    #[define(F)] _dtype: ElemType,
) {
    let i = ABSOLUTE_POS;
    if i >= output.len() / 4 {
        terminate!();
    }
    let from = vec3::<F>(paths[6 * i], paths[6 * i + 1], paths[6 * i + 2]);
    let to = vec3::<F>(paths[6 * i + 3], paths[6 * i + 4], paths[6 * i + 5]);
    let is_free = is_clear_of_all::<F>(launch, from, to);
    let mut hint = known::<F>(0i32);
    let mut noting = noting::<F>(0u32);
    let passage = pass::<F>(launch, from, to, &mut hint, &mut noting, log);
    #[unroll]
    for d in 0..3usize {
        output[4 * i + d] = passage.position.extract(d);
    }
    output[4 * i + 3] = passage.fraction;
    codes[6 * i] = passage.status;
    codes[6 * i + 1] = passage.image_x;
    codes[6 * i + 2] = passage.image_y;
    codes[6 * i + 3] = passage.image_z;
    codes[6 * i + 4] = passage.which;
    codes[6 * i + 5] = select(is_free, 1i32, 0i32);
}

/// A path's result on a device.
struct Found {
    passage: ObstaclePassage,
    is_free: bool,
}

fn compute<F: Real>(
    device: &CubeDevice,
    dtype: ElemType,
    case: &Case,
    paths: &[[[f64; 3]; 2]],
) -> Vec<Found> {
    let (mut rows, mut numbers) = geometry::<F>(&case.obstacles);
    if rows.is_empty() {
        rows.push([F::zero(); 3]);
        numbers.push(0);
    }
    let client = device.client();
    let tables = Tables::of_surroundings(&case.boundary, &case.obstacles);
    let of = if size_of::<F>() == 8 { DType::F64 } else { DType::F32 };
    let DeviceTables { floats, ints } = upload(&client, of, &tables.floats, &tables.ints);
    let paths: Vec<F> = paths.iter().flatten().flatten().map(|x| F::of(*x)).collect();
    let output = client.empty(4 * COUNT * size_of::<F>());
    let codes = client.empty(6 * COUNT * size_of::<i32>());
    let dim = CubeDim::new(&client, COUNT);
    let buffer = |bytes: &[u8], count: usize| {
        let handle = client.create_from_slice(bytes);
        // SAFETY: the length is that of the buffer.
        unsafe { BufferArg::from_raw_parts(handle, count) }
    };
    let row_arg = || buffer(bytemuck::cast_slice(&rows), 3 * rows.len());
    let number_arg = || buffer(bytemuck::cast_slice(&numbers), numbers.len());
    let values = || buffer(bytemuck::cast_slice(&[F::zero(); 4]), 1);
    let shape = FieldShape::Grid(GridShape {
        radius: None,
        nodes: [1; 3],
        origin: [0.0; 3],
        pitch: [1.0; 3],
        spacing: Spacing::Uniform,
        placement: Placement::Nodes,
    });
    let features = Features::among(&case.obstacles);
    let form = Form { scheme: Scheme::Euler, kind: FieldKind::of(&shape) };
    // SAFETY: the lengths are those of the buffers.
    let [output_arg, codes_arg] = unsafe {
        [
            BufferArg::from_raw_parts(output.clone(), 4 * COUNT),
            BufferArg::from_raw_parts(codes.clone(), 6 * COUNT),
        ]
    };
    pass_kernel::launch(
        &client,
        calculate_cube_count_elemwise(&client, COUNT, dim),
        dim,
        buffer(bytemuck::cast_slice(&paths), paths.len()),
        LaunchLaunch::new(
            floats,
            ints,
            row_arg(),
            number_arg(),
            values(),
            row_arg(),
            values(),
            number_arg(),
            features,
            form,
        ),
        EndLogLaunch::new(number_arg(), values(), number_arg()),
        output_arg,
        codes_arg,
        dtype,
    );
    let output: Vec<[F; 4]> = bytemuck::pod_collect_to_vec(&client.read_one(output).unwrap());
    let codes: Vec<[i32; 6]> = bytemuck::pod_collect_to_vec(&client.read_one(codes).unwrap());
    output.into_iter().zip(codes).map(|(output, codes)| found(output, codes)).collect()
}

fn found<F: Real>(output: [F; 4], codes: [i32; 6]) -> Found {
    let [x, y, z, fraction] = output.map(|x| number(x));
    let [status, image_x, image_y, image_z, face, is_free] = codes;
    let status = Status::from_code(status).unwrap();
    let passage = ObstaclePassage {
        position: [x, y, z],
        image: [image_x, image_y, image_z],
        end: status.has_ended().then_some((status, fraction)),
        obstacle: usize::try_from(face).ok(),
    };
    Found { passage, is_free: is_free == 1 }
}

/// Whether two passages agree within a tolerance, lengths relative to a width.
fn agree(a: &ObstaclePassage, b: &ObstaclePassage, width: f64, tolerance: f64) -> bool {
    let same_end = match (a.end, b.end) {
        (None, None) => true,
        (Some(a), Some(b)) => a.0 == b.0 && (a.1 - b.1).abs() <= tolerance,
        _ => false,
    };
    let near = |d: usize| (a.position[d] - b.position[d]).abs() <= tolerance * width;
    same_end && a.image == b.image && a.obstacle == b.obstacle && (0..3).all(near)
}

/// The fraction of paths on which a device and the CPU agree within a tolerance. It is 1 on
/// software Vulkan, and may be less elsewhere: many bounces in one step amplify rounding.
fn compare<F: Real>(
    device: &CubeDevice,
    dtypes: (ElemType, DType),
    tolerance: f64,
    case: impl Fn(&mut Rng) -> Case,
) -> f64 {
    let mut rng = Rng::with_seed(11);
    let (mut agreeing, mut free) = (0, 0);
    for _ in 0..CASES {
        let case = case(&mut rng);
        let (low, high) = (case.boundary.low[0], case.boundary.high[0]);
        let size = low.abs().max(high.abs());
        let path = |_| {
            let from = random_point(&mut rng, low, high);
            let reach = (high - low) * [0.01, 0.3, 1.5][rng.usize(0..3)];
            let path = random_point(&mut rng, -reach, reach);
            // Rounded to the device's precision.
            [from, [0, 1, 2].map(|d| from[d] + path[d])].map(|p| p.map(|x| number(F::of(x))))
        };
        let paths: Vec<_> = (0..COUNT).map(path).collect();
        let from: Vec<_> = paths.iter().map(|path| path[0]).collect();
        let to: Vec<_> = paths.iter().map(|path| path[1]).collect();
        let all = obstacle_passages(&case.obstacles, &case.boundary, dtypes.1, &from, &to);
        let start = obstacle_passages(&case.obstacles, &case.boundary, dtypes.1, &from, &from);
        let found = compute::<F>(device, dtypes.0, &case, &paths);
        for i in 0..COUNT {
            let position = found[i].passage.position;
            let allowed = |p| case.obstacles.iter().all(|obstacle| is_allowed(obstacle, p));
            // Without any allowed point, a particle may start and stay on a forbidden side.
            if allowed(start[i].position) {
                assert!(allowed(position), "{position:?} {:?} {:?}", paths[i], case.obstacles);
            }
            let (low, high) = (F::of(low), F::of(high));
            assert!(position.iter().all(|x| low <= F::of(*x) && F::of(*x) <= high));
            let is_in = to[i].iter().all(|x| low <= F::of(*x) && F::of(*x) <= high);
            if found[i].is_free && is_in {
                free += 1;
                assert_eq!((all[i].position, from[i]), (to[i], start[i].position));
            }
            let same = agree(&found[i].passage, &all[i], size, tolerance);
            agreeing += usize::from(same);
        }
    }
    assert!(free > COUNT);
    agreeing as f64 / (COUNT * CASES) as f64
}

#[test]
fn device_matches_cpu_on_analytic_obstacles() {
    let Ok(device) = CubeDevice::vulkan(WgpuDeviceKind::default()) else {
        return crate::requirements::skip("vulkan", "no Vulkan device");
    };
    let single = (f32::elem_type_native(), DType::F32);
    let normal_part = compare::<f32>(&device, single, 1e-3, case);
    assert!(normal_part > 0.99, "{normal_part}");
    let double = (f64::elem_type_native(), DType::F64);
    if device.client().features().supports_type(double.0) {
        let normal_part = compare::<f64>(&device, double, 1e-9, case);
        assert!(normal_part > 0.99, "{normal_part}");
    }
}

#[test]
fn device_matches_cpu_on_land() {
    let Ok(device) = CubeDevice::vulkan(WgpuDeviceKind::default()) else {
        return crate::requirements::skip("vulkan", "no Vulkan device");
    };
    let single = (f32::elem_type_native(), DType::F32);
    let normal_part = compare::<f32>(&device, single, 1e-3, random::ashore);
    assert!(normal_part > 0.99, "{normal_part}");
}

#[test]
fn device_matches_cpu_on_triangulated_surfaces() {
    let Ok(device) = CubeDevice::vulkan(WgpuDeviceKind::default()) else {
        return crate::requirements::skip("vulkan", "no Vulkan device");
    };
    let surfaces = random::surfaces(&mut Rng::with_seed(12));
    let among = |rng: &mut Rng| random::among(rng, &surfaces);
    let single = (f32::elem_type_native(), DType::F32);
    let normal_part = compare::<f32>(&device, single, 1e-3, among);
    assert!(normal_part > 0.99, "{normal_part}");
    let double = (f64::elem_type_native(), DType::F64);
    if device.client().features().supports_type(double.0) {
        let normal_part = compare::<f64>(&device, double, 1e-9, among);
        assert!(normal_part > 0.99, "{normal_part}");
    }
}
