//! Long device work: many steps in a run, many nodes in a search.

use crate::{
    cloud::{Cloud, single},
    common::*,
};
use burntrace::{BoundaryCondition, Engine, Error, Placement, Scheme, Seeds, Tracer, Weighting};

/// A search on axes of 201 nodes takes eight iterations for each axis and stage: a hundred thousand in a
/// launch of 1024 steps, above the limit of 65,535 of a software rasteriser.
#[test]
fn thousand_steps_on_stretched_axes_agree_on_all_devices() {
    let axes = [(); 3].map(|_| stretched_axis(-1.0, 1.0, 200));
    let frames = Frames::new(axes, Placement::Nodes, &[0.0], |[x, y, z], _| [-y, x, 0.1 * z]);
    let points = Dice(71).points([-0.6; 3], [0.6; 3], 20);
    let seeds = Seeds::list(points).unwrap();
    let mut first: Option<Run> = None;
    for machine in machines().into_iter().filter(|machine| !machine.is_double()) {
        let field = machine.field(&frames);
        let tracer = Tracer::new(&field).engine(Engine::Fused).span(steps(0.0, 3.0, 1000));
        let run = trace(&tracer, &seeds);
        let first = first.get_or_insert_with(|| run.clone());
        let (a, b) = (first.saves.last().unwrap(), run.saves.last().unwrap());
        assert_below(&machine.to_string(), distance(a, b), 1000.0 * machine.eps());
    }
}

/// All nodes but one are in one search cell, so that a search visits all of them. A device that cannot
/// complete it reports an error.
#[test]
fn search_beyond_a_device_limit_is_an_error_or_exact() {
    let mut nodes = single(Dice(72).points([0.0; 3], [0.001; 3], 70_000));
    nodes.push([1.0; 3]);
    let cloud = Cloud::new(nodes, &[0.0], Weighting::Nearest, |[x, y, z], _| [y, z, x]);
    let seeds = Seeds::list(single(Dice(73).points([0.0; 3], [0.001; 3], 8))).unwrap();
    let mut first = None;
    for machine in machines().into_iter().filter(|machine| !machine.is_double()) {
        let field = cloud.load(&machine);
        let tracer = Tracer::new(&field).scheme(Scheme::Euler).all_faces(BoundaryCondition::Clamp);
        match tracer.span(steps(0.0, 0.1, 4)).trace(&seeds) {
            Ok(tracks) => {
                let end = rows(tracks.saves()[0].position.clone());
                let first = first.get_or_insert_with(|| end.clone());
                assert_below(&machine.to_string(), distance(first, &end), 1e-6);
            }
            Err(Error::Execution(message)) if !machine.is_cpu() => {
                assert!(message.contains("ended a loop"), "{machine}: {message}")
            }
            Err(error) => panic!("{machine}: {error}"),
        }
    }
}
