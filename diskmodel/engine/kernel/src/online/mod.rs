//! An array that runs along with a clock outside: requests come one by one, completions are reported when they are due.
//!
//! The simulation's clock is the caller's, in nanoseconds from 0. Nothing grows with the time that the array runs: only
//! what is outstanding takes memory, and of flash drives the place of each unit that was written.

use crate::command::Slots;
use crate::device::{Counters, Device, Shared};
use crate::mechanics::{FLUSH, WRITE};
use crate::scenario::{Built, Scenario};
use crate::simulation::{Parts, Simulation};
use crate::traffic::{Completion, Feed, Request, Rule, Taken, Traffic, FLUSH_AFTER};

/// Requests that came and were not issued yet, or that are out; and those that are done and not reported yet.
#[derive(Default)]
pub struct Inbox {
    requests: Slots<(u64, Request)>,
    finished: Vec<(u64, i64)>,
    outstanding: usize,
}

/// Open streams, whose rows come from outside: those of plain requests, and those of writes that a flush follows.
const RULES: [Rule; 2] = [Rule::OPEN, Rule { sync: FLUSH_AFTER, ..Rule::OPEN }];
/// The second of them.
const SAFE: u32 = 1;

impl Traffic for Inbox {
    fn rules(&self) -> &[Rule] {
        &RULES
    }

    fn take(&mut self, _stream: usize) -> Option<Taken> {
        None
    }

    fn request(&mut self, id: u32, _now: i64) -> Request {
        self.requests[id].1
    }

    fn done(&mut self, completion: &Completion) {
        self.finished.push((self.requests[completion.id].0, completion.done));
        self.requests.release(completion.id);
        self.outstanding -= 1;
    }

    fn is_over(&self) -> bool {
        false
    }
}

/// A simulation of disks of any kind.
trait Runs: Send {
    fn inbox(&self) -> &Inbox;
    fn inbox_mut(&mut self) -> &mut Inbox;
    fn now(&self) -> i64;
    fn next_time(&self) -> Option<i64>;
    fn advance(&mut self, time: i64);
    fn arrive(&mut self, time: i64, stream: u32, id: u32, row: u64);
    fn n_commands(&self) -> u64;
    fn counters(&self) -> Vec<Counters>;
    fn is_durable(&self, seq: u64) -> bool;
    #[cfg(test)]
    fn n_slots(&self) -> usize;
}

impl<D: Device + Send> Runs for Simulation<D, Feed<'static>>
where
    D::Model: Send,
{
    fn inbox(&self) -> &Inbox {
        self.traffic().inbox()
    }

    fn inbox_mut(&mut self) -> &mut Inbox {
        self.traffic_mut().inbox_mut()
    }

    fn now(&self) -> i64 {
        Simulation::now(self)
    }

    fn next_time(&self) -> Option<i64> {
        Simulation::next_time(self)
    }

    fn advance(&mut self, time: i64) {
        Simulation::advance(self, time);
    }

    fn arrive(&mut self, time: i64, stream: u32, id: u32, row: u64) {
        Simulation::arrive(self, time, stream, id, row);
    }

    fn counters(&self) -> Vec<Counters> {
        let now = Simulation::now(self);
        self.disks().iter().map(|disk| disk.counters_until(now)).collect()
    }

    fn n_commands(&self) -> u64 {
        Simulation::n_commands(self)
    }

    fn is_durable(&self, seq: u64) -> bool {
        self.disks().iter().all(|disk| disk.is_durable(seq))
    }

    #[cfg(test)]
    fn n_slots(&self) -> usize {
        Simulation::n_slots(self)
    }
}

/// A simulation that has begun, and the bytes of its sectors.
fn begun<D: Device + Send + 'static>(parts: Parts<D>) -> (Box<dyn Runs>, i64)
where
    D::Model: Send,
{
    let sector_bytes = parts.model.sector_bytes();
    let mut simulation = Simulation::new(parts, Feed::Inbox(Inbox::default()));
    simulation.begin();
    (Box::new(simulation), sector_bytes)
}

/// An array of disks in real time.
pub struct Array {
    simulation: Box<dyn Runs>,
    sector_bytes: i64,
    capacity_bytes: i64,
    n_submitted: u64,
    draws: u64,
}

impl Array {
    /// The array of a scenario at time 0; `seed` draws which reads hit where a cache is given by its hit ratio.
    pub fn new(scenario: Scenario, seed: u64) -> Result<Self, String> {
        let capacity = scenario.layout.capacity;
        let (simulation, sector_bytes) = match scenario.build()?.0 {
            Built::Hdd(parts) => begun(parts),
            Built::Flash(parts) => begun(parts),
            Built::Remote(parts) => begun(parts),
        };
        Ok(Array { simulation, sector_bytes, capacity_bytes: capacity * sector_bytes, n_submitted: 0, draws: seed })
    }

    /// Usable bytes.
    pub fn capacity_bytes(&self) -> i64 {
        self.capacity_bytes
    }

    /// Bytes of a sector: requests cover whole ones.
    pub fn sector_bytes(&self) -> i64 {
        self.sector_bytes
    }

    /// Requests that are not done.
    pub fn outstanding(&self) -> usize {
        self.simulation.inbox().outstanding
    }

    /// A request comes at `now_ns` (0 read, 1 write; bytes). A time that has passed already counts as the present.
    ///
    /// Requests of one instant are issued in the order in which they come.
    pub fn submit(&mut self, now_ns: i64, tag: u64, op: u8, offset: i64, length: i64) -> Result<(), &'static str> {
        let cache_draw = self.draw();
        self.submit_drawn(now_ns, tag, op, (offset, length), cache_draw)
    }

    /// A write that is done when a flush of the array after it is (rule Y2).
    pub fn write_safely(&mut self, now_ns: i64, tag: u64, offset: i64, length: i64) -> Result<(), &'static str> {
        let cache_draw = self.draw();
        self.check(offset, length)?;
        self.put(now_ns, tag, Request { stream: SAFE, op: WRITE, offset, length, cache_draw, ..Request::default() });
        Ok(())
    }

    /// A flush of the array, alone (rule Y11).
    pub fn flush(&mut self, now_ns: i64, tag: u64) {
        self.put(now_ns, tag, Request { op: FLUSH, ..Request::default() });
    }

    fn submit_drawn(
        &mut self,
        now_ns: i64,
        tag: u64,
        op: u8,
        (offset, length): (i64, i64),
        cache_draw: f64,
    ) -> Result<(), &'static str> {
        if op > 1 {
            return Err("an operation is 0 (read) or 1 (write)");
        }
        self.check(offset, length)?;
        self.put(now_ns, tag, Request { op, offset, length, cache_draw, ..Request::default() });
        Ok(())
    }

    fn check(&self, offset: i64, length: i64) -> Result<(), &'static str> {
        if offset < 0 || length <= 0 || length > self.capacity_bytes || offset > self.capacity_bytes - length {
            return Err("the request does not lie on the array");
        }
        Ok(())
    }

    fn put(&mut self, now_ns: i64, tag: u64, request: Request) {
        let row = self.n_submitted;
        self.n_submitted += 1;
        let traffic = self.simulation.inbox_mut();
        traffic.outstanding += 1;
        let id = traffic.requests.put((tag, Request { row, ..request }));
        let time = now_ns.max(self.simulation.now());
        self.simulation.arrive(time, request.stream, id, row);
    }

    /// Counters of each disk until now.
    pub fn counters(&self) -> Vec<Counters> {
        self.simulation.counters()
    }

    /// When something happens next inside the array: `advance` there, unless a request comes before.
    pub fn next_event_ns(&self) -> Option<i64> {
        self.simulation.next_time()
    }

    /// Lets everything happen up to `to_ns`, that instant included, and calls `done` with the tag and the time of each
    /// request that has completed, in order.
    pub fn advance(&mut self, to_ns: i64, mut done: impl FnMut(u64, i64)) {
        self.simulation.advance(to_ns);
        for (tag, time) in self.simulation.inbox_mut().finished.drain(..) {
            done(tag, time);
        }
    }

    /// A mark for everything that was written until now.
    pub fn mark(&self) -> u64 {
        self.simulation.n_commands()
    }

    /// Whether all of that is on the media and nothing of it in a volatile cache.
    pub fn is_durable(&self, mark: u64) -> bool {
        self.simulation.is_durable(mark)
    }

    /// Uniform in [0, 1): SplitMix64 (Steele, Lea, Flood 2014).
    fn draw(&mut self) -> f64 {
        self.draws = self.draws.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.draws;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }
}

#[cfg(test)]
pub(crate) mod tests;
