//! The land of a field, for maps.

use burntrace_core::{Field, sphere::CIRCLE};
use burntrace_plot::Land;

/// The land of a field seen from above: that of the top layer. `None` without land, and for a field without an extent along x
/// or y.
pub fn from_above(field: &dyn Field) -> Option<Land> {
    let (land, origin) = field.sampled()?.land()?;
    let domain = field.domain();
    if (0..2).any(|d| domain.low[d] >= domain.high[d]) {
        return None;
    }
    let top = land.cells()[2] - 1;
    let walls = [0, 1].map(|d| {
        let inner = land.walls(d).map(|wall| wall + origin[d]);
        [domain.low[d]].into_iter().chain(inner).chain([domain.high[d]]).collect()
    });
    let period = field.sampled()?.radius().map(|_| CIRCLE);
    Some(Land::new(walls, |i, j| land.is_land([i, j, top])).repeated(period))
}
