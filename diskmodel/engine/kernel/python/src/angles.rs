//! Fits of angles for Python.

use numpy::{Complex64, PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use angles::{fold, Filter, Judgement, Layouts, Phasor};

use crate::columns::In;
use crate::extract::extracted;
use crate::guard::guarded;
use crate::records::taken;

fn complexes(py: Python<'_>, phasors: Vec<Phasor>) -> Bound<'_, PyArray1<Complex64>> {
    PyArray1::from_iter(py, phasors.into_iter().map(|[re, im]| Complex64::new(re, im)))
}

/// Sums phasors at places by bin of a period, for each frequency: (frequencies, bins).
#[pyfunction]
pub fn folded<'py>(
    py: Python<'py>,
    x: PyReadonlyArray1<'py, f64>,
    phasor: PyReadonlyArray1<'py, Complex64>,
    frequencies: PyReadonlyArray1<'py, f64>,
    n_bins: usize,
) -> PyResult<Bound<'py, PyArray2<Complex64>>> {
    guarded(py, || {
        let (x, frequencies) = (x.as_slice()?, frequencies.as_slice()?);
        let phasor: Vec<Phasor> = phasor.as_slice()?.iter().map(|z| [z.re, z.im]).collect();
        if x.len() != phasor.len() {
            return Err(PyValueError::new_err("phasor: must have a value for each of x"));
        }
        let out = py.detach(|| fold(x, &phasor, frequencies, n_bins));
        complexes(py, out).reshape([frequencies.len(), n_bins])
    })
}

/// The phasor expected at each point from those before it, given how likely its angle is at each phase: (points, phases).
#[pyfunction]
pub fn expected_phasors<'py>(
    py: Python<'py>,
    likely: PyReadonlyArray2<'py, f64>,
    aside: f64,
    jump: f64,
) -> PyResult<Bound<'py, PyArray1<Complex64>>> {
    guarded(py, || {
        let n_phases = likely.shape()[1];
        if n_phases == 0 {
            return Err(PyValueError::new_err("likely: must have a column for each phase"));
        }
        let likely = likely.as_slice()?;
        Ok(complexes(py, py.detach(|| Filter { aside, jump }.expected(likely, n_phases))))
    })
}

/// The row and the offset of the likeliest layout of tracks, and the tracks left out before each point.
#[pyfunction]
pub fn likeliest_layout(
    py: Python<'_>,
    blocks: PyReadonlyArray1<'_, f64>,
    angle: PyReadonlyArray1<'_, f64>,
    layouts: &Bound<'_, PyAny>,
    judgement: &Bound<'_, PyAny>,
) -> PyResult<(usize, usize, Vec<usize>)> {
    guarded(py, || {
        let (blocks, angle) = (blocks.as_slice()?, angle.as_slice()?);
        let layouts: LayoutsIn<'_> = extracted("layouts", layouts)?;
        let layouts = layouts.checked()?;
        let judgement: JudgementIn = extracted("judgment", judgement)?;
        if blocks.is_empty() || blocks.len() != angle.len() {
            return Err(PyValueError::new_err("angle: must have a value for each of blocks, one at least"));
        }
        let found = py.detach(|| layouts.likeliest(blocks, angle, &judgement.into()));
        Ok((found.row, found.offset, found.path))
    })
}

taken! {
    /// What angles and tracks count, as Python gives it.
    pub struct JudgementIn as "Judgment" {
        per_square: f32,
        floor: f32,
        slip: f32,
        max_behind: f32,
        first_cull: usize,
        cull_every: usize,
    }
}

impl From<JudgementIn> for Judgement {
    fn from(given: JudgementIn) -> Self {
        let JudgementIn { per_square, floor, slip, max_behind, first_cull, cull_every } = given;
        Judgement { per_square, floor, slip, max_behind, first_cull, cull_every }
    }
}

taken! {
    /// Candidates as Python gives them.
    pub struct LayoutsIn<'py> as "Layouts" {
        first: In<'py, f64>,
        track: In<'py, f64>,
        cylinder: In<'py, f64>,
        offset: In<'py, f64>,
        heads: usize,
        period: f64,
        max_slips: usize,
        start: Option<usize>,
    }
}

impl LayoutsIn<'_> {
    fn checked(&self) -> PyResult<Layouts<'_>> {
        let (first, track, cylinder) = (self.first.as_slice()?, self.track.as_slice()?, self.cylinder.as_slice()?);
        let offsets = self.offset.as_slice()?;
        if first.is_empty() || offsets.is_empty() || first.len() != track.len() || first.len() != cylinder.len() {
            return Err(PyValueError::new_err("layouts: must have as many values of each kind, one at least"));
        }
        if self.heads == 0 || self.period.is_nan() || self.period <= 0.0 {
            return Err(PyValueError::new_err("layouts: heads and period must be above 0"));
        }
        let (heads, period, max_slips, start) = (self.heads, self.period, self.max_slips, self.start);
        Ok(Layouts { first, track, cylinder, offsets, heads, period, max_slips, start })
    }
}
