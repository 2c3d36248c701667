//! The dimensions of a variable on an unstructured mesh: time, layers, and nodes or faces.

use super::topology::Topology;
use crate::layout::time_of;
use crate::mesh::{Gather, NONE, Weights};
use crate::packing::Decoded;
use crate::store::{Attribute, Dimension, Span, Store, Variable};
use crate::units::Quantity;
use crate::{Error, Result};

/// A variable at the nodes or on the faces of a mesh.
#[derive(Clone, Debug)]
pub(super) struct OnMesh {
    pub variable: Variable,
    /// Whether it is on faces, and not at nodes.
    pub is_on_faces: bool,
    /// The dimension of the layers or levels; `None` if there is only one.
    pub vertical: Option<usize>,
    time: Option<usize>,
    pub horizontal: usize,
    component: Option<usize>,
}

/// Dimensions of components, in lower case.
const COMPONENTS: [&str; 4] = ["two", "three", "component", "components"];

impl OnMesh {
    /// The dimensions of a variable.
    ///
    /// # Errors
    ///
    /// If it is neither at nodes nor on faces, or has other dimensions than time, layers and components.
    pub fn of(store: &dyn Store, variable: &Variable, topology: &Topology) -> Result<OnMesh> {
        let fail = |reason: String| Error::variable(store.path(), &variable.name, reason);
        let at = |wanted: &Dimension| variable.dimensions.iter().position(|of| of == wanted);
        let on_faces = at(&topology.face_dimension);
        let at_nodes = topology.node_dimension.as_ref().and_then(at);
        let horizontal = on_faces.or(at_nodes).ok_or_else(|| {
            let nodes = topology.node_dimension.as_ref().map_or(String::new(), |of| format!("nodes (`{}`) nor ", of.name));
            let faces = &topology.face_dimension.name;
            fail(format!(
                "it has values neither at {nodes}on faces (`{faces}`) of the mesh: {variable}; velocities on edges must be \
                 reconstructed in faces first"
            ))
        })?;
        let (time, _) = time_of(store, variable);
        let others =
            (0..variable.dimensions.len()).filter(|d| Some(*d) != time && *d != horizontal);
        let mut others: Vec<usize> = others.filter(|d| variable.dimensions[*d].len > 1).collect();
        let is_named = |d: &usize| {
            COMPONENTS.contains(&variable.dimensions[*d].name.to_ascii_lowercase().as_str())
        };
        let component = others.iter().position(is_named).map(|at| others.remove(at));
        let count = others.iter().chain([&horizontal]).map(|d| variable.dimensions[*d].len);
        let count = count.fold(1, usize::saturating_mul);
        match others.as_slice() {
            [] | [_] if count >= NONE as usize => Err(fail(format!(
                "it has {count} values at a time, and at most {NONE} can be read of a mesh"
            ))),
            [] | [_] => Ok(OnMesh {
                variable: variable.clone(),
                is_on_faces: on_faces.is_some(),
                vertical: others.first().copied(),
                time,
                horizontal,
                component,
            }),
            [.., last] => Err(fail(format!(
                "its dimension `{0}` is neither the time nor that of layers; select one index of it (in xarray: \
                 `ds.isel({0}=0)`)",
                variable.dimensions[*last].name
            ))),
        }
    }

    fn len(&self, d: Option<usize>) -> usize {
        d.map_or(1, |d| self.variable.dimensions[d].len)
    }

    /// Number of layers or levels.
    pub fn levels(&self) -> usize {
        self.len(self.vertical)
    }

    /// Number of components.
    pub fn components(&self) -> usize {
        self.len(self.component)
    }

    /// The index of a value among those of a time and a component: of a node or face, and a level in the order of the
    /// file.
    pub fn index(&self, place: u32, level: usize) -> u32 {
        let after = |of: usize| {
            let read = [Some(self.horizontal), self.vertical].into_iter().flatten();
            read.filter(|d| *d > of).map(|d| self.len(Some(d))).product::<usize>()
        };
        let vertical = self.vertical.map_or(0, |d| level * after(d));
        (place as usize * after(self.horizontal) + vertical) as u32
    }

    /// How a component is read.
    pub fn gather(&self, quantity: Option<Quantity>, component: usize, weights: Weights) -> Gather {
        let span = |d: usize| match d {
            _ if d == self.horizontal || Some(d) == self.vertical => Span::all(self.len(Some(d))),
            _ if Some(d) == self.component => Span::one(component),
            _ => Span::one(0),
        };
        let slab = (0..self.variable.dimensions.len()).map(span).collect();
        Gather { variable: self.variable.name.clone(), quantity, slab, time: self.time, weights }
    }

    /// The dimension of time.
    pub fn time(&self) -> Option<&Dimension> {
        self.time.map(|d| &self.variable.dimensions[d])
    }

    /// Whether it depends on the time.
    pub fn has_times(&self) -> bool {
        self.time().is_some_and(|time| time.len > 1)
    }

    /// The decoded numbers of a component at the first time, of which [`index`](OnMesh::index) tells the places.
    pub fn first(
        &self,
        store: &dyn Store,
        quantity: Option<Quantity>,
        component: usize,
    ) -> Result<Decoded> {
        let nothing = Weights::One { index: Vec::new(), sign: 1.0 };
        self.gather(quantity, component, nothing).decoded(store, 0)
    }

    /// Whether another variable is on the same faces or nodes, and layers.
    pub fn is_at(&self, other: &OnMesh) -> bool {
        self.is_on_faces == other.is_on_faces && self.levels() == other.levels()
    }
}

/// The bounds of a coordinate, with its units if they have none.
pub(super) fn with_units(bounds: &Variable, coordinate: &Variable) -> Variable {
    let units = |of: &Variable| of.text("units").filter(|text| !text.is_empty()).map(str::to_owned);
    let mut bounds = bounds.clone();
    if let (None, Some(text)) = (units(&bounds), units(coordinate)) {
        bounds.attributes.insert(0, ("units".into(), Attribute::Text(text)));
    }
    bounds
}
