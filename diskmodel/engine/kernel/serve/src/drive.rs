//! What the server needs of a simulated drive or array that is asked while its time passes.

use diskmodel_kernel::online::Array;

/// A simulation that takes requests as they come. Times are nanoseconds of the model and never go back.
pub trait Drive {
    /// A request arrives. The simulation has been advanced to `now_ns`.
    fn submit(&mut self, now_ns: i64, tag: u64, op: u8, offset: i64, length: i64) -> Result<(), &'static str>;

    /// When something happens next, if nothing arrives before.
    fn next_event_ns(&self) -> Option<i64>;

    /// Lets time pass up to and with `to_ns`; `done` gets (tag, time) of every completion, in their order.
    fn advance(&mut self, to_ns: i64, done: &mut dyn FnMut(u64, i64));

    /// A mark for everything that was written until now.
    fn mark(&self) -> u64;

    /// Whether all of that is on the media and nothing of it in a volatile cache.
    fn is_durable(&self, mark: u64) -> bool;
}

impl Drive for Array {
    fn submit(&mut self, now_ns: i64, tag: u64, op: u8, offset: i64, length: i64) -> Result<(), &'static str> {
        Array::submit(self, now_ns, tag, op, offset, length)
    }

    fn next_event_ns(&self) -> Option<i64> {
        Array::next_event_ns(self)
    }

    fn advance(&mut self, to_ns: i64, done: &mut dyn FnMut(u64, i64)) {
        Array::advance(self, to_ns, done);
    }

    fn mark(&self) -> u64 {
        Array::mark(self)
    }

    fn is_durable(&self, mark: u64) -> bool {
        Array::is_durable(self, mark)
    }
}
