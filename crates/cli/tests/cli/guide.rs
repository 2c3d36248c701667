//! The commands of README and of the guide, as printed.
//!
//! A page runs in a folder of its own, which has the `tests` and `examples` of the repository. The
//! blocks of the page take effect in their order:
//!
//! * `sh` is run by `sh -eu`; `sh skip: REASON` is not.
//! * `toml file=NAME` is written to a file.
//! * `python skip: REASON` is not run. A block of Python without a reason is an error.
#![cfg(unix)]

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The text of a block `toml file=NAME` of a page of the guide.
pub fn case_of(page: &str, name: &str) -> String {
    let text = std::fs::read_to_string(root().join("docs/guide").join(page)).unwrap();
    let note = format!("file={name}");
    blocks(&text).into_iter().find(|block| block.note == note).unwrap().text
}

/// A fenced block of a page.
struct Block<'a> {
    line: usize,
    language: &'a str,
    /// What follows the language: `skip: REASON` or `file=NAME`.
    note: &'a str,
    text: String,
}

/// The fenced blocks of a page; a fence in a list is indented, as is its text.
fn blocks(page: &str) -> Vec<Block<'_>> {
    let mut blocks: Vec<Block> = Vec::new();
    let mut indent = None;
    for (number, line) in page.lines().enumerate() {
        let fence = line.trim_start().strip_prefix("```");
        match (indent, fence) {
            (None, Some(info)) => {
                let (language, note) = info.split_once(' ').unwrap_or((info, ""));
                blocks.push(Block { line: number + 1, language, note, text: String::new() });
                indent = Some(line.len() - line.trim_start().len());
            }
            (Some(_), Some(_)) => indent = None,
            (Some(indent), None) => {
                let text = &mut blocks.last_mut().unwrap().text;
                text.push_str(line.get(indent..).unwrap_or_default());
                text.push('\n');
            }
            (None, None) => {}
        }
    }
    assert!(indent.is_none(), "a block without an end");
    blocks
}

/// The root of the repository.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// The pages in a folder, in order of their names.
fn pages(folder: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(root().join(folder)).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    let mut pages: Vec<_> = paths.filter(|path| path.extension() == Some("md".as_ref())).collect();
    pages.sort();
    pages
}

/// A shell for a block of commands; `burntrace` is the program under test, and the folder may have further programs.
fn shell(script: &str, folder: &Path) -> Command {
    let program = Path::new(env!("CARGO_BIN_EXE_burntrace")).parent().unwrap();
    let mut path = OsString::from(program);
    path.push(":");
    path.push(folder);
    path.push(":");
    path.push(std::env::var_os("PATH").unwrap_or_default());
    let mut shell = Command::new("sh");
    shell.args(["-eu", "-c", script]).current_dir(folder).env("PATH", path);
    // A page that is opened goes nowhere, and what a page installs is in its folder.
    shell.env("BROWSER", "true").env("HOME", folder).env_remove("XDG_CACHE_HOME");
    shell
}

fn run(script: &str, folder: &Path) -> Output {
    shell(script, folder).output().unwrap()
}

/// Starts a command `$n` times with the variables of a launcher, and fails if one of them does.
const LAUNCHER: &str = "#!/bin/sh\nn=2\n\
    while case $1 in -n) n=$2; shift;; -*) ;; *) false;; esac; do shift; done\n\
    i=0; while [ $i -lt $n ]; do RANK=$i SIZE=$n \"$@\" & ids=\"$ids $!\"; i=$((i + 1)); done\n\
    for id in $ids; do wait $id || code=$?; done\nexit ${code:-0}\n";

/// Writes programs `srun` and `mpirun` to a folder.
fn write_launchers(folder: &Path) {
    use std::os::unix::fs::PermissionsExt;
    for (name, rank, size) in [
        ("srun", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS"),
        ("mpirun", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),
    ] {
        let path = folder.join(name);
        std::fs::write(&path, LAUNCHER.replace("RANK", rank).replace("SIZE", size)).unwrap();
        std::fs::set_permissions(path, PermissionsExt::from_mode(0o755)).unwrap();
    }
}

#[test]
fn launcher_blocks_of_the_guide_run_with_the_default_device() {
    let guide = std::fs::read_to_string(root().join("docs/guide/cluster.md")).unwrap();
    let blocks = blocks(&guide).into_iter();
    let with_launcher =
        blocks.filter(|block| ["skip: needs SLURM", "skip: needs MPI"].contains(&block.note));
    let mut count = 0;
    for block in with_launcher {
        let folder = tempfile::tempdir().unwrap();
        write_launchers(folder.path());
        let small = "burntrace run case.toml --set seeds.count=200 --set run.piece=60";
        let script = block.text.replace("run.device=cuda", "run.device=auto");
        let script = script.replace("burntrace run case.toml", small);
        let mut shell = shell(&format!("burntrace init case.toml\n{script}"), folder.path());
        shell.env("SCRATCH", folder.path());
        shell.env("SLURM_ARRAY_TASK_ID", "1").env("SLURM_ARRAY_TASK_COUNT", "2");
        let output = shell.output().unwrap();
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "line {}: {script}{error}", block.line);
        count += 1;
    }
    assert_eq!(count, 4);
}

#[test]
fn launchers_and_blocks_of_ranks_fail_if_a_rank_fails() {
    let folder = tempfile::tempdir().unwrap();
    write_launchers(folder.path());
    let guide = std::fs::read_to_string(root().join("docs/guide/cluster.md")).unwrap();
    let of_ranks = blocks(&guide).into_iter().find(|block| block.text.contains("xargs"));
    let ranks = of_ranks.unwrap().text.replace("run case.toml", "run none.toml");
    for script in
        ["srun -n 2 burntrace run none.toml", "mpirun -n 2 burntrace run none.toml", &ranks]
    {
        assert!(!run(script, folder.path()).status.success(), "{script}");
    }
}

/// Runs the commands of a page. Returns their number, or the first failure.
fn check(page: &Path) -> Result<usize, String> {
    let text = std::fs::read_to_string(page).unwrap();
    let folder = tempfile::tempdir().unwrap();
    for name in ["tests", "examples"] {
        std::os::unix::fs::symlink(root().join(name), folder.path().join(name)).unwrap();
    }
    let mut count = 0;
    for block in blocks(&text) {
        let location = format!("{}:{}", page.display(), block.line);
        let reason = block.note.strip_prefix("skip: ").map(str::trim);
        match (block.language, block.note.strip_prefix("file="), reason) {
            ("toml", Some(name), _) => {
                std::fs::write(folder.path().join(name), &block.text).unwrap()
            }
            ("sh" | "python", _, Some(reason)) if !reason.is_empty() => {}
            ("sh", ..) if block.note.is_empty() => {
                let output = run(&block.text, folder.path());
                if !output.status.success() {
                    let error = String::from_utf8_lossy(&output.stderr);
                    return Err(format!("{location}: {}\n{}{error}", output.status, block.text));
                }
                count += 1;
            }
            ("sh" | "python", ..) => {
                return Err(format!(
                    "{location}: `{} {}` is not run; give `skip: REASON` after the language",
                    block.language, block.note
                ));
            }
            _ => {}
        }
    }
    Ok(count)
}

/// Checks pages, and returns the number of blocks that ran.
fn check_all(pages: &[PathBuf]) -> usize {
    let results: Vec<_> = pages.iter().map(|page| check(page)).collect();
    let failures: Vec<_> = results.iter().filter_map(|result| result.as_ref().err()).collect();
    assert!(failures.is_empty(), "{failures:#?}");
    results.into_iter().flatten().sum()
}

#[test]
fn commands_of_the_recipes_run_as_printed() {
    assert!(check_all(&pages("docs/guide/recipes")) >= 15);
}

#[test]
fn commands_of_readme_and_guide_run_as_printed() {
    let mut pages = pages("docs/guide");
    pages.push(root().join("README.md"));
    assert!(check_all(&pages) >= 15);
}

#[test]
fn a_failing_command_and_a_block_without_a_reason_are_found() {
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("page.md");
    let check_text = |text: &str| {
        std::fs::write(&page, text).unwrap();
        check(&page)
    };
    let case = "```toml file=case.toml\n[seeds]\n```\n";
    let failure =
        check_text(&format!("{case}\n1. Run:\n\n   ```sh\n   burntrace run case.toml\n   ```\n"));
    let message = failure.unwrap_err();
    assert!(
        message.contains("page.md:7: exit status: 2") && message.contains("[field]"),
        "{message}"
    );
    assert!(check_text("```sh\nfalse\ntrue\n```\n").is_err());
    for text in ["```sh skip:\ntrue\n```\n", "```python\nx = 1\n```\n", "```sh later\ntrue\n```\n"]
    {
        let message = check_text(text).unwrap_err();
        assert!(message.contains("skip: REASON"), "{message}");
    }
    assert_eq!(check_text("```sh skip: needs a cluster\nsrun\n```\n```sh\ntrue\n```\n"), Ok(1));
}

#[test]
fn the_table_of_contents_lists_each_page_once() {
    let summary = std::fs::read_to_string(root().join("docs/SUMMARY.md")).unwrap();
    for folder in ["docs/guide", "docs/guide/recipes", "docs/decisions"] {
        for page in pages(folder) {
            let page = page.strip_prefix(root().join("docs")).unwrap();
            let link = format!("]({})", page.display());
            assert_eq!(summary.matches(&link).count(), 1, "{link} in SUMMARY.md");
        }
    }
}

#[test]
fn links_lead_to_files() {
    let mut count = 0;
    let folders = ["", "docs", "docs/guide", "docs/guide/recipes", "docs/decisions"];
    for page in folders.into_iter().flat_map(pages) {
        let text = std::fs::read_to_string(&page).unwrap();
        let links = text.split("](").skip(1).filter_map(|rest| rest.split_once(')'));
        for (link, _) in links.filter(|(link, _)| !link.starts_with("http")) {
            let file = link.split('#').next().unwrap();
            let target = page.parent().unwrap().join(file);
            assert!(file.is_empty() || target.exists(), "{}: {link}", page.display());
            count += 1;
        }
    }
    assert!(count > 200, "{count}");
}
