//! Columns of requests and completions, as NumPy holds them.

use std::collections::BTreeSet;
use std::ops::{Deref, DerefMut};

use diskmodel_kernel::given::Given;
use diskmodel_kernel::rule::refused;
use diskmodel_kernel::schema::Described;
use diskmodel_kernel::traffic::{Column, Completions, PartColumns, Requests, Rule, PARTS};
use numpy::{Element, PyArray1, PyReadonlyArray1, PyReadwriteArray1, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::extract::FromPython;
use crate::records::taken;

taken! {
    pub struct RequestsIn<'py> as "Requests" {
        when_ns: In<'py, i64>,
        op: In<'py, u8>,
        offset: In<'py, i64>,
        length: In<'py, i64>,
        stream: In<'py, i32>,
        cache_draw: In<'py, f64>,
        streams: Vec<Rule>,
    }
}

taken! {
    pub struct CompletionsOut<'py> as "CompletionsOut" {
        /// None: the requests' own times, all of them being open.
        issue_ns: Option<Out<'py, i64>>,
        done_ns: Out<'py, i64>,
        /// Names of the columns of `parts_ns`, which lie side by side for each row.
        parts: Vec<String>,
        parts_ns: PartsOut<'py>,
        is_hit: Out<'py, bool>,
    }
}

#[derive(FromPyObject)]
pub enum PartsOut<'py> {
    Wide(PyReadwriteArray1<'py, i64>),
    Narrow(PyReadwriteArray1<'py, i32>),
}

impl Described for PartsOut<'_> {
    fn word(_: &mut BTreeSet<String>) -> String {
        "int32[]|int[]".to_string()
    }
}

/// A number as NumPy's columns hold it.
pub trait Number: Element {
    const COLUMN: &'static str;
}

macro_rules! numbers {
    ($($Type:ty: $column:literal),*) => {
        $(impl Number for $Type {
            const COLUMN: &'static str = $column;
        })*
    };
}

numbers!(i64: "int[]", i32: "int32[]", u8: "uint8[]", f64: "float[]", bool: "bool[]");

/// A column that Python hands over.
pub struct In<'py, T: Element>(PyReadonlyArray1<'py, T>);

/// A column that is filled for Python.
pub struct Out<'py, T: Element>(PyReadwriteArray1<'py, T>);

impl<'py, T: Element> Deref for In<'py, T> {
    type Target = PyReadonlyArray1<'py, T>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl<'py, T: Element> Deref for Out<'py, T> {
    type Target = PyReadwriteArray1<'py, T>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl<T: Element> DerefMut for Out<'_, T> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.0
    }
}

impl<'py, T: Element> Given<FromPython<'py>> for In<'py, T> {
    fn given(value: &Bound<'py, PyAny>) -> PyResult<Self> {
        Ok(In(value.extract()?))
    }
}

impl<'py, T: Element> Given<FromPython<'py>> for Out<'py, T> {
    fn given(value: &Bound<'py, PyAny>) -> PyResult<Self> {
        Ok(Out(value.extract()?))
    }
}

impl<T: Number> Described for In<'_, T> {
    fn word(_: &mut BTreeSet<String>) -> String {
        T::COLUMN.to_string()
    }
}

impl<T: Number> Described for Out<'_, T> {
    fn word(_: &mut BTreeSet<String>) -> String {
        T::COLUMN.to_string()
    }
}

impl RequestsIn<'_> {
    pub fn columns(&self) -> PyResult<Requests<'_>> {
        Ok(Requests {
            when: column("requests.when_ns", &self.when_ns)?,
            op: column("requests.op", &self.op)?,
            offset: column("requests.offset", &self.offset)?,
            length: column("requests.length", &self.length)?,
            stream: column("requests.stream", &self.stream)?,
            cache_draw: column("requests.cache_draw", &self.cache_draw)?,
            rules: self.streams.clone(),
        })
    }
}

impl CompletionsOut<'_> {
    pub fn columns(&mut self) -> PyResult<Completions<'_>> {
        if self.parts != PARTS {
            let rule = format!("must be {}", PARTS.join(", "));
            return Err(PyValueError::new_err(refused("out.parts", self.parts.join(", "), rule)));
        }
        Ok(Completions {
            issue: self.issue_ns.as_mut().map(|column| writable("out.issue_ns", column)).transpose()?,
            done: writable("out.done_ns", &mut self.done_ns)?,
            parts: match &mut self.parts_ns {
                PartsOut::Wide(values) => PartColumns::Wide(writable("out.parts_ns", values)?),
                PartsOut::Narrow(values) => PartColumns::Narrow(writable("out.parts_ns", values)?, Vec::new()),
            },
            is_hit: writable("out.is_hit", &mut self.is_hit)?,
        })
    }
}

/// A column without copying; one that repeats a single value (a stride of 0) is that value.
fn column<'a, T: Element + Copy>(field: &str, array: &'a PyReadonlyArray1<'_, T>) -> PyResult<Column<'a, T>> {
    check_aligned(field, array)?;
    let view = array.as_array();
    match view.first() {
        Some(&value) if view.strides()[0] == 0 => Ok(Column::All(value, view.len())),
        _ => array.as_slice().map(Column::Each).map_err(|_| not_contiguous(field)),
    }
}

/// The values of a column of any stride.
pub fn copied<T: Element + Copy>(field: &str, array: &PyReadonlyArray1<'_, T>) -> PyResult<Vec<T>> {
    check_aligned(field, array)?;
    Ok(array.as_array().to_vec())
}

fn writable<'a, T: Element>(field: &str, array: &'a mut PyReadwriteArray1<'_, T>) -> PyResult<&'a mut [T]> {
    check_aligned(field, array)?;
    array.as_slice_mut().map_err(|_| not_contiguous(field))
}

fn check_aligned<T: Element>(field: &str, array: &Bound<'_, PyArray1<T>>) -> PyResult<()> {
    if array.is_aligned() {
        return Ok(());
    }
    Err(PyValueError::new_err(refused(field, "(an array)", "its values must lie where the processor wants them")))
}

fn not_contiguous(field: &str) -> PyErr {
    PyValueError::new_err(refused(field, "(an array)", "its values must lie side by side"))
}
