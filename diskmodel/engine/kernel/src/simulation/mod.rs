//! The path of a request: clients, controller, layout, disks; see `diskmodel/engine/reference/simpy_engine.py`.

mod array;
mod block;
mod cached;
mod clients;
mod controller;
mod doors;
mod group_commit;
mod host;
mod journal;
mod kinds;
mod md;
mod page_cache;
mod pool;
mod processors;
mod read_ahead;
mod requests;
mod syncs;
#[cfg(test)]
mod tests;
mod volume;

use crate::device::{Counters, Device};
use crate::drives::auxiliary::Auxiliary;
use crate::drives::Drives;
use crate::events::{Action, Next, ARRIVE};
use crate::layout::{L2arc, Layout};
use crate::mechanics::{FLUSH, WRITE};
use crate::ports::Said;
use crate::scenario::{LOG, SPECIAL};
use crate::traffic::{Request, Traffic};

use array::Array;
pub use block::flushing::Flushes;
pub use block::request_tags::RequestTags;
pub use block::submission::Submitter;
use block::BlockLayer;
pub use cached::Cache;
use clients::Clients;
pub use controller::Controller;
use controller::Front;
use doors::{AboveController, AboveDisks, AboveHost, AboveVolume, HasFront};
use group_commit::Record;
pub use host::Host;
use host::Hosted;
use kinds::{Kind, Kinds};
pub use page_cache::PageCache;
use processors::Processors;
pub use read_ahead::ReadAhead;
use requests::{ArrayAccess, HostRequest, Owner, Purpose, Times};
use volume::Volume;

/// Longest run, about 417 days: no single time is longer, so that nothing that is scheduled before leaves 64 bits.
pub const MAX_NS: i64 = 1 << 55;
/// What a longer run says.
pub const TOO_LONG: &str = "the run is longer than 417 days of simulated time";
/// What a run says whose requests wait for a rebuild without an end.
pub const STARVED: &str = "no request completes while 64 GiB are rebuilt, or in 4 million steps";

/// What a run says that was stopped from outside.
pub const STOPPED: &str = "the run was stopped";

/// What an array is made of, before anything has happened.
pub struct Parts<D: Device> {
    pub model: D::Model,
    pub disks: Vec<D>,
    pub before: BeforeDisks,
}

/// What stands before the disks, of whatever kind they are.
pub struct BeforeDisks {
    pub layout: Layout,
    pub controller: Controller,
    pub cache: Option<Cache>,
    pub host: Option<Host>,
    pub submitter: Option<Submitter>,
    pub tags: Option<RequestTags>,
    pub flushes: Flushes,
    /// Writes that the disks' buffers hold when the run begins.
    pub n_buffered: u64,
    /// Of a transaction group whose writing begins with the run: records, indirect blocks, records below which data is.
    pub group: [i64; 3],
    /// The cache devices of a pool, and the drives of a log and of a special vdev.
    pub l2arc: Option<Box<L2arc>>,
    pub own: [Option<Box<Auxiliary>>; 2],
    /// Levels are recorded after every so many completions; 0: never.
    pub sample_every: u64,
}

/// What waits to be written (rule Z7): the time, blocks of the controller's cache, sectors in the drives' buffers, pages;
/// and the mean busy time of the disks.
pub type Levels = [i64; 5];

/// The disks with a volume on them; with a controller in front of that; with a host.
type WithKinds<D, F> = Array<D, Kinds<F>>;
type WithFront<D, H> = WithKinds<D, Front<H>>;
type WithHost<D, C> = WithFront<D, Hosted<C>>;
/// With programs, whose requests are the traffic.
pub type Simulation<D, T> = WithHost<D, Clients<T>>;

impl<D: Device, T: Traffic> Simulation<D, T> {
    pub fn new(parts: Parts<D>, traffic: T) -> Self {
        let Parts { model, disks, before } = parts;
        let BeforeDisks {
            layout,
            controller,
            cache,
            host,
            submitter,
            tags,
            flushes,
            n_buffered,
            group,
            l2arc,
            own,
            sample_every,
        } = before;
        let drives = Drives::new(disks, model, n_buffered);
        let clients = Clients::new(traffic, drives.sector_bytes(), flushes.host_work_ns(), sample_every);
        let volume = Kind::of(&layout, flushes.host_work_ns(), group, l2arc, own);
        let processors = Processors::new(host.as_ref().map_or(1, |host| host.n_processors));
        let block = BlockLayer::new(submitter, tags, flushes, &clients);
        let front =
            Front { controller, cache: cache.map(Box::new), host: Hosted { system: host.map(Box::new), clients } };
        Array::of(drives, layout, block, processors, Kinds { volume, front })
    }

    /// Runs to the last completion. Returns its time and the sectors that were rebuilt.
    pub fn run(&mut self) -> Result<(i64, i64), &'static str> {
        self.run_unless(&mut || false)
    }

    /// Runs as `run`, but ends with `STOPPED` soon after `is_stopped` has come true.
    ///
    /// It is asked every `LOOK_EVENTS` events, however much or little simulated time they take.
    pub fn run_unless(&mut self, is_stopped: &mut dyn FnMut() -> bool) -> Result<(i64, i64), &'static str> {
        self.begin();
        while !self.kind.front.host.clients.traffic.is_over() {
            let next = self.events.next().ok_or("no event is left, but requests are")?;
            if self.kind.front.host.clients.progress.is_due(&self.events) {
                self.kind.front.host.clients.progress.look(&self.events, is_stopped)?;
            }
            self.happen(next);
        }
        Ok((self.events.now, self.kind.volume.front(&self.volume.layout) - self.volume.layout.rebuild_front))
    }

    /// Schedules the first rows of every stream, and the rebuild.
    pub fn begin(&mut self) {
        self.drives.begin(&mut self.events);
        self.start_flusher();
        self.begin_pool();
        for stream in 0..self.kind.front.host.clients.traffic.rules().len() {
            for client in 0..self.kind.front.host.clients.traffic.rules()[stream].n_clients.max(1) {
                if !self.kind.front.host.clients.take_row(stream, client as u32, (0, 0), &mut self.events) {
                    break;
                }
            }
        }
        if !self.kind.front.host.clients.traffic.is_over() {
            self.begin_rebuild();
        }
    }

    /// Lets everything happen up to `time`, that instant included.
    pub fn advance(&mut self, time: i64) {
        while self.events.next_time().is_some_and(|next| next <= time) {
            if let Some(next) = self.events.next() {
                self.happen(next);
            }
        }
    }

    /// When something happens next.
    pub fn next_time(&self) -> Option<i64> {
        self.events.next_time()
    }

    pub fn now(&self) -> i64 {
        self.events.now
    }

    pub fn traffic(&self) -> &T {
        &self.kind.front.host.clients.traffic
    }

    pub fn into_traffic(self) -> T {
        self.kind.front.host.clients.traffic
    }

    pub fn traffic_mut(&mut self) -> &mut T {
        &mut self.kind.front.host.clients.traffic
    }

    /// Places for commands, accesses and requests that were ever needed at once, and events that wait.
    #[cfg(test)]
    pub fn n_slots(&self) -> usize {
        self.drives.n_slots() + self.volume.accesses.len() + self.requests.len() + self.events.len()
    }

    /// When a write first had to wait for room in the write cache.
    pub fn cache_full_ns(&self) -> Option<i64> {
        self.kind.front.cache.as_ref().and_then(|cache| cache.full_ns)
    }

    /// Events that were scheduled so far: what a run costs, the same on every machine.
    pub fn n_events(&self) -> u64 {
        self.events.n_scheduled()
    }

    /// Writes down what stations say to each other from now on, and returns it.
    pub fn log_ports(&mut self) {
        self.events.ports.log();
    }

    pub fn take_ports(&mut self) -> Vec<Said> {
        self.events.ports.take()
    }

    /// Commands that the disks were given so far.
    pub fn n_commands(&self) -> u64 {
        self.drives.n_commands()
    }

    /// Levels after every so many completions.
    pub fn take_levels(&mut self) -> Vec<Levels> {
        self.kind.front.host.clients.progress.take_levels()
    }

    /// Counters of the drives beside the disks in a run that ended at `end`.
    pub fn own_counters(&self, end: i64) -> Vec<Counters> {
        let own = self.kind.volume.own_drives();
        own.into_iter().flatten().flat_map(|drives| drives.counters_until(end)).collect()
    }

    pub fn disks(&self) -> &[D] {
        self.drives.each()
    }

    /// Inside the loop over the events, so that none of them has to save the loop's registers.
    #[inline(always)]
    fn happen(&mut self, next: Next) {
        match next.action() {
            Action::Wake(device) => self.drives.woken(device, &mut self.events),
            Action::CommandDone(id) => self.command_done(id),
            Action::Destaged(device, n) => self.drives.destaged(device, n, &mut self.events),
            Action::Issue(stream, id) => self.issue(stream as usize, id),
            Action::Submitted(host) => self.take_lock(host),
            Action::Entered(host) => self.entered(host),
            Action::Noticed(host) => self.noticed(host),
            Action::Processed(host) => self.processed(host),
            Action::WriteArrived(host) => self.access(host),
            Action::HitServed(host) => self.answered(host),
            Action::ReadSent(host) => self.finished(host),
            Action::WindowEnded(device) => self.window_ended(device),
            Action::TurnEnded => self.turn_ended(),
            Action::FlusherWoken => self.flusher_woken(),
            Action::FlushTurn => self.flush_turn(),
            Action::FlushAsked(flush) => self.flush_asked(flush),
            Action::Journal(step) => self.go_on_with_commit(step),
            Action::LogDelayed(stream) => self.log_delayed(stream),
            Action::PoolDelayed(host) => self.fill(host),
            Action::PoolTaken(host) => self.write_taken(host),
            Action::PoolRead(host) => self.read_done(host),
            Action::L2arcRead(read) => self.l2arc_read(read),
            Action::L2arcFed => self.feed_l2arc(),
            Action::LogIssued(block) => self.log_timed(block),
            Action::Auxiliary(LOG, what) => self.log_drive_happened(what),
            Action::Auxiliary(SPECIAL, what) => self.special_drive_happened(what),
            Action::Auxiliary(_, what) => self.cache_drive_happened(what),
            Action::GroupTimed => self.group_timed(),
            Action::GroupTurn => self.group_turn(),
            Action::GroupPlaced => self.group_placed(),
            Action::GroupEnded => self.group_ended(),
            Action::RebuildStep => self.rebuild_step(),
            Action::BitsDurable => self.bits_durable(),
            Action::UnitsFlushed => self.units_flushed(),
        }
    }

    // ------------------------------------------------------------------ clients
    /// Row `row`, which the traffic knows as `id`, is issued at `time`.
    #[inline(always)]
    pub fn arrive(&mut self, time: i64, stream: u32, id: u32, row: u64) {
        self.events.at(time, ARRIVE, 0, row, Action::Issue(stream, id));
    }

    fn issue(&mut self, stream: usize, id: u32) {
        self.kind.front.host.clients.progress.n_issued += 1;
        if self.kind.front.host.clients.traffic.rules()[stream].n_clients == 0 {
            self.kind.front.host.clients.take_row(stream, 0, (0, 0), &mut self.events);
        }
        let Request { row, stream, op, offset, length, cache_draw } =
            self.kind.front.host.clients.traffic.request(id, self.events.now);
        if !self.kind.front.host.clients.logs.is_empty()
            && self.kind.front.host.clients.traffic.rules()[stream as usize].log_bytes > 0
        {
            return self.append(stream, id, row, length);
        }
        let sector = self.drives.sector_of(offset);
        let end = self.drives.sector_of(offset + length + self.drives.sector_bytes() - 1);
        let host = self.requests.put(HostRequest {
            row,
            id,
            stream,
            op,
            is_hit: self.kind.front.controller.is_hit(cache_draw),
            sector,
            n: end - sector,
            issue: self.events.now,
            ..HostRequest::default()
        });
        if op == FLUSH {
            return self.flush_alone(host);
        }
        if op == WRITE {
            let rule = &self.kind.front.host.clients.traffic.rules()[stream as usize];
            let is_of_file = rule.is_of_file > 0;
            if rule.sync > 0 {
                self.requests[host].sync = self.sync_of(stream, id);
            }
            if is_of_file {
                self.requests[host].is_of_file = true;
            }
        }
        self.submit_request(host);
    }

    #[inline(always)]
    fn sample_levels(&mut self) {
        if !self.kind.front.host.clients.progress.has_done() {
            return;
        }
        let n_dirty = self.kind.front.cache.as_ref().map_or(0, |cache| cache.n_dirty());
        let n_pages = self.page_cache().map_or(0, |(cache, _)| cache.n_dirty() as i64);
        let now = self.events.now;
        let (n_buffered, busy) = self.drives.levels(now);
        self.kind.front.host.clients.progress.record([now, n_dirty, n_buffered, n_pages, busy]);
    }

    #[inline(always)]
    fn done(&mut self, host: u32) {
        let request = &self.requests[host];
        if request.is_batch {
            return self.batch_done(host);
        }
        let &HostRequest { id, stream, issue, .. } = request;
        self.kind.front.host.clients.traffic.done(&request.completion(id, issue, self.events.now));
        self.requests.release(host);
        self.row_done(id, stream as usize, issue);
    }

    /// The records of a batch are done with it, each having waited for it.
    #[inline(never)]
    fn batch_done(&mut self, host: u32) {
        let stream = self.requests[host].stream;
        for Record { id, issue, .. } in self.kind.front.host.clients.take_batch(stream) {
            self.kind.front.host.clients.traffic.done(&self.requests[host].completion(id, issue, self.events.now));
            self.row_done(id, stream as usize, issue);
        }
        self.requests.release(host);
        self.batch_written(stream);
    }

    /// A row has completed: its client, if it has one, takes the stream's next row.
    #[inline(always)]
    fn row_done(&mut self, id: u32, stream: usize, issue: i64) {
        self.sample_levels();
        self.kind.front.host.clients.row_done(id, stream, issue, &mut self.events);
    }
}
