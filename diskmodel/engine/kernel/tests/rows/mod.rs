//! Requests as files of scenarios have them, a list for each column.

use diskmodel_kernel::traffic::{Column, Requests, Rule};
use serde::Deserialize;

#[derive(Deserialize)]
pub struct Rows {
    pub when_ns: Vec<i64>,
    op: Vec<u8>,
    offset: Vec<i64>,
    length: Vec<i64>,
    stream: Vec<i32>,
    cache_draw: Vec<f64>,
    streams: Vec<Rule>,
}

impl Rows {
    /// The first `n` of them.
    pub fn requests(&self, n: usize) -> Requests<'_> {
        Requests {
            when: Column::Each(&self.when_ns[..n]),
            op: Column::Each(&self.op[..n]),
            offset: Column::Each(&self.offset[..n]),
            length: Column::Each(&self.length[..n]),
            stream: Column::Each(&self.stream[..n]),
            cache_draw: Column::Each(&self.cache_draw[..n]),
            rules: self.streams.clone(),
        }
    }
}
