//! The io_uring engine: registered file and buffers, one system call to submit and to wait for most requests, no allocation per I/O.

use std::mem::ManuallyDrop;
use std::os::fd::RawFd;
use std::sync::atomic::{AtomicBool, Ordering};

use io_uring::{opcode, squeue, types, IoUring};

use super::arena::Arena;
use super::{io_fault, Limits, Stopwatch, Times};
use crate::clock;
use crate::fault::{Fault, Outcome};
use crate::request::{Op, Request, Samples, Source};

/// The kernel refuses to register a larger buffer.
const MAX_REGISTERED_BYTES: usize = 1 << 30;
/// The kernel collects larger batches in a plug, where adjacent requests are merged, which would change the measured load.
const UNPLUGGED: usize = 2;

fn ring(entries: u32) -> std::io::Result<IoUring> {
    // Completions are then processed by the waiting task itself, without interrupting it (Linux 6.1).
    IoUring::builder().setup_single_issuer().setup_defer_taskrun().build(entries).or_else(|_| IoUring::new(entries))
}

pub fn available() -> std::io::Result<()> {
    ring(8).map(|_| ())
}

/// Latency of an operation that does nothing, through the same path: our own overhead. Median and 99th percentile.
pub fn noop_latency_ns() -> std::io::Result<(u64, u64)> {
    let mut ring = ring(8)?;
    let mut latencies = Vec::with_capacity(2000);
    for _ in 0..2000 {
        let entry = opcode::Nop::new().build();
        let issued = clock::now_ns();
        // SAFETY: a no-op refers to no memory.
        unsafe { ring.submission().push(&entry) }.map_err(|_| std::io::Error::other("submission queue is full"))?;
        ring.submit_and_wait(1)?;
        latencies.push(clock::now_ns() - issued);
        ring.completion().for_each(drop);
    }
    latencies.sort_unstable();
    Ok((latencies[1000], latencies[1980]))
}

struct Slots {
    /// Freed only when the kernel has nothing to do with it any more: see `drop`.
    arena: ManuallyDrop<Arena>,
    /// Requests that the kernel may have and has not given back.
    outstanding: usize,
    is_registered: bool,
    requests: Vec<Request>,
    issue_ns: Vec<u64>,
    free: Vec<u32>,
    fresh: Vec<u32>,
}

impl Drop for Slots {
    /// Also when a panic or a failed system call ends the run with requests outstanding: the kernel may still write into
    /// the buffers then, and they are never freed.
    fn drop(&mut self) {
        if self.outstanding == 0 {
            // SAFETY: dropped here only, and nothing refers to it.
            unsafe { ManuallyDrop::drop(&mut self.arena) };
        }
    }
}

impl Slots {
    /// They are about to be handed to the kernel.
    fn stamp_fresh(&mut self) {
        let issued = clock::now_ns();
        for slot in self.fresh.drain(..) {
            self.issue_ns[slot as usize] = issued;
        }
    }

    fn entry(&self, slot: u32, request: &Request) -> squeue::Entry {
        let buffer = self.arena.slot(slot as usize);
        let file = types::Fixed(0);
        let (offset, length) = (request.offset, request.length);
        let flags = if request.op == Op::DurableWrite { libc::RWF_DSYNC } else { 0 };
        let entry = match (request.op, self.is_registered) {
            (Op::Flush, _) => opcode::Fsync::new(file).flags(types::FsyncFlags::DATASYNC).build(),
            (Op::Read, true) => opcode::ReadFixed::new(file, buffer, length, 0).offset(offset).build(),
            (Op::Read, false) => opcode::Read::new(file, buffer, length).offset(offset).build(),
            (_, true) => opcode::WriteFixed::new(file, buffer, length, 0).offset(offset).rw_flags(flags).build(),
            (_, false) => opcode::Write::new(file, buffer, length).offset(offset).rw_flags(flags).build(),
        };
        entry.user_data(u64::from(slot))
    }
}

pub fn run(
    fd: RawFd,
    limits: &Limits,
    source: &mut Source<'_>,
    samples: &mut Samples,
    stop: &AtomicBool,
) -> Outcome<Times> {
    let depth = limits.queue_depth;
    let system = |error: std::io::Error| Fault::device("io_uring", &error);
    let mut ring = ring(depth.next_power_of_two() as u32).map_err(system)?;
    let arena = Arena::new(depth, limits.max_length as usize)?;
    let iovec = arena.as_iovec();
    // SAFETY: the arena outlives the ring's use of it: it is freed when the queue has drained, or never.
    let is_registered =
        iovec.iov_len <= MAX_REGISTERED_BYTES && unsafe { ring.submitter().register_buffers(&[iovec]) }.is_ok();
    ring.submitter().register_files(&[fd]).map_err(system)?;
    let mut slots = Slots {
        arena: ManuallyDrop::new(arena),
        outstanding: 0,
        is_registered,
        requests: vec![Request::read(0, 0); depth],
        issue_ns: vec![0; depth],
        free: (0..depth as u32).rev().collect(),
        fresh: Vec::with_capacity(depth),
    };
    let watch = Stopwatch::start();
    let (stop_ns, failure) = pump(&mut ring, &mut slots, limits, watch.start_ns, source, samples, stop);
    let times = watch.finish(stop_ns);
    match failure {
        Some(fault) => Err(fault),
        None => Ok(times),
    }
}

/// The loop: fill the queue, submit and wait in one call, record what came back. Returns when nothing is outstanding.
fn pump(
    ring: &mut IoUring,
    slots: &mut Slots,
    limits: &Limits,
    start_ns: u64,
    source: &mut Source<'_>,
    samples: &mut Samples,
    stop: &AtomicBool,
) -> (Option<u64>, Option<Fault>) {
    let deadline_ns = start_ns.saturating_add(limits.duration_ns);
    let mut left = limits.max_requests;
    let mut stop_ns = None;
    let mut failure = None;
    loop {
        while stop_ns.is_none() && !slots.free.is_empty() {
            let Some(request) = (if left == 0 { None } else { source() }) else {
                stop_ns = Some(clock::now_ns());
                break;
            };
            left -= 1;
            if let Some(slot) = slots.free.pop() {
                slots.outstanding += 1;
                push(ring, slots, slot, request, limits, left as u64);
            }
            if slots.fresh.len() == UNPLUGGED && !slots.free.is_empty() {
                slots.stamp_fresh();
                // What could not be submitted now goes along with the next call.
                let _ = ring.submit();
            }
        }
        if slots.outstanding == 0 {
            return (stop_ns, failure);
        }
        slots.stamp_fresh();
        // An interrupted wait is repeated: entries already submitted are not submitted twice.
        if let Err(error) = ring.submit_and_wait(1) {
            if !matches!(error.raw_os_error(), Some(libc::EINTR | libc::EAGAIN | libc::EBUSY)) {
                return (stop_ns, Some(Fault::device("waiting for io_uring", &error)));
            }
        }
        let done = clock::now_ns();
        for completion in ring.completion() {
            let slot = completion.user_data() as usize;
            let request = slots.requests[slot];
            slots.outstanding -= 1;
            slots.free.push(slot as u32);
            if completion.result() == request.length as i32 {
                samples.push(slots.issue_ns[slot], done, &request);
            } else if failure.is_none() {
                failure = Some(io_fault(&request, completion.result()));
            }
        }
        if stop_ns.is_none() && (done >= deadline_ns || failure.is_some() || stop.load(Ordering::Relaxed)) {
            stop_ns = Some(done);
        }
    }
}

fn push(ring: &mut IoUring, slots: &mut Slots, slot: u32, request: Request, limits: &Limits, serial: u64) {
    debug_assert!(request.length <= limits.max_length);
    if request.delay_ns > 0 && limits.queue_depth == 1 {
        clock::wait_until(clock::now_ns() + request.delay_ns);
    }
    if request.op != Op::Read {
        slots.arena.stamp(slot as usize, request.length as usize, serial ^ request.offset);
    }
    slots.requests[slot as usize] = request;
    let entry = slots.entry(slot, &request);
    // SAFETY: the slot's buffer stays alive and untouched until its completion; the ring has an entry per slot.
    let pushed = unsafe { ring.submission().push(&entry) };
    debug_assert!(pushed.is_ok(), "the ring has as many entries as there are slots");
    slots.fresh.push(slot);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::arena::FREED;

    /// Arenas freed by a run whose source panics at request `last`.
    fn freed_by(last: usize) -> usize {
        use std::os::fd::AsRawFd;
        let file = std::fs::File::open("/proc/self/exe").unwrap();
        let before = FREED.with(|freed| freed.get());
        let mut asked = 0;
        let mut source = || {
            asked += 1;
            assert!(asked < last, "this panic is part of the test");
            (asked < 4).then(|| Request::read(0, 512))
        };
        let limits = Limits { queue_depth: 4, max_length: 512, duration_ns: u64::MAX / 2, max_requests: 100 };
        let mut samples = Samples::default();
        let stop = AtomicBool::new(false);
        let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let _ = run(file.as_raw_fd(), &limits, &mut source, &mut samples, &stop);
        }));
        FREED.with(|freed| freed.get()) - before
    }

    #[test]
    fn buffers_that_the_kernel_may_still_write_are_not_freed() {
        if available().is_err() {
            return; // the kernel has no io_uring for us
        }
        assert_eq!(freed_by(usize::MAX), 1);
        assert_eq!(freed_by(1), 1, "nothing was outstanding yet");
        assert_eq!(freed_by(3), 0, "two requests were outstanding");
    }
}
