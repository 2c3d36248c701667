//! The memory allocator of the system.

/// Has large blocks returned to the system when they are freed, for runs with a limit of memory. glibc keeps blocks of up
/// to 32 MiB otherwise, once such a one has been freed: frames of a compressed series, read by several threads, then
/// took 236 MiB where 200 MiB were planned. It costs time where much is read, as the system clears new pages.
pub fn return_large_blocks() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: sets a parameter of the allocator, which it locks.
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, 1 << 20);
    }
}
