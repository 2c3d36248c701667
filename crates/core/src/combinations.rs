//! Settings of a run that exclude each other: one table, of which the errors and a page of the guide are made.

use crate::{Error, Result};

/// Declares the features of runs with their names, and the pairs of them that exclude each other.
macro_rules! table {
    (
        features { $($feature:ident = $name:literal;)* }
        rules { $($this:ident, $that:ident: $why:literal, $instead:literal;)* }
    ) => {
        /// A feature of a run that others can exclude.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Feature {
            $($feature,)*
        }

        impl Feature {
            /// The name in messages.
            pub(crate) fn name(self) -> &'static str {
                match self {
                    $(Feature::$feature => $name,)*
                }
            }
        }

        /// All rules. The first one that a run breaks is its error.
        const RULES: &[Rule] = &[$(Rule {
            this: Feature::$this,
            that: Feature::$that,
            why: $why,
            instead: $instead,
        },)*];
    };
}

/// Two features that exclude each other.
struct Rule {
    this: Feature,
    that: Feature,
    why: &'static str,
    instead: &'static str,
}

table! {
    features {
        Inertia = "particles with inertia";
        InertiaInTensors = "particles with inertia on a graphics card, with gradients or with an operation after each step";
        Factors = "factors of particles";
        TrackedFactors = "factors of particles with gradients";
        NoFactors = "particles without factors";
        SecondVelocity = "a field with a velocity that particles scale";
        OneVelocity = "a field without a velocity that particles scale";
        Backward = "a backward run";
        Drift = "a drift";
        NotRk4 = "a scheme other than `rk4` and, with a tolerance, `dormand-prince`";
        Tolerance = "a tolerance";
        OtherScheme = "a scheme other than `dormand-prince`";
        Walk = "a random walk";
        FieldWalk = "a random walk by the field's diffusivity";
        NoDiffusivity = "a field without a diffusivity";
        MeshOutlet = "an outlet at the boundary of a mesh";
        Patches = "patches";
        NoMesh = "a field without a mesh";
        ObstacleOutlet = "an outlet at obstacles";
        NoExit = "obstacles without the surface `exit`";
        ReusedSlots = "re-used slots (outlets and sources)";
        Hook = "an operation after each step";
        FlowMapGradient = "the gradient of the flow map";
        Tallies = "tallies and conditions that end particles";
        Conditions = "conditions that end particles";
        TalliesOnHost = "tallies and conditions in tensor operations, on a graphics card or with an operation after each step";
        OwnField = "a field of your own";
        TensorSteps = "steps in tensor operations";
        Gradients = "tracked gradients";
        GraphGradients = "gradients in Burn's graph of all steps";
        FusedEngine = "the fused engine";
        CardGradients = "gradients through re-used slots on a graphics card";
        Segments = "`Adjoint::Segments`";
        TrackedValues = "tracked values of a field on a grid, a mesh or points";
        TrackedInlets = "points of inlets that track gradients";
        TrackedShapes = "obstacles that track gradients";
        Tracks = "a backward pass through tracks";
        Batches = "batches of particles";
        Pieces = "pieces of a run";
        Checkpoint = "resuming from a checkpoint";
        Land = "land (`NotFinite::Land`)";
        NotOnGrid = "a field that is not on a grid";
        Sphere = "a field on a sphere";
        Obstacles = "obstacles";
        LevelDrift = "a drift towards the east or the north";
        TrackedTimes = "times that track gradients";
        TimedSaves = "saves at times";
        Formula = "a field that is a formula";
        SeveralFields = "several fields of one shape";
        MoreThanPositions = "velocities and arrays in saves";
        Gates = "gates";
    }
    rules {
        Inertia, NotRk4: "their steps are of order 4", "omit the scheme, or use `dormand-prince` with a tolerance";
        Inertia, Backward: "the drag grows exponentially in time", "trace them forward";
        Inertia, Walk: "a random walk displaces them whatever their velocity", "remove the walk or the inertia";
        Inertia, Drift: "their velocity follows from gravity and from the field", "omit the drift, or add a further field with `Sum`";
        Inertia, Sphere: "their velocity would turn with longitude and latitude", "project the field before";
        Inertia, FlowMapGradient: "their paths depend on velocities, too", "use differences of auxiliary seeds";
        InertiaInTensors, FusedEngine: "it takes their steps on CPUs only", "leave the engine to the run (`Adjoint::Auto`)";
        Factors, OneVelocity: "there is no velocity that they multiply", "add a further field with a factor for each particle (`Addend::per_particle`)";
        SecondVelocity, NoFactors: "nothing says how much of it moves each particle", "give factors, or the further field one factor for all particles";
        Factors, Inertia: "the acceleration of the fluid would be another one for each of them", "give the further field one factor for all particles";
        Factors, FlowMapGradient: "it does not see the velocity that particles scale", "use differences of auxiliary seeds";
        TrackedFactors, FusedEngine: "its adjoint does not have them", "leave the engine to the run (`Adjoint::Auto`)";
        TrackedFactors, Sphere: "these gradients are those of steps in tensor operations, which are straight in longitude and latitude", "project the field before";
        Tolerance, OtherScheme: "it does not estimate its error", "use `dormand-prince`, or omit the tolerance";
        Tolerance, Walk: "a random walk needs a fixed step", "remove the walk or the tolerance";
        FieldWalk, NoDiffusivity: "the field has no diffusivity", "give a constant, or one for each axis";
        MeshOutlet, NoMesh: "there is no such boundary", "make a face of the domain box the outlet";
        Patches, NoMesh: "patches apply to mesh boundaries only", "omit them";
        ObstacleOutlet, NoExit: "none of them has the surface `exit`", "give one that surface";
        FusedEngine, OwnField: "it needs a grid, a mesh, points or a formula",
            "use one of them, or leave the engine to the run (`Adjoint::Auto`)";
        FusedEngine, CardGradients: "it has no adjoint for them",
            "use a CPU, or leave the engine to the run (`Adjoint::Auto`)";
        FlowMapGradient, Gradients: "it has no gradients itself", "use those of the positions by the seeds";
        FlowMapGradient, TensorSteps: "they do not carry it along",
            "use the fused engine (a formula or a field on a grid, a mesh or points), or differences of auxiliary seeds";
        FlowMapGradient, ReusedSlots: "later particles have no seed", "run without outlets and sources";
        FlowMapGradient, Hook: "it moves particles in ways that the gradient does not see",
            "run without it, or use differences of auxiliary seeds";
        TrackedInlets, TensorSteps: "they do not pass on these gradients", "detach the points";
        TrackedInlets, Hook: "it does not pass on these gradients", "detach the points, or run without it";
        TrackedShapes, TensorSteps: "they do not pass on these gradients", "use the fused engine, or detach the numbers of the shapes";
        TrackedShapes, Hook: "it does not pass on these gradients", "detach the numbers of the shapes, or run without it";
        Tallies, Gradients: "what adds up along a track has no gradients", "omit them, or add up in the loss what saves have";
        Conditions, FlowMapGradient: "the end that they cause moves with the seed", "omit them, or use differences of auxiliary seeds";
        TalliesOnHost, ReusedSlots: "only CPUs follow the particles of a slot within a step", "use a CPU, and run without the operation";
        TalliesOnHost, Tolerance: "only CPUs follow adaptive steps", "use a CPU, and run without the operation, or give a fixed step";
        Segments, Tracks: "Burn does not see the parameters in a closure, so that no segment can be taken again",
            "use `value_and_grad`, or `Adjoint::Graph`";
        Segments, TrackedValues: "the values of the field have a graph, which segments would consume more than once",
            "use `Adjoint::Fused` or `Adjoint::Graph`";
        Batches, GraphGradients: "they would cut the graph of the positions",
            "omit the batch, or use a device that holds all particles";
        Pieces, Gradients: "their graph spans all particles", "run it as a whole";
        Checkpoint, Gradients: "a checkpoint holds no graph", "run again from the start";
        Land, NotOnGrid: "coasts run midway between the nodes of a grid", "use `NotFinite::Outside`";
        Sphere, Obstacles: "bodies are shapes in a flat space", "omit them, or project the field before";
        Sphere, LevelDrift: "its direction in space changes along a path",
            "give a drift upwards only, or add a further field with `Sum`";
        TrackedTimes, TensorSteps: "they take times as numbers", "use the fused engine, or detach the times";
        TrackedTimes, Formula: "it is not derived by time", "sample it on a grid (`Analytic::sample`), or detach the times";
        TrackedTimes, Tolerance: "the lengths of adaptive steps are constants", "give a fixed step, or detach the times";
        TrackedTimes, Walk: "the length of its displacements is a constant", "remove the walk, or detach the times";
        TrackedTimes, ReusedSlots: "the times at which slots are re-used are constants", "run without outlets and sources, or detach the times";
        TrackedTimes, Hook: "it takes times as numbers", "run without it, or detach the times";
        TrackedTimes, TimedSaves: "they do not move with the steps", "save at the end or every number of steps, or detach the times";
        SeveralFields, TensorSteps: "they sample one field", "use the fused engine, or a run for each field";
        SeveralFields, ReusedSlots: "slots belong to one field", "use a run for each field";
        SeveralFields, Hook: "it samples one field", "use a run for each field";
        SeveralFields, MoreThanPositions: "they are those of one field", "save positions alone, or use a run for each field";
        SeveralFields, Gates: "crossings are logged for one field", "use a run for each field";
        SeveralFields, Tallies: "they are those of one field", "use a run for each field";
        SeveralFields, Factors: "they are those of the slots of one field", "use a run for each field";
        SeveralFields, Batches: "they would divide fields", "omit the batch";
        SeveralFields, Pieces: "they would divide fields", "run it as a whole";
        Sphere, TensorSteps: "they are straight in longitude and latitude", "use the fused engine";
    }
}

/// Refuses a run with two features that exclude each other. `given` says what was given of a feature, if its name does not.
///
/// # Errors
///
/// [`Error::Combination`], for the first such rule of the table.
pub(crate) fn check(
    has: impl Fn(Feature) -> bool,
    given: impl Fn(Feature) -> Option<String>,
) -> Result<()> {
    match RULES.iter().find(|rule| has(rule.this) && has(rule.that)) {
        None => Ok(()),
        Some(rule) => Err(rule.error(given)),
    }
}

/// The error of a run with two features.
pub(crate) fn refusal(this: Feature, that: Feature) -> Error {
    let pair = [this, that];
    let rule = RULES.iter().find(|rule| pair == [rule.this, rule.that]);
    rule.unwrap_or(&Rule { this, that, why: "they exclude each other", instead: "omit one" })
        .error(|_| None)
}

impl Rule {
    fn error(&self, given: impl Fn(Feature) -> Option<String>) -> Error {
        let named = |feature: Feature| match given(feature) {
            Some(given) => format!("{} ({given})", feature.name()),
            None => feature.name().into(),
        };
        let (this, that) = (named(self.this), named(self.that));
        Error::Combination { this, that, why: self.why, instead: self.instead }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    /// The start of the page.
    const INTRODUCTION: &str = "# Combinations

Most settings of a run can be combined. A run with two of the same row is refused before its first step, with
this reason. Steps are taken in *tensor operations* for a field of your own, and by the *fused engine* otherwise
([Devices](devices.md#engines)).

| | cannot be combined with | because | instead |
|---|---|---|---|
";

    fn page() -> String {
        let row = |rule: &Rule| {
            let (this, that) = (rule.this.name(), rule.that.name());
            format!("| {this} | {that} | {} | {} |\n", rule.why, rule.instead)
        };
        INTRODUCTION.to_string() + &RULES.iter().map(row).collect::<String>()
    }

    #[test]
    fn page_of_the_guide_has_all_rules() {
        let file = "../../docs/guide/combinations.md";
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
        if std::env::var_os("RENEW").is_some() {
            std::fs::write(&file, page()).unwrap();
        }
        let found = std::fs::read_to_string(&file).unwrap_or_default();
        assert!(
            found == page(),
            "{} differs from the table; renew it with `RENEW=1 cargo test --release --workspace \
             page_of_the_guide_has_all_rules`",
            file.display()
        );
    }

    #[test]
    fn pairs_have_one_rule_each() {
        for (i, rule) in RULES.iter().enumerate() {
            let is_same = |other: &Rule| {
                [other.this, other.that] == [rule.this, rule.that]
                    || [other.that, other.this] == [rule.this, rule.that]
            };
            assert_eq!(RULES.iter().position(is_same), Some(i), "{}", rule.error(|_| None));
        }
    }
}
