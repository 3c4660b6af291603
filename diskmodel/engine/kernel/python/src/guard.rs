//! The last line of defence: a panic becomes an ordinary exception of diskmodel that says that the program is at fault.

use std::cell::{Cell, RefCell};
use std::panic::{catch_unwind, set_hook, take_hook, AssertUnwindSafe};
use std::sync::Once;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

thread_local! {
    static IS_GUARDED: Cell<bool> = const { Cell::new(false) };
    /// What the last panic of this thread said, and where it was.
    static SAID: RefCell<String> = const { RefCell::new(String::new()) };
}

static HOOK: Once = Once::new();

/// Runs `work`; a panic in it is a `KernelError`, and nothing is written to standard error.
pub fn guarded<T>(py: Python<'_>, work: impl FnOnce() -> PyResult<T>) -> PyResult<T> {
    HOOK.call_once(keep_what_is_said);
    let was_guarded = IS_GUARDED.replace(true);
    // what a panic leaves half done is dropped with it: nothing outlives a call
    let result = catch_unwind(AssertUnwindSafe(work));
    IS_GUARDED.set(was_guarded);
    result.unwrap_or_else(|_| Err(defect(py, &SAID.take())))
}

/// Panics outside of guarded work are reported as before. The hook is this library's own, like its standard library.
fn keep_what_is_said() {
    let before = take_hook();
    set_hook(Box::new(move |panic| {
        if IS_GUARDED.get() {
            SAID.replace(panic.to_string());
        } else {
            before(panic);
        }
    }));
}

/// The exception of a fault of the kernel's own.
pub fn defect(py: Python<'_>, what: &str) -> PyErr {
    let what = what.to_string();
    let raised = py
        .import("diskmodel.errors")
        .and_then(|errors| errors.getattr("KernelError"))
        .and_then(|kind| kind.call1((&what,)));
    raised.map_or_else(|_| PyRuntimeError::new_err(what), PyErr::from_value)
}
