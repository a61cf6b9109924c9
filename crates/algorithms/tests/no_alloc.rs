//! After warm-up, a learner's loop allocates nothing.

use lao_algorithms::{METHODS, Task};
use lao_datasets::synthetic::{Noise, Rademacher, Virtual};
use lao_kernels::SparseVector;
use lao_observation::{Seed, Session, Step};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

struct Counting;

// SAFETY: every call is handed to the system allocator unchanged; counting touches a thread-local without a destructor.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let _ = ALLOCATIONS.try_with(|count| count.set(count.get() + 1));
        // SAFETY: the caller's promise about `layout` is passed on.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: `pointer` came from `alloc` above, that is, from the system allocator.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn no_method_allocates_after_warm_up() {
    for method in METHODS {
        let theta = SparseVector::new(60, vec![2, 31, 59], vec![1.0, -1.0, 0.5]).unwrap();
        let design = Rademacher::new(60).unwrap();
        let source = Virtual::new(design, theta, Noise::Gaussian(0.1), &Seed::root(1)).unwrap();
        // FKK enumerates supports, so it gets those of one attribute.
        let sparsity = if method.name == "fkk" { 1 } else { 5 };
        let task = Task { step_size: 0.1, ..Task::new(60, sparsity, 12) };
        let mut learner = (method.build)(&task).unwrap();
        let mut session = Session::new(source, (method.budget)(&task), &Seed::root(2));
        // Batches grow, and with them the buffers, until a block is as large as blocks get.
        let mut serve = |until: u64| {
            while session.ledger().examples < until {
                assert_eq!(session.step(&mut learner, u64::MAX).unwrap(), Step::Served);
            }
        };
        serve(300_000);
        let before = ALLOCATIONS.get();
        // Before 2^19: Dantzig's solver allocates at powers of two.
        serve(500_000);
        let allocated = ALLOCATIONS.get() - before;
        assert_eq!(allocated, 0, "{} allocated {allocated} times", method.name);
    }
}
