//! Seek times from Python: a drive has up to a million of them, and many short runs.

use std::sync::Mutex;

use numpy::{PyReadonlyArray1, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::{PyWeakrefMethods, PyWeakrefReference};

use diskmodel_kernel::mechanics::{SeekColumn, Seeks};

use crate::extract::whole_numbers;

/// Columns of which the seeks are kept for the next run: more than the drives that one search compares.
const MAX_KEPT: usize = 64;

/// Columns and what was made of them, the last used first; a column that nobody else has any longer is forgotten.
static KEPT: Mutex<Vec<(Py<PyWeakrefReference>, Seeks)>> = Mutex::new(Vec::new());

/// The seeks of a column. Those of an array that cannot be written are made once.
pub fn seeks(column: &Bound<'_, PyAny>) -> PyResult<SeekColumn> {
    if !is_constant(column) {
        return Ok(whole_numbers(column)?.into());
    }
    if let Some(seeks) = kept(column) {
        return Ok(SeekColumn(Ok(seeks)));
    }
    let found = match column.extract::<PyReadonlyArray1<i64>>() {
        Ok(array) if array.is_aligned() && array.is_contiguous() => SeekColumn::from(array.as_slice()?),
        _ => whole_numbers(column)?.into(),
    };
    if let Ok(seeks) = &found.0 {
        keep(column, seeks)?;
    }
    Ok(found)
}

/// Whether it is an array with data of its own that cannot be written.
fn is_constant(column: &Bound<'_, PyAny>) -> bool {
    let flag = |name| column.getattr("flags")?.getattr(name)?.extract::<bool>();
    matches!((flag("writeable"), flag("owndata")), (Ok(false), Ok(true)))
}

fn kept(column: &Bound<'_, PyAny>) -> Option<Seeks> {
    let mut all = KEPT.lock().ok()?;
    let at = all.iter().position(|(held, _)| held.bind(column.py()).upgrade().is_some_and(|array| array.is(column)))?;
    all[..=at].rotate_right(1);
    Some(all[0].1.clone())
}

fn keep(column: &Bound<'_, PyAny>, seeks: &Seeks) -> PyResult<()> {
    let held = PyWeakrefReference::new(column)?.unbind();
    if let Ok(mut all) = KEPT.lock() {
        all.retain(|(held, _)| held.bind(column.py()).upgrade().is_some());
        all.truncate(MAX_KEPT - 1);
        all.insert(0, (held, seeks.clone()));
    }
    Ok(())
}
