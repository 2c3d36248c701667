//! Devices by name: `auto`, `flex`, `ndarray`, `vulkan:0`, `wgpu:0`, `cuda:1`, `metal:0`, `rocm:0`.

mod details;

pub use details::{DeviceDetails, details};

use crate::{Error, Precision, Result};
use burn::tensor::{DType, Device, Tensor, TensorData, kind::Basic};
pub use burntrace_kernels::{
    COMPILATION, KernelTime, KernelWatch, card_memory, instructions, log_compilations,
};
use serde::Serialize;
use std::sync::OnceLock;

/// A device that this program can use.
#[derive(Clone, Debug, Serialize)]
pub struct OpenDevice {
    /// The name that opens it.
    pub name: String,
    /// The name that its driver reports.
    pub description: String,
    /// Whether it is a software implementation of a graphics interface, which runs on the CPU.
    #[serde(rename = "software")]
    pub is_software: bool,
    /// Whether it supports double precision.
    #[serde(rename = "f64")]
    pub has_f64: bool,
    /// The device.
    #[serde(skip)]
    pub device: Device,
}

impl OpenDevice {
    /// Whether the device compiles kernels at run time, which all but the CPU devices do.
    pub fn compiles_kernels(&self) -> bool {
        compiles_kernels(&self.device)
    }

    /// Moves rows of `width` numbers to the device as a tensor `[n, width]`, in f32 where it lacks f64.
    pub fn rows(&self, numbers: Vec<f64>, width: usize, precision: Precision) -> Tensor<2> {
        let dtype = if self.has_f64 { precision.dtype() } else { DType::F32 };
        let count = numbers.len() / width;
        let data = TensorData::new(numbers, [count, width]);
        Tensor::from_data(data.convert_dtype(dtype), (&self.device, dtype))
    }

    /// Moves positions to the device as a tensor `[n, 3]`, measured from an origin, as [`rows`](Self::rows).
    pub fn positions(
        &self,
        positions: &[[f64; 3]],
        origin: [f64; 3],
        precision: Precision,
    ) -> Tensor<2> {
        let measured = positions.iter().flat_map(|p| [0, 1, 2].map(|d| p[d] - origin[d]));
        self.rows(measured.collect(), 3, precision)
    }
}

/// The device without gradient tracking, for tensors without gradients.
pub(crate) fn plain(device: &Device) -> Device {
    if device.is_autodiff() { device.clone().inner() } else { device.clone() }
}

/// A kind of device that is not available.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Unusable {
    /// Name of the kind.
    pub name: String,
    /// Why it is not available.
    pub reason: String,
}

/// The kinds of devices, the fastest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Cuda,
    Rocm,
    Metal,
    Vulkan,
    Wgpu,
    Flex,
    NdArray,
}

const KINDS: [Kind; 7] =
    [Kind::Cuda, Kind::Rocm, Kind::Metal, Kind::Vulkan, Kind::Wgpu, Kind::Flex, Kind::NdArray];

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Kind::Cuda => "cuda",
            Kind::Rocm => "rocm",
            Kind::Metal => "metal",
            Kind::Vulkan => "vulkan",
            Kind::Wgpu => "wgpu",
            Kind::Flex => "flex",
            Kind::NdArray => "ndarray",
        }
    }

    fn named(name: &str) -> Option<Kind> {
        match name {
            "cpu" => Some(Kind::Flex),
            _ => KINDS.into_iter().find(|kind| kind.name() == name),
        }
    }

    fn device_name(self, index: usize) -> String {
        match self {
            Kind::Flex | Kind::NdArray => self.name().into(),
            _ => format!("{}:{index}", self.name()),
        }
    }

    /// Whether software implementations of its interface exist.
    fn may_be_software(self) -> bool {
        matches!(self, Kind::Vulkan | Kind::Wgpu)
    }

    /// The devices of this kind, or the reason why there are none.
    fn devices(self) -> std::result::Result<Vec<Device>, String> {
        let devices = match self {
            Kind::Flex => vec![Device::flex()],
            #[allow(deprecated)] // still supported by name
            Kind::NdArray => vec![Device::ndarray()],
            Kind::Cuda => cuda()?,
            Kind::Rocm => rocm()?,
            Kind::Metal => metal()?,
            Kind::Vulkan => vulkan()?,
            Kind::Wgpu => wgpu()?,
        };
        if devices.is_empty() {
            return Err(format!("no driver provides a {} device", self.name()));
        }
        Ok(devices)
    }
}

fn describe(kind: Kind, index: usize, device: Device) -> OpenDevice {
    let identity = match kind {
        Kind::Flex | Kind::NdArray => None,
        _ => identity(&device),
    };
    let name = kind.device_name(index);
    let (description, is_software) = identity.unwrap_or_else(|| {
        let threads = crate::threads::cpu_threads();
        let plural = if threads == 1 { "" } else { "s" };
        (format!("this machine's CPU, {threads} thread{plural}"), false)
    });
    OpenDevice {
        name,
        description,
        is_software,
        has_f64: device.supports_dtype(DType::F64),
        device,
    }
}

/// All available devices, the fastest kind first, and the kinds that are not available.
pub fn list() -> (Vec<OpenDevice>, Vec<Unusable>) {
    let mut available = Vec::new();
    let mut unavailable = Vec::new();
    for kind in KINDS {
        match kind.devices() {
            Ok(devices) => {
                let devices = devices.into_iter().enumerate();
                available.extend(devices.map(|(index, device)| describe(kind, index, device)));
            }
            Err(reason) => unavailable.push(Unusable { name: kind.name().into(), reason }),
        }
    }
    (available, unavailable)
}

/// The names of all devices, the fastest kind first. No device is opened.
pub fn names() -> Vec<String> {
    let names = |kind: Kind| {
        let count = kind.devices().map_or(0, |devices| devices.len());
        (0..count).map(move |index| kind.device_name(index))
    };
    KINDS.into_iter().flat_map(names).collect()
}

/// Opens a device by its name.
///
/// `auto` is the first graphics card in the order CUDA, ROCm, Metal, Vulkan, WGPU, or Flex (the
/// CPU) if there is none; it never selects a software implementation. `cpu` is Flex. A name without
/// an index has index 0. `gpu` is as `auto`, but an error without a graphics card.
///
/// # Errors
///
/// [`Error::Device`] if there is no such device; the message lists the available ones.
pub fn open(name: &str) -> Result<OpenDevice> {
    let fail = |reason: String| {
        let usable: Vec<_> = list().0.into_iter().map(|device| device.name).collect();
        Error::Device { name: name.into(), reason, usable: usable.join(", ") }
    };
    match name {
        "auto" => return Ok(card().unwrap_or_else(|| describe(Kind::Flex, 0, Device::flex()))),
        "gpu" => return card().ok_or_else(|| fail(why_no_card())),
        _ => {}
    }
    let (kind, index) = name.split_once(':').unwrap_or((name, "0"));
    let kind = Kind::named(kind).ok_or_else(|| fail("it is not a known kind of device".into()))?;
    let index: usize =
        index.parse().map_err(|_| fail(format!("`{index}` is not a device index")))?;
    let mut devices = kind.devices().map_err(&fail)?;
    if index >= devices.len() {
        let count = devices.len();
        return Err(fail(format!("the index must be below {count}")));
    }
    Ok(describe(kind, index, devices.swap_remove(index)))
}

/// The names of devices that a name stands for: with `*` in place of an index (`cuda:*`), all devices of the kind,
/// but software implementations only if there is nothing else; otherwise the name itself, which is not checked.
///
/// # Errors
///
/// [`Error::Device`] if there is no device of the kind; the message lists the available ones.
pub fn all_named(name: &str) -> Result<Vec<String>> {
    let Some(kind) = name.strip_suffix(":*") else { return Ok(vec![name.into()]) };
    let fail = |reason: String| {
        let usable = names().join(", ");
        Error::Device { name: name.into(), reason, usable }
    };
    let kind = Kind::named(kind).ok_or_else(|| fail("it is not a known kind of device".into()))?;
    kind.devices().map_err(fail)?;
    let cards = names_alike(kind, true);
    Ok(if cards.is_empty() { names_alike(kind, false) } else { cards })
}

/// The first graphics card of the fastest kind, if there is one.
fn card() -> Option<OpenDevice> {
    // Asking all drivers takes some 50 ms.
    static CARD: OnceLock<Option<OpenDevice>> = OnceLock::new();
    let kinds = || KINDS.into_iter().filter(|kind| !matches!(kind, Kind::Flex | Kind::NdArray));
    let find = || {
        let devices = |kind: Kind| {
            let devices = kind.devices().unwrap_or_default().into_iter().enumerate();
            devices.map(move |(index, device)| describe(kind, index, device))
        };
        kinds().flat_map(devices).find(|device| !device.is_software)
    };
    CARD.get_or_init(|| may_have_card().then(find).flatten()).clone()
}

/// Whether this machine may have a graphics card. On Linux every driver of a card reaches it through a file in `/dev`: without
/// one there is none, and Vulkan, which loads all its software implementations when it is asked, is not asked. True on other systems.
pub fn may_have_card() -> bool {
    const NODES: [&str; 11] = [
        "dri", "nvidia", "dxg", "kfd", "mali", "kgsl", "pvr", "nvhost", "nvgpu", "nvmap", "galcore",
    ];
    if !cfg!(target_os = "linux") {
        return true;
    }
    let Ok(entries) = std::fs::read_dir("/dev") else { return true };
    let is_of_card = |name: &str| NODES.iter().any(|node| name.starts_with(node));
    entries.flatten().any(|entry| is_of_card(&entry.file_name().to_string_lossy()))
}

/// What of each kind of graphics cards is missing.
fn why_no_card() -> String {
    let of_kind = |of: &Unusable| format!("`{}`: {}", of.name, of.reason);
    let missing: Vec<String> = list().1.iter().map(of_kind).collect();
    format!(
        "there is no graphics card, but perhaps software implementations ({}); build with the feature of the card's vendor, or \
         install its driver",
        missing.join("; ")
    )
}

/// The name of the device that a process takes which shares the devices of this machine with others, from its number
/// among them: where the name is `auto` or only a kind, the processes take the devices of that kind one after the
/// other. A name with an index, that of a CPU device, and one that cannot be used stay as they are.
///
/// Devices of other processes are not opened where the kind has no software implementations, as a driver may keep
/// memory for each process that opens its device.
pub fn shared_by_processes(name: &str, number: usize) -> String {
    let kinds = match name {
        "auto" | "gpu" => KINDS.to_vec(),
        _ => Kind::named(name).into_iter().collect(),
    };
    for kind in kinds {
        if matches!(kind, Kind::Flex | Kind::NdArray) {
            break;
        }
        let names = names_alike(kind, matches!(name, "auto" | "gpu"));
        if !names.is_empty() {
            return names[number % names.len()].clone();
        }
    }
    name.into()
}

/// The names of the devices of a kind: of all cards, or of those that are software if the first one is.
fn names_alike(kind: Kind, only_cards: bool) -> Vec<String> {
    if only_cards && !may_have_card() {
        return Vec::new();
    }
    let devices = kind.devices().unwrap_or_default();
    if !kind.may_be_software() {
        return (0..devices.len()).map(|index| kind.device_name(index)).collect();
    }
    let devices = devices.into_iter().enumerate();
    let devices: Vec<_> = devices.map(|(index, device)| describe(kind, index, device)).collect();
    let is_software = !only_cards && devices.first().is_some_and(|device| device.is_software);
    let alike = devices.into_iter().filter(|device| device.is_software == is_software);
    alike.map(|device| device.name).collect()
}

/// Refuses a precision that a device does not support.
pub(crate) fn check_precision(device: &Device, precision: Precision) -> Result<()> {
    if device.supports_dtype(precision.dtype()) {
        return Ok(());
    }
    Err(Error::Precision { device: format!("{device:?}"), precision })
}

/// Whether a device compiles kernels at run time, which all but the CPU backends do.
pub(crate) fn compiles_kernels(device: &Device) -> bool {
    let is_cpu = |other: Device| *device == other;
    #[allow(deprecated)] // still supported by name
    let ndarray = Device::ndarray();
    !is_cpu(Device::flex()) && !is_cpu(ndarray)
}

/// Whether a device is a software implementation of a graphics interface.
pub(crate) fn is_software(device: &Device) -> bool {
    compiles_kernels(device) && identity(device).is_some_and(|(_, is_software)| is_software)
}

/// The name of a device, and whether it is a software implementation.
#[cfg(any(feature = "vulkan", feature = "cuda", feature = "metal", feature = "rocm"))]
fn identity(device: &Device) -> Option<(String, bool)> {
    let identity = device.identity()?;
    Some((identity.name, identity.physical.is_none()))
}

#[cfg(not(any(feature = "vulkan", feature = "cuda", feature = "metal", feature = "rocm")))]
fn identity(_device: &Device) -> Option<(String, bool)> {
    None
}

/// The devices of a kind if its cargo feature is enabled, or an error.
macro_rules! devices_with_feature {
    ($name:ident, $feature:literal, $list:expr) => {
        #[cfg(feature = $feature)]
        fn $name() -> std::result::Result<Vec<Device>, String> {
            $list
        }

        #[cfg(not(feature = $feature))]
        fn $name() -> std::result::Result<Vec<Device>, String> {
            Err(concat!("this program was built without the feature `", $feature, "`").into())
        }
    };
}

#[cfg(any(feature = "vulkan", feature = "cuda", feature = "metal", feature = "rocm"))]
use burn::tensor::DeviceType;

devices_with_feature!(vulkan, "vulkan", Ok(Device::enumerate(DeviceType::Vulkan).into_vec()));
devices_with_feature!(wgpu, "vulkan", Ok(Device::enumerate(DeviceType::Wgpu).into_vec()));
devices_with_feature!(metal, "metal", Ok(Device::enumerate(DeviceType::Metal).into_vec()));
devices_with_feature!(cuda, "cuda", {
    driver("libcuda.so.1", "nvcuda.dll")?;
    Ok(Device::enumerate(DeviceType::Cuda).into_vec())
});
devices_with_feature!(rocm, "rocm", {
    driver("libamdhip64.so", "amdhip64.dll")?;
    Ok(Device::enumerate(DeviceType::Rocm).into_vec())
});

/// Checks that a driver is installed. Without one, Burn panics on another thread.
#[cfg(any(feature = "cuda", feature = "rocm"))]
fn driver(linux: &str, windows: &str) -> std::result::Result<(), String> {
    let library = if cfg!(windows) { windows } else { linux };
    // SAFETY: the initialisers of driver libraries do not depend on the state of this program.
    match unsafe { libloading::Library::new(library) } {
        Ok(_) => Ok(()),
        Err(error) => Err(format!("its driver is not installed ({error})")),
    }
}

/// The tensor of a field on another device; the same one if it is there.
pub(crate) fn moved<const D: usize, K: Basic>(
    tensor: &Tensor<D, K>,
    device: &Device,
) -> Result<Tensor<D, K>> {
    if tensor.device() == *device {
        return Ok(tensor.clone());
    }
    let data = tensor.clone().try_into_data().map_err(|error| {
        Error::Execution(format!("the field cannot be copied to another device: {error:?}"))
    })?;
    Ok(Tensor::from_data(data, (device, tensor.dtype())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpu_devices_are_always_available() {
        assert_eq!(open("cpu").unwrap().name, "flex");
        assert_eq!(open("flex:0").unwrap().name, "flex");
        assert_eq!(open("ndarray").unwrap().name, "ndarray");
        assert!(open("flex").unwrap().has_f64);
    }

    #[test]
    fn processes_take_devices_of_a_kind_one_after_the_other() {
        for name in ["flex", "cpu", "ndarray", "vulkan:7", "abacus"] {
            assert_eq!(shared_by_processes(name, 3), name);
        }
        let count = Kind::Vulkan.devices().map_or(0, |devices| devices.len());
        let taken = shared_by_processes("vulkan", count);
        match count {
            0 => assert_eq!(taken, "vulkan"),
            _ => assert_eq!(taken, shared_by_processes("vulkan", 0)),
        }
    }

    #[test]
    fn star_stands_for_all_devices_of_a_kind() {
        assert_eq!(all_named("flex:*").unwrap(), ["flex"]);
        assert_eq!(all_named("vulkan:7").unwrap(), ["vulkan:7"]);
        match Kind::Vulkan.devices().map_or(0, |devices| devices.len()) {
            0 => assert!(all_named("vulkan:*").unwrap_err().to_string().contains("flex")),
            count => {
                let names = all_named("vulkan:*").unwrap();
                assert!((1..=count).contains(&names.len()), "{names:?}");
                assert!(names.iter().all(|name| open(name).is_ok()), "{names:?}");
            }
        }
        let message = all_named("abacus:*").unwrap_err().to_string();
        assert!(message.contains("abacus:*") && message.contains("ndarray"), "{message}");
    }

    #[test]
    fn error_for_an_unknown_device_lists_the_available_ones() {
        for name in ["flex:1", "abacus", "vulkan:99", "cuda:x", "flex:"] {
            let message = open(name).unwrap_err().to_string();
            assert!(message.contains(name) && message.contains("ndarray"), "{message}");
        }
    }
}
