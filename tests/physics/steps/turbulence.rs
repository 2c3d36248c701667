//! Turbulence at particles with inertia: its statistics, and runs as those without it.

use super::inertia::{CELLS, formula, one, plane};
use crate::{
    common::*,
    fields::arrays::{Laden, positions},
};
use burntrace::{
    BoundaryCondition, Domain, Engine, Face, Field, FieldOptions, GridField, Inertia, Inlet,
    InletShape, Pattern, Placement, SaveAt, Seeds, Source, Tracer, Turbulence, TurbulentTime,
};

/// Particles of a relaxation time in turbulence of the energy k and the time scale T.
fn turbulent(tau: f64, k: f64, time: f64) -> Inertia {
    let turbulence = Turbulence::new(k, TurbulentTime::Scale(time.into()), 5);
    Inertia::new(tau, 0.0).turbulence(turbulence)
}

/// The mean square of the displacements along an axis by velocities that are constant within `n` steps of the length h.
fn mean_square(k: f64, time: f64, h: f64, n: i32) -> f64 {
    let (r, x) = ((-h / time).exp(), 0.5 * h / time);
    let variance = 2.0 / 3.0 * k * x.tanh() / x;
    let n_f = f64::from(n);
    variance
        * h
        * h
        * (n_f * (1.0 + r) / (1.0 - r) - 2.0 * r * (1.0 - r.powi(n)) / (1.0 - r).powi(2))
}

#[test]
fn dispersion_is_that_of_langevins_equation() {
    let (k, count) = (0.6, 4000);
    for machine in exact_machines() {
        let domain = Domain::new([-1e3; 3], [1e3; 3]).unwrap();
        let field = formula(["0", "0", "0"], &machine, domain);
        let seeds = Seeds::list(vec![[0.0; 3]; count]).unwrap();
        for (time, h, n) in [(1.0, 0.1, 10), (1.0, 0.1, 60), (0.5, 0.5, 20), (0.05, 0.5, 20)] {
            for tau in [1e-9, 0.3] {
                let tracer = Tracer::new(&field).span(steps(0.0, h * f64::from(n), n as u64));
                let run = trace(&tracer.inertia(turbulent(tau, k, time)), &seeds);
                let squares = run.last().iter().flatten().map(|x| x * x).sum::<f64>();
                let found = squares / (3.0 * count as f64);
                let expected = mean_square(k, time, h, n);
                let name = format!("{machine}, T {time}, h {h}, {n} steps, tau {tau}");
                if tau < h {
                    // Five standard errors.
                    let bound = 5.0 * (2.0 / (3.0 * count as f64)).sqrt();
                    assert_below(&name, (found / expected - 1.0).abs(), bound);
                } else if n == 60 {
                    // In the long run the diffusivity is 2/3 k T whatever tau.
                    let t = h * f64::from(n);
                    let most = 2.0 * (2.0 / 3.0 * k * time) * t;
                    assert!(found < most && found > 0.6 * most, "{name}: {found} {most}");
                }
            }
        }
        // The diffusivity of many steps does not depend on their length.
        let long = mean_square(k, 0.05, 0.5, 2000) / 1000.0;
        assert_below("diffusivity", (long / (4.0 / 3.0 * k * 0.05) - 1.0).abs(), 1e-3);
    }
}

#[test]
fn particles_stay_well_mixed_in_homogeneous_turbulence() {
    let machine = &exact_machines()[0];
    let domain = Domain::new([0.0; 3], [1.0; 3]).unwrap();
    let field = formula(["0", "0", "0"], machine, domain);
    let seeds = Seeds::uniform([0.0; 3], [1.0; 3], 20_000, 3).unwrap();
    for condition in [BoundaryCondition::Periodic, BoundaryCondition::Reflect] {
        for engine in [Engine::Fused, Engine::Tensor] {
            let tracer = Tracer::new(&field)
                .span(steps(0.0, 4.0, 80))
                .all_faces(condition)
                .engine(engine)
                .inertia(turbulent(1e-3, 0.06, 0.4));
            let run = trace(&tracer, &seeds);
            for d in 0..3 {
                let part = |low: f64, high: f64| {
                    let inside = run.last().iter().filter(|p| p[d] >= low && p[d] < high);
                    inside.count() as f64 / (20_000.0 * (high - low))
                };
                for [low, high] in [[0.0, 0.05], [0.05, 0.5], [0.5, 0.95], [0.95, 1.0]] {
                    let error = (part(low, high) - 1.0).abs();
                    let bound = 5.0 / (20_000.0 * (high - low)).sqrt();
                    assert_below(
                        &format!("{condition:?}, {engine:?}, axis {d}, {low}"),
                        error,
                        bound,
                    );
                }
            }
        }
    }
}

#[test]
fn arrays_of_the_field_are_sampled_and_both_engines_agree() {
    let seeds = Seeds::uniform([0.2; 3], [0.8; 3], 50, 3).unwrap();
    let late = seeds.clone().with_release((0..50).map(|i| 0.011 * f64::from(i)).collect()).unwrap();
    for machine in exact_machines() {
        let axes = [0, 1, 2].map(|d| stretched_axis(0.0, 1.0, 3 + d));
        let frames = Frames::new(axes.clone(), Placement::Nodes, &[0.0, 1.0], |p, t| {
            [0.5 - p[1] + 0.1 * t, p[0] - 0.5, 0.2]
        });
        let at = positions(&axes, Placement::Nodes);
        let mut source = Laden::new(
            frames,
            &at,
            &[
                ("other", 3, |p, _, c| p[c]),
                ("k", 1, |[x, ..], t, _| 0.01 + 0.02 * x + 0.01 * t),
                ("epsilon", 1, |[_, y, _], _, _| 0.01 + 0.005 * y),
                ("omega", 1, |[_, y, _], _, _| 2.0 + y),
            ],
        );
        let options = FieldOptions { precision: machine.precision, ..FieldOptions::default() };
        let field = GridField::load(&mut source, &machine.device, &options).unwrap();
        for time in [
            TurbulentTime::Dissipation("epsilon".into()),
            TurbulentTime::Frequency("omega".into()),
            TurbulentTime::Scale(0.3.into()),
        ] {
            let turbulence = Turbulence::new("k", time, 5);
            let inertia = Inertia::new(0.05, 0.0).turbulence(turbulence);
            for (what, seeds) in [("at once", &seeds), ("late", &late)] {
                let tracer = Tracer::new(&field)
                    .span(steps(0.0, 1.0, 20))
                    .save(SaveAt::EveryTime(0.13))
                    .save_velocity(true)
                    .all_faces(BoundaryCondition::Reflect)
                    .inertia(inertia.clone());
                let run = |tracer: Tracer| {
                    let run = trace(&tracer, seeds);
                    (run.saves.concat(), run.velocities.unwrap())
                };
                let [fused, tensor] =
                    [Engine::Fused, Engine::Tensor].map(|of| run(tracer.clone().engine(of)));
                let name = format!("{machine}, {what}");
                assert_below(&name, distance(&fused.0, &tensor.0), 1e-10);
                assert_eq!(fused, run(tracer.clone().batch(7)), "{name}");
                let calm = trace(&tracer.clone().inertia(Inertia::new(0.05, 0.0)), seeds);
                assert!(distance(&fused.0, &calm.saves.concat()) > 0.01, "{name}");
                // The operation that changes nothing changes nothing.
                let hooked = run(tracer.clone().each_step(|step| step.after));
                assert_below(&name, distance(&fused.0, &hooked.0), 1e-10);
            }
        }
        for (turbulence, text) in [
            (
                Turbulence::new("q", TurbulentTime::Scale(0.3.into()), 5),
                "which the field does not have",
            ),
            (Turbulence::new("other", TurbulentTime::Scale(0.3.into()), 5), "has 3 components"),
            (
                Turbulence::new(0.0, TurbulentTime::Scale(0.3.into()), 5),
                "is 0; give a number above 0",
            ),
        ] {
            let inertia = Inertia::new(0.05, 0.0).turbulence(turbulence);
            let tracer = Tracer::new(&field).span(steps(0.0, 1.0, 20)).inertia(inertia);
            let error = tracer.trace(&seeds).unwrap_err().to_string();
            assert!(error.contains(text), "{error}");
        }
    }
}

#[test]
fn cards_and_single_precision_have_the_same_turbulence() {
    let exact = &exact_machines()[0];
    let seeds = Seeds::uniform([-1.0, -1.0, 0.0], [1.0, 1.0, 0.0], 20, 3).unwrap();
    let run = |machine: &Machine| {
        let field = formula(CELLS, machine, plane(20.0));
        let tracer = Tracer::new(&field).span(steps(0.0, 1.0, 4));
        trace(&tracer.inertia(turbulent(0.2, 0.1, 0.3)), &seeds).last().to_vec()
    };
    let expected = run(exact);
    for machine in some_machines() {
        let bound = 1e-12 + 200.0 * machine.eps();
        assert_below(&machine.to_string(), distance(&run(&machine), &expected), bound);
    }
}

#[test]
fn turbulent_runs_resume_to_the_same_bits_and_re_use_slots() {
    let machine = &exact_machines()[0];
    let field = formula(CELLS, machine, plane(20.0));
    let seeds = Seeds::uniform([-3.0, -3.0, 0.0], [3.0, 3.0, 0.0], 30, 5).unwrap();
    let tracer = Tracer::new(&field)
        .span(steps(0.0, 2.0, 40))
        .save(SaveAt::EverySteps(5))
        .save_velocity(true)
        .inertia(turbulent(0.1, 0.2, 0.2));
    crate::runs::resume::assert_resumes("turbulence", &tracer, &seeds);

    let domain = Domain::new([0.0; 3], [1.0, 1.0, 0.0]).unwrap();
    let channel = formula(["1", "0", "0"], machine, domain);
    let inlet = Inlet::new(InletShape::Face(Face::XLow), Pattern::Uniform).unwrap();
    let tracer = Tracer::new(&channel as &dyn Field)
        .span(steps(0.0, 3.0, 60))
        .face(Face::XLow, BoundaryCondition::Reflect)
        .face(Face::YLow, BoundaryCondition::Reflect)
        .face(Face::YHigh, BoundaryCondition::Reflect)
        .outlet(Face::XHigh, inlet)
        .inertia(turbulent(0.05, 0.02, 0.2));
    let ends = |engine| trace(&tracer.clone().engine(engine), &one([0.5, 0.5, 0.0]));
    let [fused, tensor] = [Engine::Fused, Engine::Tensor].map(ends);
    assert!(fused.summary.released > 2);
    assert_below("re-used slots", distance(fused.last(), tensor.last()), 1e-10);

    // Of a source, in launches and saves of any length.
    let open = formula(["1", "0.2 * sin(6 * x)", "0"], machine, domain);
    let inlet = || Inlet::new(InletShape::Face(Face::XLow), Pattern::Uniform).unwrap();
    let ends = |engine, every| {
        let tracer = Tracer::new(&open)
            .span(steps(0.0, 3.0, 60))
            .save(SaveAt::EverySteps(every))
            .source(Source::constant(inlet(), 9.0, 12).unwrap())
            .engine(engine)
            .inertia(turbulent(0.05, 0.02, 0.2));
        trace(&tracer, &one([0.5, 0.5, 0.0]))
    };
    let known = |run: &Run| -> Vec<[f64; 3]> {
        run.last().iter().filter(|p| p[0].is_finite()).copied().collect()
    };
    let whole = ends(Engine::Fused, 60);
    for (engine, every) in [(Engine::Fused, 7), (Engine::Tensor, 60), (Engine::Tensor, 7)] {
        let other = ends(engine, every);
        let (a, b) = (known(&whole), known(&other));
        assert!(a.len() > 5 && a.len() == b.len(), "{} {}", a.len(), b.len());
        assert_below(&format!("a source, {engine:?}, {every}"), distance(&a, &b), 1e-10);
    }
}
