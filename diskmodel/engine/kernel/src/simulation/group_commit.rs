//! Logs to which clients append records: at most one batch of each is written at a time (rule Y6); see
//! `diskmodel/engine/reference/group_commit.py`.

use super::{HostRequest, Simulation};
use crate::device::Device;
use crate::mechanics::WRITE;
use crate::traffic::{Rule, Traffic};

/// A record: what the traffic knows it by, its row, its bytes, and when it came.
#[derive(Clone, Copy)]
pub(super) struct Record {
    pub id: u32,
    row: u64,
    length: i64,
    pub issue: i64,
}

/// The log of one stream.
#[derive(Default)]
pub struct Log {
    pub(super) waiting: Vec<Record>,
    /// Those of the batch that is being written.
    pub(super) batch: Vec<Record>,
    pub(super) is_writing: bool,
    pub(super) is_delayed: bool,
    /// Where the log ends, in bytes from its beginning.
    pub(super) end: i64,
}

impl Log {
    /// A log for each stream, empty where no stream has one.
    pub fn of(rules: &[Rule]) -> Vec<Log> {
        if rules.iter().all(|rule| rule.log_bytes == 0) {
            return Vec::new();
        }
        rules.iter().map(|_| Log::default()).collect()
    }
}

impl<D: Device, T: Traffic> Simulation<D, T> {
    /// A client wants a record in the log of its stream, now.
    #[inline(never)]
    pub(super) fn append(&mut self, stream: u32, id: u32, row: u64, length: i64) {
        let issue = self.events.now;
        self.kind.front.host.clients.logs[stream as usize].waiting.push(Record { id, row, length, issue });
        if self.kind.front.host.clients.begins_batch(stream, &mut self.events) {
            self.write_batch(stream);
        }
    }

    /// The batch has waited long enough.
    #[inline(never)]
    pub(super) fn log_delayed(&mut self, stream: u32) {
        self.kind.front.host.clients.logs[stream as usize].is_delayed = false;
        self.write_batch(stream);
    }

    fn write_batch(&mut self, stream: u32) {
        let rule = self.kind.front.host.clients.traffic.rules()[stream as usize];
        let (block, bytes) = (rule.log_block_bytes, rule.log_bytes);
        let log = &mut self.kind.front.host.clients.logs[stream as usize];
        log.batch.append(&mut log.waiting);
        let n_bytes: i64 = log.batch.iter().map(|record| record.length).sum();
        if log.end + n_bytes > bytes {
            // the log begins again at its beginning
            log.end = 0;
        }
        let down = log.end / block * block;
        log.end = (log.end + n_bytes).min(bytes);
        let end = ((log.end + block - 1) / block * block).min(bytes);
        log.is_writing = true;
        let row = log.batch.first().map_or(0, |record| record.row);
        let sector = self.drives.sector_of(rule.log_first_byte + down);
        let n = self.drives.sector_of(rule.log_first_byte + end + self.drives.sector_bytes() - 1) - sector;
        let (sync, issue) = (self.passed(rule.sync), self.events.now);
        let host = self.requests.put(HostRequest {
            row,
            stream,
            op: WRITE,
            sync,
            is_batch: true,
            is_of_file: rule.is_of_file > 0,
            sector,
            n,
            issue,
            ..HostRequest::default()
        });
        self.submit_request(host);
    }

    /// The batch is safe: the next one may begin.
    pub(super) fn batch_written(&mut self, stream: u32) {
        self.kind.front.host.clients.logs[stream as usize].is_writing = false;
        if self.kind.front.host.clients.begins_batch(stream, &mut self.events) {
            self.write_batch(stream);
        }
    }
}
