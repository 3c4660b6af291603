//! Completions folded into histograms, sums and samples, in memory that does not grow with their number.

mod histogram;
mod samples;
mod segments;

pub use histogram::{Histogram, PRECISION_BITS};
pub use samples::Samples;
pub use segments::{Batch, Segment};

use crate::traffic::{Completion, Rule};
use segments::Segments;

/// What a run leaves behind when no completion is kept.
pub struct Tally {
    segments: Segments,
    /// Numbers that came and left over time.
    pub samples: Samples,
    is_open: Vec<bool>,
    /// From when on some stream has issued its last row: later completions are not the mix that was asked for.
    pub until: Option<i64>,
    pub n_done: u64,
    pub n_came_open: u64,
    /// Sum of all responses, ns.
    pub response_ns: i128,
    /// Rows whose parts do not add up to the response, or are negative.
    pub n_broken: u64,
}

impl Tally {
    pub fn new(rules: &[Rule]) -> Self {
        Tally {
            segments: Segments::new(rules.len()),
            samples: Samples::default(),
            is_open: rules.iter().map(|rule| rule.n_clients == 0).collect(),
            until: None,
            n_done: 0,
            n_came_open: 0,
            response_ns: 0,
            n_broken: 0,
        }
    }

    /// A row was issued, now.
    pub fn issued(&mut self, stream: u32, now: i64) {
        if self.is_open[stream as usize] {
            self.samples.until(now);
            self.samples.count.came_open += 1;
            self.n_came_open += 1;
        }
    }

    /// A stream has issued its last row, now.
    pub fn ran_dry(&mut self, now: i64) {
        self.until.get_or_insert(now);
    }

    pub fn done(&mut self, completion: &Completion, length: i64) {
        let response = completion.done - completion.issue;
        let parts = &completion.parts;
        self.n_broken += u64::from(parts.iter().sum::<i64>() != response || parts.iter().any(|&part| part < 0));
        self.n_done += 1;
        self.response_ns += i128::from(response);
        self.samples.until(completion.done);
        self.samples.count.done += 1;
        self.samples.count.left_open += u64::from(self.is_open[completion.stream as usize]);
        if self.until.is_none_or(|until| completion.done <= until) {
            self.segments.add(completion, length);
        }
    }

    /// Parts of the run, each with as many completions as the others but for the last.
    pub fn segments(&self) -> &[Segment] {
        &self.segments.held
    }

    /// Finer parts, with the sum of their responses only.
    pub fn batches(&self) -> &[Batch] {
        &self.segments.batches
    }
}
