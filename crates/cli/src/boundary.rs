//! `burntrace info --boundary`: what flows through the parts of a field's boundary, and the keys that select them.

use crate::{
    args::InfoArgs,
    file::{Interpolation, Misuse},
    format::{counted, four_digits, rounded_to_extent, twelve_digits},
    gates::columns,
    info,
    job::FieldFiles,
};
use anyhow::Result;
use burntrace::{
    BoundaryPart, Face, Field, FieldOptions, OutsideTime, PartOf, Precision, boundary_parts,
    burn::tensor::Device,
    io::{self, SeriesInfo, SeriesOptions, series::NamedFaces},
};
use serde_json::{Value, json};
use std::fmt::Write as _;

/// Maximum number of parts that are listed.
const LISTED: usize = 20;

/// What a part has that is a wall, in proportion to all that enters or leaves.
const OF_WALLS: f64 = 1e-3;

/// What the flux in the other direction is at most, in proportion, at an inlet or outlet.
const AGAINST: f64 = 0.05;

pub fn execute(args: &InfoArgs, options: SeriesOptions) -> Result<()> {
    let described = io::inspect(info::files(&args.files), &options).map_err(Misuse::of)?;
    let names: Vec<NamedFaces> = described
        .mesh
        .iter()
        .flat_map(|mesh| &mesh.boundary)
        .map(|named| named.faces.clone())
        .collect();
    let (field, time) = load(args, options, &described, names.clone())?;
    let Some(parts) = boundary_parts(&*field, time).map_err(Misuse::of)? else {
        return Err(Misuse::error(
            "the field is in degrees, and the areas of its boundary are not those of its coordinates; `--boundary` \
             is for fields in lengths",
        ));
    };
    let is_mesh = field.mesh().is_some();
    let report = Report::new(parts, time, (is_mesh, names));
    args.output.print(|| report.json(), || report.text())
}

/// The first frame of the files, on the host in double precision.
fn load(
    args: &InfoArgs,
    options: SeriesOptions,
    described: &SeriesInfo,
    faces: Vec<NamedFaces>,
) -> Result<(Box<dyn Field>, f64)> {
    let is_usable = |name: &str| described.interpolations.contains(&name);
    let interpolation = match (is_usable("grid"), is_usable("mesh")) {
        (true, _) => Interpolation::Grid,
        (_, true) => Interpolation::mesh(),
        _ => {
            let problem = described.problems.first().map_or_else(
                || format!("this is {}, which has none", described.kind),
                Clone::clone,
            );
            return Err(Misuse::error(format!(
                "a boundary is that of a grid or of a mesh; {problem}"
            )));
        }
    };
    let faces = if interpolation == Interpolation::Grid { Vec::new() } else { faces };
    let frames = io::Frames { max: Some(1), ..io::Frames::default() };
    let options = SeriesOptions { frames, faces, ..options };
    let files = FieldFiles { files: info::files(&args.files), options, interpolation };
    let outside_time = OutsideTime::Hold;
    let options =
        FieldOptions { precision: Precision::F64, outside_time, ..FieldOptions::default() };
    let field = files.load(&Device::flex(), &options)?;
    let time = field.span()[0];
    Ok((field, time))
}

/// What a part of a boundary seems to be.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Guess {
    Inlet,
    Outlet,
    /// Open in both directions.
    Open,
    Wall,
    /// The velocity on most of it is not known.
    Unknown,
}

impl Guess {
    fn of(part: &BoundaryPart, total: f64) -> Self {
        let (inflow, outflow) = (part.inflow, part.outflow);
        match () {
            () if part.unknown > 0.5 * part.area => Guess::Unknown,
            () if inflow.max(outflow) <= OF_WALLS * total => Guess::Wall,
            () if outflow <= AGAINST * inflow => Guess::Inlet,
            () if inflow <= AGAINST * outflow => Guess::Outlet,
            () => Guess::Open,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Guess::Inlet => "inlet",
            Guess::Outlet => "outlet",
            Guess::Open => "open",
            Guess::Wall => "wall",
            Guess::Unknown => "unknown",
        }
    }
}

/// A part with its guess and its name.
struct Row {
    part: BoundaryPart,
    guess: Guess,
    name: String,
}

struct Report {
    rows: Vec<Row>,
    time: f64,
    inflow: f64,
    outflow: f64,
    is_mesh: bool,
    names: Vec<NamedFaces>,
}

impl Report {
    fn new(parts: Vec<BoundaryPart>, time: f64, (is_mesh, names): (bool, Vec<NamedFaces>)) -> Self {
        let inflow: f64 = parts.iter().map(|part| part.inflow).sum();
        let outflow: f64 = parts.iter().map(|part| part.outflow).sum();
        let guess = |part: &BoundaryPart| Guess::of(part, inflow.max(outflow));
        let mut rows: Vec<(Guess, BoundaryPart)> =
            parts.into_iter().map(|part| (guess(&part), part)).collect();
        // Those with the largest flux first, and the largest of those without.
        let size = |(guess, part): &(Guess, BoundaryPart)| match guess {
            Guess::Wall | Guess::Unknown => (0.0, part.area),
            _ => (part.inflow.max(part.outflow), part.area),
        };
        rows.sort_by(|a, b| size(b).partial_cmp(&size(a)).unwrap_or(std::cmp::Ordering::Equal));
        let counts = |of: Guess| rows.iter().filter(|(guess, _)| *guess == of).count();
        let several = [Guess::Inlet, Guess::Outlet, Guess::Open, Guess::Wall, Guess::Unknown]
            .map(|of| counts(of) > 1);
        let mut numbers = [0; 5];
        let named = rows.into_iter().map(|(guess, part)| {
            numbers[guess as usize] += 1;
            let name = match several[guess as usize] {
                true => format!("{}{}", guess.name(), numbers[guess as usize]),
                false => guess.name().into(),
            };
            Row { part, guess, name }
        });
        Report { rows: named.collect(), time, inflow, outflow, is_mesh, names }
    }

    fn text(&self) -> String {
        let at = twelve_digits(self.time);
        let parts = counted(self.rows.len(), "part");
        let mut text = format!("boundary   {parts}, at t = {at}, in the units of the data\n");
        let (inflow, outflow) = (self.inflow, self.outflow);
        let _ =
            writeln!(text, "flux       {} in, {} out", four_digits(inflow), four_digits(outflow));
        let total = inflow.max(outflow);
        let listed = || self.rows.iter().take(LISTED);
        let head = ["part", "in", "out", "area", "mean", "faces"].map(String::from);
        let rows = std::iter::once(head).chain(listed().map(|row| row.cells(total)));
        let table = columns(&rows.map(Vec::from).collect::<Vec<_>>());
        let places = std::iter::once("where".to_string()).chain(listed().map(Row::place));
        for (line, place) in table.lines().zip(places) {
            let _ = writeln!(text, "{line}  {place}");
        }
        if let Some(rest) = self.rows.get(LISTED..).filter(|rest| !rest.is_empty()) {
            let sum = |of: fn(&BoundaryPart) -> f64| {
                four_digits(rest.iter().map(|row| of(&row.part)).sum())
            };
            let _ = writeln!(
                text,
                "and {} more: {} in, {} out, area {}",
                rest.len(),
                sum(|part| part.inflow),
                sum(|part| part.outflow),
                sum(|part| part.area)
            );
        }
        let unknown: f64 = self.rows.iter().map(|row| row.part.unknown).sum();
        if unknown > 0.0 {
            let _ =
                writeln!(text, "The velocity is not known on an area of {}.", four_digits(unknown));
        }
        text + "\n" + &self.keys()
    }

    /// Keys of a case for what is open.
    fn keys(&self) -> String {
        let open: Vec<&Row> = self
            .rows
            .iter()
            .filter(|row| !matches!(row.guess, Guess::Wall | Guess::Unknown))
            .take(LISTED)
            .collect();
        let inlet = self.rows.iter().find(|row| row.guess == Guess::Inlet);
        if open.is_empty() {
            let is_unknown = self.rows.iter().any(|row| row.guess == Guess::Unknown);
            return match is_unknown {
                true => "# Where velocities are missing, it is not known what flows through the boundary.\n",
                false => "# Nothing flows through the boundary.\n",
            }
            .into();
        }
        let mut text = String::from("# Keys of a case, by what the parts seem to be:\n");
        match self.is_mesh {
            true => self.patches(&mut text, &open, inlet),
            false => faces(&mut text, &self.rows, inlet),
        }
        text
    }

    fn patches(&self, text: &mut String, open: &[&Row], inlet: Option<&Row>) {
        text.push_str("[boundary]\nmesh = \"slide\"\n");
        for row in open {
            let _ = writeln!(text, "\n[[patch]]\nname = {:?}", row.name);
            self.select(text, &row.part);
            let wall = match (row.guess, inlet) {
                (Guess::Inlet, _) => "\"reflect\"",
                (Guess::Outlet, Some(_)) => "\"outlet\"  # or \"exit\", to let them go",
                _ => "\"exit\"",
            };
            let _ = writeln!(text, "wall = {wall}");
        }
        if let Some(inlet) = inlet {
            let _ = writeln!(
                text,
                "\n[inlet]\nkind = \"patch\"\npatch = {:?}\npattern = \"flux\"",
                inlet.name
            );
        }
    }

    /// The keys that select a part of a mesh.
    fn select(&self, text: &mut String, part: &BoundaryPart) {
        if let PartOf::Group(group) = &part.of
            && let Some(faces) = self.names.iter().find(|faces| faces.to_string() == *group)
        {
            text.push_str(&match faces {
                NamedFaces::Block { block } => format!("block = {block:?}\n"),
                NamedFaces::Array { array, value } => {
                    format!("array = {array:?}\nvalue = {value}\n")
                }
            });
            return;
        }
        if part.others > 0 {
            let others = counted(part.others, "face");
            let _ =
                writeln!(text, "# This box holds {others} of other parts, too; make it smaller.");
        }
        let size = part.size();
        let corner =
            |p: [f64; 3]| p.map(|x| rounded_to_extent(x, 1e-6 * size).to_string()).join(", ");
        let _ = writeln!(text, "low = [{}]\nhigh = [{}]", corner(part.low), corner(part.high));
    }

    fn json(&self) -> Value {
        let parts: Vec<Value> = self.rows.iter().map(Row::json).collect();
        json!({
            "time": self.time, "inflow": self.inflow, "outflow": self.outflow, "parts": parts, "keys": self.keys(),
        })
    }
}

/// The conditions at the faces of a box.
fn faces(text: &mut String, rows: &[Row], inlet: Option<&Row>) {
    text.push_str("[boundary]\n");
    let condition = |face: Face| {
        let row = rows.iter().find(|row| row.part.of == PartOf::Box(face));
        match (row.map_or(Guess::Wall, |row| row.guess), inlet) {
            (Guess::Outlet, Some(_)) => "outlet",
            (Guess::Inlet, _) => "clamp",
            (Guess::Wall, _) => "reflect",
            _ => "exit",
        }
    };
    if inlet.is_some() && Face::ALL.into_iter().any(|face| condition(face) == "outlet") {
        text.push_str(
            "# What leaves through an \"outlet\" enters again at the inlet; \"exit\" lets it go.\n",
        );
    }
    for (axis, pair) in ["x", "y", "z"].iter().zip(Face::ALL.chunks_exact(2)) {
        let is_flat = !rows.iter().any(|row| row.part.of == PartOf::Box(pair[0]));
        if !is_flat {
            let _ = writeln!(text, "{axis} = [{:?}, {:?}]", condition(pair[0]), condition(pair[1]));
        }
    }
    if let Some(Row { part: BoundaryPart { of: PartOf::Box(face), .. }, .. }) = inlet {
        let face = face.to_string();
        let _ = writeln!(text, "\n[inlet]\nkind = \"face\"\nface = {face:?}\npattern = \"flux\"");
    }
}

impl Row {
    /// The cells of a line of the table. Of a flux, what is below a millionth of the total is rounding.
    fn cells(&self, total: f64) -> [String; 6] {
        let part = &self.part;
        let flux = |x: f64| four_digits(if x < 1e-6 * total { 0.0 } else { x });
        let mean = (part.outflow - part.inflow) / part.area;
        [
            self.name.clone(),
            flux(part.inflow),
            flux(part.outflow),
            four_digits(part.area),
            four_digits(if mean.abs() * part.area < 1e-6 * total { 0.0 } else { mean.abs() }),
            part.faces.to_string(),
        ]
    }

    /// What and where a part is.
    fn place(&self) -> String {
        // Points on faces are up to a millionth of a cell off.
        let vector = |v: [f64; 3], size: f64| {
            v.map(|x| four_digits(rounded_to_extent(x, 0.01 * size))).join(", ")
        };
        let part = &self.part;
        let length = part.normal.iter().map(|x| x * x).sum::<f64>().sqrt();
        let what = match &part.of {
            PartOf::Group(name) => format!("{name:?}, "),
            PartOf::Connected => String::new(),
            PartOf::Box(face) => format!("{face}, "),
        };
        let shape = match length {
            length if length > 0.999 => format!("plane, normal ({})", vector(part.normal, 1.0)),
            length if length > 0.5 => format!("curved, normal ({})", vector(part.normal, 1.0)),
            _ => "around".into(),
        };
        format!("{what}{shape}, centre ({})", vector(part.centre, part.size()))
    }

    fn json(&self) -> Value {
        let Row { part, guess, name } = self;
        let of = match &part.of {
            PartOf::Group(group) => json!({ "group": group }),
            PartOf::Connected => json!("connected"),
            PartOf::Box(face) => json!({ "face": face.to_string() }),
        };
        json!({
            "name": name, "guess": guess.name(), "of": of, "faces": part.faces, "area": part.area,
            "unknown_area": part.unknown, "inflow": part.inflow, "outflow": part.outflow,
            "normal": part.normal, "centre": part.centre, "low": part.low, "high": part.high,
            "faces_of_others_in_box": part.others,
        })
    }
}
