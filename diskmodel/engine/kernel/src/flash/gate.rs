//! What holds writes back that the buffer has room for: batches of copies (rule F24), and the pace of cleaning (rule
//! F25). What reads take longer beside writes (rule F26). See `diskmodel/drive/flash/gate.py`.

use super::collection::Copied;
use super::Model;
use crate::events::LAST_NS;
use crate::rule::MAX_TIME_NS;

/// The page closed before last was closed at most so long ago where a drive is being written.
pub const LATELY_NS: i64 = 900_000;

/// Lets the units of writes into the buffer.
pub struct Gate {
    /// Copies since the last batch.
    copied: i64,
    /// When the batch that goes on ends, and how many units it still lets in; the time of the last one where none does.
    until: i64,
    room: i64,
    /// Until when the dies work for the units let in so far, and for how long they do for one.
    paid_until: i64,
    price: i64,
    /// When the last two pages were closed.
    closed: [i64; 2],
}

impl Gate {
    pub fn new(model: &Model, drive: u32) -> Self {
        let copied = 618 * i64::from(drive) % 1000 * model.batch_units / 1000;
        let never = [-LATELY_NS - 1; 2];
        let mut gate = Gate { copied, until: 0, room: 0, paid_until: 0, price: 0, closed: never };
        gate.set_price(Copied::default(), model);
        gate
    }

    /// When the next unit is let in, if none is now.
    pub fn opens(&self, now: i64, model: &Model) -> Option<i64> {
        let batch = if self.room == 0 { self.until } else { 0 };
        let paced = if model.pace_units > 0 { self.paid_until - model.pace_units * self.price } else { 0 };
        let opens = batch.max(paced);
        (opens > now).then_some(opens)
    }

    /// How many of these units of a write are let in.
    pub fn takes(&mut self, now: i64, mut count: i64, model: &Model) -> i64 {
        if now < self.until {
            count = count.min(self.room);
            self.room -= count;
        }
        if model.pace_units > 0 {
            self.paid_until = self.paid_until.max(now).saturating_add(count.saturating_mul(self.price)).min(LAST_NS);
        }
        count
    }

    /// A page was closed with these copies: their price is that of the next units. A batch begins when copies are
    /// enough, unless other writes wait than this one.
    pub fn page_closed(&mut self, copied: Copied, now: i64, is_alone: bool, model: &Model) {
        self.closed = [self.closed[1], now];
        self.set_price(copied, model);
        if model.batch_ns == 0 {
            return;
        }
        self.copied += copied.units;
        if self.copied < model.batch_units {
            return;
        }
        self.copied %= model.batch_units;
        if is_alone && now >= self.until {
            self.until = now + model.batch_ns;
            self.room = model.batch_room_units;
        }
    }

    /// How much longer a read takes now.
    pub fn read_ns(&self, now: i64, model: &Model) -> i64 {
        if now - self.closed[0] <= LATELY_NS {
            model.read_beside_writes_ns
        } else {
            0
        }
    }

    /// The share of a unit in the work of all dies for a page and its copies.
    pub fn set_price(&mut self, copied: Copied, model: &Model) {
        if model.pace_units == 0 {
            return;
        }
        let wide = |value: i64| i128::from(value);
        let per_page = wide(model.units_per_page);
        let programmed = per_page + wide(copied.units);
        let erased = wide(model.erase_ns) * programmed / (per_page * wide(model.pages_per_block));
        let page = wide(model.page_ns) + wide(model.program_ns);
        let work = page * programmed / per_page + erased + wide(model.read_ns) * wide(copied.reads);
        self.price = (work / (model.n_dies() as i128 * per_page)).min(wide(MAX_TIME_NS)) as i64;
    }
}
