//! What comes from Python, or why it cannot be used, in one line.

use pyo3::exceptions::{PyKeyError, PyTypeError, PyValueError};
use pyo3::prelude::*;

/// Characters of the reason that are told.
const MOST_SAID: usize = 1_000;

/// `value` as the kernel takes it.
///
/// # Errors
///
/// KeyError where something is missing, TypeError where something is of another kind or does not fit its field, ValueError
/// where a name is not one of those that there are.
pub fn extracted<'a, 'py, T>(name: &str, value: &'a Bound<'py, PyAny>) -> PyResult<T>
where
    T: FromPyObject<'a, 'py>,
{
    value.extract::<T>().map_err(|error| told(name, value.py(), error.into()))
}

/// The whole chain of causes: each names a field, and the last one the reason.
fn told(name: &str, py: Python<'_>, error: PyErr) -> PyErr {
    let mut said = name.to_string();
    let mut next = Some(error);
    let (mut is_missing, mut is_unknown) = (false, false);
    while let Some(error) = next {
        said.push_str(": ");
        said.extend(error.value(py).to_string().chars().map(|c| if c == '\n' { ' ' } else { c }));
        is_missing = error.is_instance_of::<PyKeyError>(py);
        is_unknown = error.get_type(py).is(py.get_type::<PyValueError>());
        next = error.cause(py);
    }
    let said: String = said.chars().take(MOST_SAID).collect();
    if is_missing {
        PyKeyError::new_err(said)
    } else if is_unknown {
        PyValueError::new_err(said)
    } else {
        PyTypeError::new_err(said)
    }
}
