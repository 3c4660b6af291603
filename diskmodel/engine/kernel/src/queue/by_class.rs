//! The queue in front of a disk of a pool: commands by class, of which the drive is given so many at once each (rules X8,
//! X14); see `diskmodel/engine/reference/device.py`.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

use rustc_hash::FxHashMap;

use super::Waiting;
use crate::command::{Command, Commands};
use crate::layout::ScanTables;
use crate::mechanics::READ;

/// Waiting commands, from the one that came first, among which a command looks for others to include; one of a scan looks
/// at all (rule X8).
const LOOKED_AT: usize = 256;

/// Classes: reads and writes that somebody waits for, reads ahead, writes of a transaction group; reads of a scan (rule
/// X14). The first that may be given goes first.
const READS: usize = 0;
const AWAITED: usize = 1;
const AHEAD: usize = 2;
const OF_GROUP: usize = 3;
const OF_SCAN: usize = 4;
const N_CLASSES: usize = 5;
/// Bits of a time in ns below which writes of a group count as equally old: 0.54 s.
const AGE_BITS: u32 = 29;

/// How a pool gives commands to a drive.
pub struct PoolRules {
    /// Sectors that a read may skip to include another that waits, of padding between two writes that become one, and of
    /// what becomes one at most.
    pub read_gap: i64,
    pub write_gap: i64,
    pub longest: i64,
    /// Blocks of one arm: what lies on different arms is not read together.
    pub border: i64,
    /// Commands that somebody waits for, and reads ahead, that the drive is given at once.
    pub most: i64,
    pub most_ahead: i64,
    pub scan: ScanTables,
}

/// A waiting command and what is looked at to find others near it.
struct Queued {
    waiting: Waiting,
    class: usize,
    kind: Kind,
    access: u32,
}

/// Operation, and whether it is of a group, and of a scan: only commands that are alike become one.
#[derive(Clone, Copy)]
struct Kind {
    op: u8,
    is_of_group: bool,
    is_of_scan: bool,
}

impl Kind {
    fn of(command: &Command) -> Self {
        Kind { op: command.op, is_of_group: command.is_of_group, is_of_scan: command.is_of_scan }
    }

    fn number(self) -> u64 {
        u64::from(self.op) << 2 | u64::from(self.is_of_group) << 1 | u64::from(self.is_of_scan)
    }
}

/// A group of commands, the first block of one of them, and its number, in one number that is compared at once.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Place(u128);

impl Place {
    const SEQ_BITS: u32 = 44;
    const LBA_BITS: u32 = 50;

    #[inline(always)]
    fn new(group: u64, lba: i64, seq: u64) -> Self {
        debug_assert!((0..1 << Self::LBA_BITS).contains(&lba) && seq < 1 << Self::SEQ_BITS && group < 1 << 34);
        let upper = u128::from(group) << Self::LBA_BITS | lba as u128;
        Place(upper << Self::SEQ_BITS | u128::from(seq))
    }

    #[inline(always)]
    fn group(self) -> u64 {
        (self.0 >> (Self::LBA_BITS + Self::SEQ_BITS)) as u64
    }

    #[inline(always)]
    fn lba(self) -> i64 {
        (self.0 >> Self::SEQ_BITS) as i64 & ((1 << Self::LBA_BITS) - 1)
    }
}

/// The orders of the first and of the last of some commands, and how many there are.
#[derive(Clone, Copy)]
struct Span {
    first: u64,
    last: u64,
    n: usize,
}

/// Waiting commands by class.
pub struct ByClass {
    rules: PoolRules,
    /// Commands of each class that the drive is given at once, and that it has.
    most: [usize; OF_SCAN],
    active: [usize; N_CLASSES],
    /// Reads of a scan that the drive may be given beside other commands, or that have ended since.
    credit: i64,
    /// What a processor does for each write of a group that another one includes.
    pub hand_ns: i64,
    /// All that waits, in the order in which it came, with gaps; the order of the first, and how many there are.
    entries: VecDeque<Option<Queued>>,
    first_order: u64,
    n_waiting: usize,
    /// The order below which the first `LOOKED_AT` of them are.
    looked_below: u64,
    /// The order of reads and awaited writes; of others, by age, place and number of the command, in which they are
    /// served by sweeps over the disk.
    in_turn: [BTreeSet<u64>; AHEAD],
    in_sweeps: [BTreeMap<Place, u64>; N_CLASSES - AHEAD],
    /// Reads ahead by access: where they are among all that waits.
    ahead: FxHashMap<u32, Span>,
    /// The order of each by kind, place and number, and the most sectors that any had.
    by_place: BTreeMap<Place, u64>,
    longest: i64,
    /// Those of a scan (rule X6).
    pub n_scanned: usize,
    /// Scratch space for the order of what a command includes.
    near: Vec<u64>,
}

impl ByClass {
    /// A queue without commands; of a group the drive is given none at first.
    pub fn new(rules: PoolRules) -> Self {
        let (most, ahead) = (rules.most as usize, rules.most_ahead as usize);
        ByClass {
            rules,
            most: [most, most, ahead, 0],
            active: [0; N_CLASSES],
            credit: 0,
            hand_ns: 0,
            entries: VecDeque::new(),
            first_order: 0,
            n_waiting: 0,
            looked_below: 0,
            in_turn: Default::default(),
            in_sweeps: Default::default(),
            ahead: FxHashMap::default(),
            by_place: BTreeMap::new(),
            longest: 0,
            n_scanned: 0,
            near: Vec::new(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.n_waiting == 0
    }

    /// Class of a command; writes of a sequential resilver are of that of its reads (rule X25).
    fn class_of(&self, command: &Command) -> usize {
        match command.op {
            _ if command.is_of_scan && (command.op == READ || self.rules.scan.segment > 0) => OF_SCAN,
            READ if command.is_ahead => AHEAD,
            READ => READS,
            _ if command.is_of_group || command.is_of_scan => OF_GROUP,
            _ => AWAITED,
        }
    }

    pub fn push(&mut self, waiting: Waiting, command: &Command) {
        let order = self.first_order + self.entries.len() as u64;
        let class = self.class_of(command);
        let kind = Kind::of(command);
        if class < AHEAD {
            self.in_turn[class].insert(order);
        } else {
            self.in_sweeps[class - AHEAD].insert(turn_of(&waiting), order);
        }
        if class == AHEAD {
            let span = self.ahead.entry(command.access).or_insert(Span { first: order, last: order, n: 0 });
            (span.last, span.n) = (order, span.n + 1);
        }
        self.by_place.insert(Place::new(kind.number(), waiting.lba, waiting.seq), order);
        self.longest = self.longest.max(waiting.n);
        self.n_scanned += usize::from(command.is_of_scan);
        self.entries.push_back(Some(Queued { waiting, class, kind, access: command.access }));
        self.n_waiting += 1;
        if self.n_waiting <= LOOKED_AT {
            self.looked_below = order + 1;
        }
    }

    fn remove(&mut self, order: u64) -> Option<Waiting> {
        let at = (order - self.first_order) as usize;
        let Queued { waiting, class, kind, access } = self.entries.get_mut(at)?.take()?;
        if class < AHEAD {
            self.in_turn[class].remove(&order);
        } else {
            self.in_sweeps[class - AHEAD].remove(&turn_of(&waiting));
        }
        if class == AHEAD {
            self.forget_ahead(access);
        }
        self.by_place.remove(&Place::new(kind.number(), waiting.lba, waiting.seq));
        self.n_scanned -= usize::from(kind.is_of_scan);
        self.n_waiting -= 1;
        if order < self.looked_below && self.n_waiting >= LOOKED_AT {
            // the next one that is there
            let from = (self.looked_below - self.first_order) as usize;
            let next = self.entries.range(from..).position(Option::is_some).unwrap_or(0);
            self.looked_below += next as u64 + 1;
        }
        while let Some(None) = self.entries.front() {
            self.entries.pop_front();
            self.first_order += 1;
        }
        Some(waiting)
    }

    /// One read ahead of an access waits no longer.
    fn forget_ahead(&mut self, access: u32) {
        if let Entry::Occupied(mut span) = self.ahead.entry(access) {
            span.get_mut().n -= 1;
            if span.get().n == 0 {
                span.remove();
            }
        }
    }

    /// The command that the drive is given next, if it is given one now; it has been given all up to block `end`.
    pub fn take(&mut self, end: i64) -> Option<Waiting> {
        let order = (0..N_CLASSES).filter(|&class| self.is_open(class)).find_map(|class| self.first(class, end))?;
        self.remove(order)
    }

    /// Whether the drive may have one more of a class.
    fn is_open(&self, class: usize) -> bool {
        let most = if class == OF_SCAN { self.most_of_scan() } else { self.most[class] };
        self.active[class] < most
    }

    /// Of reads and awaited writes the one that came first; of others the oldest, in one sweep over the disk.
    fn first(&self, class: usize, end: i64) -> Option<u64> {
        if class < AHEAD {
            return self.in_turn[class].first().copied();
        }
        let row = &self.in_sweeps[class - AHEAD];
        let (oldest, &lowest) = row.first_key_value()?;
        let age = oldest.group();
        let ahead = row.range(Place::new(age, end, 0)..).next().filter(|(place, _)| place.group() == age);
        Some(ahead.map_or(lowest, |(_, &order)| order))
    }

    /// Lets a command include those that have waited near it: first those before it, then those behind (rule X8). Returns
    /// how many they are.
    pub fn gather(&mut self, first: &mut Waiting, now: i64, commands: &mut Commands) -> i64 {
        if first.arrived == now {
            return 0;
        }
        let Command { op, is_of_scan, .. } = commands[first.id];
        let PoolRules { read_gap, write_gap, longest, border, .. } = self.rules;
        let gap = match op {
            READ => read_gap,
            _ if is_of_scan => 0,
            _ => write_gap,
        };
        let kind = Kind::of(&commands[first.id]).number();
        let looked_below = if is_of_scan { u64::MAX } else { self.looked_below };
        let near = |order: u64| {
            let waiting = &self.entries[(order - self.first_order) as usize].as_ref()?.waiting;
            let is_near = order < looked_below && waiting.arrived < now && waiting.lba / border == first.lba / border;
            is_near.then_some(waiting)
        };
        let (mut begin, mut end) = (first.lba, first.lba + first.n);
        let mut included = std::mem::take(&mut self.near);
        included.clear();
        let place = Place::new(kind, first.lba, first.seq);
        for (other, &order) in self.by_place.range(..place).rev() {
            let lba = other.lba();
            if other.group() != kind || begin - lba - self.longest > gap {
                break;
            }
            let Some(w) = near(order) else { continue };
            if begin - lba - w.n > gap || end.max(lba + w.n) - lba > longest {
                break;
            }
            (begin, end) = (lba, end.max(lba + w.n));
            included.push(order);
        }
        for (other, &order) in self.by_place.range(place..) {
            let lba = other.lba();
            if other.group() != kind || lba - end > gap {
                break;
            }
            let Some(w) = near(order) else { continue };
            if end.max(lba + w.n) - begin > longest {
                break;
            }
            end = end.max(lba + w.n);
            included.push(order);
        }
        for &order in &included {
            let Some(Waiting { id, .. }) = self.remove(order) else { continue };
            let last = std::mem::replace(&mut commands[first.id].last_joined, id + 1);
            let last = if last == 0 { first.id } else { last - 1 };
            commands[last].next_joined = id + 1;
        }
        let n = included.len() as i64;
        self.near = included;
        (first.lba, first.n) = (begin, end - begin);
        (commands[first.id].lba, commands[first.id].n) = (begin, end - begin);
        n
    }

    /// Somebody waits for the reads ahead of these accesses now: those that the drive does not have are of another class.
    /// Whether any is.
    pub fn promote(&mut self, commands: &mut Commands, accesses: &[u32]) -> bool {
        let mut is_any = false;
        for access in accesses {
            let Some(Span { first, last, .. }) = self.ahead.remove(access) else { continue };
            // all were there at once: others between them are few
            for order in first..=last {
                let Some(at) = order.checked_sub(self.first_order) else { continue };
                let Some(Some(entry)) = self.entries.get_mut(at as usize) else { continue };
                if entry.class != AHEAD || entry.access != *access {
                    continue;
                }
                entry.class = READS;
                commands[entry.waiting.id].is_ahead = false;
                self.in_sweeps[0].remove(&turn_of(&entry.waiting));
                self.in_turn[READS].insert(order);
                is_any = true;
            }
        }
        is_any
    }

    /// How many writes of a group the drive is given at once from now on; whether that is another number.
    pub fn give_group_writes(&mut self, n: usize) -> bool {
        std::mem::replace(&mut self.most[OF_GROUP], n) != n
    }

    /// Commands of other classes than the scan's that the drive has.
    fn n_others(&self) -> usize {
        self.active[..OF_SCAN].iter().sum()
    }

    /// Reads of a scan that the drive may have now.
    fn most_of_scan(&self) -> usize {
        let tables = &self.rules.scan;
        let most = if self.n_others() > 0 {
            self.credit.min(tables.active_least)
        } else if self.credit >= tables.quiet {
            tables.active_most
        } else {
            tables.active_least
        };
        most.max(0) as usize
    }

    /// The drive is given a command.
    pub fn count_active(&mut self, command: &Command) {
        let class = self.class_of(command);
        self.active[class] += 1;
        let others = self.n_others();
        if class != OF_SCAN {
            if others == 1 {
                self.credit = 1;
            }
        } else if others > 0 {
            self.credit -= 1;
        }
    }

    /// A command has ended.
    pub fn count_ended(&mut self, command: &Command) {
        let class = self.class_of(command);
        self.active[class] -= 1;
        let others = self.n_others();
        if class != OF_SCAN {
            self.credit = if others > 0 { self.rules.scan.credit } else { 0 };
        } else if others == 0 {
            self.credit += 1;
        }
    }
}

/// By what commands of a class are ordered that sweeps serve.
fn turn_of(waiting: &Waiting) -> Place {
    Place::new((waiting.arrived >> AGE_BITS) as u64, waiting.lba, waiting.seq)
}
