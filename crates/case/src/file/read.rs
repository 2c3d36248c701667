//! Reading a case: the file, the keys set on the command line, and the position of errors.

use super::{
    Case, Field, FieldSource, KeyError, OwnField,
    error::Step,
    set::Assignment,
    times::{DateReader, Times, is_seconds},
};
use crate::errors;
use burntrace_io::series;
use std::path::Path;
use toml::{
    Table,
    de::{DeTable, DeValue},
};

/// An invalid case or command line; the program exits with code 2.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Misuse(String);

impl Misuse {
    /// A misuse as an `anyhow` error.
    pub fn error(text: impl Into<String>) -> anyhow::Error {
        anyhow::Error::new(Misuse(text.into()))
    }

    /// A library error caused by the case.
    pub fn of(error: impl std::error::Error) -> anyhow::Error {
        let mut causes = vec![error.to_string()];
        let mut source = error.source();
        while let Some(cause) = source {
            causes.push(cause.to_string());
            source = cause.source();
        }
        Misuse::error(errors::joined(causes))
    }
}

/// Reads a case file, and sets or removes keys in it: `trace.dt=0.01`, `source[0].rate=`. Relative file names are in
/// its folder.
pub fn read(path: &Path, set: &[String]) -> anyhow::Result<Case> {
    if path.is_dir() {
        let path = path.display();
        return Err(Misuse::error(format!(
            "{path} is a folder; give a case file, such as {path}/case.toml, or resume a stopped run in it \
             with `burntrace run --resume {path}`"
        )));
    }
    let text = std::fs::read_to_string(path).map_err(|error| {
        Misuse::error(format!(
            "cannot read the case file `{}`: {error}; `burntrace init case.toml` writes a new one",
            path.display()
        ))
    })?;
    let path_of_case = std::path::absolute(path)?;
    let case = parse(&text, set, path_of_case.parent())
        .map_err(|problem| Misuse::error(format!("{}: {problem}", path.display())))?;
    Ok(match path_of_case.parent() {
        Some(folder) => case.within(folder),
        None => case,
    })
}

/// Reads a case from its text. The error starts with the line, for a caller that names the file. The dates of a case are
/// those of its files, whose relative names are in the working directory.
pub fn from_text(text: &str, set: &[String]) -> Result<Case, String> {
    parse(text, set, None)
}

/// Reads a case from its sections, as [`from_text`], with a field of the program's own instead of that of the sections. Errors have
/// no lines.
pub fn from_table(table: Table, own: Option<OwnField>) -> Result<Case, String> {
    of_sections(table, own, None, &|error| error.to_string())
}

/// Reads a case, of whose dates the files are in a folder.
fn parse(text: &str, set: &[String], folder: Option<&Path>) -> Result<Case, String> {
    let mut table: Table = toml::from_str(text).map_err(|error| syntax(text, &error))?;
    let mut notes = Vec::new();
    let mut assignments = Vec::with_capacity(set.len());
    for text in set {
        let mut assignment = Assignment::parse(text)?;
        notes.extend(assignment.apply(&mut table)?);
        assignments.push(assignment);
    }
    let in_words = |error: KeyError| format!("{}{error}", position(text, &assignments, &error));
    let mut case = of_sections(table, None, folder, &in_words)?;
    case.notes = [notes, case.notes].concat();
    Ok(case)
}

/// Reads a case from its sections; `in_words` is an error with its place.
fn of_sections(
    mut table: Table,
    own: Option<OwnField>,
    folder: Option<&Path>,
    in_words: &dyn Fn(KeyError) -> String,
) -> Result<Case, String> {
    table.entry("field").or_insert_with(|| Table::new().into());
    let read = |date: DateReader| {
        let (mut case, has_dates, ends_after_start) =
            of_table(table.clone(), date).map_err(in_words)?;
        if let Some(own) = &own {
            case.field.source = FieldSource::Own(own.clone());
        }
        Ok::<_, String>((case, has_dates, ends_after_start))
    };
    // Without the origin of times, which is known from the files of the case.
    let (mut case, has_dates, ends_after_start) = read(&|_| Ok(0.0))?;
    if has_dates || ends_after_start {
        let times = times_of_field(&case, folder)?;
        (case, ..) = read(&|date| times.time_of(date))?;
        if ends_after_start {
            let start = times.start(&case)?;
            case.trace.span.t1 = case.trace.span.t1.map(|length| start + length);
        }
    }
    let unit = case.units.time.as_str();
    match (case.has_durations || has_dates) && !is_seconds(unit) {
        true => Err(format!(
            "units.time is {unit:?}, and durations such as \"10 min\" and dates are seconds; give numbers"
        )),
        false => Ok(case),
    }
}

/// The case in a table, whether it has dates, and whether its end counts from a start that it does not have.
fn of_table(mut table: Table, date: DateReader) -> Result<(Case, bool, bool), KeyError> {
    let Times { has_durations, has_dates, ends_after_start, .. } =
        Times::replace(&mut table, date)?;
    default_to_mesh(&mut table);
    let mut notes = drop_unused(&mut table, ["files", "flow"], &["sample"]);
    // Keys without effect must be valid, too.
    Case::of(&table)?;
    notes.extend(drop_unused(&mut table, ["flow", "files"], &Field::keys_of_files()));
    Ok((Case { notes, has_durations, ..Case::of(&table)? }, has_dates, ends_after_start))
}

/// Sets the interpolation of the grid of an ocean model, by the keys that only such fields have.
fn default_to_mesh(table: &mut Table) {
    for (_, field) in fields(table) {
        let is_of_model = ["staggering", "convention", "corners", "follow_levels"]
            .iter()
            .any(|key| field.contains_key(*key));
        if is_of_model {
            field.entry("interpolation").or_insert_with(|| "mesh".into());
        }
    }
}

/// The tables of the fields of a case, with their names.
fn fields(case: &mut Table) -> Vec<(String, &mut Table)> {
    let fields: Vec<(String, &mut toml::Value)> = match case.get_mut("field") {
        Some(toml::Value::Array(fields)) => {
            fields.iter_mut().enumerate().map(|(i, field)| (format!("field[{i}]"), field)).collect()
        }
        field => field.map(|field| ("field".into(), field)).into_iter().collect(),
    };
    fields.into_iter().filter_map(|(name, field)| Some((name, field.as_table_mut()?))).collect()
}

/// The times of the field of a case.
enum TimesOfField {
    Files(series::SeriesTimes),
    /// A formula or a field of a program, with its first and last frame, if it has frames.
    Formula([f64; 2]),
}

/// The times of the field of a case, whose relative names of files are in a folder.
fn times_of_field(case: &Case, folder: Option<&Path>) -> Result<TimesOfField, String> {
    match &case.field.source {
        FieldSource::Files { files } => {
            let files = folder.map_or_else(|| files.clone(), |folder| files.clone().within(folder));
            series::times(files, &case.field.options)
                .map(TimesOfField::Files)
                .map_err(|error| format!("field.files: {}", errors::chain(&error.into())))
        }
        FieldSource::Flow { sample, .. } => Ok(TimesOfField::Formula(
            sample.as_ref().map_or([0.0; 2], |sample| [sample.start, sample.stop]),
        )),
        FieldSource::Own(own) => Ok(TimesOfField::Formula(own.ends())),
    }
}

impl TimesOfField {
    /// The time of a date, or why there is none.
    fn time_of(&self, date: &str) -> Result<f64, String> {
        let what = match self {
            TimesOfField::Files(series::SeriesTimes { origin: Some(origin), .. }) => {
                return origin.time_of(date);
            }
            TimesOfField::Files(_) => "the files of the field have no dates",
            TimesOfField::Formula(_) => "the field has no dates",
        };
        Err(format!("{what}; give a number, or a duration such as \"30 d\""))
    }

    /// The default start of the run.
    fn start(&self, case: &Case) -> Result<f64, String> {
        let [first, last] = match self {
            TimesOfField::Formula(ends) => *ends,
            TimesOfField::Files(series::SeriesTimes { times, .. }) => {
                let frames = case.field.options.frames.select(times);
                let frames = frames.map_err(|error| error.to_string())?;
                [frames[0], frames[frames.len() - 1]].map(|frame| times[frame])
            }
        };
        Ok(if case.trace.span.dt.is_some_and(|dt| dt < 0.0) { last } else { first })
    }
}

/// Drops keys of the other source of fields than the given one. Returns a note for each that is not `false`.
fn drop_unused(case: &mut Table, [given, other]: [&str; 2], keys: &[&str]) -> Vec<String> {
    let mut notes = Vec::new();
    for (name, field) in fields(case) {
        if !field.contains_key(given) {
            continue;
        }
        let mut drop = |key: &&&str| field.remove(**key).is_some_and(|value| value != false.into());
        let note = |key| format!("`{name}.{key}` has no effect: it belongs to `{name}.{other}`");
        notes.extend(keys.iter().filter(|key| drop(key)).map(note));
    }
    notes
}

/// The position of an error, as a prefix: the option of the command line, or the line of the file.
fn position(text: &str, set: &[Assignment], error: &KeyError) -> String {
    let location = error.location();
    let assignment = set.iter().rfind(|assignment| assignment.is_at(&location));
    match (assignment, line_of(text, &location)) {
        (Some(assignment), _) => format!("--set {}: ", assignment.text()),
        (None, Some(line)) => format!("line {line}: "),
        (None, None) => String::new(),
    }
}

/// The line of a key, or of the nearest section above it that the text has.
fn line_of(text: &str, steps: &[Step]) -> Option<usize> {
    let root = DeValue::Table(DeTable::parse(text).ok()?.into_inner());
    let (mut value, mut start) = (&root, None);
    for step in steps {
        let found = match (step, value) {
            (Step::Key(name), DeValue::Table(table)) => {
                let entry = table.get_key_value(name.as_str());
                entry.map(|(key, value)| (key.span().start, value.get_ref()))
            }
            (Step::Item(item) | Step::Section(item, _), DeValue::Array(items)) => {
                let item = items.get(*item);
                item.map(|item| (item.span().start, item.get_ref()))
            }
            _ => None,
        };
        let Some((at, next)) = found else { break };
        (value, start) = (next, Some(at));
    }
    start.map(|start| line_at(text, start))
}

fn line_at(text: &str, start: usize) -> usize {
    text[..start].matches('\n').count() + 1
}

/// The message of a TOML syntax error.
fn syntax(text: &str, error: &toml::de::Error) -> String {
    let start = error.span().map_or(0, |span| span.start.min(text.len()));
    let number = line_at(text, start);
    let line = text.lines().nth(number - 1).unwrap_or_default().trim();
    let message = error.message();
    let is = |part: &str| message.contains(part);
    let what = if is("duplicate key") {
        "this name is used twice; keep one of them".into()
    } else if is("must be quoted") {
        "give a number, true, false, a list, or text in quotes, such as \"rk4\"".into()
    } else if is("unclosed") {
        format!("{message} to close it").replace(", expected", "; add")
    } else if is("with no value") {
        "give the key a value, such as `dt = 0.01`".into()
    } else if is("integer") {
        format!("write an integer that fits into 64 bits: up to {}", i64::MAX)
    } else if is("float") || is("fraction") || is("mantissa") || is("exponent") {
        "write numbers as 0.5, 5.0 or 1e-3".into()
    } else if is("basic string") || is("literal string") {
        "the closing quote is missing".into()
    } else {
        "this is not TOML; a line is `key = value`, a section is `[name]`".to_string()
    };
    format!("line {number}: `{line}`: {what}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::{FieldSource, Interpolation, ObstacleShape, SeedShape, TEMPLATE};
    use burntrace_core::{SaveAt, Tolerance};

    #[test]
    fn template_is_valid_and_has_every_key() {
        let case = from_text(TEMPLATE, &[]).unwrap();
        assert_eq!(case.trace.span.dt, Some(0.02));
        assert_eq!(case.notes, [""; 0]);
        let keys = "files velocity prefer diffusivity ignore_file_times file_dt times same_times frames flow \
                    sample interpolation neighbours power cell_velocity other_cells ignore_hidden periodic_axes crop every in_time \
                    outside_time period not_finite low high x y z mesh name wall centre radius \
                    allowed surface face pattern deviation rate table burst capacity begin end \
                    inlet kind count seed release repeat outside scheme t0 t1 dt steps engine \
                    stagnant_speed drift relative absolute min_step max_step factors every \
                    every_time vtk flow_map_gradient compress longitude report length time device precision threads out checkpoint \
                    checkpoint_segments keep_state memory strategy batch";
        for key in keys.split_whitespace() {
            let is_there = TEMPLATE
                .lines()
                .any(|line| line.trim_start_matches("# ").split(" = ").next() == Some(key));
            assert!(is_there, "the template lacks `{key}`");
        }
    }

    #[test]
    fn template_has_the_default_values() {
        let case = from_text(TEMPLATE, &[]).unwrap();
        let bare = from_text("[field]\nflow = \"abc\"\n", &[]).unwrap();
        assert_eq!(case.field.in_time, bare.field.in_time);
        assert_eq!(case.field.outside_time, bare.field.outside_time);
        assert_eq!(case.field.not_finite, bare.field.not_finite);
        assert_eq!(case.boundary.mesh, bare.boundary.mesh);
        assert_eq!(case.trace.solver, bare.trace.solver);
        assert_eq!(case.trace.engine, bare.trace.engine);
        assert_eq!(case.trace.stagnant_speed, bare.trace.stagnant_speed);
        assert_eq!(case.trace.drift, bare.trace.drift);
        assert_eq!(case.save.velocity, bare.save.velocity);
        assert_eq!(case.save.flow_map_gradient, bare.save.flow_map_gradient);
        assert_eq!(case.save.compress, bare.save.compress);
        assert_eq!(case.run, bare.run);
    }

    #[test]
    fn keys_are_set_on_the_command_line() {
        let set = ["trace.dt=0.5", "run.device=flex", "save.every=", "save.times=[1.0, 2.0]"];
        let set = set.map(String::from);
        let case = from_text(TEMPLATE, &set).unwrap();
        assert_eq!(case.trace.span.dt, Some(0.5));
        assert_eq!(case.run.device, "flex".into());
        assert_eq!(case.save.at, SaveAt::Times(vec![1.0, 2.0]));
        assert!(from_text(TEMPLATE, &["trace.dt".into()]).unwrap_err().contains("key=value"));
    }

    #[test]
    fn unknown_names_are_reported_with_a_suggestion() {
        let typo = TEMPLATE.replace("scheme =", "schem =");
        let message = from_text(&typo, &[]).unwrap_err();
        assert!(message.contains("`schem`"), "{message}");
        assert!(message.contains("did you mean `scheme`?"), "{message}");
        let typo = TEMPLATE.replace("scheme = \"rk4\"", "scheme = \"rk5\"");
        let message = from_text(&typo, &[]).unwrap_err();
        assert!(message.contains("did you mean `rk4`?"), "{message}");
        let message = from_text(TEMPLATE, &["trase.dt=1".into()]).unwrap_err();
        assert!(message.contains("did you mean `trace`?"), "{message}");
    }

    #[test]
    fn each_field_of_a_model_is_on_its_mesh() {
        let of_model = "[[field]]\nfiles = \"a.nc\"\nstaggering = \"c\"\n";
        let text = of_model.to_owned() + of_model + "[[field]]\nfiles = \"wind.nc\"\n";
        let case = from_text(&text, &[]).unwrap();
        let is_mesh = |field: &Field| matches!(field.interpolation, Interpolation::Mesh { .. });
        assert!(is_mesh(&case.field) && is_mesh(&case.field.added[0]));
        assert!(!is_mesh(&case.field.added[1]));
    }

    #[test]
    fn written_case_reads_back_equal() {
        let case = from_text(TEMPLATE, &["save.vtk=[\"clouds\"]".into()]).unwrap();
        let text = toml::to_string(&case).unwrap();
        assert_eq!(from_text(&text, &[]).unwrap(), case);
    }

    #[test]
    fn commented_keys_of_the_template_are_valid() {
        // Keys that conflict with their neighbours.
        let other = ["deviation", "table", "burst", "array", "value"];
        let is_key = |line: &&str| {
            let is_other = line.split(" = ").next().is_some_and(|key| other.contains(&key));
            line.starts_with('[') || line.contains(" = ") && !line.contains(": ") && !is_other
        };
        let keys = |start: &str, end: &str| -> String {
            let [start, end] = [start, end].map(|part| TEMPLATE.find(part).unwrap());
            let lines = TEMPLATE[start..end].lines().map(|line| line.trim_start_matches("# "));
            lines.filter(is_key).flat_map(|line| [line, "\n"]).collect()
        };
        let parts = [keys("# [[patch]]", "[seeds]\n#"), keys("# [trace.tolerance]", "[save]")];
        let case = from_text(&format!("[field]\nflow = \"abc\"\n{}", parts.concat()), &[]).unwrap();
        assert!(case.inlet.is_some() && case.seeds.is_empty());
        assert_eq!(case.patch[0].low, Some([2.0, f64::NEG_INFINITY, f64::NEG_INFINITY]));
        let sphere = ObstacleShape::Sphere { centre: [1.0, 0.5, 0.0], radius: 0.1 };
        assert_eq!(case.obstacle[0].shape, sphere);
        assert_eq!(case.source[0].capacity(), 5000);
        assert_eq!(
            case.trace.solver.tolerance,
            Some(Tolerance::new(1e-6, 1e-9).steps_between(0.0, 0.5))
        );
        assert_eq!(case.walk.as_ref().unwrap().factors, Some([1.0; 3]));
        let text = toml::to_string(&case).unwrap();
        assert_eq!(from_text(&text, &[]).unwrap(), case);
    }

    /// The error of a case with a flow and these sections.
    fn error_of(sections: &str) -> String {
        from_text(&format!("[field]\nflow = \"abc\"\n{sections}"), &[]).unwrap_err()
    }

    #[test]
    fn misplaced_keys_are_reported_with_line_section_and_kind() {
        let message = error_of("[seeds]\nkind = \"grid\"\ncounts = [1, 1, 1]\nradius = 1.0\n");
        let expected = "line 6: `radius` is not a key of [seeds] kind = \"grid\"; it belongs to kind = \
                        \"disc\", \"sphere\" or \"ball\". Keys: kind, counts, placement, auxiliary, \
                        low, high, release, repeat, outside";
        assert_eq!(message, expected);
        let message = error_of("[[obstacle]]\nkind = \"box\"\nlow = [0, 0, 0]\nhihg = [1, 1, 1]\n");
        let expected = "line 6: `hihg` is not a key of [[obstacle]] 1 of 1 kind = \"box\"; did you mean \
                        `high`? Keys: kind, low, high, allowed, surface";
        assert_eq!(message, expected);
        let source = "[[source]]\nburst = { time = 0.0, count = 2 }\n";
        let message = error_of(&format!("{source}inlet = {{ kind = \"face\" }}\n"));
        let expected = "line 5: `source.inlet.face` is missing; [source.inlet] of [[source]] 1 of 1 kind \
                        = \"face\" needs it";
        assert_eq!(message, expected);
        let message = error_of("[inlet]\nkind = \"points\"\npoints = [[0, 0, 0], [1, 2]]\n");
        let expected = "line 5: `inlet.points[1]` is [1, 2]; give a list of 3 values";
        assert_eq!(message, expected);
    }

    #[test]
    fn errors_have_no_words_of_a_parser() {
        let sections = [
            "[trace]\ndt = \"fast\"\n",
            "[trace]\nsteps = -1\n",
            "[trace]\nsteps = 1.5\n",
            "[trace]\ndt = 1970-01-01\n",
            "[trace]\nscheme = 4\n",
            "[trace]\ndrift = [1.0, 2.0]\n",
            "[trace]\ndrift = \"x\"\n",
            "[trace]\nsteps = 99999999999999999999\n",
            "[trace]\nscheme = rk4\n",
            "[trace]\ndt = 0.0.1\n",
            "[trace]\ndt = .1\n",
            "[trace]\ndt = 1\ndt = 2\n",
            "[trace]\ndt\n",
            "[trace\ndt = 1\n",
            "[trace.tolerance]\nrelative = 1e-6\n",
            "trace = 3\n",
            "[walk]\ndiffusivity = \"high\"\n",
            "[save]\nvelocity = \"yes\"\n",
            "[save]\nvtk = \"lines\"\n",
            "[run]\nmemory = \"lots\"\n",
            "[run]\nmemory = -1\n",
            "[run]\nthreads = 2.5\n",
            "[source]\nrate = 1.0\n",
            "[[patch]]\nname = \"a\"\n",
            "[seeds]\ncount = 4\n",
            "[seeds]\nkind = 4\n",
            "[seeds]\nkind = \"list\"\npoints = [1]\n",
            "[domain]\nlow = [0.0, 0.0, 0.0, 0.0]\n",
        ];
        let words =
            ["invalid", "untagged", "variant", "field `", "expected", "unknown", "parse", "type"];
        for text in sections {
            let message = error_of(text);
            let found = words.iter().find(|word| message.contains(*word));
            assert_eq!(found, None, "{text}{message}");
            assert!(message.starts_with("line ") && message.lines().count() == 1, "{message}");
        }
    }

    #[test]
    fn errors_in_keys_of_the_command_line_name_the_option() {
        let message = from_text(TEMPLATE, &["seeds.radius=1.0".into()]).unwrap_err();
        assert!(message.starts_with("--set seeds.radius=1.0: `radius` is not a key"), "{message}");
    }

    #[test]
    fn fields_come_from_files_or_from_a_flow() {
        let files =
            "[field]\nfiles = \"u_*.vti\"\ninterpolation = \"inverse-distance\"\npower = 3\n";
        let case = from_text(files, &[]).unwrap();
        assert!(matches!(case.field.source, FieldSource::Files { .. }));
        let mean = Interpolation::InverseDistance { neighbours: None, power: Some(3.0) };
        assert_eq!(case.field.interpolation, mean);
        let both = from_text(&format!("{files}flow = \"abc\"\n"), &[]).unwrap_err();
        assert!(both.contains("[field] has both `files` and `flow`; keep one"), "{both}");
        let neither = from_text("[trace]\ndt = 1.0\n", &[]).unwrap_err();
        assert_eq!(neither, "[field] needs one of its keys `files` or `flow`");
        // Keys of files are accepted with a flow, and have no effect.
        let case = from_text("[field]\nflow = \"abc\"\nfile_dt = 0.1\n", &[]).unwrap();
        assert_eq!(case.notes, ["`field.file_dt` has no effect: it belongs to `field.files`"]);
    }

    #[test]
    fn written_sections_keep_their_keys_and_order() {
        let text = "[field]\nflow = \"abc\"\nignore_file_times = false\ninterpolation = \"grid\"\n\
                    in_time = \"linear\"\noutside_time = \"periodic\"\nperiod = 2.0\n\
                    not_finite = \"error\"\n\n[domain]\n\n\
                    [boundary]\nx = [\"exit\", \"exit\"]\ny = [\"exit\", \"exit\"]\n\
                    z = [\"exit\", \"exit\"]\nmesh = \"exit\"\ncoast = \"stick\"\n\n\
                    [[obstacle]]\nkind = \"cylinder\"\naxis = [1.0, 0.0, 0.0]\n\
                    base = [0.0, 0.0, 0.0]\ncapped = false\nradius = 0.5\nallowed = \"outside\"\n\
                    surface = \"stick\"\n\n\
                    [inlet]\nkind = \"disc\"\ncentre = [0.0, 0.0, 0.0]\nnormal = [1.0, 0.0, 0.0]\n\
                    radius = 0.25\npattern = \"gaussian\"\ndeviation = 0.5\n\n\
                    [[source]]\nbegin = 1.0\ncapacity = 3\nrate = 2.0\n\n\
                    [source.inlet]\nkind = \"face\"\nface = \"x-low\"\npattern = \"lattice\"\n\n\
                    [[source]]\n\n[source.burst]\ncount = 2\ntime = 1.0\n\n\
                    [source.inlet]\nkind = \"points\"\npoints = [[0.0, 0.0, 0.0]]\n\
                    pattern = \"flux\"\n\n\
                    [seeds]\nkind = \"ball\"\ncentre = [0.0, 0.0, 0.0]\ncount = 4\n\
                    radius = 0.5\nseed = 3\nrelease = 1.0\noutside = \"error\"\n\n";
        let case = from_text(text, &[]).unwrap();
        assert!(matches!(case.seeds[0].shape, SeedShape::Ball { count: 4, .. }));
        let written = toml::to_string(&case).unwrap();
        assert!(written.starts_with(text), "{written}");
    }

    #[test]
    fn names_of_schemes_and_faces_are_those_that_messages_have() {
        #[derive(serde::Deserialize, serde::Serialize)]
        struct Names {
            #[serde(with = "burntrace_core::names::Scheme")]
            scheme: burntrace_core::Scheme,
            #[serde(with = "burntrace_core::names::Face")]
            face: burntrace_core::Face,
        }
        let schemes = burntrace_core::Scheme::ALL.into_iter().cycle();
        for (face, scheme) in burntrace_core::Face::ALL.into_iter().zip(schemes) {
            let table = toml::Table::try_from(Names { scheme, face }).unwrap();
            assert_eq!(table["scheme"].as_str(), Some(scheme.name()));
            assert_eq!(table["face"].as_str(), Some(face.name()));
        }
    }
}
