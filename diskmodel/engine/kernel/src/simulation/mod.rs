//! The path of a request: clients, controller, layout, disks; see `diskmodel/engine/reference/simpy_engine.py`.

mod array;
mod bitmap;
mod cached;
mod controller;
mod flushing;
mod group_commit;
mod host;
mod intent_log;
mod journal;
mod page_cache;
mod partial_parity;
mod places;
mod pool;
mod pool_reads;
mod processors;
mod read_ahead;
mod rebuild;
mod scan;
mod stripe_journal;
mod stripes;
mod submission;

use crate::command::{Command, Slots};
use crate::device::Device;
use crate::drives::Drives;
use crate::events::{Action, Events, Next, Step, ARRIVE, COMPLETE};
use crate::layout::{CopyChoice, Layout, Piece, Plan, Ring};
use crate::mechanics::{FLUSH, WRITE};
use crate::progress::Progress;
use crate::traffic::{Completion, Request, Traffic};

use bitmap::Intents;
pub use cached::Cache;
pub use controller::Controller;
use flushing::ClientSyncs;
pub use flushing::Flushes;
use group_commit::{Log, Record};
pub use host::Host;
use journal::Journal;
pub use page_cache::PageCache;
use partial_parity::PartialLogs;
pub use places::Places;
use pool::PoolWrites;
use processors::Processors;
pub use read_ahead::ReadAhead;
use rebuild::Rebuild;
use stripe_journal::StripeJournal;
use stripes::{Stretches, Stripes};
pub use submission::Submitter;

/// Longest run, about 417 days: no single time is longer, so that nothing that is scheduled before leaves 64 bits.
pub const MAX_NS: i64 = 1 << 55;
/// What a longer run says.
pub const TOO_LONG: &str = "the run is longer than 417 days of simulated time";
/// What a run says whose requests wait for a rebuild without an end.
pub const STARVED: &str = "no request completes while 64 GiB are rebuilt";

/// What a run says that was stopped from outside.
pub const STOPPED: &str = "the run was stopped";

/// Whom an access answers to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Owner {
    /// The step that began at this sector of the lost disk's data area.
    Rebuild(i64),
    Host(u32),
    /// Blocks [first, end) of the write cache.
    Destage(i64, i64),
    ReadAhead(u32),
    /// Pages of the write-intent bitmap.
    Bitmap,
    /// The writes that a stretch of rows is part of (rule L15).
    Stripes,
    /// What a unit of the journal was written for (rule Y13), and the superblock of its array.
    Unit(u32),
    Superblock,
    /// A unit of the log of partial parity (rule Y16), and stripes that were in one.
    PartialLog(u32),
    Part(u32),
    /// A record of a pool that is read into memory: somebody waits for it, or it is read ahead.
    Record(i64),
    Ahead(i64),
    /// A write to a pool, for which a record is read.
    Fill(u32),
    /// A block of the log of a pool.
    Log(u32),
    /// A transaction group; so many sectors are clean then.
    Group(i64),
    /// The labels of a pool.
    Labels,
    /// What is resilvered or read by a scrub.
    Scan(scan::Scanned),
}

impl Default for Owner {
    fn default() -> Self {
        Owner::Host(u32::MAX)
    }
}

/// A request to the array while its pieces are out.
#[derive(Default)]
struct ArrayAccess {
    owner: Owner,
    then: Vec<Piece>,
    /// When it was asked for, and when its commands were made.
    asked: i64,
    start: i64,
    /// Its commands pass the submitting thread by (rule Q11).
    is_direct: bool,
    /// Its writes pass the drives' buffers, or are flushed (rule Y4).
    is_fua: bool,
    /// Commands that the next phase waits for, and writes on held disks that it does not wait for.
    out: u32,
    n_following: u32,
    /// First and last bit that it needs, of a write on an array with a bitmap (rule L13).
    bits: Option<(i64, i64)>,
    stretches: Stretches,
    /// What it would write to disks that are lost, on an array with a journal (rule Y13).
    lost: Vec<Piece>,
}

/// Whom a request in the controller answers to.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Purpose {
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
struct HostRequest {
    row: u64,
    id: u32,
    stream: u32,
    op: u8,
    is_hit: bool,
    /// What follows a write (rule Y1).
    sync: i64,
    /// A batch of records of a log (rule Y6).
    is_batch: bool,
    /// A write of a file through the page cache (rule Q10).
    is_of_file: bool,
    purpose: Purpose,
    sector: i64,
    n: i64,
    issue: i64,
    link: i64,
    cache: i64,
    queue: i64,
    overhead: i64,
    parity: i64,
    sync_ns: i64,
    last: Times,
}

impl HostRequest {
    /// What became of a row, issued at `issue`, that it was made for.
    #[inline(always)]
    fn completion(&self, id: u32, issue: i64, done: i64) -> Completion {
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
struct Times {
    submitted: i64,
    done: i64,
    overhead: i64,
    seek: i64,
    rotation: i64,
    transfer: i64,
}

impl Times {
    fn of(command: &Command) -> Self {
        let &Command { submitted, done, overhead, seek, rotation, transfer, .. } = command;
        Times { submitted, done, overhead, seek, rotation, transfer }
    }
}

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
    pub places: Option<Places>,
    pub flushes: Flushes,
    /// Writes that the disks' buffers hold when the run begins.
    pub n_buffered: u64,
    /// Of a transaction group whose writing begins with the run: records, indirect blocks, records below which data is.
    pub group: [i64; 3],
    /// The cache devices of a pool.
    pub ring: Option<Box<Ring>>,
    /// Levels are recorded after every so many completions; 0: never.
    pub sample_every: u64,
}

/// What waits to be written (rule Z7): the time, blocks of the controller's cache, sectors in the drives' buffers, pages;
/// and the mean busy time of the disks.
pub type Levels = [i64; 5];

pub struct Simulation<D: Device, T> {
    events: Events,
    accesses: Slots<ArrayAccess>,
    hosts: Slots<HostRequest>,
    drives: Drives<D>,
    layout: Layout,
    controller: Controller,
    cache: Option<Box<Cache>>,
    host: Option<Box<Host>>,
    processors: Processors,
    submitter: Option<Box<Submitter>>,
    places: Option<Box<Places>>,
    flushes: Box<Flushes>,
    pool: Option<Box<PoolWrites>>,
    /// Whether there are writes that pass the drives' buffers.
    has_passing: bool,
    syncs: Option<Box<ClientSyncs>>,
    journal: Option<Box<Journal>>,
    /// Of each stream, where there are any.
    logs: Vec<Log>,
    intents: Option<Box<Intents>>,
    stripes: Option<Box<Stripes>>,
    stripe_journal: Option<Box<StripeJournal>>,
    partial: Option<Box<PartialLogs>>,
    /// Scratch space for the commands of an access.
    ids: Vec<u32>,
    traffic: T,
    plan: Plan,
    choice: CopyChoice,
    rebuild: Rebuild,
    progress: Progress,
}

impl<D: Device, T: Traffic> Simulation<D, T> {
    pub fn new(parts: Parts<D>, traffic: T) -> Self {
        let Parts { model, disks, before } = parts;
        let BeforeDisks {
            layout,
            controller,
            cache,
            host,
            submitter,
            places,
            flushes,
            n_buffered,
            group,
            ring,
            sample_every,
        } = before;
        let drives = Drives::new(disks, model, n_buffered);
        let journal = Journal::of(traffic.rules(), drives.sector_bytes(), flushes.turn_ns()).map(Box::new);
        Simulation {
            has_passing: flushes.has_passing(traffic.rules(), journal.is_some()),
            journal,
            pool: PoolWrites::new(&layout, flushes.turn_ns(), group, ring).map(Box::new),
            flushes: Box::new(flushes),
            syncs: ClientSyncs::of(traffic.rules()).map(Box::new),
            logs: Log::of(traffic.rules()),
            events: Events::default(),
            accesses: Slots::default(),
            hosts: Slots::default(),
            choice: CopyChoice::new(&layout, drives.each().len()),
            drives,
            rebuild: Rebuild::new(&layout),
            intents: Intents::of(&layout).map(Box::new),
            stripes: Stripes::of(&layout).map(Box::new),
            stripe_journal: StripeJournal::of(&layout).map(Box::new),
            partial: PartialLogs::of(&layout).map(Box::new),
            layout,
            controller,
            cache: cache.map(Box::new),
            processors: Processors::new(host.as_ref().map_or(1, |host| host.n_processors)),
            host: host.map(Box::new),
            submitter: submitter.map(Box::new),
            places: places.map(Box::new),
            ids: Vec::new(),
            traffic,
            plan: Plan::default(),
            progress: Progress::new(sample_every),
        }
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
        while !self.traffic.is_over() {
            let next = self.events.next().ok_or("no event is left, but requests are")?;
            if self.progress.is_due(&self.events) {
                self.progress.look(&self.events, is_stopped)?;
            }
            self.happen(next);
        }
        let front = self.pool.as_ref().and_then(|pool| pool.scan_front()).unwrap_or_else(|| self.rebuild.front());
        Ok((self.events.now, front - self.layout.rebuild_front))
    }

    /// Schedules the first rows of every stream, and the rebuild.
    pub fn begin(&mut self) {
        self.drives.begin(&mut self.events);
        self.start_flusher();
        self.begin_pool();
        for stream in 0..self.traffic.rules().len() {
            for client in 0..self.traffic.rules()[stream].n_clients.max(1) {
                if !self.take_row(stream, client as u32, 0, 0) {
                    break;
                }
            }
        }
        if self.rebuild.has_work(&self.layout) && !self.traffic.is_over() {
            self.schedule_rebuild(0);
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
        &self.traffic
    }

    pub fn into_traffic(self) -> T {
        self.traffic
    }

    pub fn traffic_mut(&mut self) -> &mut T {
        &mut self.traffic
    }

    /// Places for commands, accesses and requests that were ever needed at once, and events that wait.
    #[cfg(test)]
    pub fn n_slots(&self) -> usize {
        self.drives.n_slots() + self.accesses.len() + self.hosts.len() + self.events.len()
    }

    /// When a write first had to wait for room in the write cache.
    pub fn cache_full_ns(&self) -> Option<i64> {
        self.cache.as_ref().and_then(|cache| cache.full_ns)
    }

    /// Events that were scheduled so far: what a run costs, the same on every machine.
    pub fn n_events(&self) -> u64 {
        self.events.n_scheduled()
    }

    /// Commands that the disks were given so far.
    pub fn n_commands(&self) -> u64 {
        self.drives.n_commands()
    }

    /// Levels after every so many completions.
    pub fn take_levels(&mut self) -> Vec<Levels> {
        self.progress.take_levels()
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
            Action::RingRead(read) => self.ring_read(read),
            Action::RingFed => self.feed_ring(),
            Action::LogIssued(block) => self.log_timed(block),
            Action::LogDeviceDone(block) => self.on_log_device(block),
            Action::SpecialDone => self.special_done(),
            Action::GroupTimed => self.group_timed(),
            Action::GroupTurn => self.group_turn(),
            Action::GroupPlaced => self.group_placed(),
            Action::GroupEnded => self.group_ended(),
            Action::RebuildStep => self.rebuild_step(),
            Action::BitsDurable => self.bits_durable(),
            Action::UnitWritten => self.unit_written(),
            Action::UnitsFlushed => self.units_flushed(),
        }
    }

    // ------------------------------------------------------------------ clients
    /// Lets a stream take its next row; false when it has none.
    #[inline(always)]
    fn take_row(&mut self, stream: usize, client: u32, earliest: i64, base: i64) -> bool {
        let Some(taken) = self.traffic.take(stream) else { return false };
        if let Some(syncs) = &mut self.syncs {
            syncs.took(taken.id, client);
        }
        let is_open = self.traffic.rules()[stream].n_clients == 0;
        let time = if is_open { taken.when } else { base.saturating_add(taken.when).max(earliest) };
        self.arrive(time, stream as u32, taken.id, taken.row);
        true
    }

    /// Row `row`, which the traffic knows as `id`, is issued at `time`.
    #[inline(always)]
    pub fn arrive(&mut self, time: i64, stream: u32, id: u32, row: u64) {
        self.events.at(time, ARRIVE, 0, row, Action::Issue(stream, id));
    }

    fn issue(&mut self, stream: usize, id: u32) {
        self.progress.n_issued += 1;
        if self.traffic.rules()[stream].n_clients == 0 {
            self.take_row(stream, 0, 0, 0);
        }
        let Request { row, stream, op, offset, length, cache_draw } = self.traffic.request(id, self.events.now);
        if !self.logs.is_empty() && self.traffic.rules()[stream as usize].log_bytes > 0 {
            return self.append(stream, id, row, length);
        }
        let sector = self.drives.sector_of(offset);
        let end = self.drives.sector_of(offset + length + self.drives.sector_bytes() - 1);
        let host = self.hosts.put(HostRequest {
            row,
            id,
            stream,
            op,
            is_hit: self.controller.is_hit(cache_draw),
            sector,
            n: end - sector,
            issue: self.events.now,
            ..HostRequest::default()
        });
        if op == FLUSH {
            return self.flush_alone(host);
        }
        if op == WRITE {
            let rule = &self.traffic.rules()[stream as usize];
            let is_of_file = rule.is_of_file > 0;
            if rule.sync > 0 {
                self.hosts[host].sync = self.sync_of(stream, id);
            }
            if is_of_file {
                self.hosts[host].is_of_file = true;
            }
        }
        if self.host.is_some() {
            self.submit_to_host(host);
        } else {
            self.submit_to_controller(host);
        }
    }

    // ------------------------------------------------------------------ answers
    /// The controller has answered, now; a processor of the host that stands still notices it later (rule H4).
    #[inline(always)]
    fn finished(&mut self, host: u32) {
        self.take_place();
        let now = self.events.now;
        let device = self.drives.len() + 2;
        if let Some(pauses) = self.host.as_mut().and_then(|host| host.answer_pauses.as_mut()) {
            let noticed = pauses.awake(now);
            if noticed > now {
                let request = &mut self.hosts[host];
                request.queue += noticed - now;
                return self.events.at(noticed, COMPLETE, device, request.row, Action::Noticed(host));
            }
        }
        self.noticed(host);
    }

    #[inline(always)]
    fn noticed(&mut self, host: u32) {
        let HostRequest { purpose, sector, n, sync, .. } = self.hosts[host];
        match purpose {
            Purpose::Client if sync > 0 => self.make_safe(host),
            Purpose::Client => self.done(host),
            Purpose::Flush(asked) => {
                self.hosts.release(host);
                self.made_safe(asked);
            }
            Purpose::Journal(next) => {
                self.hosts.release(host);
                self.journal_answered(next);
            }
            Purpose::Committed => {
                self.hosts.release(host);
                self.committed();
            }
            Purpose::Window => {
                self.hosts.release(host);
                self.fetched(sector, sector + n);
            }
            Purpose::Page(at) => {
                self.hosts.release(host);
                self.page_came(at, sector);
            }
            Purpose::Part(at) => {
                self.hosts.release(host);
                self.part_written(at);
            }
            Purpose::WriteBack => {
                self.hosts.release(host);
                self.written_back(sector, n);
            }
        }
    }

    #[inline(always)]
    fn sample_levels(&mut self) {
        if !self.progress.has_done() {
            return;
        }
        let n_dirty = self.cache.as_ref().map_or(0, |cache| cache.n_dirty());
        let n_pages = self.page_cache().map_or(0, |(cache, _)| cache.n_dirty() as i64);
        let now = self.events.now;
        let (n_buffered, busy) = self.drives.levels(now);
        self.progress.record([now, n_dirty, n_buffered, n_pages, busy]);
    }

    #[inline(always)]
    fn done(&mut self, host: u32) {
        let request = &self.hosts[host];
        if request.is_batch {
            return self.batch_done(host);
        }
        let &HostRequest { id, stream, issue, .. } = request;
        self.traffic.done(&request.completion(id, issue, self.events.now));
        self.hosts.release(host);
        self.row_done(id, stream as usize, issue);
    }

    /// The records of a batch are done with it, each having waited for it.
    #[inline(never)]
    fn batch_done(&mut self, host: u32) {
        let stream = self.hosts[host].stream;
        for Record { id, issue, .. } in self.take_batch(stream) {
            self.traffic.done(&self.hosts[host].completion(id, issue, self.events.now));
            self.row_done(id, stream as usize, issue);
        }
        self.hosts.release(host);
        self.batch_written(stream);
    }

    /// A row has completed: its client, if it has one, takes the stream's next row.
    #[inline(always)]
    fn row_done(&mut self, id: u32, stream: usize, issue: i64) {
        self.sample_levels();
        let client = self.syncs.as_mut().map_or(0, |syncs| syncs.of_row(id));
        let rule = &self.traffic.rules()[stream];
        if rule.n_clients > 0 {
            let earliest = issue + rule.pace_ns;
            self.take_row(stream, client, earliest, self.events.now);
        }
    }
}
