//! A box in space: its edges, the grid on its walls, and its axes.

use super::bar::widest;
use super::canvas::{Align, Canvas, Place, Shape, Text};
use super::font;
use super::frame::{Span, readable};
use super::projection::Projection;
use super::ticks::Ticks;

/// A box as it is looked at.
pub(crate) struct Room<'a> {
    pub spans: [Span<'a>; 3],
    pub bounds: [[f64; 3]; 2],
    pub projection: Projection,
    /// Left and right, between which all of it is.
    sides: [f64; 2],
}

/// An axis that is shorter than this part of the longest one is stretched to it.
const FLATTEST: f64 = 0.1;
/// The length of ticks, and what is between them and their labels, in ems.
const TICK: f64 = 0.4;
const SPACE: f64 = 0.4;

/// Names of axes are at most so much of the width.
const LONGEST: f64 = 1.0 / 3.0;

/// By how much each axis of a box is stretched.
pub(crate) fn stretch(bounds: [[f64; 3]; 2]) -> [f64; 3] {
    let widths = [0, 1, 2].map(|i| bounds[1][i] - bounds[0][i]);
    let least = FLATTEST * widths.into_iter().fold(0.0, f64::max);
    widths.map(|width| if width > 0.0 && width < least { least / width } else { 1.0 })
}

/// An axis in the picture: the edge at which its labels are.
struct Edge {
    ends: [Place; 2],
    /// Away from the box, across the edge; of length 1.
    outwards: Place,
    ticks: Ticks,
}

impl<'a> Room<'a> {
    /// The box as large as an area (left and right, top and bottom) lets it and its labels be.
    pub(crate) fn new(
        spans: [Span<'a>; 3],
        bounds: [[f64; 3]; 2],
        angles: [f64; 2],
        area: [[f64; 2]; 2],
        em: f64,
    ) -> Self {
        let unit = Projection::space(angles, bounds, stretch(bounds));
        let corners: Vec<Place> =
            corners(bounds).into_iter().map(|corner| unit.place(corner)).collect();
        let half = [0, 1].map(|i| corners.iter().map(|at| at[i].abs()).fold(0.0, f64::max));
        let labels = spans.iter().map(|span| widest(&span.ticks(5), em)).fold(0.0, f64::max);
        let name = spans[2].ticks(5).title(spans[2].name, spans[2].unit);
        let name = match bounds[0][2] < bounds[1][2] {
            true => font::width(&name, em).min((area[0][1] - area[0][0]) * LONGEST),
            false => 0.0,
        };
        // Below and beside the box are labels and names, above it there is nothing.
        let left = labels + (name + 2.2 * em).max(4.0 * em);
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
        Self { spans, bounds, projection, sides: area[0] }
    }

    /// The end of an axis at which the wall is that is farther from the viewer: 0 or 1.
    fn far(&self, axis: usize) -> usize {
        usize::from(self.projection.towards(axis) <= 0.0)
    }

    /// An edge along an axis, at ends of the two other axes.
    fn edge(&self, axis: usize, ends: [usize; 2]) -> [Place; 2] {
        let [b, c] = others(axis);
        [0, 1].map(|end| {
            let mut at = [0.0; 3];
            (at[axis], at[b], at[c]) =
                (self.bounds[end][axis], self.bounds[ends[0]][b], self.bounds[ends[1]][c]);
            self.projection.place(at)
        })
    }

    /// Draws what is behind the data: the grid on the walls and their edges, and the labels.
    pub(crate) fn draw_back(&self, canvas: &mut Canvas) {
        let edges = [0, 1, 2].map(|axis| self.labelled(axis, canvas.em));
        let mut grid = Vec::new();
        for (axis, edge) in edges.iter().enumerate() {
            let Some(edge) = edge else { continue };
            edge.ticks.at.iter().for_each(|&(value, _)| grid.extend(self.across(axis, value)));
        }
        canvas.lines(&grid, canvas.hairline(), canvas.inks.faint);
        let back = (0..3).flat_map(|axis| {
            let far = others(axis).map(|other| self.far(other));
            let ends = [far, [1 - far[0], far[1]], [far[0], 1 - far[1]]];
            ends.map(|ends| self.edge(axis, ends))
        });
        let back: Vec<_> = back.collect();
        canvas.lines(&back, canvas.hairline(), canvas.inks.muted);
        let mut taken = Vec::new();
        for (axis, edge) in edges.iter().enumerate() {
            if let Some(edge) = edge {
                self.draw_labels(canvas, axis, edge, &mut taken);
            }
        }
    }

    /// The edges that are before the data.
    pub(crate) fn draw_front(&self, canvas: &mut Canvas) {
        let near = |axis| self.edge(axis, others(axis).map(|other| 1 - self.far(other)));
        let front = [0, 1, 2].map(near);
        canvas.lines(&front, canvas.hairline(), canvas.inks.muted);
    }

    /// Lines at a value of an axis over the two far walls along it.
    fn across(&self, axis: usize, value: f64) -> [[Place; 2]; 2] {
        let [b, c] = others(axis);
        [[b, c], [c, b]].map(|[wall, along]| {
            [0, 1].map(|end| {
                let mut at = [0.0; 3];
                (at[axis], at[wall], at[along]) =
                    (value, self.bounds[self.far(wall)][wall], self.bounds[end][along]);
                self.projection.place(at)
            })
        })
    }

    /// The edge of an axis that has its labels. None if the axis is seen from its end.
    fn labelled(&self, axis: usize, em: f64) -> Option<Edge> {
        let ends = self.outline(axis);
        let way = [ends[1][0] - ends[0][0], ends[1][1] - ends[0][1]];
        let length = way[0].hypot(way[1]);
        if length < 2.0 * em {
            return None;
        }
        let size = |label: &str| {
            let rightwards = (font::width(label, em) + em) * length / way[0].abs();
            rightwards.min(1.8 * em * length / way[1].abs())
        };
        let place = |value| length * self.spans[axis].place(value);
        let ticks = readable(place, size, |most| self.spans[axis].ticks(most));
        let across = [way[1] / length, -way[0] / length];
        Some(Edge { ends, outwards: self.outwards(axis, across, middle(ends)), ticks })
    }

    /// The edge along an axis that is part of the outline of the box: for z the left one of two, for x
    /// and y the lower one.
    fn outline(&self, axis: usize) -> [Place; 2] {
        let [b, c] = others(axis);
        let outline = [[self.far(b), 1 - self.far(c)], [1 - self.far(b), self.far(c)]];
        let rank = |ends| {
            let [x, y] = middle(ends);
            // Of two that are equally low, the left one.
            if axis == 2 { -x } else { y - 1e-3 * x }
        };
        let [one, other] = outline.map(|ends| self.edge(axis, ends));
        if rank(one) >= rank(other) { one } else { other }
    }

    /// `across` or its opposite, whichever leads away from the box at a place of an edge.
    fn outwards(&self, axis: usize, across: Place, at: Place) -> Place {
        let center = [0, 1, 2].map(|i| (self.bounds[0][i] + self.bounds[1][i]) / 2.0);
        let center = self.projection.place(center);
        let away = across[0] * (at[0] - center[0]) + across[1] * (at[1] - center[1]);
        // A box that is seen as a line has its labels below and to the left.
        let sign = match axis {
            _ if away.abs() > 1e-3 => away.signum(),
            2 => -across[0].signum(),
            _ => across[1].signum(),
        };
        across.map(|part| part * sign)
    }

    /// Draws the labels of an axis, but those that lie on ones that were drawn before.
    fn draw_labels(
        &self,
        canvas: &mut Canvas,
        axis: usize,
        edge: &Edge,
        taken: &mut Vec<[Place; 2]>,
    ) {
        let (em, ink) = (canvas.em, canvas.inks.ink);
        let mut lines = Vec::new();
        for (value, label) in &edge.ticks.at {
            let part = self.spans[axis].place(*value);
            let at = [0, 1].map(|i| edge.ends[0][i] + part * (edge.ends[1][i] - edge.ends[0][i]));
            lines.push([at, away(at, edge.outwards, TICK * em)]);
            let text = self.beside(canvas, label, at, edge.outwards, (TICK + SPACE) * em);
            let place = extent(&text);
            if !taken.iter().any(|other| meet(*other, place)) {
                taken.push(place);
                canvas.shapes.push(Shape::Text(text));
            }
        }
        canvas.lines(&lines, canvas.hairline(), ink);
        let [x, y] = edge.outwards.map(f64::abs);
        let labels = x * widest(&edge.ticks, em) + y * 0.75 * em;
        let middle = middle(edge.ends);
        let title = edge.ticks.title(self.spans[axis].name, self.spans[axis].unit);
        let near = labels + (TICK + 2.0 * SPACE + 0.4) * em;
        // A long name may have to keep away from the labels beside it.
        let mut names = (0..8).map(|i| {
            let far = near + 0.5 * f64::from(i) * em;
            self.beside(canvas, &title, middle, edge.outwards, far)
        });
        let free = |text: &Text| !taken.iter().any(|other| meet(*other, extent(text)));
        let Some(text) = names.clone().find(free).or_else(|| names.next_back()) else { return };
        taken.push(extent(&text));
        canvas.shapes.push(Shape::Text(text));
    }

    /// Text whose nearest part is so far from a place in a direction.
    fn beside(&self, canvas: &Canvas, text: &str, at: Place, outwards: Place, far: f64) -> Text {
        let em = canvas.em;
        let room = (self.sides[1] - self.sides[0]) * LONGEST;
        let (text, size) = font::fit(text, em, room);
        let half = font::width(&text, size) / 2.0;
        let more = outwards[0].abs() * half + outwards[1].abs() * 0.36 * em;
        let [x, y] = away(at, outwards, far + more);
        let x = x.min(self.sides[1] - half).max(self.sides[0] + half);
        let y = (y + 0.36 * em).min(canvas.size[1] - 0.3 * em);
        Text {
            text,
            at: [x, y],
            size,
            align: Align::Middle,
            upwards: false,
            color: canvas.inks.ink,
        }
    }
}

/// The corners of a text in the middle of its place, with a little room to its left and right.
fn extent(text: &Text) -> [Place; 2] {
    let ([x, y], half) = (text.at, font::width(&text.text, text.size) / 2.0 + 0.25 * text.size);
    [[x - half, y - 0.75 * text.size], [x + half, y + 0.1 * text.size]]
}

fn meet(a: [Place; 2], b: [Place; 2]) -> bool {
    (0..2).all(|i| a[0][i] < b[1][i] && b[0][i] < a[1][i])
}

fn middle([from, to]: [Place; 2]) -> Place {
    [(from[0] + to[0]) / 2.0, (from[1] + to[1]) / 2.0]
}

fn away(at: Place, outwards: Place, far: f64) -> Place {
    [at[0] + far * outwards[0], at[1] + far * outwards[1]]
}

fn others(axis: usize) -> [usize; 2] {
    [[1, 2], [0, 2], [0, 1]][axis]
}

fn corners(bounds: [[f64; 3]; 2]) -> [[f64; 3]; 8] {
    std::array::from_fn(|corner| [0, 1, 2].map(|i| bounds[corner >> i & 1][i]))
}
