//! The enumerations of the kernels by their names in files, for `#[serde(with = ...)]`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// For each enumeration a namesake that serialises it.
macro_rules! names {
    ($($name:ident of $path:literal { $($variant:ident),+ })+) => {
        $(
            #[doc = concat!("The names of `", $path, "`.")]
            #[derive(Deserialize, JsonSchema, Serialize)]
            #[serde(remote = $path, rename_all = "kebab-case")]
            pub enum $name {
                $(#[doc(hidden)] $variant),+
            }
        )+
    };
}

names! {
    Allowed of "crate::Allowed" { Outside, Inside }
    Face of "crate::Face" { XLow, XHigh, YLow, YHigh, ZLow, ZHigh }
    Scheme of "crate::Scheme" { Euler, Midpoint, Heun, Rk4, DormandPrince }
    TimeInterpolation of "crate::TimeInterpolation" { Linear, Nearest }
    WalkScheme of "crate::WalkScheme" { EulerMaruyama, Milstein }
}
