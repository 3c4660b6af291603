//! What requests come from, as one type: a simulation is compiled once for each kind of drive, not for each traffic too.

use super::{Columns, Completion, Request, Rule, Taken, Traffic};
use crate::online::Inbox;
use crate::streamed::Streamed;

pub enum Feed<'a> {
    Columns(Columns<'a>),
    Streamed(Streamed<'a>),
    Inbox(Inbox),
}

/// What whoever made the feed knows it to be.
const OTHER: &str = "a run keeps the feed that it was given";

impl<'a> Feed<'a> {
    pub fn into_columns(self) -> Columns<'a> {
        let Feed::Columns(columns) = self else { unreachable!("{OTHER}") };
        columns
    }

    pub fn into_streamed(self) -> Streamed<'a> {
        let Feed::Streamed(streamed) = self else { unreachable!("{OTHER}") };
        streamed
    }

    pub fn streamed_mut(&mut self) -> &mut Streamed<'a> {
        let Feed::Streamed(streamed) = self else { unreachable!("{OTHER}") };
        streamed
    }

    pub fn inbox(&self) -> &Inbox {
        let Feed::Inbox(inbox) = self else { unreachable!("{OTHER}") };
        inbox
    }

    pub fn inbox_mut(&mut self) -> &mut Inbox {
        let Feed::Inbox(inbox) = self else { unreachable!("{OTHER}") };
        inbox
    }
}

// Where the feed is not columns: apart, so that the loop stays small.
impl Feed<'_> {
    fn other(&self) -> &dyn Traffic {
        match self {
            Feed::Columns(columns) => columns,
            Feed::Streamed(streamed) => streamed,
            Feed::Inbox(inbox) => inbox,
        }
    }

    fn other_mut(&mut self) -> &mut dyn Traffic {
        match self {
            Feed::Columns(columns) => columns,
            Feed::Streamed(streamed) => streamed,
            Feed::Inbox(inbox) => inbox,
        }
    }

    #[inline(never)]
    fn take_other(&mut self, stream: usize) -> Option<Taken> {
        self.other_mut().take(stream)
    }

    #[inline(never)]
    fn request_other(&mut self, id: u32, now: i64) -> Request {
        self.other_mut().request(id, now)
    }

    #[inline(never)]
    fn done_other(&mut self, completion: &Completion) {
        self.other_mut().done(completion);
    }

    #[inline(never)]
    fn is_other_over(&self) -> bool {
        self.other().is_over()
    }
}

// Columns, which most runs have, are asked within the loop.
impl Traffic for Feed<'_> {
    #[inline(always)]
    fn rules(&self) -> &[Rule] {
        match self {
            Feed::Columns(columns) => columns.rules(),
            other => other.other().rules(),
        }
    }

    #[inline(always)]
    fn take(&mut self, stream: usize) -> Option<Taken> {
        match self {
            Feed::Columns(columns) => columns.take(stream),
            other => other.take_other(stream),
        }
    }

    #[inline(always)]
    fn request(&mut self, id: u32, now: i64) -> Request {
        match self {
            Feed::Columns(columns) => columns.request(id, now),
            other => other.request_other(id, now),
        }
    }

    #[inline(always)]
    fn done(&mut self, completion: &Completion) {
        match self {
            Feed::Columns(columns) => columns.done(completion),
            other => other.done_other(completion),
        }
    }

    #[inline(always)]
    fn is_over(&self) -> bool {
        match self {
            Feed::Columns(columns) => columns.is_over(),
            other => other.is_other_over(),
        }
    }
}
