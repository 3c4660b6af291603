//! The journal of the file system on an array: one transaction is committed at a time (rules Y8 to Y10); see
//! `diskmodel/engine/reference/journal.py`.

use rustc_hash::FxHashMap;

use super::{HostRequest, Purpose, Simulation};
use crate::device::Device;
use crate::events::{Action, Step, ARRIVE, LAST};
use crate::mechanics::{FLUSH, WRITE};
use crate::traffic::{Rule, Traffic, PASS_THROUGH};

/// Who waits for which commit. Lengths in sectors.
pub struct Journal {
    first: i64,
    n: i64,
    host_work_ns: i64,
    /// Where the next commit is written, from the beginning.
    end: i64,
    n_ended: u64,
    is_committing: bool,
    /// A commit has been woken up and has not begun.
    is_woken: bool,
    /// Row of the request that the commit carries, and what it writes first and last.
    row: u64,
    body: i64,
    block: i64,
    /// Requests whose changes are being committed, and those that wait for the next commit.
    members: Vec<u32>,
    waiting: Vec<u32>,
    /// Tick in which each stream last changed its file's times, and the number of the commit that takes that.
    stamped: FxHashMap<u32, (i64, u64)>,
}

impl Journal {
    /// None where no stream has one; `host_work_ns` is how long the host works on one request.
    pub fn of(rules: &[Rule], sector_bytes: i64, host_work_ns: i64) -> Option<Self> {
        let place = rules.iter().find(|rule| rule.journal_bytes > 0)?;
        Some(Journal {
            first: place.journal_first_byte / sector_bytes,
            n: place.journal_bytes / sector_bytes,
            host_work_ns,
            end: 0,
            n_ended: 0,
            is_committing: false,
            is_woken: false,
            row: 0,
            body: 0,
            block: 0,
            members: Vec::new(),
            waiting: Vec::new(),
            stamped: FxHashMap::default(),
        })
    }

    /// First sector of what is written next.
    fn place(&mut self, n: i64) -> i64 {
        if self.end + n > self.n {
            // the journal begins again at its beginning
            self.end = 0;
        }
        self.end += n;
        self.first + self.end - n
    }

    /// Number of the commit that takes what a write of that time changed.
    fn number(&mut self, stream: u32, tick_ns: i64, issue: i64) -> u64 {
        let next = self.n_ended + 1 + u64::from(self.is_committing);
        if tick_ns == 0 {
            return next;
        }
        let tick = issue / tick_ns;
        let number = match self.stamped.get(&stream) {
            Some(&(last, number)) if last == tick => number,
            _ => next,
        };
        self.stamped.insert(stream, (tick, number));
        number
    }
}

impl<D: Device, T: Traffic> Simulation<D, T> {
    /// Lets a write wait until what it changed is committed; false where nothing has to be (rule Y8).
    pub(super) fn commit(&mut self, host: u32) -> bool {
        let HostRequest { stream, issue, sync, .. } = self.requests[host];
        let rule = self.kind.front.host.clients.traffic.rules()[stream as usize];
        let Some(journal) =
            self.kind.front.host.clients.journal.as_mut().filter(|_| rule.journal_bytes > 0 && sync > 0)
        else {
            return false;
        };
        let number = journal.number(stream, rule.journal_tick_ns, issue);
        let joins = journal.is_committing && number == journal.n_ended + 1;
        if number <= journal.n_ended {
            return false;
        }
        self.requests[host].sync_ns -= self.events.now;
        if joins {
            journal.members.push(host);
            return true;
        }
        journal.waiting.push(host);
        if !journal.is_committing && !journal.is_woken {
            self.wake_commit();
        }
        true
    }

    /// A commit waits for its turn behind what the processors have to do; who comes meanwhile is in it (rule Y9).
    fn wake_commit(&mut self) {
        let free = self.processors.first_free();
        let Some(journal) = &mut self.kind.front.host.clients.journal else { return };
        journal.is_woken = true;
        let when = self.events.now.max(free) + journal.host_work_ns;
        self.events.at(when, ARRIVE, self.drives.len(), LAST, Action::Journal(Step::Woken));
    }

    /// Commits for all that wait, and writes after a while (rule Y9).
    fn begin_commit(&mut self, wait_ns: i64) {
        let sector = self.drives.sector_bytes();
        let Some(journal) = &mut self.kind.front.host.clients.journal else { return };
        journal.is_committing = !journal.waiting.is_empty();
        journal.members = std::mem::take(&mut journal.waiting);
        let Some(&first) = journal.members.first() else { return };
        journal.row = self.requests[first].row;
        let rules = self.kind.front.host.clients.traffic.rules();
        let (mut body, mut block, mut more) = (0, 0, 0);
        for (at, &host) in journal.members.iter().enumerate() {
            let rule = &rules[self.requests[host].stream as usize];
            body = body.max(rule.journal_body_bytes);
            block = block.max(rule.journal_block_bytes);
            more += if at > 0 { rule.journal_more_bytes } else { 0 };
        }
        if body > 0 {
            body += more;
        } else {
            block += more;
        }
        journal.block = ((block + sector - 1) / sector).min(journal.n);
        journal.body = ((body + sector - 1) / sector).min(journal.n - journal.block);
        let when = self.events.now + wait_ns;
        self.events.at(when, ARRIVE, self.drives.len(), LAST, Action::Journal(Step::Body));
    }

    /// The turn of what a commit does next has come.
    pub(super) fn go_on_with_commit(&mut self, step: Step) {
        let takes_flushes = self.takes_flushes();
        let Some(journal) = &mut self.kind.front.host.clients.journal else { return };
        if step == Step::Woken {
            journal.is_woken = false;
            return self.begin_commit(0);
        }
        let (row, issue) = (journal.row, self.events.now);
        let below = match step {
            Step::Body if journal.body > 0 => {
                let n = journal.body;
                let sector = journal.place(n);
                let purpose = Purpose::Journal(Step::Flush);
                HostRequest { op: WRITE, sector, n, purpose, is_of_file: true, ..HostRequest::default() }
            }
            Step::Body | Step::Flush if takes_flushes => {
                HostRequest { op: FLUSH, purpose: Purpose::Journal(Step::Block), ..HostRequest::default() }
            }
            _ => {
                let n = journal.block;
                let (sector, purpose, sync) = (journal.place(n), Purpose::Committed, PASS_THROUGH);
                // XFS marks the writes of its log as exempt (rule Q10)
                let is_of_file = journal.body > 0;
                HostRequest { op: WRITE, sync, sector, n, purpose, is_of_file, ..HostRequest::default() }
            }
        };
        let below = self.requests.put(HostRequest { row, issue, ..below });
        self.submit_to_controller(below);
    }

    /// A write or a flush of a commit has been answered.
    pub(super) fn journal_answered(&mut self, next: Step) {
        let host_work_ns = self.kind.front.host.clients.journal.as_ref().map_or(0, |journal| journal.host_work_ns);
        if next == Step::Flush && host_work_ns > 0 {
            let when = self.events.now + host_work_ns;
            return self.events.at(when, ARRIVE, self.drives.len(), LAST, Action::Journal(next));
        }
        self.go_on_with_commit(next);
    }

    /// The block that makes a commit valid is safe: the next commit begins, and those that waited go on.
    pub(super) fn committed(&mut self) {
        let Some(journal) = &mut self.kind.front.host.clients.journal else { return };
        let served = std::mem::take(&mut journal.members);
        journal.n_ended += 1;
        // those that were served issue what they issue first
        let wait_ns = (served.len() as i64 + 1) * journal.host_work_ns;
        self.begin_commit(wait_ns);
        served.into_iter().for_each(|host| self.made_safe(host));
    }
}
