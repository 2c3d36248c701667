//! `burntrace info`.

use crate::{
    args::InfoArgs,
    boundary,
    file::Misuse,
    folder::{self, Folder},
    format::{Lines, bytes, counted, is_or_are, six_digits, twelve_digits},
    run_info::RunInfo,
    sweep,
};
use anyhow::Result;
use burntrace::io::{
    self, SeriesInfo,
    series::{
        ArrayEntry, AxisInfo, BoundaryInfo, Closure, Geometry, MeshInfo, NamedFaces, TimesFrom,
    },
};
use std::path::Path;

pub fn execute(args: &InfoArgs) -> Result<()> {
    let options = io::SeriesOptions {
        velocity: velocity(args.velocity.as_deref())?,
        file_dt: args.file_dt,
        other_cells: match args.other_cells.as_str() {
            "skip" => io::OtherCells::Skip,
            _ => io::OtherCells::Error,
        },
        ..Default::default()
    };
    if let [only] = &args.files[..]
        && Path::new(only).join(folder::SWEEP).is_file()
    {
        let (text, json) = sweep::describe(Path::new(only))?;
        return args.output.print(|| json, || text);
    }
    if let Some(folder) = args.files.iter().map(Folder::at).find(RunInfo::is_run) {
        return describe_run(args, folder);
    }
    if args.boundary {
        return boundary::execute(args, options);
    }
    let info = io::inspect(files(&args.files), &options).map_err(Misuse::of)?;
    let json = serde_json::to_value(&info)?;
    args.output.print(|| json, || text(&info))
}

/// Describes a run instead of a field.
fn describe_run(args: &InfoArgs, folder: Folder) -> Result<()> {
    let run = folder.root.display().to_string();
    let is_of_fields = args.velocity.is_some() || args.file_dt.is_some() || args.boundary;
    if args.files.len() > 1 || is_of_fields || args.other_cells != "error" {
        return Err(Misuse::error(format!(
            "{run} is the folder of a run, not a field; describe it with `burntrace info {run}`, without \
             other files and options of fields"
        )));
    }
    let info = RunInfo::of(folder)?;
    args.output.print(|| info.json(), || info.text())
}

pub fn files(names: &[String]) -> io::Files {
    match names {
        [one] => io::Files::One(one.into()),
        many => io::Files::List(many.iter().map(Into::into).collect()),
    }
}

/// Parses the name of the velocity array, or two or three component names separated by commas.
fn velocity(names: Option<&str>) -> Result<io::VelocityName> {
    let Some(names) = names else {
        return Ok(io::VelocityName::Auto);
    };
    let names: Vec<String> = names.split(',').map(|name| name.trim().into()).collect();
    match names.as_slice() {
        [name] => Ok(io::VelocityName::Array(name.clone())),
        [u, v] => Ok(io::VelocityName::Plane([u, v].map(String::clone))),
        [u, v, w] => Ok(io::VelocityName::Components([u, v, w].map(String::clone))),
        _ => Err(Misuse::error(format!(
            "--velocity has {} names; give one name, or two or three separated by commas",
            names.len()
        ))),
    }
}

/// The description of a series as text.
fn text(info: &SeriesInfo) -> String {
    let mut lines = Lines::default();
    let dims = info.dims.map(|[x, y, z]| format!(", {x} x {y} x {z} nodes")).unwrap_or_default();
    lines.add(
        "data set",
        format!("{}{dims}, {} points, {} cells", info.kind, info.points, info.cells),
    );
    lines.add("encoding", &info.encoding);
    for axis in &info.axes {
        let (name, text) = describe_axis(axis, info.geometry);
        lines.add(&name, text);
    }
    if let (true, Some([low, high])) = (info.axes.is_empty(), info.bounds) {
        let names = match info.geometry {
            Geometry::Flat => ["x", "y", "z"],
            Geometry::Degrees { .. } => ["longitude", "latitude", "z"],
        };
        for (d, name) in names.into_iter().enumerate() {
            let global = if d == 0 && info.geometry.global().is_some() { ", global" } else { "" };
            lines.add(name, format!("{} to {}{global}", low[d], high[d]));
        }
        if let Some(distinct) = info.distinct_points.filter(|distinct| *distinct < info.points) {
            lines.add("nodes", format!("{distinct}, after merging coincident points"));
        }
    }
    if let Some(mesh) = &info.mesh {
        lines.add("cells", cells(mesh));
        if let Some(problem) = &mesh.problem {
            lines.add("no mesh", problem);
        }
        lines.list("patches", mesh.boundary.iter().map(patch));
        if let Some(problem) = &mesh.boundary_problem {
            lines.add("no patches", problem);
        }
    }
    let faces =
        |(name, count): &(String, usize)| format!("block = {name:?}: {}", counted(*count, "face"));
    lines.list("patches", info.faces.iter().map(faces));
    let array = |array: &ArrayEntry| format!("{:<7} {}", array.association, describe(array));
    lines.list("arrays", info.arrays.iter().map(array));
    let along = match info.velocity_axes[..] {
        [first, second] => format!(", components along {first} and {second}"),
        _ => String::new(),
    };
    let velocity = info.velocity.as_ref().map_or("ambiguous".into(), |v| v.to_string());
    lines.add("velocity", format!("{velocity}{along}"));
    if let Some(speed) = info.max_speed {
        let frame = if info.times.len() > 1 { " in the first frame" } else { "" };
        lines.add("speed", format!("up to {}{frame}", six_digits(speed)));
    }
    let hidden = if info.geometry.is_in_degrees() { "missing: land" } else { "hidden" };
    let first = [(info.hidden, hidden), (info.not_finite, "not finite (see field.not_finite)")];
    let counted = first.into_iter().filter_map(|(count, what)| Some((count?, what)));
    for (count, what) in counted.filter(|(count, _)| *count > 0) {
        lines.add("", format!("{count} velocities of the first frame are {what}"));
    }
    lines.add("use", uses(info));
    lines.add("frames", frames(info));
    // Without a velocity, the size of a frame is unknown.
    if info.device_bytes_f64 > 0 {
        let [f32, f64] =
            [info.device_bytes_f32, info.device_bytes_f64].map(|count| bytes(count as f64));
        lines.add("memory", format!("{f32} on a device in f32, {f64} in f64"));
    }
    for note in &info.notes {
        lines.add("note", note);
    }
    for problem in &info.problems {
        lines.add("problem", problem);
    }
    lines.0
}

/// The name of an axis, and its coordinates.
fn describe_axis(axis: &AxisInfo, geometry: Geometry) -> (String, String) {
    let spacing = match axis.spacing {
        Some(spacing) => format!("every {}", six_digits(spacing)),
        None if axis.nodes == 1 => "flat".into(),
        None => "unevenly spaced".into(),
    };
    let (name, more) = match (axis.name, geometry) {
        ('x', Geometry::Degrees { global }) => ("longitude".into(), global.map_or("", closure)),
        ('y', Geometry::Degrees { .. }) => ("latitude".into(), ""),
        (name, _) => {
            return (format!("{name} axis"), format!("{} to {}, {spacing}", axis.low, axis.high));
        }
    };
    (name, format!("{} to {} degrees, {spacing}{more}", axis.low, axis.high))
}

/// How longitudes around the earth close.
fn closure(closure: Closure) -> &'static str {
    match closure {
        Closure::Omitted => ", global",
        Closure::Repeated => ", global, the last column repeats the first one",
    }
}

/// An array with its size, or the dimensions and the unit of a variable.
fn describe(array: &ArrayEntry) -> String {
    let ArrayEntry { name, tuples, components, scalar, .. } = array;
    let Some(dimensions) = &array.dimensions else {
        return format!("{name} ({tuples} x {components}, {scalar})");
    };
    let dimensions: Vec<String> =
        dimensions.iter().map(|(of, len)| format!("{of} {len}")).collect();
    let units = array.units.as_ref().map_or(String::new(), |units| format!(", {units}"));
    format!("{name} ({}; {scalar}{units})", dimensions.join(", "))
}

/// Faces of the boundary, with the keys of a `[[patch]]` that select them.
fn patch(named: &BoundaryInfo) -> String {
    let keys = match &named.faces {
        NamedFaces::Block { block } => format!("block = {block:?}"),
        NamedFaces::Array { array, value } => format!("array = {array:?}, value = {value}"),
    };
    let unmatched = match named.unmatched {
        0 => String::new(),
        count => {
            format!("; {} {} on no boundary face", counted(count, "cell"), is_or_are(count))
        }
    };
    let area = twelve_digits(named.area);
    format!("{keys}: {}, area {area}{unmatched}", counted(named.count, "face"))
}

/// Numbers of cells by kind, and of irregular ones.
fn cells(mesh: &MeshInfo) -> String {
    let mut text: Vec<String> = mesh.kinds.iter().map(|count| count.to_string()).collect();
    let mut counts = vec![
        (mesh.hidden, "ghosts or hidden"),
        (mesh.skipped, "skipped"),
        (mesh.parts, "parts of divided cells"),
        (mesh.overlapping, "polyhedra whose parts overlap"),
        (mesh.collapsed, "collapsed, with two nodes at one position"),
    ];
    if let Some(all) = &mesh.counts {
        counts.extend([
            (all.merged_points, "merged points"),
            (all.degenerate, "flat"),
            (all.inverted, "inverted"),
            (all.folded, "folded"),
            (all.open_faces, "open faces"),
            (all.crowded_faces, "faces shared by more than two cells"),
        ]);
    }
    let counts = counts.iter().filter(|(count, _)| *count > 0);
    text.extend(counts.map(|(count, what)| format!("{count} {what}")));
    text.join("; ")
}

/// The case-file key for using the data set.
fn uses(info: &SeriesInfo) -> String {
    if info.interpolations.is_empty() {
        return "not usable; see the problem below".into();
    }
    let quoted: Vec<String> = info.interpolations.iter().map(|name| format!("{name:?}")).collect();
    format!("field.interpolation = {}", quoted.join(" or "))
}

fn frames(info: &SeriesInfo) -> String {
    let mut files = info.files.clone();
    files.dedup();
    let of = match info.files_found {
        found if found == info.files.len() => String::new(),
        found => format!(" of {found}"),
    };
    let count = match info.files.len() {
        frames if files.len() < frames || info.time_origin.is_some() => {
            let plural = |count: usize| if count == 1 { "" } else { "s" };
            let (of_frames, of_files) = (plural(frames), plural(files.len()));
            format!("{frames}{of} frame{of_frames} in {} file{of_files}", files.len())
        }
        1 if info.files_found == 1 => "1 file".into(),
        n if n == info.files_found => format!("{n} files"),
        n => format!("{n} of {} files", info.files_found),
    };
    match (info.times.first(), info.times.last(), &info.times_from) {
        (Some(_), Some(_), Some(TimesFrom::SingleFrame)) => format!("{count}, steady"),
        (Some(first), Some(last), Some(from)) => {
            let [first, last] = [first, last].map(|time| twelve_digits(*time));
            let times =
                if first == last { first.to_string() } else { format!("{first} to {last}") };
            let origin = info.time_origin.as_ref();
            let origin = origin.map_or(String::new(), |origin| format!("; {origin}"));
            let dates = match &info.dates {
                Some([first, last]) => format!(" ({first} to {last})"),
                None => String::new(),
            };
            format!("{count}, t = {times}{dates}, times from {from}{origin}")
        }
        _ => count,
    }
}
