//! A workload that is drawn in blocks while it runs, and whose completions are folded: memory stays flat.

use crate::command::Slots;
use crate::tally::Tally;
use crate::traffic::{Completion, Request, Rule, Taken, Traffic};
use std::error::Error;

/// What can go wrong with a source.
pub type Failure = Box<dyn Error + Send + Sync>;

/// Rows of one stream, in order.
#[derive(Default)]
pub struct Block {
    /// Numbers of the rows in the whole workload.
    pub row: Vec<i64>,
    pub when: Vec<i64>,
    pub op: Vec<u8>,
    pub offset: Vec<i64>,
    pub length: Vec<i64>,
    pub cache_draw: Vec<f64>,
}

/// Where blocks come from.
pub trait Source {
    /// The next rows of a stream; an empty block at its end.
    fn next_block(&mut self, stream: usize) -> Result<Block, Failure>;
}

#[derive(Default)]
struct Stream {
    block: Block,
    next: usize,
    is_at_end: bool,
}

#[derive(Clone, Copy, Default)]
struct Row {
    request: Request,
    is_last: bool,
}

pub struct Streamed<'a> {
    source: Box<dyn Source + Send + 'a>,
    rules: Vec<Rule>,
    streams: Vec<Stream>,
    out: Slots<Row>,
    n_out: usize,
    n_at_end: usize,
    pub tally: Tally,
    /// What went wrong with the source; the run stops there.
    pub error: Option<Failure>,
}

impl<'a> Streamed<'a> {
    pub fn new(source: impl Source + Send + 'a, rules: Vec<Rule>) -> Self {
        let mut streamed = Streamed {
            tally: Tally::new(&rules),
            streams: rules.iter().map(|_| Stream::default()).collect(),
            source: Box::new(source),
            rules,
            out: Slots::default(),
            n_out: 0,
            n_at_end: 0,
            error: None,
        };
        (0..streamed.streams.len()).for_each(|stream| streamed.refill(stream));
        streamed
    }

    /// Rows of the next block; a stream without any is at its end.
    fn refill(&mut self, stream: usize) {
        let block = match self.source.next_block(stream) {
            Ok(block) => block,
            Err(failure) => {
                self.error.get_or_insert(failure);
                Block::default()
            }
        };
        let stream = &mut self.streams[stream];
        stream.is_at_end = block.row.is_empty();
        self.n_at_end += usize::from(stream.is_at_end);
        (stream.block, stream.next) = (block, 0);
    }
}

impl Traffic for Streamed<'_> {
    fn rules(&self) -> &[Rule] {
        &self.rules
    }

    fn take(&mut self, stream: usize) -> Option<Taken> {
        let Stream { block, next, is_at_end } = &mut self.streams[stream];
        if *is_at_end {
            return None;
        }
        let at = *next;
        *next += 1;
        let (row, when) = (block.row[at] as u64, block.when[at]);
        let request = Request {
            row,
            stream: stream as u32,
            op: block.op[at],
            offset: block.offset[at],
            length: block.length[at],
            cache_draw: block.cache_draw[at],
        };
        // a look ahead, so that the last row is known for what it is
        if at + 1 == block.row.len() {
            self.refill(stream);
        }
        let is_last = self.streams[stream].is_at_end;
        self.n_out += 1;
        let id = self.out.put(Row { request, is_last });
        Some(Taken { id, row, when })
    }

    fn request(&mut self, id: u32, now: i64) -> Request {
        let Row { request, is_last } = self.out[id];
        self.tally.issued(request.stream, now);
        if is_last {
            self.tally.ran_dry(now);
        }
        request
    }

    fn done(&mut self, completion: &Completion) {
        let length = self.out[completion.id].request.length;
        self.out.release(completion.id);
        self.n_out -= 1;
        self.tally.done(completion, length);
    }

    fn is_over(&self) -> bool {
        self.error.is_some() || (self.n_out == 0 && self.n_at_end == self.streams.len())
    }
}
