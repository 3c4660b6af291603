//! The processors of the host: one resource of requests, blocks of a pool's log and records of its groups (rules H1 and
//! X17); see `diskmodel/engine/reference/processors.py`.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// When each of the processors is free.
pub struct Processors {
    /// Of all that has been given to it.
    free: BinaryHeap<Reverse<i64>>,
    /// Of what is done at once.
    urgent: BinaryHeap<Reverse<i64>>,
}

impl Processors {
    pub fn new(n: usize) -> Self {
        Processors { free: vec![Reverse(0); n].into(), urgent: vec![Reverse(0); n].into() }
    }

    /// When the first one is free.
    #[inline(always)]
    pub fn first_free(&self) -> i64 {
        self.free.peek().map_or(0, |free| free.0)
    }

    /// The first one works until then on what waited for it.
    #[inline(always)]
    pub fn take_until(&mut self, free: i64) {
        if let Some(mut first) = self.free.peek_mut() {
            first.0 = free;
        }
    }

    /// Works for so long at once; who comes later waits for it. Returns when it is done.
    pub fn take_at_once(&mut self, now: i64, work: i64) -> i64 {
        let mut done = now + work;
        if let Some(mut first) = self.urgent.peek_mut() {
            done = now.max(first.0) + work;
            first.0 = done;
        }
        if let Some(mut first) = self.free.peek_mut() {
            first.0 = now.max(first.0) + work;
        }
        done
    }
}
