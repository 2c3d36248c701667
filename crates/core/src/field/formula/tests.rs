use super::*;
use burn::tensor::{DType, Device};

/// The first component of a velocity at a position and time.
fn value(text: &str, p: [f64; 3], t: f64) -> f64 {
    let formula = Formula::parse([text, "0", "0"], &[]).unwrap();
    at(&formula, p, t)[0]
}

fn at(formula: &Formula, p: [f64; 3], t: f64) -> Vec<f64> {
    let position = Tensor::<2>::from_data([p], (&Device::flex(), DType::F64));
    formula.velocity_at(&position, &[t]).into_data().try_to_vec().unwrap()
}

#[test]
fn operators_bind_as_usual() {
    let p = [2.0, 3.0, 5.0];
    for (text, expected) in [
        ("x + y * z", 17.0),
        ("(x + y) * z", 25.0),
        ("-x^2", -4.0),
        ("(-x)^2", 4.0),
        ("2^3^2", 512.0),
        ("x^-1", 0.5),
        ("10 - y - z", 2.0),
        ("z / x / x", 1.25),
        ("--x", 2.0),
        ("1.5e1*x", 30.0),
        (" x+ .5 ", 2.5),
        ("x^0.5", 2.0_f64.sqrt()),
        ("if(x < y, 1, 2) + if(x >= y, 10, 20)", 21.0),
        ("if(x <= 2, 1, 2) + if(x > 2, 10, 20)", 21.0),
        ("min(x, y) + max(x, pow(y, 2))", 11.0),
        ("hypot(3, 4)", 5.0),
        ("log10(1000)", 3.0),
        ("atan2(1, -1)", 0.75 * std::f64::consts::PI),
        ("floor(-0.5) + abs(-y)", 2.0),
        ("exp(log(x)) + sqrt(4)", 4.0),
        ("t * x", 14.0),
    ] {
        let found = value(text, p, 7.0);
        assert!((found - expected).abs() < 1e-12, "{text} = {found}");
    }
}

#[test]
fn definitions_may_use_one_another() {
    let definitions =
        [("A", "0.1"), ("phi", "a*x^2 + (1 - 2*a)*x"), ("a", "0.25 * sin(2*pi*t/10)")];
    let formula = Formula::parse(
        ["-pi*A*sin(pi*phi)*cos(pi*y)", "pi*A*cos(pi*phi)*sin(pi*y)*(2*a*x + 1 - 2*a)", "0"],
        &definitions,
    )
    .unwrap();
    let gyre = crate::Flow::named("double-gyre").unwrap().formula();
    for t in [0.0, 1.3, 8.0] {
        let [p, q] = [at(&formula, [0.7, 0.2, 0.0], t), at(&gyre, [0.7, 0.2, 0.0], t)];
        for d in 0..3 {
            assert!((p[d] - q[d]).abs() < 1e-15, "{p:?} {q:?}");
        }
    }
    assert!(!formula.is_steady());
    // The sine of the time is evaluated once, and not at each position.
    let Compiled { velocity, clock, .. } = &formula.compiled;
    let sines = |program: &Program| {
        let is_sine = |i: &&burntrace_kernels::Instruction| {
            matches!(i, burntrace_kernels::Instruction::Unary(burntrace_kernels::Function::Sin, _))
        };
        program.code.iter().filter(is_sine).count()
    };
    assert_eq!((sines(clock), sines(velocity)), (1, 2));
}

#[test]
fn equal_parts_are_computed_once_and_constants_never() {
    let formula = Formula::parse(["sin(x*y) + 0", "2*3*sin(x*y)*1", "sin(1)"], &[]).unwrap();
    // x y, its sine, and 6 times it.
    assert_eq!(formula.compiled.velocity.code.len(), 3);
    assert_eq!(formula.compiled.velocity_constants, [6.0, 1.0_f64.sin()]);
    assert!(formula.is_steady());
}

#[test]
fn programs_do_not_depend_on_the_values_of_constants() {
    let [one, other] = ["0.1", "0.2"]
        .map(|a| Formula::parse(["a*x", "sin(a*t)", "0"], &[("a", a)]).unwrap().compiled);
    assert!(std::ptr::eq(one.velocity, other.velocity) && std::ptr::eq(one.clock, other.clock));
    assert_ne!(one, other);
}

#[test]
fn mistakes_are_named_with_their_places() {
    let deep = format!("{}x{}", "(".repeat(200), ")".repeat(200));
    let long = "x+".repeat(6000);
    for (text, expected) in [
        ("x + foo", "character 5: `foo` is not known; known names are x, y, z, t, pi"),
        ("x +", "character 4: it ends where"),
        ("x + * y", "character 5: `*` is there instead"),
        ("(x + y", "character 7: a parenthesis is not closed"),
        ("x + y)", "character 6: an operator is missing"),
        ("2 x", "character 3: an operator is missing"),
        ("sin x", "character 1: `sin` is a function"),
        ("sine(x)", "`sine` is not a function; functions are sin,"),
        ("sin(x, y)", "`sin` has 2 arguments; give 1"),
        ("min(x)", "`min` has 1 argument; give 2"),
        ("if(x, 1, 2)", "needs a comparison"),
        ("", "it ends where"),
        ("é", "`é` is there instead"),
        (&deep, "too many parentheses"),
        (&long, "has 12000 characters; the maximum is 10000"),
    ] {
        let error = Formula::parse(["0", text, "0"], &[]).unwrap_err().to_string();
        assert!(error.contains(expected), "{text}: {error}");
    }
    for (name, expected) in [("x", "has a meaning already"), ("2a", "is not a name")] {
        let error = Formula::parse(["0", "0", "0"], &[(name, "1")]).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
    let circle = [("a", "b + 1"), ("b", "2*c"), ("c", "a")];
    let error = Formula::parse(["0", "0", "a"], &circle).unwrap_err().to_string();
    assert!(error.contains("depend on one another"), "{error}");
    let many: Vec<String> = (0..600).map(|i| format!("sin({i}.5*x)")).collect();
    let error = Formula::parse([&many.join("+"), "0", "0"], &[]).unwrap_err().to_string();
    assert!(error.contains("the maximum is 1024"), "{error}");
}

#[test]
fn each_row_has_its_own_time() {
    let formula = Formula::parse(["t*x", "t^2", "if(t < 2, 1, 3)"], &[]).unwrap();
    let position =
        Tensor::<2>::from_data([[2.0, 0.0, 0.0], [3.0, 0.0, 0.0]], (&Device::flex(), DType::F64));
    let velocity = formula.velocity_at(&position, &[1.0, 3.0]).into_data();
    assert_eq!(velocity.try_to_vec::<f64>().unwrap(), [2.0, 1.0, 1.0, 9.0, 9.0, 3.0]);
}
