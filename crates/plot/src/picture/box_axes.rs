//! The axes of a box in 3-D: its edges, the grid on its back faces, ticks and labels.

use super::axis::{AxisSpec, fitting_ticks, max_label_width};
use super::canvas::{Align, Canvas, Point, Shape, Text};
use super::font;
use super::projection::Projection;
use super::ticks::Ticks;

/// The axes of a box in a view.
pub(crate) struct BoxAxes<'a> {
    pub specs: [AxisSpec<'a>; 3],
    pub bounds: [[f64; 3]; 2],
    pub projection: Projection,
    /// Left and right limit of everything that is drawn.
    sides: [f64; 2],
}

/// Minimum length of an axis relative to the longest one; shorter ones are stretched to it.
const MIN_ASPECT: f64 = 0.1;
/// The length of ticks, and the space between them and their labels, in ems.
const TICK: f64 = 0.4;
const SPACE: f64 = 0.4;

/// Maximum width of the title of an axis, relative to the width of the picture.
const MAX_TITLE_WIDTH: f64 = 1.0 / 3.0;

/// The stretch factors of the axes of a box.
pub(crate) fn stretch(bounds: [[f64; 3]; 2]) -> [f64; 3] {
    let widths = [0, 1, 2].map(|i| bounds[1][i] - bounds[0][i]);
    let min = MIN_ASPECT * widths.into_iter().fold(0.0, f64::max);
    widths.map(|width| if width > 0.0 && width < min { min / width } else { 1.0 })
}

/// The edge of the box that carries the labels of an axis.
struct LabelEdge {
    ends: [Point; 2],
    /// The unit vector perpendicular to the edge that points away from the box.
    outward: Point,
    ticks: Ticks,
}

impl<'a> BoxAxes<'a> {
    /// Fits the box with its labels into an area (left and right, top and bottom).
    pub(crate) fn new(
        specs: [AxisSpec<'a>; 3],
        bounds: [[f64; 3]; 2],
        (angles, perspective): ([f64; 2], bool),
        area: [[f64; 2]; 2],
        em: f64,
    ) -> Self {
        let unit = Projection::space(angles, bounds, stretch(bounds), perspective);
        let corners: Vec<Point> =
            corners(bounds).into_iter().map(|corner| unit.point(corner)).collect();
        let half = [0, 1].map(|i| corners.iter().map(|point| point[i].abs()).fold(0.0, f64::max));
        let labels =
            specs.iter().map(|spec| max_label_width(&spec.ticks(5), em)).fold(0.0, f64::max);
        let title = specs[2].title(&specs[2].ticks(5));
        let title = match bounds[0][2] < bounds[1][2] {
            true => font::width(&title, em).min((area[0][1] - area[0][0]) * MAX_TITLE_WIDTH),
            false => 0.0,
        };
        // Labels and titles are below and beside the box, none is above it.
        let left = labels + (title + 2.2 * em).max(4.0 * em);
        let margins = [[left, labels + 4.0 * em], [0.5 * em, 4.0 * em]];
        let inner = [0, 1].map(|i| {
            let ([low, high], [before, after]) = (area[i], margins[i]);
            [low + before, (high - after).max(low + before + em)]
        });
        let scale = (0..2)
            .map(|i| (inner[i][1] - inner[i][0]) / (2.0 * half[i]))
            .fold(f64::INFINITY, f64::min);
        let scale = if scale.is_finite() { scale } else { 1.0 };
        let projection = unit.moved(scale, inner.map(|[low, high]| (low + high) / 2.0));
        Self { specs, bounds, projection, sides: area[0] }
    }

    /// The end of an axis with the face that is farther from the viewer: 0 or 1.
    fn far_end(&self, axis: usize) -> usize {
        usize::from(self.projection.towards_viewer(axis) <= 0.0)
    }

    /// The edge along an axis, at ends of the two other axes.
    fn edge(&self, axis: usize, ends: [usize; 2]) -> [Point; 2] {
        let [b, c] = others(axis);
        [0, 1].map(|end| {
            let mut position = [0.0; 3];
            (position[axis], position[b], position[c]) =
                (self.bounds[end][axis], self.bounds[ends[0]][b], self.bounds[ends[1]][c]);
            self.projection.point(position)
        })
    }

    /// Draws grid and edges of the back faces, and labels. The edges of the nearest corner would cross the
    /// data, and are omitted.
    pub(crate) fn draw(&self, canvas: &mut Canvas) {
        let edges = [0, 1, 2].map(|axis| self.label_edge(axis, canvas.em));
        let mut grid = Vec::new();
        for (axis, edge) in edges.iter().enumerate() {
            let Some(edge) = edge else { continue };
            edge.ticks.at.iter().for_each(|&(value, _)| grid.extend(self.grid_lines(axis, value)));
        }
        canvas.lines(&grid, canvas.hairline(), canvas.palette.grid);
        let back = (0..3).flat_map(|axis| {
            let far = others(axis).map(|other| self.far_end(other));
            let ends = [far, [1 - far[0], far[1]], [far[0], 1 - far[1]]];
            ends.map(|ends| self.edge(axis, ends))
        });
        let back: Vec<_> = back.collect();
        canvas.lines(&back, canvas.hairline(), canvas.palette.muted);
        let mut occupied = Vec::new();
        for (axis, edge) in edges.iter().enumerate() {
            if let Some(edge) = edge {
                self.draw_labels(canvas, axis, edge, &mut occupied);
            }
        }
    }

    /// The grid lines at a value of an axis, on the two back faces along it.
    fn grid_lines(&self, axis: usize, value: f64) -> [[Point; 2]; 2] {
        let [b, c] = others(axis);
        [[b, c], [c, b]].map(|[normal, along]| {
            [0, 1].map(|end| {
                let mut position = [0.0; 3];
                (position[axis], position[normal], position[along]) =
                    (value, self.bounds[self.far_end(normal)][normal], self.bounds[end][along]);
                self.projection.point(position)
            })
        })
    }

    /// The edge that carries the labels of an axis; `None` if the axis is seen end-on.
    fn label_edge(&self, axis: usize, em: f64) -> Option<LabelEdge> {
        let ends = self.silhouette_edge(axis);
        let direction = [ends[1][0] - ends[0][0], ends[1][1] - ends[0][1]];
        let length = direction[0].hypot(direction[1]);
        if length < 2.0 * em {
            return None;
        }
        let size = |label: &str| {
            let horizontal = (font::width(label, em) + em) * length / direction[0].abs();
            horizontal.min(1.8 * em * length / direction[1].abs())
        };
        let position = |value| length * self.specs[axis].fraction(value);
        let ticks = fitting_ticks(position, size, |max_steps| self.specs[axis].ticks(max_steps));
        let normal = [direction[1] / length, -direction[0] / length];
        Some(LabelEdge { ends, outward: self.outward(axis, normal, middle(ends)), ticks })
    }

    /// The edge along an axis on the silhouette of the box: for z the left one of two, for x and y the
    /// lower one.
    fn silhouette_edge(&self, axis: usize) -> [Point; 2] {
        let [b, c] = others(axis);
        let silhouette =
            [[self.far_end(b), 1 - self.far_end(c)], [1 - self.far_end(b), self.far_end(c)]];
        let rank = |ends| {
            let [x, y] = middle(ends);
            // Of two edges at the same height, the left one.
            if axis == 2 { -x } else { y - 1e-3 * x }
        };
        let [one, other] = silhouette.map(|ends| self.edge(axis, ends));
        if rank(one) >= rank(other) { one } else { other }
    }

    /// `normal` or its opposite: the one that points away from the box at a point of an edge.
    fn outward(&self, axis: usize, normal: Point, point: Point) -> Point {
        let center = [0, 1, 2].map(|i| (self.bounds[0][i] + self.bounds[1][i]) / 2.0);
        let center = self.projection.point(center);
        let distance = normal[0] * (point[0] - center[0]) + normal[1] * (point[1] - center[1]);
        // A box that degenerates to a line has its labels below and to the left.
        let sign = match axis {
            _ if distance.abs() > 1e-3 => distance.signum(),
            2 => -normal[0].signum(),
            _ => normal[1].signum(),
        };
        normal.map(|component| component * sign)
    }

    /// Draws the labels of an axis, without those that would overlap the `occupied` rectangles.
    fn draw_labels(
        &self,
        canvas: &mut Canvas,
        axis: usize,
        edge: &LabelEdge,
        occupied: &mut Vec<[Point; 2]>,
    ) {
        let (em, color) = (canvas.em, canvas.palette.foreground);
        let mut lines = Vec::new();
        for (value, label) in &edge.ticks.at {
            let fraction = self.specs[axis].fraction(*value);
            let [from, to] = edge.ends;
            let point = [0, 1].map(|i| from[i] + fraction * (to[i] - from[i]));
            lines.push([point, offset(point, edge.outward, TICK * em)]);
            let text = self.text_beside(canvas, label, point, edge.outward, (TICK + SPACE) * em);
            let rectangle = extent(&text);
            if !occupied.iter().any(|other| overlap(*other, rectangle)) {
                occupied.push(rectangle);
                canvas.shapes.push(Shape::Text(text));
            }
        }
        canvas.lines(&lines, canvas.hairline(), color);
        let [x, y] = edge.outward.map(f64::abs);
        let labels = x * max_label_width(&edge.ticks, em) + y * 0.75 * em;
        let middle = middle(edge.ends);
        let title = self.specs[axis].title(&edge.ticks);
        let nearest = labels + (TICK + 2.0 * SPACE + 0.4) * em;
        // A long title may have to move away from the labels beside it.
        let mut candidates = (0..8).map(|i| {
            let distance = nearest + 0.5 * f64::from(i) * em;
            self.text_beside(canvas, &title, middle, edge.outward, distance)
        });
        let is_free = |text: &Text| !occupied.iter().any(|other| overlap(*other, extent(text)));
        let found = candidates.clone().find(is_free).or_else(|| candidates.next_back());
        let Some(text) = found else { return };
        occupied.push(extent(&text));
        canvas.shapes.push(Shape::Text(text));
    }

    /// Text whose nearest side is at a distance from a point in a direction.
    fn text_beside(
        &self,
        canvas: &Canvas,
        text: &str,
        point: Point,
        outward: Point,
        distance: f64,
    ) -> Text {
        let em = canvas.em;
        let max_width = (self.sides[1] - self.sides[0]) * MAX_TITLE_WIDTH;
        let (text, size) = font::fit(text, em, max_width);
        let half = font::width(&text, size) / 2.0;
        let more = outward[0].abs() * half + outward[1].abs() * 0.36 * em;
        let [x, y] = offset(point, outward, distance + more);
        let x = x.min(self.sides[1] - half).max(self.sides[0] + half);
        let y = (y + 0.36 * em).min(canvas.size[1] - 0.3 * em);
        let color = canvas.palette.foreground;
        Text { text, anchor: [x, y], size, align: Align::Middle, vertical: false, color }
    }
}

/// The corners of a centred text, with a small margin to its left and right.
fn extent(text: &Text) -> [Point; 2] {
    let ([x, y], half) = (text.anchor, font::width(&text.text, text.size) / 2.0 + 0.25 * text.size);
    [[x - half, y - 0.75 * text.size], [x + half, y + 0.1 * text.size]]
}

fn overlap(a: [Point; 2], b: [Point; 2]) -> bool {
    (0..2).all(|i| a[0][i] < b[1][i] && b[0][i] < a[1][i])
}

fn middle([from, to]: [Point; 2]) -> Point {
    [(from[0] + to[0]) / 2.0, (from[1] + to[1]) / 2.0]
}

fn offset(point: Point, direction: Point, distance: f64) -> Point {
    [point[0] + distance * direction[0], point[1] + distance * direction[1]]
}

fn others(axis: usize) -> [usize; 2] {
    [[1, 2], [0, 2], [0, 1]][axis]
}

fn corners(bounds: [[f64; 3]; 2]) -> [[f64; 3]; 8] {
    std::array::from_fn(|corner| [0, 1, 2].map(|i| bounds[corner >> i & 1][i]))
}
