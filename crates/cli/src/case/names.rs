//! Names of the case file for values of the library.

/// An enumeration of the case file, with the library's value for each name; the first is the
/// default.
macro_rules! names {
    ($name:ident -> $to:ty { $first:ident => $first_value:expr, $($variant:ident => $value:expr),+ $(,)? }) => {
        #[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Serialize)]
        #[serde(rename_all = "kebab-case")]
        pub enum $name {
            #[default]
            $first,
            $($variant),+
        }

        impl From<$name> for $to {
            fn from(name: $name) -> Self {
                match name {
                    $name::$first => $first_value,
                    $($name::$variant => $value),+
                }
            }
        }
    };
}
