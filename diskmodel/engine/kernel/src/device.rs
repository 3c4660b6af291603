//! What every disk of an array has: a queue in front, command slots, counters (rules Q0, D1, D2); see
//! `diskmodel/engine/reference/device.py`.

use crate::command::{Command, Commands};
use crate::drives::write_zones::WriteZones;
use crate::events::{Action, Events, COMPLETE, DISPATCH, LAST_NS};
use crate::layout::DiskState;
use crate::mechanics::WRITE;
#[cfg(feature = "movements")]
use crate::movement::Movement;
use crate::queue::{Arms, ByClass, Margin, Policy, Pool, PoolRules, Waiting};

/// A disk of the array, as the simulation sees it. One simulation has disks of one kind, so that nothing is looked up
/// at run time.
pub trait Device {
    /// What every disk of the array shares.
    type Model: Shared;

    fn front(&self) -> &Front;

    fn front_mut(&mut self) -> &mut Front;

    /// Puts a command into the queue, now.
    fn submit(&mut self, id: u32, model: &Self::Model, commands: &mut Commands, events: &mut Events) {
        let waiting = waiting_of(id, commands, events.now);
        self.front_mut().submit(waiting, model.depth(), commands, events, |_| ());
    }

    /// Takes a write behind a read that holds the disk; a disk without an arm has nothing to hold (rule L12).
    fn follow(&mut self, id: u32, model: &Self::Model, commands: &mut Commands, events: &mut Events) {
        self.submit(id, model, commands, events);
    }

    /// Takes a flush: it passes the queue and takes no slot (rule D10).
    fn flush(&mut self, id: u32, commands: &mut Commands, events: &mut Events) {
        commands[id].arrived = events.now;
        let front = self.front_mut();
        front.flushes.push(id);
        front.wake(events.now, events);
    }

    /// Starts what can be started now.
    fn woken(&mut self, model: &Self::Model, commands: &mut Commands, events: &mut Events);

    /// Buffered sectors have reached the media.
    fn destaged(&mut self, _n: u32, _events: &mut Events) {}

    /// Sectors in the drive's buffer that are not on the media (rule Z7); 0 where they are not followed.
    fn n_buffered(&self) -> i64 {
        0
    }

    /// Records what the arm does from now on; a disk without one has nothing to record.
    #[cfg(feature = "movements")]
    fn record(&mut self) {}

    /// What was recorded.
    #[cfg(feature = "movements")]
    fn movements(&self) -> &[Movement] {
        &[]
    }

    /// Whether nothing of commands below number `seq` is in a volatile buffer any more.
    fn is_durable(&self, _seq: u64) -> bool {
        true
    }

    /// A command leaves the disk.
    fn complete(&mut self, command: &Command, events: &mut Events) {
        let front = self.front_mut();
        front.complete(command);
        if !front.is_idle() {
            front.wake(events.now, events);
        }
    }

    /// Counters of a run that ended at `end` (rule D7): what is booked ahead of it is no busy time of the run.
    fn counters_until(&self, end: i64) -> Counters {
        let mut counters = self.front().counters;
        counters.busy_ns = counters.busy_ns.min(end);
        counters
    }
}

/// What the path of a request asks of the drives' description.
pub trait Shared {
    fn sector_bytes(&self) -> i64;

    /// Pieces are cut at multiples of so many blocks (rule D8).
    fn border(&self) -> i64;

    /// Commands that a drive accepts at once.
    fn depth(&self) -> usize;
}

/// A command as it waits on a drive without arms, from `now` on.
#[inline(always)]
pub fn waiting_of(id: u32, commands: &Commands, now: i64) -> Waiting {
    let Command { seq, op, lba, n, .. } = commands[id];
    Waiting { seq, op, lba, n, arrived: now, id, ..Waiting::default() }
}

/// A drive without arms: every place is as near as any other.
pub struct NoArms;

impl Arms for NoArms {
    fn time_ns(&self, _waiting: &Waiting, _margin: Margin) -> i64 {
        0
    }

    fn cylinder(&self, _actuator: u32) -> i64 {
        0
    }

    fn least_ns(&self, _distance: i64) -> i64 {
        0
    }
}

/// Lets a command complete at `done`.
pub fn answer(id: u32, done: i64, commands: &mut Commands, events: &mut Events) {
    let command = &mut commands[id];
    command.done = done;
    events.at(done, COMPLETE, command.device, command.seq, Action::CommandDone(id));
}

#[derive(Clone, Copy, Debug, Default)]
pub struct Counters {
    pub busy_ns: i64,
    pub response_ns: i128,
    pub n_reads: i64,
    pub n_writes: i64,
    pub read_sectors: i64,
    pub write_sectors: i64,
    pub n_cache_hits: i64,
    pub read_response_ns: i64,
    pub n_flushes: i64,
    /// Units of flash: written by the host, and programmed for them (rule F22).
    pub n_units_written: i64,
    pub n_units_programmed: i64,
    /// Operations that commands counted for against a limit (rule U1).
    pub n_charged: i64,
}

/// Commands that the drive accepts at once, and what its processor takes for each at least.
#[derive(Clone, Copy, Debug)]
pub struct Intake {
    pub depth: usize,
    /// Of a read, and of a write.
    pub overhead_ns: [i64; 2],
}

impl Intake {
    /// Whether the processor takes time for an operation.
    pub fn takes_time(&self, op: u8) -> bool {
        self.overhead_ns(op) > 0
    }

    /// When a plain processor begins with a command that is handed over now, and for how long it works on it.
    pub fn begin(&self, op: u8, now: i64, free: i64) -> (i64, i64) {
        (now.max(free), self.overhead_ns(op))
    }

    /// What the processor takes for a command at least.
    #[inline(always)]
    pub fn overhead_ns(&self, op: u8) -> i64 {
        // no branch: which operation comes next cannot be guessed
        self.overhead_ns[usize::from(op == WRITE)]
    }
}

/// No time.
const NEVER: i64 = i64::MAX;

/// The queue in front of a drive.
pub struct Front {
    pub index: u32,
    pub pending: usize,
    pub completed_end: i64,
    pub counters: Counters,
    pub waiting: Pool,
    /// Flushes that the drive has not been given.
    pub flushes: Vec<u32>,
    /// Sectors up to which adjacent waiting commands become one; 0: they do not.
    merge_limit: i64,
    /// What waits on a disk of a pool, instead.
    by_class: Option<Box<ByClass>>,
    /// Whether a write may bypass this queue at the instant at which its read completes (rule L12).
    is_bypassed: bool,
    /// Of a drive whose host writes zones in order (rule N2).
    zones: Option<Box<WriteZones>>,
    scheduler: Policy,
    in_drive: usize,
    electronics_free_ns: i64,
    handed_end: i64,
    /// When it is woken: the first of these times, and the others.
    woken_at: i64,
    others: Vec<i64>,
}

impl Front {
    pub fn new(index: u32, scheduler: &Policy) -> Self {
        Front {
            index,
            pending: 0,
            completed_end: 0,
            counters: Counters::default(),
            waiting: Pool::default(),
            flushes: Vec::new(),
            merge_limit: 0,
            by_class: None,
            is_bypassed: false,
            zones: None,
            scheduler: scheduler.clone(),
            in_drive: 0,
            electronics_free_ns: 0,
            handed_end: 0,
            woken_at: NEVER,
            others: Vec::new(),
        }
    }

    /// What a copy is chosen by: commands that have not completed, without those of a scan that wait (rule X6).
    #[inline(always)]
    pub fn state(&self) -> DiskState {
        let n_scanned = self.by_class.as_ref().map_or(0, |waiting| waiting.n_scanned);
        DiskState { pending: self.pending - n_scanned, completed_end: self.completed_end }
    }

    /// Lets adjacent waiting commands become one of up to `sectors` (rule Q9).
    pub fn merge_up_to(&mut self, sectors: i64) {
        self.merge_limit = sectors;
        self.waiting.merges = sectors > 0;
    }

    /// Commands wait by class.
    pub fn divide_into_classes(&mut self, rules: PoolRules) {
        self.by_class = Some(Box::new(ByClass::new(rules)));
    }

    /// Somebody waits for the reads ahead of these accesses now (rule X14).
    pub fn promote(&mut self, commands: &mut Commands, accesses: &[u32], events: &mut Events) {
        if self.by_class.as_mut().is_some_and(|waiting| waiting.promote(commands, accesses)) {
            self.wake(events.now, events);
        }
    }

    /// A processor works so long on each write of a group that another one includes, before the drive is given both (rule X17).
    pub fn hand_over_within(&mut self, ns: i64) {
        if let Some(waiting) = &mut self.by_class {
            waiting.hand_ns = ns;
        }
    }

    /// How many writes of a group the drive is given at once from now on.
    pub fn give_group_writes(&mut self, n: usize, events: &mut Events) {
        if self.by_class.as_mut().is_some_and(|waiting| waiting.give_group_writes(n)) {
            self.wake(events.now, events);
        }
    }

    /// Whether commands wait by class.
    #[inline(always)]
    pub fn is_of_pool(&self) -> bool {
        self.by_class.is_some()
    }

    /// Whether nothing waits.
    #[inline(always)]
    pub fn is_idle(&self) -> bool {
        self.waiting.is_empty() && self.by_class.as_ref().is_none_or(|waiting| waiting.is_empty())
    }

    /// Lets only one write of each zone into the queue.
    pub fn write_in(&mut self, zones: WriteZones) {
        self.zones = Some(Box::new(zones));
    }

    /// Keeps a command in front of the queue that is a write, and whose zone is being written (rule N2).
    #[inline(always)]
    pub fn holds_back(&mut self, id: u32, commands: &Commands) -> bool {
        let is_held = self.zones.as_mut().is_some_and(|zones| zones.holds_back(id, commands));
        self.pending += usize::from(is_held);
        is_held
    }

    /// The write that enters the queue now that `done` has left the drive (rule N2): whoever submits it counts it again.
    #[inline(always)]
    pub fn next_of_zone(&mut self, done: &Command, commands: &mut Commands) -> Option<u32> {
        let next = self.zones.as_mut()?.next(done, commands);
        self.pending -= usize::from(next.is_some());
        next
    }

    /// Writes bypass this queue: a command that arrives must wait for the dispatches of its instant, because a write that
    /// bypasses the queue at the same instant comes first (rule L12).
    pub fn expect_bypass(&mut self) {
        self.is_bypassed = true;
    }

    /// Puts a command into the queue; `aim` finds anew where one begins that it joins there.
    pub fn submit(
        &mut self,
        waiting: Waiting,
        depth: usize,
        commands: &mut Commands,
        events: &mut Events,
        aim: impl FnOnce(&mut Waiting),
    ) {
        self.pending += 1;
        commands[waiting.id].arrived = events.now;
        if self.merge_limit > 0 && self.merge(&waiting, commands, aim) {
            return;
        }
        match &mut self.by_class {
            Some(by_class) => by_class.push(waiting, &commands[waiting.id]),
            None => self.waiting.push(waiting, &self.scheduler),
        }
        // a drive that has no slot takes nothing until a command leaves it
        if self.in_drive < depth {
            self.wake(events.now, events);
        }
    }

    /// Joins a command to the first waiting one that it continues or precedes (rule Q9); `aim` gives where that begins
    /// then.
    fn merge(&mut self, new: &Waiting, commands: &mut Commands, aim: impl FnOnce(&mut Waiting)) -> bool {
        if commands[new.id].holds {
            return false;
        }
        let limit = self.merge_limit;
        let mut leader = new.id;
        let is_fua = commands[new.id].is_fua;
        let zones = self.zones.as_ref();
        let takes = |w: &Waiting| {
            w.n + new.n <= limit
                && w.actuator == new.actuator
                && !commands[w.id].holds
                && commands[w.id].is_fua == is_fua
                && zones.is_none_or(|zones| zones.are_together(w.lba, new.lba))
        };
        let is_joined = self.waiting.join(new, &self.scheduler, takes, |w| {
            w.lba = w.lba.min(new.lba);
            w.n += new.n;
            aim(w);
            leader = w.id;
        });
        if !is_joined {
            return false;
        }
        let command = &mut commands[leader];
        command.lba = command.lba.min(new.lba);
        command.n += new.n;
        let last = std::mem::replace(&mut command.last_joined, new.id + 1);
        let last = if last == 0 { leader } else { last - 1 };
        commands[last].next_joined = new.id + 1;
        true
    }

    /// A command that was served as part of another one leaves the disk with it.
    pub fn complete_joined(&mut self, command: &Command) {
        self.pending -= 1;
        let response = command.done - command.submitted;
        self.counters.response_ns += i128::from(response);
        let read_ns = if command.op == WRITE { 0 } else { response };
        self.counters.read_response_ns = self.counters.read_response_ns.saturating_add(read_ns);
    }

    /// See what can be started at `time`, after everything else of that instant (rule T4).
    #[inline(always)]
    pub fn wake(&mut self, time: i64, events: &mut Events) {
        if time != self.woken_at {
            self.wake_also(time, events);
        }
    }

    #[inline(never)]
    fn wake_also(&mut self, time: i64, events: &mut Events) {
        if self.woken_at == NEVER {
            self.woken_at = time;
        } else if self.others.contains(&time) {
            return;
        } else {
            self.others.push(time.max(self.woken_at));
            self.woken_at = time.min(self.woken_at);
        }
        events.at(time, DISPATCH, self.index, 0, Action::Wake(self.index));
    }

    /// It is woken now, at the first of the times.
    #[inline(always)]
    pub fn woken(&mut self) {
        self.woken_at = NEVER;
        if !self.others.is_empty() {
            self.move_first();
        }
    }

    #[inline(never)]
    fn move_first(&mut self) {
        let first = (0..self.others.len()).min_by_key(|&at| self.others[at]);
        if let Some(first) = first {
            self.woken_at = self.others.swap_remove(first);
        }
    }

    /// The next command that the drive takes now, if it takes one (rules D1 and D2).
    ///
    /// `begin` maps the time at which the processor is free to when it begins with the command, and how long it takes.
    #[inline(always)]
    pub fn hand_over(
        &mut self,
        depth: usize,
        now: i64,
        commands: &mut Commands,
        arms: &impl Arms,
        begin: impl FnOnce(&Waiting, i64) -> (i64, i64),
    ) -> Option<Waiting> {
        if self.in_drive >= depth {
            return None;
        }
        let mut waiting = if self.is_of_pool() {
            self.take_by_class(now, commands)?
        } else {
            if self.waiting.is_empty() {
                return None;
            }
            self.waiting.take(&mut self.scheduler, self.handed_end, now, arms)?
        };
        self.handed_end = waiting.lba + waiting.n;
        self.accept(&mut waiting, now, commands, begin);
        Some(waiting)
    }

    /// The next command of a pool, with those near it that it includes (rules X8, X14, X17).
    #[inline(never)]
    fn take_by_class(&mut self, now: i64, commands: &mut Commands) -> Option<Waiting> {
        let by_class = self.by_class.as_mut()?;
        let mut waiting = by_class.take(self.handed_end)?;
        let n = by_class.gather(&mut waiting, now, commands);
        let command = &commands[waiting.id];
        by_class.count_active(command);
        if command.is_of_group {
            self.electronics_free_ns = self.electronics_free_ns.max(now + n * by_class.hand_ns);
        }
        Some(waiting)
    }

    /// When the drive's processor has finished everything that was handed over.
    pub fn processor_free_ns(&self) -> i64 {
        self.electronics_free_ns
    }

    /// Whether a command that comes now is handed over at once, whatever else comes at this instant.
    #[inline]
    pub fn takes_at_once(&self, depth: usize) -> bool {
        let is_alone = self.waiting.is_empty() && self.merge_limit == 0 && !self.is_bypassed && !self.is_of_pool();
        self.scheduler.is_in_order() && is_alone && self.in_drive < depth
    }

    /// Takes a command that need not wait in the queue.
    #[inline(always)]
    pub fn take_at_once(
        &mut self,
        waiting: &mut Waiting,
        now: i64,
        commands: &mut Commands,
        begin: impl FnOnce(&Waiting, i64) -> (i64, i64),
    ) {
        self.pending += 1;
        self.handed_end = waiting.lba + waiting.n;
        self.accept(waiting, now, commands, begin);
    }

    /// A command in the drive's processor (rule D1).
    #[inline(always)]
    pub fn accept(
        &mut self,
        waiting: &mut Waiting,
        now: i64,
        commands: &mut Commands,
        begin: impl FnOnce(&Waiting, i64) -> (i64, i64),
    ) {
        self.in_drive += 1;
        let (from, overhead) = begin(waiting, self.electronics_free_ns);
        let command = &mut commands[waiting.id];
        command.overhead = overhead;
        self.electronics_free_ns = (from + overhead).min(LAST_NS);
        waiting.ready = self.electronics_free_ns;
        waiting.arrived = now;
        command.ready = self.electronics_free_ns;
        command.arrived = now;
    }

    /// A flush in the drive's processor; returns when it is done with it (rules D1, D10).
    pub fn process_flush(&mut self, begin: impl FnOnce(i64) -> (i64, i64)) -> i64 {
        let (from, overhead) = begin(self.electronics_free_ns);
        self.electronics_free_ns = (from + overhead).min(LAST_NS);
        self.electronics_free_ns
    }

    #[inline(always)]
    pub fn complete(&mut self, command: &Command) {
        self.in_drive -= 1;
        self.pending -= 1;
        if let Some(by_class) = &mut self.by_class {
            by_class.count_ended(command);
        }
        if !command.is_bitmap {
            self.completed_end = command.lba + command.n;
        }
        let counters = &mut self.counters;
        let response = command.done - command.submitted;
        counters.response_ns += i128::from(response);
        counters.n_cache_hits += i64::from(command.is_hit);
        // no branch: which operation comes next cannot be guessed
        let is_read = i64::from(command.op != WRITE);
        counters.n_reads += is_read;
        counters.n_writes += 1 - is_read;
        counters.read_sectors += command.n & -is_read;
        counters.write_sectors += command.n & (is_read - 1);
        counters.read_response_ns = counters.read_response_ns.saturating_add(response & -is_read);
    }
}
