//! Glue of runs whose requests come in blocks and whose completions are folded.

use numpy::PyArray1;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use diskmodel_kernel::mechanics::{FLUSH, READ, WRITE};
use diskmodel_kernel::rule::{each_within, has_length};
use diskmodel_kernel::runs::{self, Recorded};
use diskmodel_kernel::scenario::{Limits, Scenario};
use diskmodel_kernel::streamed::{Block, Failure, Source, Streamed};
use diskmodel_kernel::tally::{Histogram, Segment, Tally, PRECISION_BITS};
use diskmodel_kernel::traffic::{check_block, check_rules, Column, Feed, Rows, Rule, PARTS};

use crate::columns::{copied, In};
use crate::extract::extracted;
use crate::guard::guarded;
use crate::records::taken;
use crate::watch::Watch;
use crate::CountersOut;

taken! {
    pub struct BlockIn<'py> as "Block" {
        row: In<'py, i64>,
        when_ns: In<'py, i64>,
        op: In<'py, u8>,
        offset: In<'py, i64>,
        length: In<'py, i64>,
        cache_draw: In<'py, f64>,
    }
}

impl BlockIn<'_> {
    /// The rows, once they are checked; `last` is when the stream's last row was issued.
    fn checked(&self, rule: Rule, last: &mut i64, limits: &Limits) -> PyResult<Block> {
        let block = Block {
            row: copied("requests.row", &self.row)?,
            when: copied("requests.when_ns", &self.when_ns)?,
            op: copied("requests.op", &self.op)?,
            offset: copied("requests.offset", &self.offset)?,
            length: copied("requests.length", &self.length)?,
            cache_draw: copied("requests.cache_draw", &self.cache_draw)?,
        };
        let rows = Rows {
            when: &Column::Each(&block.when),
            op: &Column::Each(&block.op),
            offset: &Column::Each(&block.offset),
            length: &Column::Each(&block.length),
            cache_draw: &Column::Each(&block.cache_draw),
        };
        has_length("requests.row", block.row.len(), block.when.len())
            .and_then(|()| each_within("requests.row", &block.row, 0, i64::MAX))
            .and_then(|()| check_block(&rows, rule, last, limits))
            .map_err(PyValueError::new_err)?;
        Ok(block)
    }
}

/// Asks a Python callable for the next block of a stream.
struct Callable {
    next_block: Py<PyAny>,
    limits: Limits,
    /// How each stream's rows come, and when its last one was issued.
    streams: Vec<(Rule, i64)>,
}

impl Source for Callable {
    fn next_block(&mut self, stream: usize) -> Result<Block, Failure> {
        let (rule, last) = &mut self.streams[stream];
        Ok(Python::attach(|py| {
            py.check_signals()?;
            let block = self.next_block.bind(py).call1((stream,))?;
            let block = extracted::<BlockIn>("requests", &block)?;
            block.checked(*rule, last, &self.limits)
        })?)
    }
}

/// Runs requests that `next_block(stream)` hands over in blocks of columns, empty at the end of a stream.
///
/// Returns sums, histograms and samples in a dictionary (see `diskmodel.engine.streamed`).
#[pyfunction]
pub fn run_streamed<'py>(
    py: Python<'py>,
    array: &Bound<'py, PyAny>,
    streams: &Bound<'py, PyAny>,
    next_block: Py<PyAny>,
) -> PyResult<Bound<'py, PyDict>> {
    guarded(py, || {
        let (built, limits) = extracted::<Scenario>("array", array)?.build().map_err(PyValueError::new_err)?;
        let rules = extracted::<Vec<Rule>>("streams", streams)?;
        check_rules(&rules, limits.capacity_bytes).map_err(PyValueError::new_err)?;
        let streams = rules.iter().map(|&rule| (rule, 0)).collect();
        let source = Callable { next_block, limits, streams };
        let traffic = Feed::Streamed(Streamed::new(source, rules));
        let mut watch = Watch::new();
        let (ended, feed) = py.detach(|| runs::run(built, traffic, &mut || watch.is_stopped(), Recorded::default()));
        watch.raised()?;
        let streamed = feed.into_streamed();
        if let Some(failure) = streamed.error {
            return Err(refusal(failure));
        }
        let counted = ended.and_then(|ended| {
            let counters = CountersOut::from_each(&ended.counters)?;
            Ok((CountersOut::from_each(&ended.own_counters)?, counters, ended))
        });
        let (own_counters, counters, ended) = counted.map_err(|message| crate::failure(py, message))?;
        outcome_of(py, &ended, [counters, own_counters], &streamed.tally)
    })
}

/// The exception that a callable has raised, or the one for what it handed over.
fn refusal(failure: Failure) -> PyErr {
    failure.downcast::<PyErr>().map_or_else(|other| PyValueError::new_err(other.to_string()), |error| *error)
}

fn outcome_of<'py>(
    py: Python<'py>,
    ended: &runs::Outcome,
    [counters, own_counters]: [CountersOut; 2],
    tally: &Tally,
) -> PyResult<Bound<'py, PyDict>> {
    let out = PyDict::new(py);
    out.set_item("end_ns", ended.end_ns)?;
    out.set_item("rebuilt_sectors", ended.rebuilt_sectors)?;
    out.set_item("cache_full_ns", ended.cache_full_ns)?;
    out.set_item("l2arc_hits", ended.l2arc_reads[0])?;
    out.set_item("l2arc_misses", ended.l2arc_reads[1])?;
    out.set_item("counters", counters)?;
    out.set_item("own_counters", own_counters)?;
    out.set_item("levels", &ended.levels)?;
    out.set_item("precision_bits", PRECISION_BITS)?;
    out.set_item("until_ns", tally.until)?;
    out.set_item("n_done", tally.n_done)?;
    out.set_item("n_came_open", tally.n_came_open)?;
    out.set_item("n_broken", tally.n_broken)?;
    out.set_item("response_ns", tally.response_ns)?;
    let batches = tally.batches();
    out.set_item("batch_n", PyArray1::from_iter(py, batches.iter().map(|b| b.n as i64)))?;
    out.set_item("batch_response_ns", PyArray1::from_iter(py, batches.iter().map(|b| b.response_ns as f64)))?;
    out.set_item("batch_end_ns", PyArray1::from_iter(py, batches.iter().map(|b| b.end_ns)))?;
    let samples = &tally.samples;
    out.set_item("sample_step_ns", samples.step)?;
    out.set_item("came_open", PyArray1::from_iter(py, samples.held.iter().map(|c| c.came_open as i64)))?;
    out.set_item("left_open", PyArray1::from_iter(py, samples.held.iter().map(|c| c.left_open as i64)))?;
    out.set_item("done", PyArray1::from_iter(py, samples.held.iter().map(|c| c.done as i64)))?;
    let segments: PyResult<Vec<_>> = tally.segments().iter().map(|segment| segment_dict(py, segment)).collect();
    out.set_item("segments", segments?)?;
    Ok(out)
}

fn segment_dict<'py>(py: Python<'py>, segment: &Segment) -> PyResult<Bound<'py, PyDict>> {
    let counts = |histogram: &Histogram| PyArray1::from_iter(py, histogram.counts.iter().map(|&count| count as i64));
    let out = PyDict::new(py);
    out.set_item("n", segment.n)?;
    out.set_item("end_ns", segment.end_ns)?;
    out.set_item("n_hits", segment.n_hits)?;
    out.set_item("n_bytes", segment.n_bytes)?;
    out.set_item("longest_queue_ns", segment.longest_queue_ns)?;
    out.set_item("min_ns", segment.least_ns)?;
    out.set_item("max_ns", segment.most_ns)?;
    let parts = PyDict::new(py);
    for (name, sum) in PARTS.iter().zip(segment.parts_ns) {
        parts.set_item(name, sum)?;
    }
    out.set_item("parts_ns", parts)?;
    let folded = |response_ns: i128, histogram| -> PyResult<Bound<'py, PyDict>> {
        let out = PyDict::new(py);
        out.set_item("response_ns", response_ns)?;
        out.set_item("counts", counts(histogram))?;
        Ok(out)
    };
    for (name, op) in [("reads", READ), ("writes", WRITE), ("flushes", FLUSH)] {
        let op = usize::from(op);
        out.set_item(name, folded(segment.response_ns[op], &segment.histograms[op])?)?;
    }
    let streams: PyResult<Vec<_>> = segment.streams.iter().map(|s| folded(s.response_ns, &s.histogram)).collect();
    out.set_item("streams", streams?)?;
    Ok(out)
}
