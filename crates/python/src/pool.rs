//! Threads after a fork: a child of a process has none of its parent's threads, and work that is given to
//! them is waited for without end. A child therefore has a pool of its own.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// The process that imported this module.
static FIRST: OnceLock<u32> = OnceLock::new();
/// The pool of a child, and its process.
static OF_CHILD: Mutex<Option<(u32, Arc<rayon::ThreadPool>)>> = Mutex::new(None);

/// Remembers the process, when the module is imported.
pub fn remember_process() {
    FIRST.get_or_init(std::process::id);
}

/// Does work that uses several threads, on threads that this process has.
pub fn run<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    let process = std::process::id();
    if *FIRST.get_or_init(|| process) == process {
        return work();
    }
    let pool = {
        let mut known = OF_CHILD.lock().unwrap_or_else(PoisonError::into_inner);
        match &*known {
            Some((of, pool)) if *of == process => Some(Arc::clone(pool)),
            _ => match rayon::ThreadPoolBuilder::new().build() {
                Ok(pool) => Some(Arc::clone(&known.insert((process, Arc::new(pool))).1)),
                Err(_) => None,
            },
        }
    };
    match pool {
        Some(pool) => pool.install(work),
        None => work(),
    }
}
