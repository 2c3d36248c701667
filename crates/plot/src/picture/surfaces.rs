//! Bodies and walls.

use super::canvas::{Canvas, Point, Segment, Shape};
use super::scene::Scene;
use crate::color::{Rgb, mix};
use crate::data::Trajectories;

/// Contrast of surfaces to the background, from those seen edge-on to those seen face-on.
const WALL: [f64; 2] = [0.2, 0.08];
const BODY: [f64; 2] = [0.6, 0.3];

/// A triangle in the picture.
pub(crate) struct Facet {
    points: [Point; 3],
    color: Rgb,
    /// The sum of the depths of two of its points, on average: that of a line.
    pub depth: f64,
}

impl Facet {
    /// Draws it. Lines of its colour close the gap to its neighbours.
    pub(crate) fn draw(&self, canvas: &mut Canvas) {
        let Facet { points, color, .. } = self;
        canvas.shapes.push(Shape::Polygon { points: points.to_vec(), color: *color });
        let [a, b, c] = points.map(|point| point.map(|x| x as f32));
        let segments =
            [[a, b], [b, c], [c, a]].map(|[from, to]| Segment { from, to, color: *color });
        canvas.shapes.push(Shape::Segments { segments: segments.into(), width: 0.8, opacity: 1.0 });
    }
}

/// Draws the far sides of walls, which are behind all tracks, the outline of a flat domain, in plane views
/// the bodies, and in 3-D coasts.
pub(crate) fn draw_walls(scene: &mut Scene, trajectories: &Trajectories) {
    let mut facets = facets(scene, trajectories, true);
    facets.sort_by(|a, b| a.depth.total_cmp(&b.depth));
    facets.iter().for_each(|facet| facet.draw(&mut scene.canvas));
    if !scene.projection.has_depth() {
        let bodies = self::facets(scene, trajectories, false);
        bodies.iter().for_each(|facet| facet.draw(&mut scene.canvas));
    }
    // Plane views have coasts already.
    let coasts = if scene.projection.has_depth() { usize::MAX } else { trajectories.outline.len() };
    let lines = trajectories.lines().into_iter().take(coasts);
    let lines = lines.filter_map(|line| super::scene::clipped(line, scene.window));
    let lines: Vec<_> = lines.map(|line| line.map(|end| scene.projection.point(end))).collect();
    let (width, color) = (1.5 * scene.canvas.hairline(), scene.canvas.palette.muted);
    scene.canvas.lines(&lines, width, color);
}

/// The near sides of bodies in 3-D, to be drawn among the tracks.
pub(crate) fn bodies(scene: &Scene, trajectories: &Trajectories) -> Vec<Facet> {
    match scene.projection.has_depth() {
        true => facets(scene, trajectories, false),
        false => Vec::new(),
    }
}

/// The visible triangles of walls or of bodies: all in a plane view; in 3-D, of walls those that face away
/// from the viewer, seen from inside, and of bodies those that face the viewer.
fn facets(scene: &Scene, trajectories: &Trajectories, walls: bool) -> Vec<Facet> {
    let has_depth = scene.projection.has_depth();
    let shown = trajectories.surfaces.iter().filter(|surface| surface.is_wall == walls);
    let facets = shown.flat_map(|surface| &surface.triangles).filter_map(|triangle| {
        let middle = [0, 1, 2].map(|i| (triangle[0][i] + triangle[1][i] + triangle[2][i]) / 3.0);
        let [low, high] = scene.window;
        if !(0..3).all(|i| (low[i]..=high[i]).contains(&middle[i])) {
            return None;
        }
        let [a, b, c] = triangle.map(|corner| scene.projection.with_depth(corner));
        let [u, v] = [b, c].map(|end| [0, 1, 2].map(|i| end[i] - a[i]));
        // Above 0 if the corners are counterclockwise on the screen, whose y points down.
        let facing = u[1] * v[0] - u[0] * v[1];
        let normal = [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], facing];
        let size = normal.iter().map(|x| x * x).sum::<f64>().sqrt();
        if size <= 0.0 || (has_depth && (facing > 0.0) == walls) {
            return None;
        }
        let front = if has_depth { facing.abs() / size } else { 1.0 };
        let [edge_on, face_on] = if walls { WALL } else { BODY };
        let palette = scene.canvas.palette;
        let strength = edge_on + front * (face_on - edge_on);
        let color = mix(palette.background, palette.foreground, strength);
        let points = [a, b, c].map(|[x, y, _]| [x, y]);
        Some(Facet { points, color, depth: 2.0 / 3.0 * (a[2] + b[2] + c[2]) })
    });
    facets.collect()
}
