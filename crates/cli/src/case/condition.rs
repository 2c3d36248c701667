//! Conditions at surfaces: those of the library, by name, and outlets.

use burntrace::BoundaryCondition;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

/// The condition at a surface.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Condition {
    /// A condition of the library.
    Of(BoundaryCondition),
    /// An exit that re-injects particles at the inlet.
    Outlet,
}

const OUTLET: &str = "outlet";

/// Every name.
const NAMES: [&str; BoundaryCondition::ALL.len() + 1] = {
    let mut names = [OUTLET; BoundaryCondition::ALL.len() + 1];
    let mut i = 0;
    while i < BoundaryCondition::ALL.len() {
        names[i] = BoundaryCondition::ALL[i].name();
        i += 1;
    }
    names
};

impl Default for Condition {
    fn default() -> Self {
        Condition::Of(BoundaryCondition::default())
    }
}

impl From<Condition> for BoundaryCondition {
    fn from(condition: Condition) -> Self {
        match condition {
            Condition::Of(condition) => condition,
            Condition::Outlet => BoundaryCondition::Exit,
        }
    }
}

impl<'de> Deserialize<'de> for Condition {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        if name == OUTLET {
            return Ok(Condition::Outlet);
        }
        let of = BoundaryCondition::ALL.into_iter().find(|condition| condition.name() == name);
        of.map(Condition::Of).ok_or_else(|| D::Error::unknown_variant(&name, &NAMES))
    }
}

impl Serialize for Condition {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(match self {
            Condition::Of(condition) => condition.name(),
            Condition::Outlet => OUTLET,
        })
    }
}
