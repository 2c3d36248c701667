//! Diffusivities that follow from the field: a profile of depths, or the deformation of the flow.

mod mesh;

use super::{
    arrays::FieldArray,
    globe::scales,
    grid::check_axes,
    source::{FrameData, FrameSource, GridSource, MeshSource, SourceError, placed_as_source},
};
use crate::{Error, Floats, Result};
use burntrace_kernels::Placement;

/// What the diffusivity of a random walk follows from, at each node of a grid or a mesh.
#[derive(Clone, Debug, PartialEq)]
pub enum Mixing {
    /// Heights, increasing, and the diffusivity at each; linear in between, constant beyond. For vertical mixing: a walk along z.
    Profile {
        /// Heights, in the data's unit of length.
        z: Vec<f64>,
        /// Diffusivities, in length squared per time.
        diffusivity: Vec<f64>,
    },
    /// `c A |D|` (Smagorinsky 1963, Monthly Weather Review 91:99): `A` is the area of a cell, and `|D|` the square root of
    /// `(du/dx)^2 + (dv/dy)^2 + (du/dy + dv/dx)^2 / 2`, by central differences of the nodes of a grid. For horizontal mixing: a walk along x
    /// and y.
    Smagorinsky(f64),
}

impl Mixing {
    fn check(&self) -> Result<()> {
        let fail = |text: String| Err(Error::Walk(text));
        match self {
            Mixing::Smagorinsky(c) if c.is_finite() && *c >= 0.0 => Ok(()),
            Mixing::Smagorinsky(c) => fail(format!(
                "its Smagorinsky coefficient is {c}; give a number of 0 or more, such as 0.1"
            )),
            Mixing::Profile { z, diffusivity } => {
                let (heights, numbers) = (z.len(), diffusivity.len());
                if heights == 0 || heights != numbers {
                    return fail(format!(
                        "its profile has {heights} heights and {numbers} diffusivities; give as many of both"
                    ));
                }
                if !z.windows(2).all(|pair| pair[0] < pair[1]) || !z.iter().all(|z| z.is_finite()) {
                    return fail(format!(
                        "the heights of its profile are {z:?}; give increasing ones"
                    ));
                }
                match diffusivity.iter().find(|k| !(k.is_finite() && **k >= 0.0)) {
                    None => Ok(()),
                    Some(k) => fail(format!(
                        "its profile has the diffusivity {k}; give numbers of 0 or more"
                    )),
                }
            }
        }
    }
}

/// A source of frames on a grid or a mesh with the diffusivity that follows from them.
///
/// ```
/// use burntrace_core::{Diffused, Mixing};
/// # use burntrace_core::{Analytic, Domain, FrameSource, Flow};
/// # fn main() -> Result<(), burntrace_core::Error> {
/// # let domain = Domain::new([0.0; 3], [2.0, 1.0, 0.0])?;
/// # let gyre = Flow::named("double-gyre").expect("a built-in flow");
/// # let source = Analytic::sample(gyre, domain, [65, 33, 1], vec![0.0])?;
/// let mut source = Diffused::new(source, Mixing::Smagorinsky(0.1), None)?;
/// let frame = source.read(0).expect("a frame");
/// assert!(frame.diffusivity.is_some());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Diffused<S> {
    source: S,
    mixing: Mixing,
    radius: Option<f64>,
    /// See [`mesh::normals`].
    normals: Vec<[[f64; 2]; 2]>,
    /// The diffusivities by the velocities of a frame; `None` of a wrong number.
    of_frame: fn(&Self, &Floats) -> Option<Vec<f64>>,
}

impl<S: GridSource> Diffused<S> {
    /// Adds the diffusivity to a source on a grid, which is on a sphere if a radius is given
    /// ([`FieldOptions::radius`](crate::FieldOptions::radius)).
    ///
    /// # Errors
    ///
    /// [`Error::Walk`] for velocities in cells, heights that do not increase, and numbers below 0.
    pub fn new(source: S, mixing: Mixing, radius: Option<f64>) -> Result<Self> {
        mixing.check()?;
        check_axes(source.axes())?;
        if source.placement() != Placement::Nodes {
            let reason = "its diffusivity follows from velocities at nodes, and these are in cells; convert them";
            return Err(Error::Walk(reason.into()));
        }
        Ok(Diffused { source, mixing, radius, normals: Vec::new(), of_frame: Self::on_grid })
    }

    fn on_grid(&self, velocity: &Floats) -> Option<Vec<f64>> {
        let axes = self.source.axes();
        let [nx, ny, nz] = axes.each_ref().map(Vec::len);
        let at = |i: usize| [i % nx, i / nx % ny, i / (nx * ny)];
        let nodes = 0..nx * ny * nz;
        let is_whole = velocity.len() == 3 * nodes.len();
        is_whole.then(|| match &self.mixing {
            Mixing::Profile { z, diffusivity } => {
                let level: Vec<f64> = axes[2].iter().map(|x| linear(z, diffusivity, *x)).collect();
                nodes.map(|i| level[at(i)[2]]).collect()
            }
            Mixing::Smagorinsky(c) => {
                nodes.map(|i| c * self.deformation(velocity, at(i))).collect()
            }
        })
    }

    /// The area of a cell times the deformation at a node. Velocities that are missing count as 0, as at a coast.
    fn deformation(&self, velocity: &Floats, at: [usize; 3]) -> f64 {
        let axes = self.source.axes();
        let position = [0, 1, 2].map(|d| axes[d][at[d]]);
        let metres = self.radius.map_or([1.0; 3], |radius| scales(radius, position));
        let index = |[i, j, k]: [usize; 3]| i + axes[0].len() * (j + axes[1].len() * k);
        let mut area = 1.0;
        let mut slopes = [[0.0; 2]; 2];
        for d in 0..2 {
            let (mut low, mut high) = (at, at);
            low[d] = at[d].saturating_sub(1);
            high[d] = (at[d] + 1).min(axes[d].len() - 1);
            let length = metres[d] * (axes[d][high[d]] - axes[d][low[d]]);
            let cells = (high[d] - low[d]).max(1) as f64;
            area *= length / cells;
            let known = |v: [f64; 3]| v.map(|x| if x.is_finite() { x } else { 0.0 });
            let [low, high] = [low, high].map(|at| known(velocity.vector(index(at))));
            slopes[d] =
                [0, 1].map(|c| if length > 0.0 { (high[c] - low[c]) / length } else { 0.0 });
        }
        let [[ux, vx], [uy, vy]] = slopes;
        area * (ux * ux + vy * vy + 0.5 * (uy + vx).powi(2)).sqrt()
    }
}

impl<S: MeshSource> Diffused<S> {
    /// Adds the diffusivity to a source on a mesh, which is on a sphere if a radius is given. By the deformation, the diffusivity of
    /// a node is the mean of those of the triangles and quadrilaterals around it, in its own layer.
    ///
    /// # Errors
    ///
    /// [`Error::Walk`] for velocities in cells, heights that do not increase, numbers below 0, and of
    /// [`Mixing::Smagorinsky`] for cells of other types than triangles, quadrilaterals, wedges and hexahedra.
    pub fn on_mesh(source: S, mixing: Mixing, radius: Option<f64>) -> Result<Self> {
        mixing.check()?;
        mesh::check(&source, &mixing)?;
        let normals = match mixing {
            Mixing::Smagorinsky(_) => mesh::normals(&source, radius),
            Mixing::Profile { .. } => Vec::new(),
        };
        Ok(Diffused { source, mixing, radius, normals, of_frame: Self::over_mesh })
    }

    fn over_mesh(&self, velocity: &Floats) -> Option<Vec<f64>> {
        let Diffused { source, mixing, radius, normals, .. } = self;
        let is_whole = velocity.len() == 3 * source.points().len();
        is_whole.then(|| match mixing {
            Mixing::Profile { z, diffusivity } => {
                source.points().iter().map(|point| linear(z, diffusivity, point[2])).collect()
            }
            Mixing::Smagorinsky(c) => {
                let all = mesh::deformation(source, velocity, (*radius, normals));
                all.into_iter().map(|deformation| c * deformation).collect()
            }
        })
    }
}

/// A piecewise linear function, constant beyond its ends.
fn linear(at: &[f64], values: &[f64], x: f64) -> f64 {
    let next = at.partition_point(|a| *a <= x);
    if next == 0 || next == at.len() {
        return values[next.min(at.len() - 1)];
    }
    let part = (x - at[next - 1]) / (at[next] - at[next - 1]);
    values[next - 1] + part * (values[next] - values[next - 1])
}

impl<S: FrameSource> Diffused<S> {
    fn with_diffusivity(&self, data: FrameData) -> FrameData {
        match (self.of_frame)(self, &data.velocity) {
            Some(diffusivity) => data.with_diffusivity(Floats::F64(diffusivity)),
            // A wrong number of velocities is refused by the field.
            None => data,
        }
    }
}

impl<S: FrameSource> FrameSource for Diffused<S> {
    fn times(&self) -> &[f64] {
        self.source.times()
    }

    fn arrays(&self) -> &[FieldArray] {
        self.source.arrays()
    }

    fn has_velocity(&self) -> bool {
        self.source.has_velocity()
    }

    fn cache_bytes(&self) -> u64 {
        self.source.cache_bytes()
    }

    fn has_diffusivity(&self) -> bool {
        true
    }

    fn has_scaled_velocity(&self) -> bool {
        self.source.has_scaled_velocity()
    }

    fn read(&mut self, frame: usize) -> std::result::Result<FrameData, SourceError> {
        let data = self.source.read(frame)?;
        Ok(self.with_diffusivity(data))
    }

    fn read_many(&mut self, frames: &[usize]) -> Vec<std::result::Result<FrameData, SourceError>> {
        let all = self.source.read_many(frames);
        all.into_iter().map(|data| Ok(self.with_diffusivity(data?))).collect()
    }
}

placed_as_source!(Diffused);

#[cfg(test)]
mod tests {
    use super::*;

    /// A shear with the node spacings 0.5 and 2.
    #[derive(Debug)]
    struct Shear([Vec<f64>; 3]);

    impl FrameSource for Shear {
        fn times(&self) -> &[f64] {
            &[0.0]
        }

        fn read(&mut self, _: usize) -> std::result::Result<FrameData, SourceError> {
            let [xs, ys, _] = &self.0;
            let row = |y: f64| xs.iter().flat_map(move |x| [2.0 * y + 4.0 * x, 3.0 * x, 7.0]);
            Ok(FrameData::new(Floats::F64(ys.iter().copied().flat_map(row).collect())))
        }
    }

    impl GridSource for Shear {
        fn axes(&self) -> &[Vec<f64>; 3] {
            &self.0
        }

        fn placement(&self) -> Placement {
            Placement::Nodes
        }
    }

    fn shear() -> Shear {
        Shear([vec![0.0, 0.5, 1.0], vec![58.0, 60.0, 62.0], vec![0.0]])
    }

    fn diffusivity(mixing: Mixing, radius: Option<f64>) -> Floats {
        let mut source = Diffused::new(shear(), mixing, radius).unwrap();
        source.read(0).unwrap().diffusivity.unwrap()
    }

    #[test]
    fn deformation_of_a_linear_flow_is_exact_at_all_nodes() {
        let found = diffusivity(Mixing::Smagorinsky(0.1), None);
        // The area of a cell is 1; du/dx = 4, du/dy = 2, dv/dx = 3.
        let expected = 0.1 * (16.0_f64 + 0.5 * 25.0).sqrt();
        assert!((0..9).all(|i| (found.get(i) - expected).abs() < 1e-12), "{found:?}");
        // On a sphere, half a degree of longitude at 60 north is a quarter of one.
        let radius = 180.0 / std::f64::consts::PI;
        let found = diffusivity(Mixing::Smagorinsky(1.0), Some(radius)).get(4);
        let expected = 0.5 * (64.0_f64 + 0.5 * 64.0).sqrt();
        assert!((found - expected).abs() < 1e-9, "{found}");
    }

    #[test]
    fn profile_is_linear_between_its_heights_and_constant_beyond() {
        let (z, k) = ([-10.0, 0.0], [1.0, 3.0]);
        let at = |x: f64| linear(&z, &k, x);
        assert_eq!([-20.0, -10.0, -2.5, 0.0, 5.0].map(at), [1.0, 1.0, 2.5, 3.0, 3.0]);
        let profile = |z: Vec<f64>, diffusivity: Vec<f64>| {
            Diffused::new(shear(), Mixing::Profile { z, diffusivity }, None)
                .unwrap_err()
                .to_string()
        };
        assert!(profile(vec![0.0, 0.0], vec![1.0, 1.0]).contains("give increasing ones"));
        assert!(profile(vec![0.0], vec![]).contains("1 heights and 0 diffusivities"));
        assert!(profile(vec![0.0], vec![-1.0]).contains("the diffusivity -1"));
        let negative = Diffused::new(shear(), Mixing::Smagorinsky(-0.1), None);
        assert!(negative.unwrap_err().to_string().contains("its Smagorinsky coefficient is -0.1"));
    }
}
