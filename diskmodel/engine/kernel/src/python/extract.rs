//! What comes from Python, or why it cannot be used, in one line.

use pyo3::exceptions::{PyKeyError, PyTypeError, PyValueError};
use pyo3::prelude::*;

/// Characters of the reason that are shown.
const MAX_MESSAGE_CHARS: usize = 1_000;

/// `value` as the kernel takes it.
///
/// # Errors
///
/// KeyError where something is missing, TypeError where something is of another kind or does not fit its field, ValueError
/// where a name is unknown.
pub fn extracted<'a, 'py, T>(name: &str, value: &'a Bound<'py, PyAny>) -> PyResult<T>
where
    T: FromPyObject<'a, 'py>,
{
    value.extract::<T>().map_err(|error| named(name, value.py(), error.into()))
}

/// What begins the cause that names a field.
const FIELD: &str = "failed to extract field ";

/// The whole chain of causes: each names a field, and the last one the reason.
fn named(name: &str, py: Python<'_>, error: PyErr) -> PyErr {
    let mut message = name.to_string();
    let mut path: Vec<String> = Vec::new();
    let mut next = Some(error);
    let (mut is_missing, mut is_unknown) = (false, false);
    while let Some(error) = next {
        let cause = error.value(py).to_string();
        message.push_str(": ");
        message.extend(cause.chars().map(|c| if c == '\n' { ' ' } else { c }));
        is_missing = error.is_instance_of::<PyKeyError>(py);
        is_unknown = error.get_type(py).is(py.get_type::<PyValueError>());
        if is_unknown {
            message = format!("{}={cause}", path.join("."));
        } else if let Some(field) = cause.strip_prefix(FIELD).and_then(|field| field.rsplit('.').next()) {
            path.push(field.to_string());
        }
        next = error.cause(py);
    }
    let message: String = message.chars().take(MAX_MESSAGE_CHARS).collect();
    if is_missing {
        PyKeyError::new_err(message)
    } else if is_unknown {
        PyValueError::new_err(message)
    } else {
        PyTypeError::new_err(message)
    }
}

/// A long column: of an array at once, where number by number would take longer than a short run.
pub fn whole_numbers(column: &pyo3::Bound<'_, pyo3::PyAny>) -> pyo3::PyResult<Vec<i64>> {
    use numpy::{PyReadonlyArray1, PyUntypedArrayMethods};
    use pyo3::types::PyAnyMethods;
    match column.extract::<PyReadonlyArray1<i64>>() {
        Ok(array) if array.is_aligned() => Ok(array.as_array().to_vec()),
        _ => column.extract(),
    }
}
