//! What graphics cards report while they work: the times of kernels, and the memory that they have given.

use burn::tensor::Device;

/// The launches of a kernel on graphics cards, in all its types.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelTime {
    /// Its name in the program.
    pub kernel: String,
    /// How often it was launched.
    pub launches: u64,
    /// How many of these launches were timed.
    pub timed: u64,
    /// The time of those.
    pub nanoseconds: u64,
    /// Whether all times are those of the card's clock. Others include the submission, and that of the first launch the compilation.
    pub is_by_card: bool,
}

#[cfg(feature = "cube")]
impl KernelTime {
    fn none(kernel: String) -> Self {
        KernelTime { kernel, launches: 0, timed: 0, nanoseconds: 0, is_by_card: true }
    }
}

/// Watches the launches of kernels on all graphics cards until it is dropped. A second watch replaces the first one
/// for as long as it lives.
pub struct KernelWatch {
    #[cfg(feature = "cube")]
    watched: std::sync::Arc<cube::Watched>,
    #[cfg(feature = "cube")]
    _observation: burn_cubecl::cubecl::logging::LaunchObservation,
}

impl KernelWatch {
    /// Starts to watch. Each launch waits for a round trip to the thread of its card.
    #[allow(clippy::new_without_default)]
    pub fn new() -> Self {
        #[cfg(feature = "cube")]
        {
            let watched = std::sync::Arc::new(cube::Watched::default());
            let _observation =
                burn_cubecl::cubecl::logging::LaunchObservation::new(watched.clone());
            KernelWatch { watched, _observation }
        }
        #[cfg(not(feature = "cube"))]
        KernelWatch {}
    }

    /// The kernels launched so far, in the order of their names. Waits for those that run.
    pub fn times(&self) -> Vec<KernelTime> {
        #[cfg(feature = "cube")]
        return self.watched.times();
        #[cfg(not(feature = "cube"))]
        Vec::new()
    }
}

/// The bytes that a graphics card has given to this process: what is in use, and what is kept for later. `None` on a CPU.
pub fn card_memory(device: &Device) -> Option<u64> {
    #[cfg(feature = "cube")]
    {
        use burn::backend::DispatchDevice;
        use burn_cubecl::cubecl::MemoryScope;
        let inner = device.clone().inner();
        let DispatchDevice::Cube(card) = inner.as_dispatch() else { return None };
        Some(card.client().memory_report(MemoryScope::Device).usage().bytes_reserved)
    }
    #[cfg(not(feature = "cube"))]
    {
        let _ = device;
        None
    }
}

#[cfg(feature = "cube")]
mod cube {
    use super::KernelTime;
    use burn_cubecl::cubecl::{
        config::{TypeNameFormatLevel, type_name_format},
        future::block_on,
        logging::{Duration, LaunchObserver, ProfileDuration, TimingMethod, TimingRequest},
    };
    use std::{
        collections::{BTreeMap, VecDeque},
        sync::{Mutex, MutexGuard, PoisonError},
    };

    /// Number of measurements that are kept unread: the kernels of older ones have run, so that reading them waits for none.
    const UNREAD: usize = 1024;

    /// The launches of all kernels so far.
    #[derive(Default)]
    pub struct Watched(Mutex<Launches>);

    #[derive(Default)]
    struct Launches {
        of: BTreeMap<&'static str, Total>,
        unread: VecDeque<(&'static str, ProfileDuration)>,
    }

    #[derive(Clone, Copy, Default)]
    struct Total {
        launches: u64,
        timed: u64,
        nanoseconds: u64,
        by_host: u64,
    }

    impl Launches {
        fn add(&mut self, kernel: &'static str, time: Duration, method: TimingMethod) {
            let total = self.of.entry(kernel).or_default();
            total.timed += 1;
            total.nanoseconds += time.as_nanos() as u64;
            total.by_host += u64::from(method == TimingMethod::System);
        }

        /// Reads measurements until few are left, the oldest first.
        fn read(&mut self, left: usize) {
            while self.unread.len() > left {
                let Some((kernel, profile)) = self.unread.pop_front() else { return };
                let method = profile.timing_method();
                // A measurement may turn out to be missing.
                if let Some(ticks) = block_on(profile.resolve()) {
                    self.add(kernel, ticks.duration(), method);
                }
            }
        }
    }

    impl Watched {
        fn launches(&self) -> MutexGuard<'_, Launches> {
            self.0.lock().unwrap_or_else(PoisonError::into_inner)
        }

        pub fn times(&self) -> Vec<KernelTime> {
            let mut launches = self.launches();
            launches.read(0);
            // The names without their types are those of several.
            let mut named: BTreeMap<String, KernelTime> = BTreeMap::new();
            for (kernel, total) in &launches.of {
                let kernel = type_name_format(kernel, TypeNameFormatLevel::Short);
                let none = || KernelTime::none(kernel.clone());
                let sum = named.entry(kernel.clone()).or_insert_with(none);
                sum.launches += total.launches;
                sum.timed += total.timed;
                sum.nanoseconds += total.nanoseconds;
                sum.is_by_card &= total.by_host == 0;
            }
            named.into_values().collect()
        }
    }

    impl LaunchObserver for Watched {
        fn launched(&self, kernel: &'static str) {
            self.launches().of.entry(kernel).or_default().launches += 1;
        }

        fn timing(&self) -> TimingRequest {
            TimingRequest::Deferred
        }

        fn profiled(&self, kernel: &'static str, profile: ProfileDuration) {
            let mut launches = self.launches();
            launches.unread.push_back((kernel, profile));
            launches.read(UNREAD);
        }

        fn timed(&self, kernel: &'static str, time: Duration, method: TimingMethod) {
            self.launches().add(kernel, time, method);
        }
    }
}
