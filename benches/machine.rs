//! Limits of the machine, for comparison with the speed of a step: `cargo bench --bench machine`. One
//! benchmark per resource of a step, on all threads together.

use divan::{Bencher, black_box, counter::BytesCount, counter::ItemsCount};

fn main() {
    divan::main();
}

/// Runs a closure on all threads and returns their number.
fn on_all_threads(work: impl Fn(usize) + Sync) -> usize {
    let threads = std::thread::available_parallelism().map_or(1, |n| n.get());
    std::thread::scope(|scope| {
        for thread in 0..threads {
            let work = &work;
            scope.spawn(move || work(thread));
        }
    });
    threads
}

const ROUNDS: usize = 20_000_000;

/// Dependent additions, one per cycle: the clock of one thread.
#[divan::bench(sample_count = 5, sample_size = 1)]
fn clock(bencher: Bencher) {
    bencher.counter(ItemsCount::new(8 * ROUNDS)).bench_local(|| {
        let mut sum = 0_u64;
        for _ in 0..ROUNDS {
            for _ in 0..8 {
                sum = black_box_free(sum + 1);
            }
        }
        sum
    });
}

/// Prevents constant folding at no run-time cost.
#[inline(always)]
fn black_box_free(mut x: u64) -> u64 {
    // SAFETY: no instruction; only declares that a register changes.
    unsafe { std::arch::asm!("/* {0} */", inout(reg) x, options(nomem, nostack, preserves_flags)) };
    x
}

/// Single-precision operations per second: fused multiply-adds of eight lanes, two operations per lane.
#[cfg(target_arch = "x86_64")]
#[divan::bench(sample_count = 5, sample_size = 1)]
fn operations(bencher: Bencher) {
    #[target_feature(enable = "avx2,fma")]
    unsafe fn chains(rounds: usize) -> f32 {
        use std::arch::x86_64::*;
        let (factor, term) = (_mm256_set1_ps(0.999), _mm256_set1_ps(0.5));
        let mut sums = [_mm256_setzero_ps(); CHAINS];
        for _ in 0..rounds {
            for sum in &mut sums {
                *sum = _mm256_fmadd_ps(*sum, factor, term);
            }
        }
        sums.iter().map(|sum| _mm256_cvtss_f32(*sum)).sum()
    }
    const CHAINS: usize = 12;
    let threads = on_all_threads(|_| {});
    bencher.counter(ItemsCount::new(threads * ROUNDS * CHAINS * 16)).bench_local(|| {
        // SAFETY: this benchmark requires a machine with AVX2 and FMA.
        on_all_threads(|_| _ = black_box(unsafe { chains(ROUNDS) }))
    });
}

/// Sequential reads in bytes per second from a cache or memory, 32 bytes at a time.
#[cfg(target_arch = "x86_64")]
#[divan::bench(args = [16 << 10, 512 << 10, 8 << 20, 256 << 20], sample_count = 5, sample_size = 1)]
fn reads(bencher: Bencher, bytes: usize) {
    #[target_feature(enable = "avx2")]
    unsafe fn sum(lines: &[Line]) -> f32 {
        use std::arch::x86_64::*;
        let mut sums = [_mm256_setzero_ps(); 8];
        for chunk in lines.chunks_exact(4) {
            for (k, sum) in sums.iter_mut().enumerate() {
                // SAFETY: a chunk has eight times eight numbers.
                let eight = unsafe { _mm256_load_ps(chunk.as_ptr().cast::<f32>().add(8 * k)) };
                *sum = _mm256_add_ps(*sum, eight);
            }
        }
        sums.iter().map(|sum| _mm256_cvtss_f32(*sum)).sum()
    }
    #[derive(Clone)]
    #[repr(align(64))]
    struct Line(#[expect(dead_code, reason = "read by address")] [f32; 16]);
    let lines = vec![Line([1.0; 16]); bytes / 64];
    let threads = on_all_threads(|_| {});
    let times = (4 << 30) / bytes;
    bencher.counter(BytesCount::new(threads * times * bytes)).bench_local(|| {
        on_all_threads(|_| {
            for _ in 0..times {
                // SAFETY: requires AVX2, as above.
                black_box(unsafe { sum(black_box(&lines)) });
            }
        })
    });
}

/// Independent reads per second of cache lines of 64 bytes at random addresses.
#[divan::bench(args = [16 << 10, 512 << 10, 8 << 20, 256 << 20], sample_count = 5, sample_size = 1)]
fn random_lines(bencher: Bencher, bytes: usize) {
    let lines = vec![[1_u64; 8]; bytes / 64];
    let threads = on_all_threads(|_| {});
    bencher.counter(ItemsCount::new(threads * ROUNDS)).bench_local(|| {
        on_all_threads(|thread| {
            let (mut state, mut sum) = (thread as u64 + 1, 0_u64);
            for _ in 0..ROUNDS {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                sum = sum.wrapping_add(lines[(state >> 33) as usize & (lines.len() - 1)][0]);
            }
            black_box(sum);
        })
    });
}
