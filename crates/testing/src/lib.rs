//! An allocator for tests that counts the allocations of each thread, and halts a thread that asks for too
//! much.
//!
//! This is the only unsafe code of the workspace; the lint `unsafe_code` forbids it elsewhere, in tests as
//! well.
//!
//! ```
//! use lao_testing::Watched;
//!
//! #[global_allocator]
//! static ALLOCATOR: Watched = Watched;
//!
//! let (list, peak) = lao_testing::peak(|| Vec::<u64>::with_capacity(100));
//! assert_eq!(peak, 800);
//! assert_eq!(lao_testing::allocations(|| drop(list)), 0);
//! ```

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

thread_local! {
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
    static LARGEST: Cell<usize> = const { Cell::new(0) };
    static HELD: Cell<isize> = const { Cell::new(0) };
    static PEAK: Cell<isize> = const { Cell::new(0) };
    static LIMIT: Cell<usize> = const { Cell::new(usize::MAX) };
}

/// The size of the last request that was refused.
static REFUSED: AtomicUsize = AtomicUsize::new(0);

/// The system's allocator with counters. A test program that measures allocations makes it the global
/// allocator.
#[derive(Clone, Copy, Debug)]
pub struct Watched;

/// Counts a request of the thread, which holds `more` additional bytes from now on. The function never
/// returns if the thread has a limit and asks for more, since an allocator may neither panic nor end the
/// test.
fn note(size: usize, more: isize) {
    if size > LIMIT.get() {
        REFUSED.store(size, Ordering::SeqCst);
        loop {
            std::thread::sleep(Duration::from_secs(10));
        }
    }
    ALLOCATIONS.set(ALLOCATIONS.get() + 1);
    LARGEST.set(LARGEST.get().max(size));
    // A block that is moved exists until the new one is filled.
    PEAK.set(PEAK.get().max(HELD.get() + size as isize));
    HELD.set(HELD.get() + more);
}

// SAFETY: every call goes to the system's allocator unchanged, or never returns. The counters are
// constant-initialized thread locals without a destructor, so reaching them neither allocates nor fails.
unsafe impl GlobalAlloc for Watched {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        note(layout.size(), layout.size() as isize);
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        note(layout.size(), layout.size() as isize);
        // SAFETY: the caller keeps the contract of `alloc_zeroed`.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        HELD.set(HELD.get() - layout.size() as isize);
        // SAFETY: the pointer came from the system's allocator, through one of the functions here.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        note(size, size as isize - layout.size() as isize);
        // SAFETY: the pointer came from the system's allocator; the caller keeps the contract of `realloc`.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

/// Returns how often this thread has allocated or grown a block so far.
pub fn allocations_so_far() -> usize {
    ALLOCATIONS.get()
}

/// Runs `work` and returns how often this thread allocated or grew a block during it.
pub fn allocations(work: impl FnOnce()) -> usize {
    let before = allocations_so_far();
    work();
    allocations_so_far() - before
}

/// Runs `work` and returns its result and the size of the largest block that this thread asked for during it.
pub fn largest<T>(work: impl FnOnce() -> T) -> (T, usize) {
    LARGEST.set(0);
    let outcome = work();
    (outcome, LARGEST.get())
}

/// Runs `work` and returns its result and the number of bytes by which the peak of this thread's memory
/// exceeded its memory before.
pub fn peak<T>(work: impl FnOnce() -> T) -> (T, usize) {
    let before = HELD.get();
    PEAK.set(before);
    let outcome = work();
    (outcome, (PEAK.get() - before).max(0) as usize)
}

/// Halts this thread forever as soon as it asks for a block of more than `bytes`.
pub fn halt_above(bytes: usize) {
    LIMIT.set(bytes);
}

/// Returns the size of the last request for which a thread was halted and resets it, or returns 0 if there
/// was none.
pub fn take_refused() -> usize {
    REFUSED.swap(0, Ordering::SeqCst)
}
