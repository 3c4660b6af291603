//! Commands in a disk's queue or drive, kept in slots that are used again.

use std::ops::{Index, IndexMut};

/// One access to one disk, what happened to it, and which access it is part of.
#[derive(Clone, Copy, Debug, Default)]
pub struct Command {
    pub seq: u64,
    pub device: u32,
    pub access: u32,
    pub op: u8,
    pub is_hit: bool,
    /// A read after which the arm is kept for a write of the same blocks, and that write (rule L12).
    pub holds: bool,
    pub follows: bool,
    /// A write that passes the drive's buffer (rule D11).
    pub is_fua: bool,
    /// A write that a flush follows above the disk (rule Y4).
    pub flushes_after: bool,
    /// A page of the write-intent bitmap: the array counts it as none of its writes (rules L5, Q10).
    pub is_bitmap: bool,
    /// A write of a transaction group of a pool (rule X14).
    pub is_of_group: bool,
    /// A read or a write of a resilver or a scrub of a pool (rules X8, X14).
    pub is_of_scan: bool,
    /// A read of a pool that nobody waits for (rule X14).
    pub is_ahead: bool,
    /// Part of a run that does not go to the media cache (rule G2).
    pub in_place: bool,
    pub lba: i64,
    pub n: i64,
    pub submitted: i64,
    /// When it reached the queue that it waits in now.
    pub arrived: i64,
    /// Of a write that passes the buffer: in order of acceptance; 0: it does not (rule D10).
    pub number: u64,
    /// When the drive's processor is done with it.
    pub ready: i64,
    /// When enough of a write's data has come (rule D9).
    pub data_at: i64,
    /// One more than the next command that is served as part of this one, and than the last of them (rule Q9).
    pub next_joined: u32,
    pub last_joined: u32,
    pub done: i64,
    pub overhead: i64,
    pub seek: i64,
    pub rotation: i64,
    pub transfer: i64,
}

/// Slots that are used again.
#[derive(Default)]
pub struct Slots<T> {
    held: Vec<T>,
    free: Vec<u32>,
}

pub type Commands = Slots<Command>;

impl<T> Slots<T> {
    pub fn put(&mut self, value: T) -> u32 {
        if let Some(id) = self.free.pop() {
            self.held[id as usize] = value;
            id
        } else {
            self.held.push(value);
            self.held.len() as u32 - 1
        }
    }

    /// A slot that still has its old value, whose allocations serve again.
    #[inline(always)]
    pub fn reuse(&mut self) -> u32
    where
        T: Default,
    {
        self.free.pop().unwrap_or_else(|| {
            self.held.push(T::default());
            self.held.len() as u32 - 1
        })
    }

    #[cfg(test)]
    pub fn len(&self) -> usize {
        self.held.len()
    }

    pub fn release(&mut self, id: u32) {
        self.free.push(id);
    }
}

impl<T> Index<u32> for Slots<T> {
    type Output = T;
    fn index(&self, id: u32) -> &T {
        &self.held[id as usize]
    }
}

impl<T> IndexMut<u32> for Slots<T> {
    fn index_mut(&mut self, id: u32) -> &mut T {
        &mut self.held[id as usize]
    }
}
