//! What is in progress: requests of the host, and accesses to the array.

use super::md::{OfMd, Stretches};
use super::pool::OfPool;
use crate::command::Command;
use crate::events::Step;
use crate::layout::ChildIo;
use crate::traffic::Completion;

/// Whom an access answers to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Owner {
    Host(u32),
    /// Blocks [first, end) of the write cache.
    Destage(i64, i64),
    ReadAhead(u32),
    /// Linux md itself, or a pool itself.
    Md(OfMd),
    Pool(OfPool),
}

impl Default for Owner {
    fn default() -> Self {
        Owner::Host(u32::MAX)
    }
}

/// A request to the array while its pieces are out.
#[derive(Default)]
pub(super) struct ArrayAccess {
    pub(super) owner: Owner,
    pub(super) then: Vec<ChildIo>,
    /// When it was asked for, and when its commands were made.
    pub(super) asked: i64,
    pub(super) start: i64,
    /// Its commands pass the submitting thread by (rule Q11).
    pub(super) is_direct: bool,
    /// Its writes pass the drives' buffers, or are flushed (rule Y4).
    pub(super) is_fua: bool,
    /// Commands that the next phase waits for, and writes on held disks that it does not wait for.
    pub(super) out: u32,
    pub(super) n_following: u32,
    /// First and last bit that it needs, of a write on an array with a bitmap (rule L13).
    pub(super) bits: Option<(i64, i64)>,
    pub(super) stretches: Stretches,
    /// What it would write to disks that are lost, on an array with a journal (rule Y13).
    pub(super) lost: Vec<ChildIo>,
}

/// Whom a request in the controller answers to.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Purpose {
    #[default]
    Client,
    /// A range that the host reads ahead.
    Window,
    /// A page of a request that fetches them one by one.
    Page(u32),
    /// Pages of a synchronous write.
    Part(u32),
    /// Dirty pages.
    WriteBack,
    /// The flush after a write, or that of a stream of flushes.
    Flush(u32),
    /// A part of a commit of the journal, before this step.
    Journal(Step),
    /// The last part of a commit.
    Committed,
}

/// A host request in the controller.
#[derive(Clone, Copy, Default)]
pub(super) struct HostRequest {
    pub(super) row: u64,
    pub(super) id: u32,
    pub(super) stream: u32,
    pub(super) op: u8,
    pub(super) is_hit: bool,
    /// What follows a write (rule Y1).
    pub(super) sync: i64,
    /// A batch of records of a log (rule Y6).
    pub(super) is_batch: bool,
    /// A write of a file through the page cache (rule Q10).
    pub(super) is_of_file: bool,
    pub(super) purpose: Purpose,
    pub(super) sector: i64,
    pub(super) n: i64,
    pub(super) issue: i64,
    pub(super) link: i64,
    pub(super) cache: i64,
    pub(super) queue: i64,
    pub(super) overhead: i64,
    pub(super) parity: i64,
    pub(super) sync_ns: i64,
    pub(super) last: Times,
}

impl HostRequest {
    /// What became of a row, issued at `issue`, that it was made for.
    #[inline(always)]
    pub(super) fn completion(&self, id: u32, issue: i64, done: i64) -> Completion {
        let &HostRequest { stream, op, is_hit, ref last, .. } = self;
        let service = last.overhead + last.seek + last.rotation + last.transfer;
        let parts = [
            self.link,
            self.cache,
            // a record of a log waits for its batch to begin
            self.queue + self.issue - issue + last.done - last.submitted - service,
            self.overhead + last.overhead,
            last.seek,
            last.rotation,
            last.transfer,
            self.parity,
            self.sync_ns,
        ];
        Completion { id, stream, op, is_hit, issue, done, parts }
    }
}

/// Where the time of a request's last command went.
#[derive(Clone, Copy, Default)]
pub(super) struct Times {
    pub(super) submitted: i64,
    pub(super) done: i64,
    pub(super) overhead: i64,
    pub(super) seek: i64,
    pub(super) rotation: i64,
    pub(super) transfer: i64,
}

impl Times {
    pub(super) fn of(command: &Command) -> Self {
        let &Command { submitted, done, overhead, seek, rotation, transfer, .. } = command;
        Times { submitted, done, overhead, seek, rotation, transfer }
    }
}
