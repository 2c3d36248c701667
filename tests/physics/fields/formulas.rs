//! Formulas: the fused operation against tensor operations and differences.

use crate::{common::*, gradients::adjoint::tensor};
use burn::tensor::Device;
use burntrace::{
    Analytic, BoundaryCondition, Domain, Engine, FLOW_MAP_GRADIENT, Field, Flow, Formula,
    Precision, RandomWalk, SaveAt, Scheme, Seeds, Status, Tolerance, Tracer,
};

/// A formula with all functions, bounded in the unit cube.
fn everything() -> Flow {
    let definitions = [
        ("s", "0.3*sin(2*x + t) + 0.2*cos(3*y - 0.5*t) + 0.1*tan(0.4*z)"),
        ("i", "asin(0.5*x)*acos(0.4*y) - atan(z) + 0.1*atan2(y + 2, x - 3)"),
        ("h", "0.1*sinh(x) - 0.1*cosh(y) + 0.2*tanh(z*t)"),
        ("e", "exp(-x*x) + log(2 + y) - log10(3 + z) + sqrt(1 + x*y)"),
        ("m", "min(x, 0.5*y) + max(z, 0.3) + abs(x - 0.4) + 0.05*floor(4*y)"),
        ("p", "(1 + x)^1.7 - (0.2 - y)^3 + 2^z + hypot(x, y + 1)"),
        ("c", "if(x + y < 1, 0.2*x, 0.3*y) + if(t >= 0.5, 0.1, -0.1*z)"),
    ];
    let velocity = ["s + 0.1*i - c", "0.3*h + 0.2*e - 0.1*p", "0.2*m - 0.1*e + 0.5*c*s"];
    Flow::Formula(Formula::parse(velocity, &definitions).unwrap())
}

fn flows() -> Vec<(String, Flow, Domain)> {
    let named = Flow::NAMES.map(|name| (name.to_string(), Flow::named(name).unwrap()));
    let own = ("everything".to_string(), everything());
    let domain = |flow: &Flow| match flow {
        Flow::Formula(_) => Domain::new([0.0; 3], [1.0; 3]).unwrap(),
        built_in => built_in.domain(),
    };
    named.into_iter().chain([own]).map(|(name, flow)| (name, flow.clone(), domain(&flow))).collect()
}

/// A time in which nothing moves by more than about half of the domain, its faces included.
fn duration(flow: &Flow, domain: &Domain) -> f64 {
    let place = |d: usize, part: usize| domain.low[d] + 0.25 * part as f64 * domain.size()[d];
    let lattice = (0..125).map(|i| [place(0, i % 5), place(1, i / 5 % 5), place(2, i / 25)]);
    let positions = lattice.flatten().collect();
    let positions = tensor(positions, [125, 3], &Device::flex());
    let speeds =
        rows(flow.velocity(positions, 0.2)).into_iter().map(|u| distance(&[u], &[[0.0; 3]]));
    0.5 * domain.size().into_iter().fold(0.0, f64::max) / speeds.fold(0.0, f64::max)
}

fn seeds_in(domain: &Domain) -> Seeds {
    let inner = |part: f64| [0, 1, 2].map(|d| domain.low[d] + part * domain.size()[d]);
    Seeds::list(Dice(4).points(inner(0.1), inner(0.9), 17)).unwrap()
}

/// Positions in parts of the domain's size.
fn run(field: &dyn Field, tracer: Tracer, seeds: &Seeds) -> Vec<[f64; 3]> {
    let size = field.domain().size().into_iter().fold(0.0, f64::max);
    trace(&tracer, seeds).last().iter().map(|p| p.map(|x| x / size)).collect()
}

#[test]
fn both_engines_agree_for_all_flows_and_schemes() {
    for (name, flow, domain) in flows() {
        let time = duration(&flow, &domain);
        for scheme in Scheme::ALL {
            let machines = machines().into_iter().filter(|machine| {
                // Each flow and scheme compiles a kernel; `everything` has all functions. Vulkan has none in double
                // precision.
                let is_on_cards = ["everything", "double-gyre", "abc", "hill"].contains(&&*name);
                machine.is_cpu() || is_on_cards && !machine.is_double() && scheme == Scheme::Rk4
            });
            for machine in machines {
                let of = |engine| {
                    let device = match engine {
                        Engine::Fused => machine.device.clone(),
                        Engine::Tensor => Device::flex(),
                    };
                    let field = Analytic::new(flow.clone(), &device, machine.precision);
                    let field = field.with_domain(domain);
                    let tracer = Tracer::new(&field).scheme(scheme).engine(engine);
                    let tracer = tracer.span(steps(0.1 * time, 1.1 * time, 8));
                    run(&field, tracer.all_faces(BoundaryCondition::Reflect), &seeds_in(&domain))
                };
                let off = distance(&of(Engine::Fused), &of(Engine::Tensor));
                assert_below(&format!("{machine}, {name}, {scheme:?}"), off, 60.0 * machine.eps());
            }
        }
    }
}

#[test]
fn both_engines_agree_for_all_conditions() {
    use BoundaryCondition::*;
    let domain = Domain::new([0.0; 3], [1.0; 3]).unwrap();
    for machine in exact_machines() {
        let field = Analytic::new(everything(), &machine.device, machine.precision);
        let field = field.with_domain(domain);
        let release = (0..17).map(|i| 0.13 * f64::from(i % 5)).collect();
        let seeds = seeds_in(&domain).with_release(release).unwrap();
        for condition in [Exit, Reflect, Slide, Stick, Clamp, Periodic] {
            let of = |engine| {
                let tracer = Tracer::new(&field).all_faces(condition).engine(engine);
                let tracer =
                    tracer.span(steps(0.0, 2.0, 9)).random_walk(RandomWalk::isotropic(1e-3, 5));
                trace(&tracer, &seeds)
            };
            let (fused, tensor) = (of(Engine::Fused), of(Engine::Tensor));
            assert_eq!(fused.status, tensor.status, "{machine}, {condition:?}");
            let what = format!("{machine}, {condition:?}");
            assert_below(&what, distance(fused.last(), tensor.last()), 1e-12);
        }
    }
}

#[test]
fn adaptive_steps_of_both_engines_agree() {
    for machine in exact_machines() {
        let flow = Flow::named("double-gyre").unwrap();
        let field = Analytic::new(flow, &machine.device, machine.precision);
        let of = |engine| {
            let tracer = Tracer::new(&field).scheme(Scheme::DormandPrince).engine(engine);
            let tracer = tracer.tolerance(Tolerance::new(1e-6, 1e-6)).span(steps(0.0, 10.0, 3));
            trace(&tracer, &seeds_in(&field.domain()))
        };
        let (fused, tensor) = (of(Engine::Fused), of(Engine::Tensor));
        assert_below(&machine.to_string(), distance(fused.last(), tensor.last()), 1e-9);
    }
}

/// In single precision, a late time has few digits left for the phase of an oscillation. The field of an inertial
/// oscillation is uniform: the exact displacement is that of f64.
#[test]
fn late_times_lose_nothing_in_single_precision() {
    let flow = Flow::StationaryEddy { speed: 1.0, coriolis: 1.0 };
    let start = 1e7;
    let of = |machine: &Machine| {
        let field = Analytic::new(flow.clone(), &machine.device, machine.precision);
        let field = field.with_domain(Domain::new([-9.0; 3], [9.0; 3]).unwrap());
        let seeds = Seeds::list(vec![[0.5, 0.25, 0.0]]).unwrap();
        trace(&Tracer::new(&field).span(steps(start, start + 2.0, 40)), &seeds).last().to_vec()
    };
    let exact = of(&exact_machines()[0]);
    for machine in machines().into_iter().filter(|m| m.is_cpu() || !m.is_double()) {
        let off = distance(&of(&machine), &exact);
        assert_below(&machine.to_string(), off, 8.0 * machine.eps());
    }
}

/// Late times and far domains: the exact motion is that of f64.
#[test]
fn sums_that_single_precision_would_lose_are_kept() {
    let near = ([-10.0, -10.0, 0.0], [10.0, 10.0, 0.0], [0.5, 0.25, 0.0]);
    let utm = ([5e5, 5e6, 0.0], [5.1e5, 5.01e6, 100.0], [505000.3, 5005000.3, 50.0]);
    let far = ([1e8, 0.0, 0.0], [1e8 + 10.0, 1.0, 1.0], [1e8 + 1.0, 0.5, 0.5]);
    let cases = [
        (["0", "cos(x - t)", "0"], near, 1e7),
        (["0", "sin(2*x - 3*(t + y)) + tan(0.1*(x - t))^2", "0"], near, 1e7),
        (["0.3*(x - t - floor(x - t))", "min(t - x, 10000001) - 1e7", "0"], near, 1e7),
        (["if(x + t < 10000000.6, 0.2, -0.1)", "abs(x - (t - 1e7))", "0"], near, 1e7),
        (["0.001", "0.002", "0"], utm, 0.0),
        (["0.1*sin(0.01*x)", "0.1*hypot((x - 505000)/100, (y - 5005000)/50)", "0"], utm, 0.0),
        (
            ["0.1*exp(-((x - 505000 - 0.1*t)/10)^2)", "0.01*(y - 5005000 + x - 505000)", "0"],
            utm,
            0.0,
        ),
        (["0.1", "0.01", "0"], far, 0.0),
    ];
    for (velocity, (low, high, seed), t0) in cases {
        let flow = Flow::Formula(Formula::parse(velocity, &[]).unwrap());
        let of = |machine: &Machine, engine| {
            let field = Analytic::new(flow.clone(), &machine.device, machine.precision);
            let field = field.with_domain(Domain::new(low, high).unwrap());
            let tracer = Tracer::new(&field).engine(engine).span(steps(t0, t0 + 2.0, 40));
            let tracks = tracer.trace(&Seeds::list(vec![seed]).unwrap()).unwrap();
            tracks.saves().last().unwrap().exact_positions().unwrap()[0]
        };
        let exact = of(&exact_machines()[0], Engine::Fused);
        for machine in machines() {
            if !machine.is_cpu() && machine.is_double() {
                continue;
            }
            for &engine in machine.engines() {
                let moved = |p: [f64; 3]| [0, 1, 2].map(|d| p[d] - seed[d]);
                let off = distance(&[moved(of(&machine, engine))], &[moved(exact)]);
                // Of rounding of the position relative to the origin.
                let size =
                    (0..3).map(|d| (seed[d] - 0.5 * (low[d] + high[d])).abs()).fold(1.0, f64::max);
                assert_below(
                    &format!("{machine}, {engine}, {velocity:?}"),
                    off,
                    20.0 * size * machine.eps(),
                );
            }
        }
    }
}

/// Where a formula has no value, particles end.
#[test]
fn particles_end_where_a_formula_is_not_a_number() {
    let root = "sqrt(0.5 - x)";
    let compared =
        ["min(1, s)", "min(s, 1)", "max(0, s)", "if(s < 0.1, 1, 2)", "if(0.1 <= s, 1, 2)"];
    for v in [root].into_iter().chain(compared) {
        let flow = Flow::Formula(Formula::parse(["1", v, "0"], &[("s", root)]).unwrap());
        for machine in machines().into_iter().filter(|m| m.is_cpu() || !m.is_double()) {
            let field = Analytic::new(flow.clone(), &machine.device, machine.precision);
            let field = field.with_domain(Domain::new([0.0; 3], [9.0; 3]).unwrap());
            let seeds = vec![[0.0, 1.0, 0.0], [0.4, 1.0, 0.0], [-0.0, 2.0, 1.0]];
            let seeds = Seeds::list(seeds).unwrap();
            for &engine in machine.engines() {
                let tracer = Tracer::new(&field).engine(engine).span(steps(0.0, 0.9, 9));
                let run = trace(&tracer, &seeds);
                assert_eq!(run.status, [Status::NonFinite; 3], "{machine}, {engine}, {v}");
                assert!(run.last().as_flattened().iter().all(|x| x.is_finite()), "{machine}, {v}");
            }
        }
    }
}

#[test]
fn hypot_has_the_size_of_its_larger_number() {
    let flow = Flow::Formula(
        Formula::parse(
            ["hypot(3e-30*x, 4e-30*x)*1e30", "hypot(3e25, 4e25*y)*1e-25", "hypot(0*x, 0)"],
            &[],
        )
        .unwrap(),
    );
    for machine in machines().into_iter().filter(|m| m.is_cpu() || !m.is_double()) {
        let field = Analytic::new(flow.clone(), &machine.device, machine.precision);
        let field = field.with_domain(Domain::new([0.0; 3], [9.0; 3]).unwrap());
        let tracer = Tracer::new(&field).scheme(Scheme::Euler).span(steps(0.0, 0.1, 1));
        let run = trace(&tracer, &Seeds::list(vec![[1.0, 1.0, 1.0]]).unwrap());
        assert_below(
            &machine.to_string(),
            distance(run.last(), &[[1.5, 1.5, 1.0]]),
            8.0 * machine.eps(),
        );
    }
}

#[test]
fn gradients_by_seeds_match_central_differences_and_the_flow_map() {
    for machine in exact_machines() {
        for (name, flow, domain) in flows() {
            let (time, seeds) = (duration(&flow, &domain), seeds_in(&domain));
            let device = machine.device.clone().autodiff();
            let field =
                |device| Analytic::new(flow.clone(), device, Precision::F64).with_domain(domain);
            let (plain, tracked) = (field(&machine.device), field(&device));
            fn tracer(field: &Analytic, time: f64) -> Tracer<'_> {
                Tracer::new(field).span(steps(0.1 * time, 0.6 * time, 8)).save(SaveAt::End)
            }
            let positions = seeds.positions().to_vec().into_flattened();
            let start = tensor(positions, [seeds.len(), 3], &device).require_grad();
            let tracks = tracer(&tracked, time).trace(&Seeds::from_tensor(start.clone()).unwrap());
            let tracks = tracks.unwrap();
            assert_eq!(tracks.summary().unwrap().engine, Engine::Fused);
            let gradients = tracks.positions().sum().backward();
            let adjoint = floats(start.grad(&gradients).unwrap());

            let forward = tracer(&plain, time).flow_map_gradient(true).trace(&seeds).unwrap();
            let forward = floats(forward.array(FLOW_MAP_GRADIENT).unwrap());
            let size = domain.size().into_iter().fold(0.0, f64::max);
            let sum = |seeds: &Seeds, i: usize| -> f64 {
                trace(&tracer(&plain, time), seeds).last()[i].iter().sum()
            };
            for i in 0..seeds.len() {
                let nine = &forward[9 * i..9 * i + 9];
                for d in 0..3 {
                    let column: f64 = (0..3).map(|c| nine[3 * c + d]).sum();
                    let what = format!("{machine}, {name}, particle {i}, axis {d}");
                    let found = adjoint[3 * i + d];
                    assert_below(&what, (found - column).abs() / column.abs().max(1.0), 1e-12);
                    if i % 8 > 0 || domain.is_flat(d) {
                        continue;
                    }
                    let at = |h: f64| {
                        let mut moved = seeds.positions().to_vec();
                        moved[i][d] += h * size;
                        sum(&Seeds::list(moved).unwrap(), i)
                    };
                    let difference = (at(1e-6) - at(-1e-6)) / (2e-6 * size);
                    let off = (found - difference).abs() / difference.abs().max(1.0);
                    assert_below(&format!("{what}: {found}, {difference}"), off, 2e-7);
                }
            }
        }
    }
}
