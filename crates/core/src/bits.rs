//! Floats in JSON as their bits, so that they are read back exactly.

use serde::{Deserialize, Deserializer, Serializer};

pub fn serialize<S: Serializer>(number: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u64(number.to_bits())
}

pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    u64::deserialize(deserializer).map(f64::from_bits)
}
