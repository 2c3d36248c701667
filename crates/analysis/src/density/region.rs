//! The part of space in which particles can be.

use super::Density;
use std::sync::Arc;

/// The part of space in which particles can be: outside of bodies and land, inside of a mesh.
///
/// ```
/// use burntrace_analysis::density::Region;
///
/// let around_a_cylinder = Region::new(|[x, y, _]| x.hypot(y) > 0.5);
/// assert!(around_a_cylinder.contains([1.0, 0.0, 0.0]));
/// ```
#[derive(Clone)]
pub struct Region(Arc<dyn Fn([f64; 3]) -> bool + Send + Sync>);

impl Region {
    /// The region of the positions for which a function is true.
    pub fn new(contains: impl Fn([f64; 3]) -> bool + Send + Sync + 'static) -> Self {
        Region(Arc::new(contains))
    }

    /// Whether a position is in the region.
    pub fn contains(&self, position: [f64; 3]) -> bool {
        (self.0)(position)
    }
}

impl std::fmt::Debug for Region {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Region")
    }
}

impl Density {
    /// Limits the density to a region: its boundary is a wall, as a reflecting face of the box is. Nodes and points outside of it
    /// have no value (NaN). The region is evaluated at positions in the box, whose coordinates along inactive axes are 0.
    ///
    /// Gaussians with a bandwidth for each axis become the solution of the heat equation without a flux through walls, which away
    /// from walls is the Gaussian: Z. I. Botev, J. F. Grotowski and D. P. Kroese, Ann. Stat. 38, 2010, 2916. It is computed on the
    /// host, at the nodes of a lattice: those of a grid that covers the axes, else nodes a quarter of the bandwidth apart, between
    /// which slices, planes and points are interpolated. Walls are between the last node in the region and the next one outside;
    /// those thinner than the distance of the nodes have holes. Clouds in cells are distributed to nodes in the region.
    ///
    /// Histograms, [SPH](Density::sph) kernels and Gaussians with correlations are not changed. Where they are outside the region they
    /// have no value; the parts of kernels there are lost. In bins only the middle is looked at, and bins with particles have a value.
    pub fn inside(mut self, region: Region) -> Self {
        self.region = Some(region);
        self
    }
}
