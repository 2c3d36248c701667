//! The rank of this process: its number among the processes that share a run.

use crate::{
    console::Console,
    file::{DeviceNames, Misuse},
    run::devices,
};
use anyhow::Result;
use burntrace_core::device;

/// The number of this process among those that share a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rank {
    /// From 0 on.
    pub index: usize,
    /// Number of processes. The results do not depend on it.
    pub count: usize,
    /// The number among the processes on this machine, which chooses the device.
    local: usize,
}

/// Variables with the rank, the number of ranks, and the rank on the machine: of Open MPI, of MPICH and
/// Intel MPI, of SLURM. Those of SLURM come last, as the processes that `mpirun` starts in a batch script inherit
/// them from the script. The script itself has `SLURM_PROCID` and `SLURM_NTASKS`, but no step.
const VARIABLES: [[&str; 3]; 3] = [
    ["OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK"],
    ["PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID"],
    ["SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_LOCALID"],
];

impl Rank {
    /// The rank of a process that has the run to itself.
    pub const ALONE: Rank = Rank { index: 0, count: 1, local: 0 };

    /// The rank given with `--rank`, or else by the environment.
    ///
    /// # Errors
    ///
    /// If `--rank`, or a variable, is not a rank.
    pub fn find(given: Option<&str>) -> Result<Rank> {
        Rank::of(given, |name| std::env::var(name).ok())
    }

    fn of(given: Option<&str>, variable: impl Fn(&str) -> Option<String>) -> Result<Rank> {
        if let Some(text) = given {
            let pair = text.split_once('/').and_then(|(i, n)| Some((number(i)?, number(n)?)));
            let rank = pair.map(|(index, count)| Rank { index, count, local: index });
            return rank.filter(|rank| rank.index < rank.count).ok_or_else(|| {
                Misuse::error(format!(
                    "--rank {text} is no rank; give i/n with i from 0 to n - 1, such as --rank 0/4 for the first \
                     of four processes"
                ))
            });
        }
        for [index, count, local] in VARIABLES {
            let (Some(i), Some(n)) = (variable(index), variable(count)) else { continue };
            let pair = number(&i).zip(number(&n)).filter(|(i, n)| i < n);
            let Some((index, count)) = pair else {
                return Err(Misuse::error(format!(
                    "{index} is {i} and {count} is {n}, which is no rank; set the rank with --rank i/n, or --rank \
                     0/1 for a run in one process"
                )));
            };
            let local = variable(local).and_then(|local| number(&local));
            let local = local.or_else(|| local_of_slurm(index, &variable)).unwrap_or(index);
            return Ok(Rank { index, count, local });
        }
        Ok(Rank::ALONE)
    }

    /// Refuses what only one process can do.
    pub fn refuse_several(self, what: &str) -> Result<()> {
        if self.count == 1 {
            return Ok(());
        }
        Err(Misuse::error(format!(
            "{what} is for one process, and this is {self}: run it without `srun` and `mpirun`, or with --rank \
             0/1{}",
            match what {
                "--overwrite" =>
                    "; or remove the folder first, as a rank cannot tell an earlier run from that of its others",
                "sweep" => "; or give each its runs with --task",
                _ => "",
            }
        )))
    }

    /// The names of the devices of this process: those that the case gives, or if that is one, that of this rank.
    pub fn devices(&self, given: &DeviceNames, console: &dyn Console) -> Result<Vec<String>> {
        match given.names() {
            [only] if !only.ends_with(":*") => Ok(vec![self.device(only, console)]),
            _ => devices::names(given),
        }
    }

    /// The name of the device of this rank: where the name has no number and there are several devices of its
    /// kind, the ranks of a machine take one after the other.
    fn device(&self, name: &str, console: &dyn Console) -> String {
        match self.count {
            1 => name.into(),
            // Ranks that start at the same time do not measure the devices that they share.
            _ if name == "auto" => device::shared_by_processes(&console.auto_kind(), self.local),
            _ => device::shared_by_processes(name, self.local),
        }
    }
}

impl std::fmt::Display for Rank {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "rank {} of {}", self.index, self.count)
    }
}

/// The number on this machine that SLURM gives, for a process whose rank it knows: `srun --mpi=pmi2` sets variables
/// of PMI without a number on the machine.
fn local_of_slurm(index: usize, variable: &impl Fn(&str) -> Option<String>) -> Option<usize> {
    let [of, _, local] = VARIABLES[2];
    let is_same = number(&variable(of)?) == Some(index);
    number(&variable(local)?).filter(|_| is_same)
}

fn number(text: &str) -> Option<usize> {
    text.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(given: Option<&str>, variables: &[(&str, &str)]) -> Result<(usize, usize, usize)> {
        let find = |name: &str| {
            let found = variables.iter().find(|(of, _)| *of == name);
            found.map(|(_, value)| value.to_string())
        };
        Rank::of(given, find).map(|rank| (rank.index, rank.count, rank.local))
    }

    #[test]
    fn ranks_are_given_or_of_the_environment() {
        assert_eq!(of(None, &[]).unwrap(), (0, 1, 0));
        assert_eq!(of(Some("3/4"), &[("PMI_RANK", "0"), ("PMI_SIZE", "2")]).unwrap(), (3, 4, 3));
        let slurm = [("SLURM_PROCID", "5"), ("SLURM_STEP_NUM_TASKS", "8"), ("SLURM_LOCALID", "1")];
        assert_eq!(of(None, &slurm).unwrap(), (5, 8, 1));
        let pmi = [("PMI_RANK", "5"), ("PMI_SIZE", "8")];
        assert_eq!(of(None, &[pmi.to_vec(), slurm.to_vec()].concat()).unwrap(), (5, 8, 1));
        let batch = [("SLURM_PROCID", "0"), ("SLURM_NTASKS", "8")];
        assert_eq!(of(None, &batch).unwrap(), (0, 1, 0), "a batch script is no rank");
        let mpirun = [("OMPI_COMM_WORLD_RANK", "2"), ("OMPI_COMM_WORLD_SIZE", "4")];
        assert_eq!(of(None, &[batch, mpirun].concat()).unwrap(), (2, 4, 2));
        let other = [&batch[..], &[("SLURM_LOCALID", "0")], &pmi].concat();
        assert_eq!(of(None, &other).unwrap(), (5, 8, 5), "SLURM counts the script");
        assert_eq!(of(None, &[("PMI_RANK", "1")]).unwrap(), (0, 1, 0));
    }

    #[test]
    fn what_is_no_rank_is_refused_by_name() {
        for text in ["4/4", "1", "a/b", "-1/2", "0/0", "1/2/3"] {
            let error = of(Some(text), &[]).unwrap_err().to_string();
            assert!(error.contains(text) && error.contains("--rank 0/4"), "{error}");
        }
        let error = of(None, &[("PMI_RANK", "x"), ("PMI_SIZE", "2")]).unwrap_err().to_string();
        assert!(error.contains("PMI_RANK is x and PMI_SIZE is 2"), "{error}");
    }
}
