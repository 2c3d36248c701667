//! What drivers report about devices.

use super::OpenDevice;

/// What a driver reports about a device.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DeviceDetails {
    /// `discrete`, `integrated`, `virtual`, `software` or `other`.
    pub kind: &'static str,
    /// The name and the version of the driver.
    pub driver: String,
    /// Bytes of the memory that is local to the device; `None` if the driver does not report it. An
    /// integrated card and a software device use the memory of the machine.
    pub memory: Option<u64>,
}

/// What the driver reports about a Vulkan or wgpu device; `None` for other devices.
pub fn details(device: &OpenDevice) -> Option<DeviceDetails> {
    let is_wgpu = ["vulkan", "wgpu"].iter().any(|kind| device.name.starts_with(kind));
    if is_wgpu { adapter(device) } else { None }
}

#[cfg(not(feature = "vulkan"))]
fn adapter(_device: &OpenDevice) -> Option<DeviceDetails> {
    None
}

#[cfg(feature = "vulkan")]
fn adapter(device: &OpenDevice) -> Option<DeviceDetails> {
    use std::{pin::pin, task};
    use wgpu::DeviceType::{Cpu, DiscreteGpu, IntegratedGpu, VirtualGpu};
    let backends = match device.name.starts_with("vulkan") {
        true => wgpu::Backends::VULKAN,
        false => wgpu::Backends::all(),
    };
    let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle());
    // Native adapters are listed at once.
    let mut context = task::Context::from_waker(task::Waker::noop());
    let adapters = match pin!(instance.enumerate_adapters(backends)).poll(&mut context) {
        task::Poll::Ready(adapters) => adapters,
        task::Poll::Pending => return None,
    };
    let adapter =
        adapters.into_iter().find(|adapter| adapter.get_info().name == device.description)?;
    let info = adapter.get_info();
    Some(DeviceDetails {
        kind: match info.device_type {
            DiscreteGpu => "discrete",
            IntegratedGpu => "integrated",
            VirtualGpu => "virtual",
            Cpu => "software",
            _ => "other",
        },
        driver: format!("{} {}", info.driver, info.driver_info).trim().into(),
        memory: local_memory(&adapter),
    })
}

/// Bytes of the heaps of a Vulkan device that are local to it.
#[cfg(all(feature = "vulkan", not(target_vendor = "apple"), not(target_family = "wasm")))]
fn local_memory(adapter: &wgpu::Adapter) -> Option<u64> {
    /// `VK_MEMORY_HEAP_DEVICE_LOCAL_BIT`.
    const DEVICE_LOCAL: u32 = 1;
    // SAFETY: the adapter lives longer than this reference, and nothing is destroyed through it.
    let vulkan = unsafe { adapter.as_hal::<wgpu::hal::api::Vulkan>() }?;
    let instance = vulkan.shared_instance().raw_instance();
    // SAFETY: the handle is that of a device of this instance.
    let memory =
        unsafe { instance.get_physical_device_memory_properties(vulkan.raw_physical_device()) };
    let heaps = &memory.memory_heaps[..memory.memory_heap_count as usize];
    let local = heaps.iter().filter(|heap| heap.flags.as_raw() & DEVICE_LOCAL != 0);
    local.map(|heap| heap.size).max()
}

#[cfg(all(feature = "vulkan", any(target_vendor = "apple", target_family = "wasm")))]
fn local_memory(_adapter: &wgpu::Adapter) -> Option<u64> {
    None
}
