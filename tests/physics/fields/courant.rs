//! How many cells a particle crosses in a step.

use crate::{
    common::*,
    meshes::{MeshFrames, mixed},
};
use burntrace::{Analytic, Courant, Field, FieldOptions, Flow, Placement};

fn near(found: Option<Courant>, [median, p99, max]: [f64; 3], eps: f64) {
    let found = found.unwrap();
    for (found, expected) in [(found.median, median), (found.p99, p99), (found.max, max)] {
        assert!((found - expected).abs() <= eps * expected, "{found} {expected}");
    }
}

#[test]
fn uniform_flow_crosses_cells_in_proportion_to_their_size() {
    for machine in machines() {
        let eps = 64.0 * machine.eps();
        let even = [even_axis(0.0, 2.0, 20), even_axis(0.0, 1.0, 4), vec![3.0]];
        let frames = Frames::new(even, Placement::Nodes, &[5.0], |_, _| [2.0, -3.0, 7.0]);
        near(Courant::of(&machine.field(&frames), 5.0, -0.1).unwrap(), [2.0; 3], eps);
        let axis = vec![0.0, 1.0, 1.5, 1.75, 1.875];
        let table = [axis, even_axis(0.0, 1.0, 2), even_axis(0.0, 1.0, 2)];
        let frames = Frames::new(table, Placement::Nodes, &[0.0], |_, _| [1.0, 0.0, 0.0]);
        near(Courant::of(&machine.field(&frames), 0.0, 0.5).unwrap(), [1.0, 4.0, 4.0], eps);
        let still = Frames::new(
            [vec![0.0, 1.0], vec![0.0], vec![0.0]],
            Placement::Nodes,
            &[0.0],
            |_, _| [0.0; 3],
        );
        assert_eq!(Courant::of(&machine.field(&still), 0.0, 0.5).unwrap(), None);
    }
    let made = mixed(4);
    let field = MeshFrames::new(&made, &[0.0], |_, _| [0.0, 0.0, 1.0]).field(&machines()[0]);
    let size = field.domain().high[2] - field.domain().low[2];
    // Layers of shaken cells, a fourth of the whole each.
    let found = Courant::of(&field, 0.0, size / 4.0).unwrap().unwrap();
    assert!(found.max >= found.median && (0.6..1.1).contains(&found.median), "{found:?}");
}

/// A degree of longitude is shorter towards the poles.
#[test]
fn degrees_are_converted_to_lengths() {
    let machine = &machines()[0];
    let axes = [even_axis(0.0, 2.0, 2), even_axis(59.5, 60.5, 1), vec![0.0]];
    let frames = Frames::new(axes, Placement::Nodes, &[0.0], |_, _| [1.0, 0.0, 0.0]);
    let radius = 6_371_008.8;
    let options = FieldOptions { radius: Some(radius), ..FieldOptions::default() };
    let field = machine.load(&frames, options);
    let degree = radius.to_radians() * 60_f64.to_radians().cos();
    near(Courant::of(&field, 0.0, 1000.0).unwrap(), [1000.0 / degree; 3], 1e-4);
    let flow = Analytic::new(Flow::named("abc").unwrap(), &machine.device, machine.precision);
    assert_eq!(Courant::of(&flow, 0.0, 1.0).unwrap(), None);
}
