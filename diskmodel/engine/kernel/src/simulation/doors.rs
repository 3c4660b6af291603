//! What a station says to the one above it. Each has that one as a type parameter and inside itself: it can say to it what
//! is here and nothing else, while the one above may use whatever is below. Calls are static.

use super::block::submission::Request;
use super::md::Turn;
use super::{Array, WithFront, WithHost};
use crate::command::Command;
use crate::controller::ZfsArc;
use crate::device::Device;
use crate::events::Step;
use crate::progress::Progress;

/// What the disks and their block layer say to the volume on them.
pub trait AboveDisks<D: Device>: Sized {
    /// A request begins.
    fn begin(on: &mut Array<D, Self>, request: Request);
    /// What has been read for the second phase of an access is in memory: its writes begin.
    fn submit_writes(on: &mut Array<D, Self>, access: u32);
    /// An access has ended with its last command.
    fn ended(on: &mut Array<D, Self>, last: &Command);
    /// All disks have been flushed for a request, or for the volume itself (`VOLUME`).
    fn flushed(on: &mut Array<D, Self>, who: u32);
    /// A disk has been flushed for something of the volume, which it knows by this number.
    fn disk_flushed(on: &mut Array<D, Self>, who: u32);
    /// The thread of the volume does something that it was given to do.
    fn take_turn(on: &mut Array<D, Self>, turn: Turn);
}

/// Whoever has a kind of volume, and what is in front of it.
pub trait HasFront<D: Device>: AboveDisks<D> {
    type Front: AboveVolume<D, Self>;
    fn front(&mut self) -> &mut Self::Front;
}

/// What a volume says to the controller in front of it, and what it asks; `K` has both.
pub trait AboveVolume<D: Device, K>: Sized {
    /// The array has done what a request asked for; it is answered, or without going over the link.
    fn answered(on: &mut Array<D, K>, request: u32);
    fn finished(on: &mut Array<D, K>, request: u32);
    /// Blocks [first, end) of the write cache are on the disks.
    fn destaged(on: &mut Array<D, K>, first: i64, end: i64);
    /// What was read ahead has come.
    fn came(on: &mut Array<D, K>, number: u32);
    /// What a request read or wrote has come or gone; whether a cache keeps what is read.
    fn keep(on: &mut Array<D, K>, request: u32) -> bool;
    /// Whether the cache has a block.
    fn has(&self, block: i64) -> bool;
    /// The cache as an ARC of ZFS, if it is one.
    fn arc(&self) -> Option<&ZfsArc>;
    /// What a hit takes.
    fn hit_ns(&self) -> i64;
    fn progress(&mut self) -> &mut Progress;
}

/// What a controller says to the host.
pub trait AboveController<D: Device>: Sized {
    /// A request has been answered.
    fn answered(on: &mut WithFront<D, Self>, request: u32);
    fn progress(&mut self) -> &mut Progress;
}

/// What a host says to the programs that run on it, and to their file system.
pub trait AboveHost<D: Device>: Sized {
    /// A request is done, or is once it is safe, or has been made safe.
    fn done(on: &mut WithHost<D, Self>, request: u32);
    fn make_safe(on: &mut WithHost<D, Self>, request: u32);
    fn made_safe(on: &mut WithHost<D, Self>, request: u32);
    /// A part of a commit of the journal has been answered, before this step; and the last part.
    fn journal_answered(on: &mut WithHost<D, Self>, next: Step);
    fn committed(on: &mut WithHost<D, Self>);
    fn progress(&mut self) -> &mut Progress;
}
