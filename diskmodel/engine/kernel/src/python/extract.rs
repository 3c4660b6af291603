//! What comes from Python, or why it cannot be used, in one line.

use numpy::{Element, PyReadonlyArray1, PyReadwriteArray1, PyUntypedArrayMethods};
use pyo3::exceptions::{PyKeyError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyString;

use super::columns::PartsOut;
use super::seeks::seeks;
use crate::mechanics::SeekColumn;
use crate::traffic::Rule;

/// Characters of the reason that are shown.
const MAX_MESSAGE_CHARS: usize = 1_000;

/// `value` as the kernel takes it.
///
/// # Errors
///
/// KeyError where something is missing, TypeError where something is of another kind or does not fit its field, ValueError
/// where a name is unknown.
pub fn extracted<'py, T: Given<'py>>(name: &str, value: &Bound<'py, PyAny>) -> PyResult<T> {
    T::given(value).map_err(|error| named(name, value.py(), error))
}

/// What Python can hand over.
pub trait Given<'py>: Sized {
    fn given(value: &Bound<'py, PyAny>) -> PyResult<Self>;
}

/// The value of a record's field, `(record, field)`.
pub fn field<'py, T: Given<'py>>(
    record: &Bound<'py, PyAny>,
    key: &Bound<'py, PyString>,
    (of, name): (&str, &str),
) -> PyResult<T> {
    T::given(&record.get_item(key)?).map_err(|error| {
        let outer = PyTypeError::new_err(format!("{FIELD}{of}.{name}"));
        outer.set_cause(record.py(), Some(error));
        outer
    })
}

/// Refuses what a record has beside its fields and tags.
pub fn refuse_others(record: &Bound<'_, PyAny>, of: &str, fields: &[&str], tags: &[&str]) -> PyResult<()> {
    if record.len()? == fields.len() + tags.len() {
        return Ok(());
    }
    for key in record.try_iter()? {
        let key: String = key?.extract()?;
        if !fields.contains(&key.as_str()) && !tags.contains(&key.as_str()) {
            return Err(PyTypeError::new_err(format!("{of} has no field {key}")));
        }
    }
    Ok(())
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

macro_rules! given {
    ($($Type:ty),*) => {
        $(impl<'py> Given<'py> for $Type {
            fn given(value: &Bound<'py, PyAny>) -> PyResult<Self> {
                value.extract()
            }
        })*
    };
}

given!(i32, i64, u32, u64, usize, f32, f64, bool, String, Vec<u32>, Vec<String>, Vec<Rule>, PartsOut<'py>);

impl<'py, T: Element> Given<'py> for PyReadonlyArray1<'py, T> {
    fn given(value: &Bound<'py, PyAny>) -> PyResult<Self> {
        value.extract()
    }
}

impl<'py, T: Element> Given<'py> for PyReadwriteArray1<'py, T> {
    fn given(value: &Bound<'py, PyAny>) -> PyResult<Self> {
        value.extract()
    }
}

impl<'py, T: Given<'py>> Given<'py> for Option<T> {
    fn given(value: &Bound<'py, PyAny>) -> PyResult<Self> {
        if value.is_none() {
            return Ok(None);
        }
        T::given(value).map(Some)
    }
}

impl<'py, T: Given<'py>> Given<'py> for Box<T> {
    fn given(value: &Bound<'py, PyAny>) -> PyResult<Self> {
        T::given(value).map(Box::new)
    }
}

impl<'py> Given<'py> for Vec<i64> {
    fn given(value: &Bound<'py, PyAny>) -> PyResult<Self> {
        whole_numbers(value)
    }
}

impl<'py> Given<'py> for SeekColumn {
    fn given(value: &Bound<'py, PyAny>) -> PyResult<Self> {
        seeks(value)
    }
}

/// A long column: of an array at once, where number by number would take longer than a short run.
pub fn whole_numbers(column: &Bound<'_, PyAny>) -> PyResult<Vec<i64>> {
    match column.extract::<PyReadonlyArray1<i64>>() {
        Ok(array) if array.is_aligned() => Ok(array.as_array().to_vec()),
        _ => column.extract(),
    }
}
