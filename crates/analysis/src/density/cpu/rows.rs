//! Spreading any kernel, row after row of nodes.

use super::{
    Number, WIDTH,
    course::Course,
    grid::{Part, Slab, Way},
    wider,
};
use burntrace_kernels::host::Lanes;
use std::{marker::PhantomData, ops::Range};

/// A row of nodes that some particles are spread over.
pub(super) struct Rows<F, C> {
    row: Vec<F>,
    course: PhantomData<C>,
}

/// Where a particle's kernel lies in a row: `|A x|^2 = (slope (x_node - x) + shift)^2 + square`.
struct Chord<F> {
    x: F,
    weight: F,
    shift: F,
    square: F,
    /// Eights of nodes that it reaches.
    eights: Range<usize>,
}

impl<F: Number, C: Course> Way<F> for Rows<F, C> {
    fn new(_: &Slab<F>) -> Self {
        Rows { row: Vec::new(), course: PhantomData }
    }

    #[inline(always)]
    fn add<L: Lanes<F>>(&mut self, slab: &Slab<F>, particles: Range<usize>, part: &mut Part) {
        self.row.resize(part.counts[0].next_multiple_of(WIDTH), F::zero());
        for k in 0..part.counts[2] {
            for j in 0..part.counts[1] {
                self.row.fill(F::zero());
                for p in particles.clone() {
                    if let Some(chord) = self.chord(slab, part, p, j, k) {
                        self.spread(slab, part, &chord);
                    }
                }
                for (to, from) in part.row(j, k).iter_mut().zip(&self.row) {
                    *to += from.double();
                }
            }
        }
    }
}

impl<F: Number, C: Course> Rows<F, C> {
    #[inline(always)]
    fn chord(&self, slab: &Slab<F>, part: &Part, p: usize, j: usize, k: usize) -> Option<Chord<F>> {
        let [xx, xy, xz, yy, yz, zz] = slab.sources.per_unit();
        let [x, y, z] = slab.sources.axes.map(|axis| axis[p]);
        let dy = slab.place(1, part.first[1] + j) - y;
        let dz = slab.place(2, part.first[2] + k) - z;
        let (v, w, shift) = (yy * dy + yz * dz, zz * dz, xy * dy + xz * dz);
        let square = v * v + w * w;
        let cut = F::of(slab.sources.smoother.cut);
        let half = if C::IS_BOX { cut } else { (cut * cut - square).max(F::zero()).sqrt() };
        let reaches = if C::IS_BOX { v.abs().max(w.abs()) <= cut } else { square < cut * cut };
        if !reaches {
            return None;
        }
        let weight = slab.sources.weights[p];
        let pitch = slab.grid.pitch[0];
        let last = self.row.len() / WIDTH;
        let mut eights = 0..last;
        if pitch > 0.0 {
            let middle = x - shift / xx - slab.place(0, part.first[0]);
            let reach = half / xx;
            let node = |x: F| (x / F::of(pitch)).double();
            let from = (node(middle) - wider(node(reach))).max(0.0) as usize / WIDTH;
            let end = (node(middle) + wider(node(reach))).ceil().max(0.0) as usize / WIDTH + 1;
            eights = from..end.min(last);
        }
        Some(Chord { x, weight, shift, square, eights })
    }

    #[inline(always)]
    fn spread(&mut self, slab: &Slab<F>, part: &Part, chord: &Chord<F>) {
        let slope = F::of(slab.sources.smoother.per_unit[0][0]);
        let cut = F::of(slab.sources.smoother.cut);
        let (first, pitch) = (slab.place(0, part.first[0]), F::of(slab.grid.pitch[0]));
        let first = first - chord.x;
        for eight in chord.eights.clone() {
            let row = &mut self.row[eight * WIDTH..][..WIDTH];
            for (l, sum) in row.iter_mut().enumerate() {
                let way = first + F::of_whole((eight * WIDTH + l) as i32) * pitch;
                let u = slope * way + chord.shift;
                let value = chord.weight * C::at(u * u + chord.square);
                let counts = !C::IS_BOX || u.abs() <= cut;
                *sum = *sum + if counts { value } else { F::zero() };
            }
        }
    }
}
