//! What SLURM gave to the job that this process is part of.

/// What SLURM gave to this job, by the variables of its environment.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Slurm {
    /// The number of the job.
    pub job: String,
    /// CPUs of this task, or of the job on this node.
    pub cpus: Option<usize>,
    /// Bytes on this node.
    pub memory: Option<u64>,
}

impl Slurm {
    /// The job of this process; `None` outside of one.
    pub fn of_process() -> Option<Slurm> {
        Slurm::of(|name| std::env::var(name).ok())
    }

    fn of(variable: impl Fn(&str) -> Option<String>) -> Option<Slurm> {
        let number = |name| variable(name)?.parse::<u64>().ok().filter(|number| *number > 0);
        let cpus = number("SLURM_CPUS_PER_TASK").or_else(|| number("SLURM_CPUS_ON_NODE"));
        // In MiB.
        let per_cpu = || {
            let cpus = number("SLURM_CPUS_ON_NODE").or(cpus)?;
            number("SLURM_MEM_PER_CPU")?.checked_mul(cpus)
        };
        let memory = number("SLURM_MEM_PER_NODE").or_else(per_cpu);
        Some(Slurm {
            job: variable("SLURM_JOB_ID")?,
            cpus: cpus.map(|cpus| cpus as usize),
            memory: memory.and_then(|mib| mib.checked_mul(1 << 20)),
        })
    }
}

/// What determines the number of CPU threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThreadsFrom {
    /// The CPUs that the process may use.
    Machine,
    /// `SLURM_CPUS_PER_TASK` or `SLURM_CPUS_ON_NODE`, if there are fewer.
    Slurm,
    /// `RAYON_NUM_THREADS`.
    Variable,
}

impl std::fmt::Display for ThreadsFrom {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            ThreadsFrom::Machine => "the CPUs of this process",
            ThreadsFrom::Slurm => "the CPUs of the SLURM job",
            ThreadsFrom::Variable => "RAYON_NUM_THREADS",
        })
    }
}

/// The number of CPU threads that a run takes by default, and what determines it.
pub fn default_threads() -> (usize, ThreadsFrom) {
    let variable = std::env::var("RAYON_NUM_THREADS").ok().and_then(|text| text.parse().ok());
    let slurm = Slurm::of_process().and_then(|slurm| slurm.cpus);
    let available = std::thread::available_parallelism().map_or(1, |n| n.get());
    choose(available, slurm, variable)
}

fn choose(available: usize, slurm: Option<usize>, variable: Option<usize>) -> (usize, ThreadsFrom) {
    match (variable, slurm) {
        (Some(threads), _) if threads > 0 => (threads, ThreadsFrom::Variable),
        (_, Some(cpus)) if cpus < available => (cpus, ThreadsFrom::Slurm),
        _ => (available, ThreadsFrom::Machine),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(set: &[(&str, &str)]) -> Option<Slurm> {
        Slurm::of(|name| {
            set.iter().find(|(own, _)| *own == name).map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn slurm_gives_cpus_of_the_task_and_memory_of_the_node() {
        let found = of(&[
            ("SLURM_JOB_ID", "17"),
            ("SLURM_CPUS_ON_NODE", "8"),
            ("SLURM_CPUS_PER_TASK", "4"),
            ("SLURM_MEM_PER_CPU", "1024"),
        ]);
        let expected = Slurm { job: "17".into(), cpus: Some(4), memory: Some(8 << 30) };
        assert_eq!(found, Some(expected));
        // All of the node.
        let whole = of(&[("SLURM_JOB_ID", "17"), ("SLURM_MEM_PER_NODE", "0")]);
        assert_eq!(whole.and_then(|slurm| slurm.memory), None);
        assert_eq!(of(&[("SLURM_CPUS_PER_TASK", "4")]), None);
    }

    #[test]
    fn the_variable_of_threads_comes_before_the_job_and_the_job_before_the_machine() {
        assert_eq!(choose(8, None, None), (8, ThreadsFrom::Machine));
        assert_eq!(choose(8, Some(4), None), (4, ThreadsFrom::Slurm));
        assert_eq!(choose(8, Some(16), Some(0)), (8, ThreadsFrom::Machine));
        assert_eq!(choose(8, Some(4), Some(6)), (6, ThreadsFrom::Variable));
    }
}
