//! Names of arrays: those of densities, and those that are sampled along the tracks.

use super::layout;
use crate::{Error, Result};
use burntrace_core::FieldArray;

/// Names of the arrays of densities.
pub(super) const DENSITY: [&str; 4] = ["density", "density_x", "density_y", "density_z"];

/// Names that tables and files for ParaView have beside those of the store's arrays, and names of
/// its dimensions.
const OTHERS: [&str; 13] = [
    "particle",
    "component",
    "instance",
    "age",
    "x",
    "y",
    "z",
    "velocity_x",
    "velocity_y",
    "velocity_z",
    "unwrapped_x",
    "unwrapped_y",
    "unwrapped_z",
];

/// Maximum length of a name in bytes; file systems have 255.
const MAX_LENGTH: usize = 200;

/// The names that an array sampled along the tracks must not have, in any case of letters: those of
/// the other arrays of a store, of their dimensions, and of the columns of tables.
pub fn reserved_names() -> impl Iterator<Item = &'static str> {
    let arrays = layout::ALL.into_iter().map(|spec| &*spec.name);
    arrays.chain(DENSITY).chain(OTHERS)
}

/// Checks the names of arrays that are sampled along the tracks: each is the name of a folder on
/// any system, none is [reserved](reserved_names), and no two are equal in small letters.
///
/// # Errors
///
/// [`Error::ArrayName`], for the first one that cannot be used; also if an array has no components.
pub fn check_names(arrays: &[FieldArray]) -> Result<()> {
    for (index, array) in arrays.iter().enumerate() {
        let name = &array.name;
        let is_equal = |other: &str| other.to_lowercase() == name.to_lowercase();
        let reserved = reserved_names().find(|reserved| is_equal(reserved));
        let other = arrays[..index].iter().find(|other| is_equal(&other.name));
        let reason = invalid(name)
            .or_else(|| reserved.map(|of| format!("it is the name of another result, `{of}`")))
            .or_else(|| other.map(|of| format!("another sampled array is called `{}`", of.name)))
            .or_else(|| (array.components == 0).then(|| "it has no components".into()));
        if let Some(reason) = reason {
            return Err(Error::ArrayName { name: name.clone(), reason });
        }
    }
    Ok(())
}

/// Why a name cannot be that of a folder, if so.
fn invalid(name: &str) -> Option<String> {
    let forbidden = |c: &char| c.is_control() || r#"/\:*?"<>|"#.contains(*c);
    match name {
        "" => Some("it is empty".into()),
        _ if name.len() > MAX_LENGTH => Some(format!("it is longer than {MAX_LENGTH} bytes")),
        _ if name.starts_with("__") || name.starts_with("zarr.json") => {
            Some("Zarr has a meaning of its own for it".into())
        }
        _ if name.starts_with(['.', ' ']) || name.ends_with(['.', ' ']) => {
            Some("it starts or ends with a point or a space".into())
        }
        _ => name.chars().find(forbidden).map(|c| format!("it contains {c:?}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(names: &[&str]) -> Option<String> {
        let array = |name: &&str| FieldArray { name: name.to_string(), components: 1 };
        let arrays: Vec<FieldArray> = names.iter().map(array).collect();
        check_names(&arrays).err().map(|error| error.to_string())
    }

    #[test]
    fn names_of_folders_that_no_other_result_has_are_accepted() {
        assert_eq!(error(&["T", "p", "Mean Temperature", "τ_w", "c.0", "k-omega"]), None);
        for (names, reason) in [
            (&["time"][..], "another result, `time`"),
            (&["Density"], "another result, `density`"),
            (&["particle"], "another result, `particle`"),
            (&["instance_slot"], "another result, `instance_slot`"),
            (&["T", "t"], "another sampled array is called `T`"),
            (&[""], "is empty"),
            (&[".."], "starts or ends with a point"),
            (&["T "], "starts or ends with a point or a space"),
            (&["p/rho"], "contains '/'"),
            (&["a\\b"], "contains '\\\\'"),
            (&["a\nb"], "contains '\\n'"),
            (&["__T"], "Zarr has a meaning"),
            (&["zarr.json"], "Zarr has a meaning"),
            (&[&"T".repeat(201)], "longer than 200 bytes"),
        ] {
            let error = error(names).unwrap();
            assert!(error.contains(reason) && error.contains("give it another name"), "{error}");
        }
        let none = FieldArray { name: "T".into(), components: 0 };
        assert!(check_names(&[none]).unwrap_err().to_string().contains("no components"));
    }
}
