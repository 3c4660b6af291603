//! Whether a run is to stop: Python has a signal to handle, or the program that began it is ending.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;

/// Time between two questions to Python, each of which waits for the interpreter. Ten times as much would be noticed by
/// who presses Ctrl-C.
const ASK: Duration = Duration::from_millis(100);

/// How often all runs were stopped so far.
static N_STOPS: AtomicU64 = AtomicU64::new(0);

/// Ends all runs of all threads within a moment; each raises KeyboardInterrupt.
#[pyfunction]
pub fn stop_runs() {
    N_STOPS.fetch_add(1, Ordering::Relaxed);
}

/// The eye of one run on what may stop it.
pub struct Watch {
    n_stops: u64,
    asked: Instant,
    error: Option<PyErr>,
}

impl Watch {
    pub fn new() -> Self {
        Watch { n_stops: N_STOPS.load(Ordering::Relaxed), asked: Instant::now(), error: None }
    }

    /// Whether the run is to stop; of a thread without the interpreter.
    pub fn is_stopped(&mut self) -> bool {
        if N_STOPS.load(Ordering::Relaxed) != self.n_stops {
            self.error = Some(PyKeyboardInterrupt::new_err("the run was stopped"));
        } else if self.asked.elapsed() >= ASK {
            // only Python's main thread handles signals; for the others this says nothing
            self.error = Python::attach(|py| py.check_signals()).err();
            self.asked = Instant::now();
        }
        self.error.is_some()
    }

    /// What stopped the run, if something did.
    pub fn raised(self) -> PyResult<()> {
        self.error.map_or(Ok(()), Err)
    }
}
