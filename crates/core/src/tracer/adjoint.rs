//! Derivatives of the fused operation: gradients, and those of the flow map.

/// Number of steps in a launch with gradients. The states between launches are kept, of the steps in a
/// launch only while it is reversed. Each launch makes a gradient of all values of the field.
pub(super) const STEPS: usize = 256;

/// The name of the array of [`SaveRequest::fluid_velocity`](crate::SaveRequest::fluid_velocity).
pub const FLUID_VELOCITY: &str = "fluid_velocity";

/// The name of the array of diameters; see [`SaveRequest::sizes`](crate::SaveRequest::sizes).
pub const DIAMETER: &str = "diameter";

/// The name of the array of masses; see [`SaveRequest::sizes`](crate::SaveRequest::sizes).
pub const MASS: &str = "mass";

/// The name of the array of [`SaveRequest::flow_map_gradient`](crate::SaveRequest::flow_map_gradient).
pub const FLOW_MAP_GRADIENT: &str = "flow_map_gradient";
