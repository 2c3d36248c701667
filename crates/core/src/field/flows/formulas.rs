//! The formulas of [`Flow`](super::Flow).

use crate::Expression;
use std::f64::consts::PI;

/// A velocity u, v, w.
type Velocity = [Expression; 3];

/// The coordinates x and y.
fn plane() -> [Expression; 2] {
    [Expression::x(), Expression::y()]
}

fn planar(u: Expression, v: Expression) -> Velocity {
    [u, v, 0.0.into()]
}

pub(super) fn linear_in_time(a: [f64; 3], b: [f64; 3]) -> Velocity {
    [0, 1, 2].map(|d| Expression::time() * b[d] + a[d])
}

pub(super) fn eddy(oscillation: Expression, current: Expression, coriolis: f64) -> Velocity {
    let phase = Expression::time() * coriolis;
    planar(current + oscillation.clone() * phase.clone().cos(), -(oscillation * phase.sin()))
}

pub(super) fn rotation([xc, yc]: [f64; 2], rate: f64) -> Velocity {
    let [x, y] = plane();
    planar((y - yc) * rate, (x - xc) * -rate)
}

pub(super) fn taylor_green() -> Velocity {
    let [x, y] = plane();
    planar(x.clone().sin() * y.clone().cos(), -(x.cos() * y.sin()))
}

/// `a` is the displacement epsilon sin(omega t) of the wall.
pub(super) fn double_gyre(amplitude: f64, a: Expression) -> Velocity {
    let [x, y] = plane();
    let b = Expression::from(1.0) - a.clone() * 2.0;
    let phi = (x.clone() * a.clone() + b.clone()) * x.clone() * PI;
    let dphi = x * (a * 2.0) + b;
    let y = y * PI;
    let u = phi.clone().sin() * y.clone().cos() * (-PI * amplitude);
    let v = phi.cos() * y.sin() * dphi * (PI * amplitude);
    planar(u, v)
}

pub(super) fn abc(a: f64, b: f64, c: f64) -> Velocity {
    let ([x, y], z) = (plane(), Expression::z());
    [
        z.clone().sin() * a + y.clone().cos() * c,
        x.clone().sin() * b + z.cos() * a,
        y.sin() * c + x.cos() * b,
    ]
}

/// One expression for inside and outside. With lengths in units of the radius and s = min(1, 1/R),
/// u_r = -1.5 U r z s^5 in both, and u_z = U (1 - s^3 + 1.5 r^2 s^5) outside. Inside, add 1.5 U
/// (R^2 - 1), which is 0 on the sphere.
pub(super) fn hill(radius: f64, speed: f64) -> Velocity {
    let ([x, y], z) = (plane().map(|x| x / radius), Expression::z() / radius);
    let across = x.clone().square() + y.clone().square();
    let square = across.clone() + z.clone().square();
    let s = Expression::from(1.0) / square.clone().max(1.0).sqrt();
    let cube = s.clone() * s.clone().square();
    let fifth = cube.clone() * s.square();
    let radial = z * fifth.clone() * (-1.5 * speed);
    let within = (square - 1.0).min(0.0) * 1.5;
    let w = (across * fifth * 1.5 + within - cube + 1.0) * speed;
    [x * radial.clone(), y * radial, w]
}

pub(super) fn peninsula(speed: f64, centre: f64, radius: f64) -> Velocity {
    let [x, y] = plane();
    let (x, y) = ((x - centre) / radius, y / radius);
    let (xx, yy) = (x.clone().square(), y.clone().square());
    let square = xx.clone() + yy.clone();
    let at_sea = |velocity: Expression| Expression::choose_less(1.0, square.clone(), velocity, 0.0);
    // At least 1, so that the velocity that is not chosen on land is finite.
    let fourth = square.clone().max(1.0).square();
    let u = ((yy - xx) / fourth.clone() + 1.0) * speed;
    let v = x * y / fourth * (-2.0 * speed);
    planar(at_sea(u), at_sea(v))
}

pub(super) fn stommel(side: f64, strength: f64, layer: f64) -> Velocity {
    let [x, y] = plane();
    let y = y * (PI / side);
    let decay = (x.clone() / -layer).exp();
    let profile = Expression::from(1.0) - (x / side + decay.clone());
    let derivative = decay * (side / layer) - 1.0;
    let u = profile * y.clone().cos() * (-PI * PI * strength);
    let v = derivative * y.sin() * (PI * strength);
    planar(u, v)
}

pub(super) fn saddle(rate: f64) -> Velocity {
    let [x, y] = plane();
    planar(x * rate, y * -rate)
}

pub(super) fn shear(rate: f64) -> Velocity {
    planar(Expression::y() * rate, 0.0.into())
}
