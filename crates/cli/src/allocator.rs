//! The memory allocator of the system.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Bytes of the last request that failed. Rust aborts the program after it, unless the code expects failures.
static REFUSED: AtomicUsize = AtomicUsize::new(0);

/// The allocator of the system, which notes requests that fail.
struct Noting;

#[global_allocator]
static ALLOCATOR: Noting = Noting;

fn noted(block: *mut u8, bytes: usize) -> *mut u8 {
    if block.is_null() {
        REFUSED.store(bytes, Ordering::Relaxed);
    }
    block
}

// SAFETY: all requests are passed on to the allocator of the system.
unsafe impl GlobalAlloc for Noting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        noted(unsafe { System.alloc(layout) }, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        noted(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        noted(unsafe { System.realloc(block, layout, size) }, size)
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        unsafe { System.dealloc(block, layout) }
    }
}

/// Makes the end of the program for want of memory an error with exit code 1, instead of an abort.
pub fn report_want_of_memory() {
    #[cfg(unix)]
    // SAFETY: the handler calls nothing that a signal must not interrupt.
    unsafe {
        libc::signal(libc::SIGABRT, end as extern "C" fn(libc::c_int) as libc::sighandler_t);
    }
}

/// Ends the program if memory was refused before; otherwise returns, and the system ends it.
#[cfg(unix)]
extern "C" fn end(_: libc::c_int) {
    use std::io::Write;
    let refused = REFUSED.load(Ordering::Relaxed);
    if refused == 0 {
        return;
    }
    let mut text = [0; 400];
    let mut rest = &mut text[..];
    // Numbers are formatted without memory, and the text is short enough.
    writeln!(
        rest,
        "error: the system refused {refused} bytes of memory; trace fewer particles, read fewer frames at a time \
         (`run.strategy = \"streamed\"`), or raise the limit of this process{} or of its job",
        Limit
    )
    .ok();
    let length = 400 - rest.len();
    // SAFETY: the text lives until the end of the process, which follows.
    unsafe {
        libc::write(2, text.as_ptr().cast(), length);
        libc::_exit(crate::FAILED.into());
    }
}

/// The limit of the address space in a message, if there is one.
#[cfg(unix)]
struct Limit;

#[cfg(unix)]
impl std::fmt::Display for Limit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
        // SAFETY: `limit` is writable.
        let is_known = unsafe { libc::getrlimit(libc::RLIMIT_AS, &mut limit) } == 0;
        match is_known && limit.rlim_cur != libc::RLIM_INFINITY {
            true => write!(f, " ({} bytes, `ulimit -v`)", limit.rlim_cur),
            false => Ok(()),
        }
    }
}

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
