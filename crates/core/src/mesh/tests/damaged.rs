//! Invalid meshes: an error or a count, never a panic or an infinite walk.

use super::super::*;
use super::made::Made;
use crate::{Precision, random::uniform};
use burntrace_kernels::CellKind;

/// A sequence of random numbers.
struct Dice {
    seed: u64,
    count: u64,
}

impl Dice {
    fn float(&mut self) -> f64 {
        self.count += 1;
        uniform(self.seed, self.count, 0, 0)
    }

    fn below(&mut self, count: usize) -> usize {
        (self.float() * count as f64) as usize
    }

    fn coordinate(&mut self, wild: bool) -> f64 {
        let x = self.float();
        match self.below(if wild { 14 } else { 6 }) {
            0 => 0.0,
            1 => x.round(),
            2 => 1e-9 * x,
            6 => f64::NAN,
            7 => f64::INFINITY,
            8 => 1e308 * (x - 0.5),
            9 => 1e-310 * x,
            10 => -1e16 - x,
            _ => x,
        }
    }
}

fn random_mesh(dice: &mut Dice) -> (Vec<[f64; 3]>, Cells) {
    let wild = dice.below(4) == 0;
    let dimension = if dice.below(10) == 0 { 0 } else { 2 + dice.below(2) };
    let kinds: Vec<CellKind> = CellKind::ALL
        .iter()
        .copied()
        .filter(|kind| dimension == 0 || kind.dimension() == dimension)
        .collect();
    let points: Vec<[f64; 3]> = (0..1 + dice.below(40))
        .map(|_| {
            let [x, y, z] = [0; 3].map(|_| dice.coordinate(wild));
            [x, y, if dimension == 2 { 0.5 } else { z }]
        })
        .collect();
    let mut cells = Cells { offsets: vec![0], ..Cells::default() };
    for _ in 0..dice.below(60) {
        let kind = kinds[dice.below(kinds.len())];
        cells.kinds.push(kind);
        for _ in 0..kind.nodes() {
            cells.connectivity.push(dice.below(points.len()) as u32);
        }
        cells.offsets.push(cells.connectivity.len() as u32);
    }
    if dice.below(8) == 0 {
        damage(dice, &mut cells);
    }
    (points, cells)
}

/// Makes one number wrong, or removes one.
fn damage(dice: &mut Dice, cells: &mut Cells) {
    let number = [0, 1, 7, 1000, u32::MAX][dice.below(5)];
    match dice.below(4) {
        0 => drop(cells.connectivity.pop()),
        1 => drop(cells.kinds.pop()),
        2 => {
            let k = dice.below(cells.offsets.len());
            cells.offsets[k] = number;
        }
        _ if !cells.connectivity.is_empty() => {
            let k = dice.below(cells.connectivity.len());
            cells.connectivity[k] = number;
        }
        _ => {}
    }
}

fn probe(mesh: &Mesh, dice: &mut Dice) {
    for _ in 0..20 {
        let point = [0; 3].map(|_| dice.coordinate(true));
        let from = dice.below(mesh.cells().len() + 1);
        for location in [mesh.locate(point), mesh.walk(from, point)].into_iter().flatten() {
            assert!(location.weights.iter().all(|weight| weight.is_finite()), "{location:?}");
            let sum: f64 = location.weights.iter().sum();
            assert!((sum - 1.0).abs() < 1e-9, "{location:?}");
        }
    }
    for point in mesh.points() {
        let _ = (mesh.locate(point), mesh.walk(0, point));
    }
    let _ = mesh.locator_in(Precision::F32).near([0.5; 3]);
}

#[test]
fn random_meshes_never_panic() {
    let mut built = 0;
    for seed in 0..1500 {
        let mut dice = Dice { seed, count: 0 };
        let (points, cells) = random_mesh(&mut dice);
        if let Ok(mesh) = Mesh::new(&points, cells) {
            probe(&mesh, &mut dice);
            built += 1;
        }
    }
    assert!(built > 500, "{built}");
}

#[test]
fn points_in_valid_cells_are_located_in_damaged_meshes() {
    for seed in 0..20 {
        let mut dice = Dice { seed, count: 0 };
        let mut made = Made::of(4, 0.2, CellKind::Tetra);
        for _ in 0..10 {
            let k = dice.below(made.cells.connectivity.len());
            made.cells.connectivity[k] = dice.below(made.points.len()) as u32;
        }
        let mesh = Mesh::new(&made.points, made.cells).unwrap();
        probe(&mesh, &mut dice);
        let found = (0..1000).filter(|_| {
            let point = [0; 3].map(|_| dice.float());
            mesh.walk(dice.below(mesh.cells().len()), point).is_some()
        });
        assert!(found.count() > 900);
    }
}
