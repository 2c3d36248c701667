//! Enumerations of the case file.

/// An enumeration of names, with the library's value for each; the first is the default.
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

/// An enumeration of kinds, each with keys of its own, that the key after `by` names. It serialises
/// to that key and the keys of the kind, side by side.
macro_rules! kinds {
    (
        $(#[$meta:meta])*
        $name:ident by $tag:literal $(or $default:literal)? {
            $(
                $(#[$variant_meta:meta])*
                $kind:literal => $variant:ident {
                    $( $(#[$key_meta:meta])* $key:ident: $type:ty ),* $(,)?
                }
            ),+ $(,)?
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq, Serialize)]
        #[serde(tag = $tag)]
        pub enum $name {
            $(
                $(#[$variant_meta])*
                #[serde(rename = $kind)]
                $variant { $( $(#[$key_meta])* $key: $type ),* }
            ),+
        }

        impl crate::case::keys::Kinds for $name {
            const TAG: &'static str = $tag;
            const DEFAULT: Option<&'static str> = kinds!(@default $($default)?);
            const KINDS: &'static [(&'static str, &'static [&'static str])] =
                &[$( ($kind, &[$( stringify!($key) ),*]) ),+];

            fn name(&self) -> &'static str {
                match self {
                    $( $name::$variant { .. } => $kind ),+
                }
            }

            fn read(
                kind: &str,
                _keys: &crate::case::keys::Keys,
            ) -> Result<Self, crate::case::error::KeyError> {
                match kind {
                    $( $kind => {
                        Ok($name::$variant { $( $key: _keys.get(stringify!($key))? ),* })
                    } )+
                    other => {
                        let names = [$($kind),+];
                        Err(crate::case::error::KeyError::choice(other, &names))
                    }
                }
            }
        }
    };
    (@default) => { None };
    (@default $default:literal) => { Some($default) };
}
