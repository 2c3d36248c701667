//! The inertia of a case's particles.

use crate::file::{
    self, Case, Diameter, DragLaw, LogNormal, Misuse, Motion, Released, RosinRammler, SizeTable,
};
use anyhow::Result;
use burntrace_core::{
    Distribution, Drag, Inertia, InitialVelocity, PerParticle, Seeds, Sphere, Turbulence,
    TurbulentTime,
};

/// Refuses keys of a motion that do not go together.
pub fn check(motion: &Motion) -> Result<()> {
    let sphere = [
        motion.diameter.is_some(),
        motion.density.is_some(),
        motion.fluid_density.is_some(),
        motion.viscosity.is_some(),
    ];
    let response = [motion.relaxation_time.is_some(), motion.beta.is_some()];
    let is_one = matches!((sphere, response), ([true, true, true, true], [false, false]))
        || matches!((sphere, response), ([false, false, false, false], [true, true]));
    if !is_one {
        return Err(Misuse::error(
            "[motion] needs the keys of spheres or of their response, and not of both; give diameter, density, \
             fluid_density and viscosity, or relaxation_time and beta",
        ));
    }
    motion.turbulence.as_ref().map_or(Ok(()), |of| turbulence(of).map(drop))
}

/// The inertia of particles that start at these seeds.
pub fn inertia(motion: &Motion, seeds: &Seeds) -> Result<Inertia> {
    check(motion)?;
    let of = |number: Option<f64>| number.unwrap_or(f64::NAN);
    let made = match (&motion.diameter, &motion.density) {
        (Some(diameter), Some(density)) => Inertia::of_spheres(Sphere {
            diameter: sizes(seeds, diameter)?,
            density: per_particle(seeds, "motion.density", density)?,
            fluid_density: of(motion.fluid_density),
            viscosity: of(motion.viscosity),
        }),
        _ => Inertia::new(of(motion.relaxation_time), of(motion.beta)),
    };
    let [across, along] = motion.restitution;
    let made = made.restitution(across, along).drag(drag(motion.drag)).gravity(motion.gravity);
    let made = made.initial_velocity(initial_velocity(seeds, &motion.initial_velocity)?);
    let made = made.contact(motion.contact).lift(motion.lift);
    Ok(match &motion.turbulence {
        Some(of) => made.turbulence(turbulence(of)?),
        None => made,
    })
}

/// The names of the columns of seeds that the inertia of a case uses.
pub fn columns(case: &Case) -> Vec<&str> {
    let Some(motion) = &case.motion else { return Vec::new() };
    let diameter = match &motion.diameter {
        Some(Diameter::One(one)) => Some(one),
        _ => None,
    };
    let velocity = match &motion.initial_velocity {
        file::InitialVelocity::Columns(names) => &names[..],
        _ => &[],
    };
    let numbers = diameter.into_iter().chain(&motion.density).filter_map(|given| match given {
        file::PerParticle::Column(name) => Some(name.as_str()),
        file::PerParticle::Number(_) => None,
    });
    numbers.chain(velocity.iter().map(String::as_str)).collect()
}

/// The arrays of the field that a case needs for the motion of particles.
pub fn arrays(case: &Case) -> Vec<String> {
    let of = case.motion.as_ref().and_then(|motion| motion.turbulence.as_ref());
    let turbulence = of.and_then(|of| turbulence(of).ok());
    turbulence.iter().flat_map(Turbulence::arrays).map(String::from).collect()
}

/// The numbers of a column of the seeds.
pub fn column<'a>(seeds: &'a Seeds, key: &str, name: &str) -> Result<&'a [f64]> {
    seeds.column(name).ok_or_else(|| {
        Misuse::error(format!(
            "{key} is the column `{name}` of the seeds, which are not all from files; give [seeds] kind = \"file\", \
             or a number"
        ))
    })
}

/// A quantity of a case's particles.
fn per_particle(seeds: &Seeds, key: &str, given: &file::PerParticle) -> Result<PerParticle> {
    Ok(match given {
        file::PerParticle::Number(number) => (*number).into(),
        file::PerParticle::Column(name) => column(seeds, key, name)?.to_vec().into(),
    })
}

/// The diameters of a case's particles.
fn sizes(seeds: &Seeds, diameter: &Diameter) -> Result<PerParticle> {
    let (distribution, seed) = match diameter {
        Diameter::One(one) => return per_particle(seeds, "motion.diameter", one),
        Diameter::LogNormal(LogNormal { median, deviation, seed }) => {
            (Distribution::LogNormal { median: *median, deviation: *deviation }, seed)
        }
        Diameter::RosinRammler(RosinRammler { scale, spread, seed }) => {
            (Distribution::RosinRammler { scale: *scale, spread: *spread }, seed)
        }
        Diameter::Table(SizeTable { sizes, smaller, seed }) => {
            let (sizes, smaller) = (sizes.clone().into(), smaller.clone().into());
            (Distribution::Table { sizes, smaller }, seed)
        }
    };
    Ok(PerParticle::Drawn(distribution, *seed))
}

fn drag(given: file::Drag) -> Drag {
    match given {
        file::Drag::Named(DragLaw::Stokes) => Drag::Stokes,
        file::Drag::Named(DragLaw::SchillerNaumann) => Drag::SchillerNaumann,
        file::Drag::Coefficient { coefficient } => Drag::Coefficient(coefficient),
        file::Drag::Slip { mean_free_path } => Drag::Cunningham(mean_free_path),
    }
}

fn initial_velocity(seeds: &Seeds, given: &file::InitialVelocity) -> Result<InitialVelocity> {
    Ok(match given {
        file::InitialVelocity::Named(Released::Fluid) => InitialVelocity::Fluid,
        file::InitialVelocity::Named(Released::Zero) => InitialVelocity::Uniform([0.0; 3]),
        file::InitialVelocity::Uniform(velocity) => InitialVelocity::Uniform(*velocity),
        file::InitialVelocity::Columns([u, v, w]) => {
            let of = |name| column(seeds, "motion.initial_velocity", name);
            let [u, v, w] = [of(u)?, of(v)?, of(w)?];
            let rows = u.iter().zip(v).zip(w).map(|((u, v), w)| [*u, *v, *w]);
            InitialVelocity::Each(rows.collect())
        }
    })
}

fn turbulence(given: &file::Turbulence) -> Result<Turbulence> {
    let time = match (given.time_scale.clone(), given.epsilon.clone(), given.omega.clone()) {
        (Some(scale), None, None) => TurbulentTime::Scale(scale),
        (None, Some(rate), None) => TurbulentTime::Dissipation(rate),
        (None, None, Some(rate)) => TurbulentTime::Frequency(rate),
        _ => {
            return Err(Misuse::error(
                "motion.turbulence needs k, and one of epsilon, omega and time_scale; give one of these three",
            ));
        }
    };
    Ok(Turbulence::new(given.k.clone(), time, given.seed))
}
