//! Settling as an operation: a thread takes one particle to the end of a step that an engine has computed.

use super::{
    Form, Log, MANY, Vec4, buffers, cubecl,
    launch::{EndLog, Launch, Rows},
    mesh, own,
    particle::{load, store},
    reinjection::{count_of, reinject},
    rows,
    sampler::recall,
    settle::{finite, go},
    stages::rest_of,
    vec4,
};
use crate::{
    Segment,
    geometry::table_rows,
    ops::{Advanced, Ends, Geometry, Sampled, State},
    physics::{
        diffusion::device::{Address, Spread, displacement},
        features::Features,
        gates::device::{Noting, noting},
        particle::device::{Particle, lost_status},
        settle::device::{FreeEnd, await_release, end},
        slots::device::assign_first_release,
        tables::{FIRST_SLOT, FIRST_STEP, FRAME_INTERVALS, INTERVAL_COUNT, Tables},
    },
    settling::{DEFERS, GIVES_UP, MOVES, PUSHED, REJECTED, SLOW, UNKNOWN, WAKES},
    status::{ACTIVE, STAGNANT, STEP_TOO_SMALL},
};
use burn::backend::cubecl::dtype_to_storage_type;
use burn_cubecl::{
    CubeBackend,
    cubecl::{calculate_cube_count_elemwise, prelude::*},
    kernel::into_contiguous,
};

/// The free ends of a step; see [`FreeEnds`](crate::FreeEnds).
#[derive(CubeType, CubeLaunch)]
pub(super) struct EndRows<F: Float> {
    pub displacement: Box<[F]>,
    pub span: Box<[F]>,
    pub spread: Box<[F]>,
    pub flags: Box<[i32]>,
    /// Number of spans: one for all particles, or one for each.
    pub spans: usize,
}

/// `TraceBackend::settle` on a CubeCL device.
pub(crate) fn settle(
    (state, ends): (State<CubeBackend>, Ends<CubeBackend>),
    field: Sampled<CubeBackend>,
    geometry: Geometry<CubeBackend>,
    segment: &Segment,
) -> Advanced<CubeBackend> {
    assert!(segment.slots.is_none(), "rows must be in the order of slots");
    let form = (Form::new(&field, segment), Features::new(&field.shape, segment));
    let state = State::<CubeBackend> {
        position: own(state.position),
        record: own(state.record),
        fraction: own(state.fraction),
    };
    let client = state.position.client.clone();
    let (count, dtype) = (state.fraction.meta.shape()[0], state.position.dtype);
    let spans = ends.span.meta.shape()[0];
    let first_row = geometry.rows.meta.shape()[0] - table_rows(&segment.obstacles, &segment.gates);
    let tables = Tables::new((&field.shape, field.groups), segment, first_row);
    let log = Log::new(&state, segment);
    let dim = CubeDim::new(&client, MANY);
    settle_kernel::launch(
        &client,
        calculate_cube_count_elemwise(&client, count, dim),
        dim,
        rows(&state),
        log.launch(),
        EndRowsLaunch::new(
            into_contiguous(ends.displacement).into_buffer_arg(),
            into_contiguous(ends.span).into_buffer_arg(),
            into_contiguous(ends.spread).into_buffer_arg(),
            into_contiguous(ends.flags).into_buffer_arg(),
            spans,
        ),
        count,
        buffers(&client, field, Some(geometry), tables, form),
        dtype_to_storage_type(dtype),
    );
    log.with(state)
}

#[cube(launch)]
fn settle_kernel<F: Float>(
    rows: &mut Rows<F>,
    log: &mut EndLog<F>,
    ends: &EndRows<F>,
    count: usize,
    launch: &Launch<F>,
    #[define(F)] _dtype: ElemType,
) {
    let i = ABSOLUTE_POS;
    if i >= count {
        terminate!();
    }
    let slot = i as u32 + launch.int(FIRST_SLOT) as u32;
    let flags = ends.flags[i];
    let mut particle = load::<F>(launch, rows, i);
    let mut noting = noting::<F>(slot);
    if comptime!(launch.features.reuses_slots) {
        let wakes = flags & WAKES != 0i32;
        if wakes {
            assign_first_release::<F>(launch, &mut particle, slot);
        }
    }
    if flags & (MOVES | PUSHED | REJECTED | GIVES_UP) != 0i32 {
        particle.status = i32::new(ACTIVE as i64);
        if flags & REJECTED != 0i32 {
            particle.rejected += 1;
        } else if flags & PUSHED == 0i32 || is_displaced::<F>(ends, i) {
            take::<F>(launch, &mut particle, ends, i, &mut noting, log);
        }
        if comptime!(launch.features.reuses_slots) {
            let is_new = reinject::<F>(launch, &mut particle, &mut noting.logged, log, slot);
            if is_new {
                await_release::<F>(launch, &mut particle, flags & DEFERS != 0i32);
            }
        }
    }
    store::<F>(launch, rows, i, &particle);
    if comptime!(launch.features.logs()) {
        log.count[i] = count_of::<F>(&noting);
    }
}

/// Whether a displacement is not 0. Devices take NaN as not unequal to 0.
#[cube]
fn is_displaced<F: Float>(ends: &EndRows<F>, i: usize) -> bool {
    let zero = F::new(0.0_f32);
    let d = 3 * i;
    let stays = ends.displacement[d] == zero
        && ends.displacement[d + 1] == zero
        && ends.displacement[d + 2] == zero;
    !stays
}

/// Takes a particle to the end of its step.
#[cube]
fn take<F: Float>(
    launch: &Launch<F>,
    particle: &mut Particle<F>,
    ends: &EndRows<F>,
    i: usize,
    noting: &mut Noting<F>,
    log: &mut EndLog<F>,
) {
    let flags = ends.flags[i];
    let number = launch.int(FIRST_STEP);
    let gives_up = flags & GIVES_UP != 0i32;
    particle.accepted += select(gives_up, 0i32, 1i32);
    let free = free_end::<F>(launch, particle, ends, i, noting.slot);
    if gives_up {
        end::<F>(particle, STEP_TOO_SMALL, number, free.start);
    } else if !finite::<F>(free.to) {
        let is_first = particle.step == number && particle.fraction == free.start;
        let is_in_field = flags & UNKNOWN == 0i32;
        let status = lost_status(is_first, is_in_field, comptime!(launch.features.holes));
        end::<F>(particle, status, number, free.start);
    } else if flags & SLOW != 0i32 {
        end::<F>(particle, STAGNANT, number, free.start);
    } else {
        let mut hint = recall::<F>(launch, particle.location);
        if comptime!(launch.features.mesh) {
            mesh::enter::<F>(launch, particle.position, &mut hint.mesh);
        }
        noting.number = number;
        go::<F>(launch, particle, &free, &mut hint, noting, log);
    }
}

/// The free end of a particle, with the displacement of the random walk.
#[cube]
fn free_end<F: Float>(
    launch: &Launch<F>,
    particle: &mut Particle<F>,
    ends: &EndRows<F>,
    i: usize,
    slot: u32,
) -> FreeEnd<F> {
    let d = 3 * i;
    let of_field =
        vec4::<F>(ends.displacement[d], ends.displacement[d + 1], ends.displacement[d + 2]);
    let step = of_field + particle.rest;
    let from = particle.position;
    let mut to = from + step;
    let mut rest = rest_of::<F>(launch, from, step, to);
    let s = select(ends.spans > 1, 2 * i, 0usize);
    let (start, until) = (ends.span[s], ends.span[s + 1]);
    let full_dt = launch.float(FRAME_INTERVALS + launch.int(INTERVAL_COUNT) as usize + 1);
    let h = (until - start) * full_dt;
    if comptime!(launch.features.walk.is_on) {
        let mut here = F::new(1.0_f32);
        let mut gradient = Vec4::<F>::new(F::new(0.0_f32));
        if comptime!(launch.features.walk.varies) {
            let at = 4 * i;
            here = ends.spread[at];
            gradient = vec4::<F>(ends.spread[at + 1], ends.spread[at + 2], ends.spread[at + 3]);
        }
        let address = Address {
            slot,
            generation: particle.generation as u32,
            step: launch.int(FIRST_STEP) as u32,
        };
        let spread = Spread::<F> { here, gradient };
        let step = displacement::<F>(launch, &address, &spread, h) + rest;
        let moved = to + step;
        rest = rest_of::<F>(launch, to, step, moved);
        to = moved;
    }
    FreeEnd::<F> { to, rest, start, until, h }
}
