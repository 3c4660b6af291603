//! What comes from Python, or why it cannot be used, in one line.

use std::marker::PhantomData;

use diskmodel_kernel::given::{Caller, Given};
use diskmodel_kernel::mechanics::SeekColumn;
use diskmodel_kernel::traffic::Rule;
use numpy::{PyReadonlyArray1, PyUntypedArrayMethods};
use pyo3::exceptions::{PyKeyError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::columns::PartsOut;
use crate::seeks::seeks;

/// Characters of the reason that are shown.
const MAX_MESSAGE_CHARS: usize = 1_000;

/// Records as dictionaries of Python.
pub struct FromPython<'py>(PhantomData<&'py ()>);

/// `value` as the kernel takes it.
///
/// # Errors
///
/// KeyError where something is missing, TypeError where something is of another kind or does not fit its field, ValueError
/// where a name is unknown.
pub fn extracted<'py, T: Given<FromPython<'py>>>(name: &str, value: &Bound<'py, PyAny>) -> PyResult<T> {
    T::given(value).map_err(|error| named(name, value.py(), error))
}

macro_rules! as_python_has_them {
    ($($method:ident: $Type:ty),*) => {
        $(fn $method(value: &Self::Value) -> PyResult<$Type> {
            value.extract()
        })*
    };
}

impl<'py> Caller for FromPython<'py> {
    type Value = Bound<'py, PyAny>;
    type Error = PyErr;

    fn field<T: Given<Self>>(record: &Self::Value, of: &str, name: &'static str) -> PyResult<T> {
        T::given(&record.get_item(PyString::intern(record.py(), name))?).map_err(|error| {
            let outer = PyTypeError::new_err(format!("{FIELD}{of}.{name}"));
            outer.set_cause(record.py(), Some(error));
            outer
        })
    }

    fn refuse_others(record: &Self::Value, of: &str, fields: &[&'static str], tags: &[&'static str]) -> PyResult<()> {
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

    fn is_none(value: &Self::Value) -> bool {
        value.is_none()
    }

    fn meant<T>(value: &Self::Value, of: impl FnOnce(&str) -> Option<T>, known: &[&str]) -> PyResult<T> {
        let name: &str = value.extract()?;
        of(name).ok_or_else(|| PyValueError::new_err(format!("{name}: must be one of {}", known.join(", "))))
    }

    as_python_has_them! {
        i32: i32, i64: i64, u32: u32, u64: u64, usize: usize, f32: f32, f64: f64, bool: bool, text: String,
        small_numbers: Vec<u32>
    }

    fn numbers(value: &Self::Value) -> PyResult<Vec<i64>> {
        whole_numbers(value)
    }

    fn seeks(value: &Self::Value) -> PyResult<SeekColumn> {
        seeks(value)
    }
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

impl<'py> Given<FromPython<'py>> for Vec<String> {
    fn given(value: &Bound<'py, PyAny>) -> PyResult<Self> {
        value.extract()
    }
}

impl<'py> Given<FromPython<'py>> for Vec<Rule> {
    fn given(value: &Bound<'py, PyAny>) -> PyResult<Self> {
        value.extract::<Vec<Bound<'py, PyAny>>>()?.iter().map(<Rule as Given<FromPython<'py>>>::given).collect()
    }
}

impl<'py> Given<FromPython<'py>> for PartsOut<'py> {
    fn given(value: &Bound<'py, PyAny>) -> PyResult<Self> {
        value.extract()
    }
}

/// A long column: of an array at once, where number by number would take longer than a short run.
pub fn whole_numbers(column: &Bound<'_, PyAny>) -> PyResult<Vec<i64>> {
    match column.extract::<PyReadonlyArray1<i64>>() {
        Ok(array) if array.is_aligned() => Ok(array.as_array().to_vec()),
        _ => column.extract(),
    }
}
