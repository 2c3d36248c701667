//! What to install and to set.

use super::Diagnosis;
use std::path::Path;
use std::process::{Command, Stdio};

/// Bytes of memory of a process below which advice is given.
const LITTLE_MEMORY: u64 = 2 << 30;

/// What to install and to set, the most important first.
pub fn of(diagnosis: &Diagnosis) -> Vec<String> {
    let mut advice = Vec::new();
    for device in diagnosis.devices.iter().filter(|device| !device.is_right()) {
        advice.push(format!(
            "{} gives no right answer: update its driver, and do not use it until then",
            device.name
        ));
    }
    let vendors = card_vendors(Path::new("/sys/bus/pci/devices"));
    let has_card = diagnosis.devices.iter().any(|device| device.is_card() && device.is_right());
    let has_software = diagnosis.devices.iter().any(|device| device.kind == "software");
    if !has_card {
        advice.extend(about_cards(&vendors, has_software));
    }
    advice.extend(about_threads(diagnosis));
    advice.extend(about_memory(diagnosis));
    if !has_program("ffmpeg") {
        advice.push(
            "for animations as MP4 (`burntrace render --mp4`): apt-get install ffmpeg".into(),
        );
    }
    advice
}

/// Advice where no card is usable.
fn about_cards(vendors: &[u32], has_software: bool) -> Vec<String> {
    let of_vendor = |vendor: &u32| match vendor {
        0x10de => Some(
            "an NVIDIA card was found but is not usable: install its driver with Vulkan, and libvulkan1 \
             (apt-get install libvulkan1 nvidia-driver), or build with the feature `cuda`",
        ),
        0x1002 => Some(
            "an AMD card was found but is not usable: apt-get install mesa-vulkan-drivers libvulkan1",
        ),
        0x8086 => Some(
            "an Intel card was found but is not usable: apt-get install mesa-vulkan-drivers libvulkan1",
        ),
        _ => None,
    };
    let mut advice: Vec<String> = vendors.iter().filter_map(of_vendor).map(String::from).collect();
    if advice.is_empty() {
        let also = match has_software {
            true => "",
            false => {
                "; only to try kernels of graphics cards on the CPU: apt-get install \
                      mesa-vulkan-drivers libvulkan1"
            }
        };
        advice.push(format!(
            "no graphics card was found: use the CPU (flex), which needs no installation{also}"
        ));
    }
    advice
}

fn about_threads(diagnosis: &Diagnosis) -> Vec<String> {
    let limits = &diagnosis.limits;
    let mut advice = Vec::new();
    if limits.threads < limits.cpus {
        let reason = match (limits.control_group.cpus, limits.affinity) {
            (Some(cpus), _) if cpus < limits.cpus as f64 => {
                format!("its control group allows {cpus} CPUs")
            }
            (_, Some(count)) if count < limits.cpus => format!("its affinity is {count} of them"),
            _ => format!("the limit is {}", limits.threads_from),
        };
        advice.push(format!(
            "runs take {} of {} CPUs: {reason}; ask the batch system or the container for more",
            limits.threads, limits.cpus
        ));
    }
    advice
}

fn about_memory(diagnosis: &Diagnosis) -> Option<String> {
    let bytes = diagnosis.limits.planned_memory.filter(|bytes| *bytes < LITTLE_MEMORY)?;
    let gib = bytes as f64 / f64::from(1 << 30);
    Some(format!(
        "runs have {gib:.2} GiB of memory; `burntrace plan case.toml` shows what a case needs, and runs that need \
         more take batches of particles and stream frames"
    ))
}

/// Vendors of the graphics cards on the PCI bus (Linux), each once.
fn card_vendors(devices: &Path) -> Vec<u32> {
    let entries = std::fs::read_dir(devices).into_iter().flatten().flatten();
    let number = |path: &Path| {
        let text = std::fs::read_to_string(path).ok()?;
        u32::from_str_radix(text.trim().trim_start_matches("0x"), 16).ok()
    };
    let vendor = |entry: std::fs::DirEntry| {
        // Classes of displays begin with 03.
        let class = number(&entry.path().join("class"))?;
        (class >> 16 == 0x03).then(|| number(&entry.path().join("vendor")))?
    };
    let mut vendors: Vec<u32> = entries.filter_map(vendor).collect();
    vendors.sort_unstable();
    vendors.dedup();
    vendors
}

fn has_program(name: &str) -> bool {
    let mut call = Command::new(name);
    call.arg("-version").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    call.status().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cards_are_found_on_the_bus() {
        let folder = tempfile::tempdir().unwrap();
        for (name, class, vendor) in [
            ("a", "0x030200\n", "0x10de\n"),
            ("b", "0x020000\n", "0x8086\n"),
            ("c", "0x030000\n", "0x1002\n"),
        ] {
            let device = folder.path().join(name);
            std::fs::create_dir(&device).unwrap();
            std::fs::write(device.join("class"), class).unwrap();
            std::fs::write(device.join("vendor"), vendor).unwrap();
        }
        assert_eq!(card_vendors(folder.path()), [0x1002, 0x10de]);
        assert_eq!(card_vendors(&folder.path().join("none")), [0_u32; 0]);
        let advice = about_cards(&[0x10de], false);
        assert!(advice.len() == 1 && advice[0].contains("nvidia-driver"), "{advice:?}");
        assert!(about_cards(&[0x1234], false)[0].contains("mesa-vulkan-drivers"));
        assert!(!about_cards(&[], true)[0].contains("apt-get"));
    }
}
