//! Workloads from NumPy arrays that are shared with other programs.

use crate::InvalidData;
use crate::{
    kind::{
        GRID_FRAMES, GRID_SEEDS, LATTICE, MESH_FRAMES, NODES, POINT_FRAMES, POINTS, WorkloadKind,
    },
    npy,
    tetrahedra::{self, Tetrahedra},
};
use anyhow::Result;
use std::path::Path;

/// The scattered nodes of `w1`.
pub fn points(folder: &Path) -> Result<Vec<[f64; 3]>> {
    positions(folder, "w1_pos.npy", POINTS)
}

/// The mesh of `w3`.
pub fn tetrahedra(folder: &Path) -> Result<Tetrahedra> {
    let [nodes, count] = tetrahedra::counts(WorkloadKind::W3.cubes());
    let points = positions(folder, "w3_57_pos.npy", nodes)?;
    let numbers: Vec<i32> = npy::read(&folder.join("w3_57_teto.npy"), &[count, 4])?;
    let node = |&number: &i32| u32::try_from(number).ok().filter(|&i| (i as usize) < nodes);
    let numbers: Option<Vec<u32>> = numbers.iter().map(node).collect();
    let numbers = numbers.ok_or_else(|| {
        InvalidData::error(format!("w3_57_teto.npy has node numbers outside 0 to {}", nodes - 1))
    })?;
    Ok(Tetrahedra { points, cells: numbers.as_chunks().0.to_vec() })
}

/// The seeds of `w1` and `w3`.
pub fn lattice(folder: &Path) -> Result<Vec<[f64; 3]>> {
    positions(folder, "seeds_7500.npy", LATTICE.iter().product())
}

/// The seeds of `w2`.
pub fn seeds(folder: &Path) -> Result<Vec<[f64; 3]>> {
    positions(folder, "seeds_100k.npy", GRID_SEEDS)
}

fn positions(folder: &Path, name: &str, count: usize) -> Result<Vec<[f64; 3]>> {
    let numbers = npy::read(&folder.join(name), &[count, 3])?;
    Ok(numbers.as_chunks().0.iter().map(|x: &[f32; 3]| x.map(f64::from)).collect())
}

/// The first `count` frames of a workload, in the order of its nodes.
pub fn frames(folder: &Path, kind: WorkloadKind, count: usize) -> Result<Vec<Vec<f32>>> {
    let scattered = |name: &str, frames: usize, nodes: usize| {
        let all = npy::read(&folder.join(name), &[frames, nodes, 3])?;
        Ok(all.chunks_exact(3 * nodes).take(count).map(<[f32]>::to_vec).collect())
    };
    match kind {
        WorkloadKind::W1 | WorkloadKind::W1Idw => {
            return scattered("w1_vel.npy", POINT_FRAMES, POINTS);
        }
        WorkloadKind::W3 => {
            let [nodes, _] = tetrahedra::counts(kind.cubes());
            return scattered("w3_57_vel.npy", MESH_FRAMES, nodes);
        }
        _ => {}
    }
    let n = NODES;
    let all = npy::read(&folder.join("w2_vel.npy"), &[GRID_FRAMES, n, n, n, 3])?;
    let frames = all.chunks_exact(3 * n.pow(3)).take(count);
    Ok(frames.map(|frame| x_fastest(frame, n)).collect())
}

/// Transposes an array `[x, y, z, component]` in C order to `[z, y, x, component]`.
fn x_fastest(frame: &[f32], n: usize) -> Vec<f32> {
    let (nodes, _) = frame.as_chunks::<3>();
    let node = |i: usize| nodes[(i % n * n + i / n % n) * n + i / (n * n)];
    (0..n.pow(3)).flat_map(node).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn x_varies_fastest_after_transposition() {
        let (n, mut frame) = (2, Vec::new());
        for x in 0..n {
            for y in 0..n {
                for z in 0..n {
                    frame.extend([x, y, z].map(|i| i as f32));
                }
            }
        }
        let transposed = x_fastest(&frame, n);
        assert_eq!(transposed[3..6], [1.0, 0.0, 0.0]);
        assert_eq!(transposed[6..9], [0.0, 1.0, 0.0]);
        assert_eq!(transposed[12..15], [0.0, 0.0, 1.0]);
    }
}
