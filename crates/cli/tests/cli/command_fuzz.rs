//! Random changes of command lines, of `--set` and of the text of a case: the program does what it is asked or refuses
//! it, within seconds and with a documented exit code.
//!
//! The changes are the same in each run. `BURNTRACE_FUZZ_CASES` is their number, `BURNTRACE_SEED` chooses others.

use super::fuzz::{Ended, finished};
use super::program::{burntrace, text};
use super::resume::Random;
use std::path::Path;
use std::process::Command;

/// The number of commands by default: those of half a minute.
const CASES: usize = 300;

const CASE: &str = "[field]\nflow = \"double-gyre\"\nsample = { nodes = [9, 5, 1], start = 0.0, stop = 10.0, frames = 6 }\n\
    [boundary]\nx = [\"outlet\", \"exit\"]\n[inlet]\nkind = \"face\"\nface = \"x-low\"\npattern = \"uniform\"\n\
    [seeds]\nkind = \"grid\"\ncounts = [4, 3, 1]\n[trace]\nt0 = 0.0\nt1 = 1.0\ndt = 0.125\n\
    [walk]\ndiffusivity = 1e-3\nseed = 1\n[save]\nevery = 2\nreport = \"never\"\n\
    [run]\ndevice = \"flex\"\nthreads = 1\nout = \"new\"\n";

/// Commands that succeed.
const COMMANDS: [&str; 20] = [
    "run case.toml --quiet",
    "run case.toml --out new --set trace.dt=0.25 --set save.vtk=[\"lines\"]",
    "run case.toml --out out --overwrite --rank 0/1",
    "run case.toml --out new --rank 0/2 --set run.piece=5",
    "run --extend out --set trace.t1=2.0 --out new",
    "sweep case.toml --vary walk.seed=1..2 --out study",
    "sweep case.toml --vary trace.dt=0.125,0.25 --vary walk.seed=1,2 --zip --out new --confidence 0.9",
    "plan case.toml --set run.memory=1GiB --device flex",
    "info out --json",
    "info u_0.vtk u_1.vtk --file-dt 1",
    "probe u_0.vtk --at at.csv --fields U --out new.csv",
    "density out --save last --nodes 5,5,1 --no-pictures",
    "render out --size 200x160 --particles 5 --view xy",
    "render out --gif --seconds 0.5 --size 200x160",
    "report out",
    "export out --to csv --from-time 0 --every-save 2 --status active",
    "compare out study/run_0000 --tolerance 10 --particles new.csv",
    "verify out",
    "init new.toml --for mesh",
    "completions bash",
];

/// Values of options and of keys, and further arguments.
const VALUES: [&str; 44] = [
    "",
    " ",
    "0",
    "-1",
    "1",
    "3",
    "4097",
    "9223372036854775807",
    "9223372036854775808",
    "1e400",
    "nan",
    "-inf",
    "0.1",
    "-0",
    "1e-300",
    "5e-324",
    "[]",
    "[1]",
    "[nan,0,0]",
    "[1e300,1e300,1e300]",
    "{}",
    "{a=1}",
    "[[1,2],[3]]",
    "\"",
    "'",
    "\"\"\"",
    "x\ny",
    "\u{7}",
    "ü🌀",
    "a=b",
    "a.b=c",
    "[0]",
    "..",
    "none/none",
    "out",
    "case.toml",
    "at.csv",
    "true",
    "1979-05-27",
    "1..0",
    "1,2,3",
    "--",
    "-",
    "longlonglonglonglonglonglonglonglonglonglonglonglonglong",
];

/// Options of all commands, and keys.
const OPTIONS: [&str; 30] = [
    "--set",
    "--out",
    "--quiet",
    "--json",
    "--overwrite",
    "--resume",
    "--extend",
    "--rank",
    "--threads",
    "--device",
    "--vary",
    "--zip",
    "--task",
    "--confidence",
    "--save",
    "--nodes",
    "--points",
    "--size",
    "--view",
    "--color",
    "--range",
    "--to",
    "--from-time",
    "--every-save",
    "--rows",
    "--status",
    "--tolerance",
    "--particles",
    "--time",
    "--method",
];
const KEYS: [&str; 26] = [
    "trace.dt",
    "trace.t0",
    "trace.t1",
    "trace.tolerance",
    "trace.scheme",
    "trace.engine",
    "seeds.kind",
    "seeds.count",
    "seeds[0].counts",
    "seeds.low",
    "seeds.release",
    "field.flow",
    "field.sample.nodes",
    "field.sample.frames",
    "field.outside_time",
    "boundary.x",
    "boundary.x[1]",
    "inlet.pattern",
    "walk.diffusivity",
    "walk",
    "save.every",
    "save.times",
    "run.strategy",
    "run.batch",
    "run.memory",
    "units.length",
];

/// A choice from a list.
fn pick<'a, T>(random: &mut Random, list: &'a [T]) -> &'a T {
    &list[(random.next() * list.len() as f64) as usize]
}

/// A text with a character that is removed, repeated or replaced.
fn misspelt(random: &mut Random, text: &str) -> String {
    let mut letters: Vec<char> = text.chars().collect();
    let at = (random.next() * (letters.len() + 1) as f64) as usize;
    let letter = *pick(random, &['a', '-', '=', '.', '[', ']', '"', '0', '9', ',', '\n', '{']);
    match (random.next() * 3.0) as usize {
        0 if at < letters.len() => drop(letters.remove(at)),
        1 if at < letters.len() => letters[at] = letter,
        _ => letters.insert(at, letter),
    }
    letters.into_iter().collect()
}

/// A key with a value, either of which may be misspelt.
fn assignment(random: &mut Random) -> String {
    let text = format!("{}={}", pick(random, &KEYS), pick(random, &VALUES));
    if random.next() < 0.3 { misspelt(random, &text) } else { text }
}

/// Changes the arguments after the command.
fn change(random: &mut Random, args: &mut Vec<String>) {
    let at = 1 + (random.next() * (args.len() - 1) as f64) as usize;
    match (random.next() * 8.0) as usize {
        0 if args.len() > 1 => drop(args.remove(at)),
        1 if args.len() > 1 => args.insert(at, args[at].clone()),
        2 if args.len() > 1 => args.swap(at, 1),
        3 if args.len() > 1 => args[at] = pick(random, &VALUES).to_string(),
        4 if args.len() > 1 => args[at] = misspelt(random, &args[at]),
        5 => args.extend([pick(random, &OPTIONS).to_string(), pick(random, &VALUES).to_string()]),
        _ => args.extend(["--set".into(), assignment(random)]),
    }
}

/// Changes the lines of a case.
fn change_case(random: &mut Random, case: &str) -> String {
    let mut lines: Vec<String> = case.lines().map(String::from).collect();
    for _ in 0..1 + (random.next() * 3.0) as usize {
        let (at, other) = {
            let mut place = || (random.next() * lines.len() as f64) as usize;
            (place(), place())
        };
        match (random.next() * 6.0) as usize {
            0 => drop(lines.remove(at)),
            1 => lines.swap(at, other),
            2 => lines.insert(other, lines[at].clone()),
            3 => lines.insert(at, assignment(random)),
            4 => lines[at] = misspelt(random, &lines[at]),
            _ => {
                if let Some((key, _)) = lines[at].clone().split_once(" = ") {
                    lines[at] = format!("{key} = {}", pick(random, &VALUES));
                }
            }
        }
    }
    lines.join("\n")
}

/// Words of the implementation, which no message has.
const INTERNAL: [&str; 14] = [
    "panicked",
    "Os {",
    "Some(",
    "Err(",
    "Error::",
    "Frames::",
    "Strategy::",
    "std::",
    "core::",
    "untagged",
    "Utf8Error",
    "invalid digit",
    "IsADirectory",
    "anyhow",
];

/// What is wrong with the end of a command.
fn problem(ended: &Ended) -> Option<String> {
    let Ended { code, message } = ended;
    let is_documented = matches!(code, Some(0..=2));
    let word = INTERNAL.iter().find(|word| message.contains(**word));
    let is_long = message.lines().count() > 30;
    let has_no_reason = *code == Some(0) || !message.trim().is_empty();
    match (is_documented, word, is_long || !has_no_reason) {
        (true, None, false) => None,
        (false, ..) => Some(format!("it ends with {code:?}: {message}")),
        (_, word, _) => Some(format!("its message ({word:?}): {message}")),
    }
}

/// The folder in which commands run: a case, runs, a sweep and files.
fn prepare(folder: &Path) {
    std::fs::write(folder.join("case.toml"), CASE).unwrap();
    std::fs::write(folder.join("at.csv"), "x,y,z\n0.5,0.5,0.5\n1.5,0.5,0.5\n").unwrap();
    let image = "# vtk DataFile Version 3.0\nimage\nASCII\nDATASET STRUCTURED_POINTS\nDIMENSIONS 3 3 1\nORIGIN 0 0 0\n\
        SPACING 1 1 1\nPOINT_DATA 9\nVECTORS U double\n"
        .to_string()
        + &"0.5 0.25 0 ".repeat(9);
    for frame in 0..2 {
        std::fs::write(folder.join(format!("u_{frame}.vtk")), &image).unwrap();
    }
    for args in [
        &["run", "case.toml", "--quiet", "--out", "out"][..],
        &["sweep", "case.toml", "--vary", "walk.seed=1..2", "--out", "study", "--quiet"],
    ] {
        let output = burntrace(folder, args);
        assert!(output.status.success(), "{}", text(&output.stderr));
    }
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().map(Result::unwrap) {
        let target = to.join(entry.file_name());
        match entry.path().is_dir() {
            true => copy(&entry.path(), &target),
            false => drop(std::fs::copy(entry.path(), target).unwrap()),
        }
    }
}

/// Runs a changed command in a new copy of the folder. Returns a description of what went wrong.
fn attempt(random: &mut Random, prepared: &Path) -> Option<String> {
    let words = pick(random, &COMMANDS).split(' ');
    let mut args: Vec<String> = words.map(String::from).collect();
    let mut case = CASE.to_string();
    if ["run", "plan", "sweep"].contains(&args[0].as_str()) && random.next() < 0.5 {
        case = change_case(random, &case);
    }
    for _ in 0..(random.next() * 4.0) as usize {
        change(random, &mut args);
    }
    // Deep, as a folder such as `../..` must not lead elsewhere.
    let folder = tempfile::tempdir().unwrap();
    let inner = folder.path().join("a/b/c");
    copy(prepared, &inner);
    std::fs::write(inner.join("case.toml"), &case).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_burntrace"));
    command.current_dir(&inner).args(&args).env("BROWSER", "true").env("HOME", folder.path());
    let found = match finished(&mut command, folder.path()) {
        Some(ended) => problem(&ended),
        None => Some("it does not end".into()),
    };
    let case = if case == CASE { "" } else { &case };
    found.map(|problem| format!("{args:?}: {problem}\n{case}"))
}

#[test]
fn changed_commands_are_done_or_refused() {
    let number = |name: &str| std::env::var(name).ok()?.parse::<u64>().ok();
    let cases = number("BURNTRACE_FUZZ_CASES").map_or(CASES, |cases| cases as usize);
    let seed = number("BURNTRACE_SEED").unwrap_or(1);
    let folder = tempfile::tempdir().unwrap();
    prepare(folder.path());
    let failures: Vec<String> = std::thread::scope(|scope| {
        let worker = |worker: u64| {
            let prepared = folder.path();
            scope.spawn(move || {
                let mut random = Random::of(seed * 1000 + worker);
                let failures = (0..cases / 2).filter_map(|_| {
                    let failure = attempt(&mut random, prepared);
                    failure.iter().for_each(|text| println!("{text}\n----"));
                    failure
                });
                failures.collect::<Vec<String>>()
            })
        };
        let workers = [worker(0), worker(1)];
        workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect()
    });
    assert!(failures.is_empty(), "{} of {cases}:\n{}", failures.len(), failures.join("\n----\n"));
}
