//! A run in parts of equally many completions; two become one when there are too many of them.

use super::Histogram;
use crate::traffic::{Completion, N_PARTS};

/// Must be even.
const MAX_SEGMENTS: usize = 80;
const MAX_BATCHES: usize = 8192;
/// Operations of requests.
const N_OPS: usize = 3;

/// Completions in a row, summed up.
#[derive(Clone, Debug, Default)]
pub struct Segment {
    pub n: u64,
    /// Time of the last of them.
    pub end_ns: i64,
    pub n_hits: u64,
    pub n_bytes: u64,
    pub longest_queue_ns: i64,
    pub least_ns: i64,
    pub most_ns: i64,
    pub parts_ns: [i128; N_PARTS],
    /// Of reads, of writes and of flushes.
    pub response_ns: [i128; N_OPS],
    pub histograms: [Histogram; N_OPS],
    /// Of each stream, where there are several.
    pub streams: Vec<Stream>,
}

#[derive(Clone, Debug, Default)]
pub struct Stream {
    pub response_ns: i128,
    pub histogram: Histogram,
}

/// A smaller part: number of completions, sum of their responses, time of the last.
#[derive(Clone, Copy, Debug, Default)]
pub struct Batch {
    pub n: u64,
    pub response_ns: i128,
    pub end_ns: i64,
}

pub struct Segments {
    pub held: Vec<Segment>,
    pub batches: Vec<Batch>,
    n_streams: usize,
    per_segment: u64,
    per_batch: u64,
}

impl Segments {
    pub fn new(n_streams: usize) -> Self {
        let n_streams = if n_streams > 1 { n_streams } else { 0 };
        Segments { held: Vec::new(), batches: Vec::new(), n_streams, per_segment: 64, per_batch: 1 }
    }

    pub fn add(&mut self, completion: &Completion, length: i64) {
        if self.held.last().is_none_or(|segment| segment.n == self.per_segment) {
            self.next_segment();
        }
        if self.batches.last().is_none_or(|batch| batch.n == self.per_batch) {
            self.next_batch();
        }
        let response = completion.done - completion.issue;
        if let Some(batch) = self.batches.last_mut() {
            batch.n += 1;
            batch.response_ns += i128::from(response);
            batch.end_ns = completion.done;
        }
        if let Some(segment) = self.held.last_mut() {
            segment.add(completion, response, length);
        }
    }

    fn next_segment(&mut self) {
        if self.held.len() == MAX_SEGMENTS {
            self.per_segment *= 2;
            for i in 0..MAX_SEGMENTS / 2 {
                let second = std::mem::take(&mut self.held[2 * i + 1]);
                let mut first = std::mem::take(&mut self.held[2 * i]);
                first.merge(&second);
                self.held[i] = first;
            }
            self.held.truncate(MAX_SEGMENTS / 2);
        }
        let streams = vec![Stream::default(); self.n_streams];
        self.held.push(Segment { streams, least_ns: i64::MAX, ..Segment::default() });
    }

    fn next_batch(&mut self) {
        if self.batches.len() == MAX_BATCHES {
            self.per_batch *= 2;
            for i in 0..MAX_BATCHES / 2 {
                let (first, second) = (self.batches[2 * i], self.batches[2 * i + 1]);
                self.batches[i] = Batch {
                    n: first.n + second.n,
                    response_ns: first.response_ns + second.response_ns,
                    end_ns: second.end_ns,
                };
            }
            self.batches.truncate(MAX_BATCHES / 2);
        }
        self.batches.push(Batch::default());
    }
}

impl Segment {
    fn add(&mut self, completion: &Completion, response: i64, length: i64) {
        let op = usize::from(completion.op);
        self.n += 1;
        self.end_ns = completion.done;
        self.n_hits += u64::from(completion.is_hit);
        self.n_bytes += length as u64;
        self.longest_queue_ns = self.longest_queue_ns.max(completion.parts[2]);
        self.least_ns = self.least_ns.min(response);
        self.most_ns = self.most_ns.max(response);
        for (sum, &part) in self.parts_ns.iter_mut().zip(&completion.parts) {
            *sum += i128::from(part);
        }
        self.response_ns[op] += i128::from(response);
        self.histograms[op].add(response);
        if let Some(stream) = self.streams.get_mut(completion.stream as usize) {
            stream.response_ns += i128::from(response);
            stream.histogram.add(response);
        }
    }

    fn merge(&mut self, later: &Segment) {
        self.n += later.n;
        self.end_ns = later.end_ns;
        self.n_hits += later.n_hits;
        self.n_bytes += later.n_bytes;
        self.longest_queue_ns = self.longest_queue_ns.max(later.longest_queue_ns);
        self.least_ns = self.least_ns.min(later.least_ns);
        self.most_ns = self.most_ns.max(later.most_ns);
        for (sum, part) in self.parts_ns.iter_mut().zip(&later.parts_ns) {
            *sum += part;
        }
        for op in 0..N_OPS {
            self.response_ns[op] += later.response_ns[op];
            self.histograms[op].merge(&later.histograms[op]);
        }
        for (stream, other) in self.streams.iter_mut().zip(&later.streams) {
            stream.response_ns += other.response_ns;
            stream.histogram.merge(&other.histogram);
        }
    }
}
