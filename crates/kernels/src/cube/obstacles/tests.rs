//! A device compared with the CPU, on random paths.

use super::{
    super::{
        tables::{FACES, FRAME_INTERVALS, STEP_INTERVALS},
        vec4,
    },
    *,
};
use crate::{
    ObstaclePassage, Status,
    cpu::{
        self,
        obstacles::{
            random::{self, Case, case, random_point},
            tests::is_allowed,
        },
    },
    obstacle_passages,
};
use burn::backend::DType;
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
    rows: &[F],
    numbers: &[i32],
    floats: &[F],
    ints: &[i32],
    output: &mut [F],
    codes: &mut [i32],
    #[comptime] surfaces: bool,
    #[define(F)] _dtype: ElemType,
) {
    let i = ABSOLUTE_POS;
    if i >= output.len() / 4 {
        terminate!();
    }
    let from = vec4::<F>(paths[6 * i], paths[6 * i + 1], paths[6 * i + 2]);
    let to = vec4::<F>(paths[6 * i + 3], paths[6 * i + 4], paths[6 * i + 5]);
    let is_free = is_clear_of_all::<F>(
        rows,
        numbers,
        floats,
        ints,
        from,
        to,
        FRAME_INTERVALS,
        STEP_INTERVALS,
        surfaces,
    );
    let passage =
        pass::<F>(rows, numbers, floats, ints, from, to, FRAME_INTERVALS, STEP_INTERVALS, surfaces);
    #[unroll]
    for d in 0..3usize {
        output[4 * i + d] = passage.position.extract(d);
    }
    output[4 * i + 3] = passage.fraction;
    codes[6 * i] = passage.status;
    codes[6 * i + 1] = passage.image_x;
    codes[6 * i + 2] = passage.image_y;
    codes[6 * i + 3] = passage.image_z;
    codes[6 * i + 4] = passage.face;
    codes[6 * i + 5] = select(is_free, 1i32, 0i32);
}

/// A path's result on a device.
struct Found {
    passage: ObstaclePassage,
    is_free: bool,
}

fn compute<F: cpu::Real>(
    device: &CubeDevice,
    dtype: ElemType,
    case: &Case,
    paths: &[[[f64; 3]; 2]],
) -> Vec<Found> {
    let (mut floats, mut ints) = (vec![0.0; FRAME_INTERVALS], vec![0; STEP_INTERVALS]);
    floats[LOW..][..3].copy_from_slice(&case.boundary.low);
    floats[HIGH..][..3].copy_from_slice(&case.boundary.high);
    for (face, condition) in ints[FACES..].iter_mut().zip(case.boundary.faces.iter().flatten()) {
        *face = condition.code();
    }
    let (shapes, codes) = packed(&case.obstacles, 0);
    floats.extend(shapes);
    ints.extend(codes);
    let mut triangles = vec![0.0];
    let mut numbers = vec![0];
    if surfaces(&case.obstacles).next().is_some() {
        triangles.clear();
        numbers.clear();
    }
    for surface in surfaces(&case.obstacles) {
        triangles.extend(surface.double().iter().flatten());
        numbers.extend(&surface.numbers);
    }
    let client = device.client();
    let upload = |numbers: Vec<f64>| {
        let numbers: Vec<F> =
            numbers.into_iter().map(|x| F::of(x).max(F::min_value()).min(F::max_value())).collect();
        let handle = client.create_from_slice(bytemuck::cast_slice(&numbers));
        // SAFETY: the length is that of the buffer.
        unsafe { BufferArg::from_raw_parts(handle, numbers.len()) }
    };
    let output = client.empty(4 * COUNT * size_of::<F>());
    let codes = client.empty(6 * COUNT * size_of::<i32>());
    let int_arg = client.create_from_slice(bytemuck::cast_slice(&ints));
    let number_arg = client.create_from_slice(bytemuck::cast_slice(&numbers));
    let dim = CubeDim::new(&client, COUNT);
    // SAFETY: the lengths are those of the buffers.
    let [int_arg, number_arg, output_arg, codes_arg] = unsafe {
        [
            BufferArg::from_raw_parts(int_arg, ints.len()),
            BufferArg::from_raw_parts(number_arg, numbers.len()),
            BufferArg::from_raw_parts(output.clone(), 4 * COUNT),
            BufferArg::from_raw_parts(codes.clone(), 6 * COUNT),
        ]
    };
    pass_kernel::launch(
        &client,
        calculate_cube_count_elemwise(&client, COUNT, dim),
        dim,
        upload(paths.iter().flatten().flatten().copied().collect()),
        upload(triangles),
        number_arg,
        upload(floats),
        int_arg,
        output_arg,
        codes_arg,
        surfaces(&case.obstacles).next().is_some(),
        dtype,
    );
    let output: Vec<[F; 4]> = bytemuck::pod_collect_to_vec(&client.read_one(output).unwrap());
    let codes: Vec<[i32; 6]> = bytemuck::pod_collect_to_vec(&client.read_one(codes).unwrap());
    output.into_iter().zip(codes).map(|(output, codes)| found(output, codes)).collect()
}

fn found<F: cpu::Real>(output: [F; 4], codes: [i32; 6]) -> Found {
    let [x, y, z, fraction] = output.map(|x| num_traits::cast::<F, f64>(x).unwrap());
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
fn compare<F: cpu::Real>(
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
            [from, [0, 1, 2].map(|d| from[d] + path[d])]
                .map(|p| p.map(|x| num_traits::cast::<F, f64>(F::of(x)).unwrap()))
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
