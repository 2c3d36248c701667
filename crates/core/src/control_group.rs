//! Limits of the control group of this process on Linux, as of containers and batch systems.

use std::path::{Path, PathBuf};

/// Limits of the control group of this process (cgroup v1 or v2). `None` where there is no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize)]
pub struct ControlGroup {
    /// Maximum memory in bytes: the smallest limit of the group and of those that it is in.
    pub memory: Option<u64>,
    /// Memory in bytes that is left of these limits; cached files count as free.
    pub left: Option<u64>,
    /// Maximum number of CPUs, which need not be whole.
    pub cpus: Option<f64>,
}

/// Limits of cgroup v1 from this number of bytes on mean that there is none.
const UNLIMITED: u64 = 1 << 60;

impl ControlGroup {
    /// The limits now.
    pub fn of_process() -> Self {
        Self::under(Path::new("/"))
    }

    /// The limits in a file system with this root.
    fn under(root: &Path) -> Self {
        let text = std::fs::read_to_string(root.join("proc/self/cgroup")).unwrap_or_default();
        let mut group = ControlGroup::default();
        for line in text.lines() {
            let mut parts = line.splitn(3, ':').skip(1);
            let (Some(controllers), Some(path)) = (parts.next(), parts.next()) else { continue };
            let has = |name: &str| controllers.split(',').any(|controller| controller == name);
            let all = root.join("sys/fs/cgroup");
            if controllers.is_empty() {
                folders(&all, path).for_each(|folder| group.add_v2(&folder));
            }
            if has("memory") {
                folders(&all.join("memory"), path).for_each(|folder| group.add_memory_v1(&folder));
            }
            if has("cpu") {
                let folder = [controllers, "cpu"].map(|name| all.join(name));
                let [own, single] = folder;
                let folder = if own.is_dir() { own } else { single };
                folders(&folder, path).for_each(|folder| group.add_cpus_v1(&folder));
            }
        }
        group
    }

    fn add_v2(&mut self, folder: &Path) {
        let limit = read(folder, "memory.max").and_then(|text| text.trim().parse().ok());
        self.add_memory(limit, || value_in(folder, "memory.stat", "anon"));
        let text = read(folder, "cpu.max").unwrap_or_default();
        let mut numbers = text.split_whitespace().map(|number| number.parse::<f64>().ok());
        if let (Some(Some(quota)), Some(Some(period))) = (numbers.next(), numbers.next()) {
            self.add_cpus(quota / period);
        }
    }

    fn add_memory_v1(&mut self, folder: &Path) {
        let limit = read(folder, "memory.limit_in_bytes").and_then(|text| text.trim().parse().ok());
        let limit = limit.filter(|limit| *limit < UNLIMITED);
        self.add_memory(limit, || value_in(folder, "memory.stat", "total_rss"));
    }

    fn add_cpus_v1(&mut self, folder: &Path) {
        let number = |name| read(folder, name).and_then(|text| text.trim().parse::<f64>().ok());
        let quota = number("cpu.cfs_quota_us").filter(|quota| *quota > 0.0);
        if let (Some(quota), Some(period)) = (quota, number("cpu.cfs_period_us")) {
            self.add_cpus(quota / period);
        }
    }

    fn add_memory(&mut self, limit: Option<u64>, used: impl Fn() -> Option<u64>) {
        let Some(limit) = limit else { return };
        let left = limit.saturating_sub(used().unwrap_or(0));
        self.memory = Some(self.memory.map_or(limit, |other| other.min(limit)));
        self.left = Some(self.left.map_or(left, |other| other.min(left)));
    }

    fn add_cpus(&mut self, cpus: f64) {
        if cpus.is_finite() && cpus > 0.0 {
            self.cpus = Some(self.cpus.map_or(cpus, |other| other.min(cpus)));
        }
    }
}

/// The folders of a group and of those that it is in. In a container, a path may be that of the host,
/// of which only the root is there.
fn folders(base: &Path, path: &str) -> impl Iterator<Item = PathBuf> {
    let path = Path::new(path.trim_start_matches('/'));
    path.ancestors().map(|part| base.join(part)).collect::<Vec<_>>().into_iter()
}

fn read(folder: &Path, name: &str) -> Option<String> {
    std::fs::read_to_string(folder.join(name)).ok()
}

/// The number after a name in a file of lines `name number`.
fn value_in(folder: &Path, file: &str, name: &str) -> Option<u64> {
    let text = read(folder, file)?;
    text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')?.trim().parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The limits with these files, in a folder of the temporary ones of this process.
    fn group(name: &str, files: &[(&str, &str)]) -> ControlGroup {
        let root = std::env::temp_dir().join(format!("burntrace-{name}-{}", std::process::id()));
        for (path, text) in files {
            let path = root.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let group = ControlGroup::under(&root);
        std::fs::remove_dir_all(root).unwrap();
        group
    }

    #[test]
    fn the_smallest_limit_of_nested_groups_holds() {
        let found = group(
            "v2",
            &[
                ("proc/self/cgroup", "0::/job/step\n"),
                ("sys/fs/cgroup/job/memory.max", "1073741824\n"),
                ("sys/fs/cgroup/job/memory.stat", "anon 73741824\nfile 999\n"),
                ("sys/fs/cgroup/job/step/memory.max", "max\n"),
                ("sys/fs/cgroup/job/cpu.max", "150000 100000\n"),
                ("sys/fs/cgroup/job/step/cpu.max", "max 100000\n"),
            ],
        );
        let expected =
            ControlGroup { memory: Some(1 << 30), left: Some(1_000_000_000), cpus: Some(1.5) };
        assert_eq!(found, expected);
    }

    #[test]
    fn groups_of_version_1_are_read() {
        let found = group(
            "v1",
            &[
                ("proc/self/cgroup", "4:memory:/a/b\n3:cpu,cpuacct:/c\n0::/\n"),
                ("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n"),
                ("sys/fs/cgroup/memory/a/b/memory.limit_in_bytes", "2000000\n"),
                ("sys/fs/cgroup/memory/a/b/memory.stat", "rss 1\ntotal_rss 500000\n"),
                ("sys/fs/cgroup/cpu,cpuacct/c/cpu.cfs_quota_us", "50000\n"),
                ("sys/fs/cgroup/cpu,cpuacct/c/cpu.cfs_period_us", "100000\n"),
                ("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1\n"),
                ("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n"),
            ],
        );
        let expected =
            ControlGroup { memory: Some(2_000_000), left: Some(1_500_000), cpus: Some(0.5) };
        assert_eq!(found, expected);
    }

    #[test]
    fn a_container_with_the_path_of_its_host_has_the_limit_of_its_root() {
        let found = group(
            "container",
            &[("proc/self/cgroup", "0::/docker/0123\n"), ("sys/fs/cgroup/memory.max", "4096\n")],
        );
        assert_eq!(found, ControlGroup { memory: Some(4096), left: Some(4096), cpus: None });
        assert_eq!(group("none", &[("proc/self/cgroup", "0::/\n")]), ControlGroup::default());
    }
}
