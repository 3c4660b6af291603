//! What is asked of the device, and what came back: one row per I/O, in order of completion.

use serde::ser::{SerializeMap, SerializeSeq};
use serde::{Serialize, Serializer};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Op {
    Read = 0,
    Write = 1,
    /// A write that is done only when it is on the medium (RWF_DSYNC).
    DurableWrite = 2,
    /// What the device has accepted is on the medium (fdatasync). It has no place and no length.
    Flush = 3,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Request {
    pub offset: u64,
    pub length: u32,
    pub op: Op,
    /// Pause before it is issued; honored at queue depth 1 only.
    pub delay_ns: u64,
}

impl Request {
    pub fn read(offset: u64, length: u32) -> Self {
        Request { offset, length, op: Op::Read, delay_ns: 0 }
    }

    pub fn flush() -> Self {
        Request { op: Op::Flush, ..Request::read(0, 0) }
    }

    pub fn after(self, delay_ns: u64) -> Self {
        Request { delay_ns, ..self }
    }
}

/// Where an engine gets its next request from; None ends the run.
pub type Source<'a> = dyn FnMut() -> Option<Request> + Send + 'a;

/// Columns of completed requests. Times are nanoseconds of CLOCK_MONOTONIC.
#[derive(Default, Clone)]
pub struct Samples {
    pub issue_ns: Vec<u64>,
    pub latency_ns: Vec<u64>,
    pub offset: Vec<u64>,
    pub length: Vec<u32>,
    pub op: Vec<u8>,
}

impl Samples {
    pub fn len(&self) -> usize {
        self.issue_ns.len()
    }

    /// Space for `n` more rows, so that recording one does not allocate.
    pub fn reserve(&mut self, n: usize) {
        self.issue_ns.reserve(n);
        self.latency_ns.reserve(n);
        self.offset.reserve(n);
        self.length.reserve(n);
        self.op.reserve(n);
    }

    #[inline]
    pub fn push(&mut self, issue_ns: u64, done_ns: u64, request: &Request) {
        self.issue_ns.push(issue_ns);
        self.latency_ns.push(done_ns.saturating_sub(issue_ns));
        self.offset.push(request.offset);
        self.length.push(request.length);
        self.op.push(request.op as u8);
    }

    /// Appends the rows of several recorders, merged in order of completion.
    pub fn merge(&mut self, parts: Vec<Samples>) {
        let mut order: Vec<(u64, usize, usize)> = Vec::new();
        for (which, part) in parts.iter().enumerate() {
            order.extend((0..part.len()).map(|row| (part.done_ns(row), which, row)));
        }
        order.sort_unstable();
        self.reserve(order.len());
        for (_, which, row) in order {
            let part = &parts[which];
            self.issue_ns.push(part.issue_ns[row]);
            self.latency_ns.push(part.latency_ns[row]);
            self.offset.push(part.offset[row]);
            self.length.push(part.length[row]);
            self.op.push(part.op[row]);
        }
    }

    pub fn done_ns(&self, row: usize) -> u64 {
        self.issue_ns[row] + self.latency_ns[row]
    }

    pub fn bytes(&self) -> (u64, u64) {
        let mut read = 0;
        let mut written = 0;
        for (length, op) in self.length.iter().zip(&self.op) {
            *(if *op == Op::Read as u8 { &mut read } else { &mut written }) += u64::from(*length);
        }
        (read, written)
    }

    /// As JSON columns: `issue_ns` counted from `origin_ns`, a constant column as one integer.
    pub fn to_json(&self, origin_ns: u64) -> serde_json::Result<Box<serde_json::value::RawValue>> {
        serde_json::value::to_raw_value(&Columns { samples: self, origin_ns })
    }
}

struct Columns<'a> {
    samples: &'a Samples,
    origin_ns: u64,
}

impl Serialize for Columns<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let s = self.samples;
        let issue: Vec<u64> = s.issue_ns.iter().map(|t| t.saturating_sub(self.origin_ns)).collect();
        let mut map = serializer.serialize_map(Some(6))?;
        map.serialize_entry("n", &s.len())?;
        map.serialize_entry("issue_ns", &issue)?;
        map.serialize_entry("latency_ns", &s.latency_ns)?;
        map.serialize_entry("offset", &s.offset)?;
        map.serialize_entry("length", &Column(&s.length))?;
        map.serialize_entry("op", &Column(&s.op))?;
        map.end()
    }
}

struct Column<'a, T>(&'a [T]);

impl<T: Serialize + PartialEq> Serialize for Column<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            [first, rest @ ..] if rest.iter().all(|x| x == first) => first.serialize(serializer),
            values => {
                let mut seq = serializer.serialize_seq(Some(values.len()))?;
                for value in values {
                    seq.serialize_element(value)?;
                }
                seq.end()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constant_columns_become_one_integer_and_times_start_at_the_origin() {
        let mut samples = Samples::default();
        samples.push(1_000, 1_500, &Request::read(0, 4096));
        samples.push(2_000, 2_100, &Request::read(8192, 4096));
        let json: serde_json::Value = serde_json::from_str(samples.to_json(900).unwrap().get()).unwrap();
        assert_eq!(json["issue_ns"], serde_json::json!([100, 1100]));
        assert_eq!(json["latency_ns"], serde_json::json!([500, 100]));
        assert_eq!(json["offset"], serde_json::json!([0, 8192]));
        assert_eq!(json["length"], 4096);
        assert_eq!(json["op"], 0);
    }

    #[test]
    fn merging_orders_rows_by_completion() {
        let mut a = Samples::default();
        a.push(0, 50, &Request::read(1, 1));
        a.push(60, 70, &Request::read(2, 1));
        let mut b = Samples::default();
        b.push(0, 65, &Request::read(3, 1));
        let mut all = Samples::default();
        all.merge(vec![a, b]);
        assert_eq!(all.offset, [1, 3, 2]);
    }
}
