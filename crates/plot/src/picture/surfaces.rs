//! Bodies and walls.

use super::canvas::{Canvas, Point, Segment, Shape};
use super::scene::Scene;
use crate::color::{Rgb, mix};
use crate::data::Trajectories;

/// Contrast of surfaces to the background, from those seen edge-on to those seen face-on.
const WALL: [f64; 2] = [0.2, 0.08];
const BODY: [f64; 2] = [0.6, 0.3];

/// A triangle in the picture, or the part of it between the axes.
pub(crate) struct Facet {
    points: Vec<Point>,
    color: Rgb,
    /// The sum of the depths of two of its points, on average: that of a line.
    pub depth: f64,
}

impl Facet {
    /// Draws it. Lines of its colour close the gap to its neighbours.
    pub(crate) fn draw(&self, canvas: &mut Canvas) {
        let Facet { points, color, .. } = self;
        canvas.shapes.push(Shape::Polygon { points: points.clone(), color: *color });
        let point = |i: usize| points[i % points.len()].map(|x| x as f32);
        let side = |i: usize| Segment { from: point(i), to: point(i + 1), color: *color };
        let segments = (0..points.len()).map(side).collect();
        canvas.shapes.push(Shape::Segments { segments, width: 0.8, opacity: 1.0 });
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
        if has_depth && !(0..3).all(|i| (low[i]..=high[i]).contains(&middle[i])) {
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
        let points = [a, b, c].map(|[x, y, _]| [x, y]).to_vec();
        let points = scene.corners.map_or(points.clone(), |corners| between(points, corners));
        if points.len() < 3 {
            return None;
        }
        Some(Facet { points, color, depth: 2.0 / 3.0 * (a[2] + b[2] + c[2]) })
    });
    facets.collect()
}

/// The part of a convex polygon in a rectangle between its low and its high corner. (I. E. Sutherland and G. W. Hodgman, 1974.)
fn between(mut points: Vec<Point>, [low, high]: [Point; 2]) -> Vec<Point> {
    for (axis, side, sign) in
        [(0, low[0], 1.0), (0, high[0], -1.0), (1, low[1], 1.0), (1, high[1], -1.0)]
    {
        let inside = |point: &Point| sign * (point[axis] - side);
        let mut kept = Vec::with_capacity(points.len() + 1);
        for (i, to) in points.iter().enumerate() {
            let from = &points[(i + points.len() - 1) % points.len()];
            let (a, b) = (inside(from), inside(to));
            if (a < 0.0) != (b < 0.0) {
                let part = a / (a - b);
                kept.push([0, 1].map(|d| from[d] + part * (to[d] - from[d])));
            }
            if b >= 0.0 {
                kept.push(*to);
            }
        }
        points = kept;
    }
    points
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn polygons_end_at_the_axes() {
        let window = [[0.0, 0.0], [2.0, 1.0]];
        let area = |points: &[Point]| {
            let sides = (0..points.len()).map(|i| {
                let [a, b] = [points[i], points[(i + 1) % points.len()]];
                a[0] * b[1] - a[1] * b[0]
            });
            0.5 * sides.sum::<f64>().abs()
        };
        let inside = vec![[0.5, 0.2], [1.5, 0.2], [1.0, 0.8]];
        assert_eq!(between(inside.clone(), window), inside);
        // Half of a triangle that the low side cuts, and all of the window in one around it.
        let cut = between(vec![[0.5, -0.5], [1.5, -0.5], [1.5, 0.5], [0.5, 0.5]], window);
        assert!((area(&cut) - 0.5).abs() < 1e-12, "{cut:?}");
        let around = between(vec![[-9.0, -9.0], [20.0, -9.0], [0.0, 30.0]], window);
        assert!((area(&around) - 2.0).abs() < 1e-12, "{around:?}");
        assert!(between(vec![[3.0, 0.0], [4.0, 0.0], [3.0, 1.0]], window).is_empty());
    }
}
