//! The seam between a workload and the simulation: rows come from it, completions go to it.
//!
//! Three things stand behind it: columns that Python holds, a stream of blocks that is folded into histograms, and a
//! server that hands over one request at a time.

pub const N_PARTS: usize = 8;

/// How the rows of one stream come in time (rules W2 and W3).
#[derive(Clone, Copy, Debug, Default)]
pub struct Rule {
    /// 0: an open stream.
    pub n_clients: i64,
    pub pace: i64,
}

/// A row that a stream has taken and that is to be issued.
#[derive(Clone, Copy, Debug)]
pub struct Taken {
    /// By what the traffic knows the row until it is done.
    pub id: u32,
    /// Number of the row in the whole workload; breaks ties (rule T3).
    pub row: u64,
    /// Open streams: time of issue; closed ones: think time.
    pub when: i64,
}

/// A row at its issue.
#[derive(Clone, Copy, Debug, Default)]
pub struct Request {
    pub row: u64,
    pub stream: u32,
    pub op: u8,
    pub offset: i64,
    pub length: i64,
    pub cache_draw: f64,
}

/// What became of a row.
#[derive(Clone, Copy, Debug)]
pub struct Completion {
    pub id: u32,
    pub stream: u32,
    pub op: u8,
    pub is_hit: bool,
    pub issue: i64,
    pub done: i64,
    pub parts: [i64; N_PARTS],
}

pub trait Traffic {
    fn rules(&self) -> &[Rule];
    /// The next row of a stream, or none when it has come to its end.
    fn take(&mut self, stream: usize) -> Option<Taken>;
    /// What a row that was taken asks for, at its issue.
    fn request(&mut self, id: u32, now: i64) -> Request;
    fn done(&mut self, completion: &Completion);
    /// Whether every row is done.
    fn is_over(&self) -> bool;
}

/// Columns of the requests, borrowed.
pub struct Requests<'a> {
    pub when: &'a [i64],
    pub op: &'a [u8],
    pub offset: &'a [i64],
    pub length: &'a [i64],
    pub stream: &'a [i32],
    pub cache_draw: &'a [f64],
    pub rules: Vec<Rule>,
}

/// Columns of the completions, written in place.
pub struct Completions<'a> {
    pub issue: &'a mut [i64],
    pub done: &'a mut [i64],
    pub parts: &'a mut [i64],
    pub is_hit: &'a mut [bool],
}

/// A whole workload in columns, and where its completions go.
pub struct Columns<'a> {
    requests: Requests<'a>,
    out: Completions<'a>,
    /// Rows of each stream; empty where there is only one stream, whose rows are all of them.
    rows: Vec<Vec<u32>>,
    next: Vec<usize>,
    left: usize,
}

impl<'a> Columns<'a> {
    pub fn new(requests: Requests<'a>, out: Completions<'a>) -> Self {
        let n_streams = requests.rules.len();
        let mut rows: Vec<Vec<u32>> = Vec::new();
        if n_streams > 1 {
            let mut sizes = vec![0; n_streams];
            requests.stream.iter().for_each(|&stream| sizes[stream as usize] += 1);
            rows = sizes.into_iter().map(Vec::with_capacity).collect();
            for (row, &stream) in requests.stream.iter().enumerate() {
                rows[stream as usize].push(row as u32);
            }
        }
        Columns { left: requests.when.len(), next: vec![0; n_streams], rows, requests, out }
    }
}

impl Traffic for Columns<'_> {
    fn rules(&self) -> &[Rule] {
        &self.requests.rules
    }

    #[inline]
    fn take(&mut self, stream: usize) -> Option<Taken> {
        let at = self.next[stream];
        let row = match self.rows.get(stream) {
            Some(rows) => *rows.get(at)? as usize,
            None => at,
        };
        let when = *self.requests.when.get(row)?;
        self.next[stream] = at + 1;
        Some(Taken { id: row as u32, row: row as u64, when })
    }

    #[inline]
    fn request(&mut self, id: u32, _now: i64) -> Request {
        let i = id as usize;
        Request {
            row: u64::from(id),
            stream: self.requests.stream[i] as u32,
            op: self.requests.op[i],
            offset: self.requests.offset[i],
            length: self.requests.length[i],
            cache_draw: self.requests.cache_draw[i],
        }
    }

    #[inline]
    fn done(&mut self, completion: &Completion) {
        let i = completion.id as usize;
        self.out.issue[i] = completion.issue;
        self.out.done[i] = completion.done;
        self.out.is_hit[i] = completion.is_hit;
        self.out.parts[i * N_PARTS..(i + 1) * N_PARTS].copy_from_slice(&completion.parts);
        self.left -= 1;
    }

    fn is_over(&self) -> bool {
        self.left == 0
    }
}
