//! Programs with their file system: what they ask for, what follows their writes, and what has been completed.

use super::group_commit::{Log, Record};
use super::journal::Journal;
use super::syncs::ClientSyncs;
use super::{AboveHost, Simulation};
use crate::device::Device;
use crate::events::{Action, Events, Step, ARRIVE, LAST};
use crate::progress::Progress;
use crate::traffic::Traffic;

pub struct Clients<T> {
    pub(super) traffic: T,
    pub(super) syncs: Option<Box<ClientSyncs>>,
    /// Of each stream, where there are any.
    pub(super) logs: Vec<Log>,
    /// Of their file system.
    pub(super) journal: Option<Box<Journal>>,
    pub(super) progress: Progress,
}

impl<D: Device, T: Traffic> AboveHost<D> for Clients<T> {
    #[inline(always)]
    fn done(on: &mut Simulation<D, T>, request: u32) {
        on.done(request);
    }

    #[inline(always)]
    fn make_safe(on: &mut Simulation<D, T>, request: u32) {
        on.make_safe(request);
    }

    #[inline(always)]
    fn made_safe(on: &mut Simulation<D, T>, request: u32) {
        on.made_safe(request);
    }

    #[inline(always)]
    fn journal_answered(on: &mut Simulation<D, T>, next: Step) {
        on.journal_answered(next);
    }

    #[inline(always)]
    fn committed(on: &mut Simulation<D, T>) {
        on.committed();
    }

    fn progress(&mut self) -> &mut Progress {
        &mut self.progress
    }
}

impl<T: Traffic> Clients<T> {
    pub fn new(traffic: T, sector_bytes: i64, host_work_ns: i64, sample_every: u64) -> Self {
        Clients {
            syncs: ClientSyncs::of(traffic.rules()).map(Box::new),
            logs: Log::of(traffic.rules()),
            journal: Journal::of(traffic.rules(), sector_bytes, host_work_ns).map(Box::new),
            progress: Progress::new(sample_every),
            traffic,
        }
    }

    /// Lets a stream take its next row, no earlier than at a time, which counts from another where it has clients; false
    /// when it has none.
    #[inline(always)]
    pub(super) fn take_row(
        &mut self,
        stream: usize,
        client: u32,
        (earliest, base): (i64, i64),
        events: &mut Events,
    ) -> bool {
        let Some(taken) = self.traffic.take(stream) else { return false };
        if let Some(syncs) = &mut self.syncs {
            syncs.took(taken.id, client);
        }
        let is_open = self.traffic.rules()[stream].n_clients == 0;
        let time = if is_open { taken.when } else { base.saturating_add(taken.when).max(earliest) };
        events.at(time, ARRIVE, 0, taken.row, Action::Issue(stream as u32, taken.id));
        true
    }

    /// A row has completed: its client, if it has one, takes the stream's next row.
    #[inline(always)]
    pub(super) fn row_done(&mut self, id: u32, stream: usize, issue: i64, events: &mut Events) {
        let client = self.syncs.as_mut().map_or(0, |syncs| syncs.of_row(id));
        let rule = &self.traffic.rules()[stream];
        if rule.n_clients > 0 {
            let earliest = issue + rule.pace_ns;
            self.take_row(stream, client, (earliest, events.now), events);
        }
    }

    /// Whether the next batch of a stream's log begins now: not while one is written, nor before its delay.
    pub(super) fn begins_batch(&mut self, stream: u32, events: &mut Events) -> bool {
        let log = &mut self.logs[stream as usize];
        if log.is_writing || log.is_delayed || log.waiting.is_empty() {
            return false;
        }
        let delay = self.traffic.rules()[stream as usize].log_delay_ns;
        if delay > 0 {
            log.is_delayed = true;
            events.at(events.now + delay, ARRIVE, 0, LAST, Action::LogDelayed(stream));
        }
        delay == 0
    }

    /// The records of the batch of a stream, in the order in which they came.
    pub(super) fn take_batch(&mut self, stream: u32) -> Vec<Record> {
        std::mem::take(&mut self.logs[stream as usize].batch)
    }
}
