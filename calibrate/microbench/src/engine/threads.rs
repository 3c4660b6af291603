//! The fall-back engine: one thread per outstanding request, each with preadv2 and pwritev2.

use std::os::fd::RawFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Mutex;

use super::arena::Arena;
use super::{io_fault, Limits, Stopwatch, Times};
use crate::clock;
use crate::fault::{Fault, Outcome};
use crate::request::{Op, Request, Samples, Source};

struct Shared<'a, 'b> {
    source: &'a mut Source<'b>,
    left: usize,
    stop_ns: Option<u64>,
    failure: Option<Fault>,
}

pub fn run(
    fd: RawFd,
    limits: &Limits,
    source: &mut Source<'_>,
    samples: &mut Samples,
    stop: &AtomicBool,
) -> Outcome<Times> {
    let arena = Arena::new(limits.queue_depth, limits.max_length as usize)?;
    let shared = Mutex::new(Shared { source, left: limits.max_requests, stop_ns: None, failure: None });
    let watch = Stopwatch::start();
    let deadline_ns = watch.start_ns.saturating_add(limits.duration_ns);
    // Not returned by the workers: what one has recorded stays when it panics.
    let mut parts = vec![Samples::default(); limits.queue_depth];
    let panicked = std::thread::scope(|scope| {
        let workers: Vec<_> = parts
            .iter_mut()
            .enumerate()
            .map(|(slot, part)| {
                let (arena, shared) = (&arena, &shared);
                scope.spawn(move || work(fd, limits, slot, arena, shared, deadline_ns, stop, part))
            })
            .collect();
        workers.into_iter().filter_map(|worker| worker.join().err()).count()
    });
    let shared = shared.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
    let times = watch.finish(shared.stop_ns);
    samples.merge(parts);
    let failure = shared.failure.or_else(|| {
        (panicked > 0).then(|| Fault::Device(format!("{panicked} worker threads of this program panicked (see above)")))
    });
    match failure {
        Some(fault) => Err(fault),
        None => Ok(times),
    }
}

#[allow(clippy::too_many_arguments)]
fn work(
    fd: RawFd,
    limits: &Limits,
    slot: usize,
    arena: &Arena,
    shared: &Mutex<Shared<'_, '_>>,
    deadline_ns: u64,
    stop: &AtomicBool,
    samples: &mut Samples,
) {
    samples.reserve((limits.max_requests / limits.queue_depth).min(1 << 18) + 1);
    while let Some((request, serial)) = next(shared) {
        if request.delay_ns > 0 && limits.queue_depth == 1 {
            clock::wait_until(clock::now_ns() + request.delay_ns);
        }
        if request.op != Op::Read {
            arena.stamp(slot, request.length as usize, serial ^ request.offset);
        }
        let issued = clock::now_ns();
        let moved = transfer(fd, arena.slot(slot), &request);
        let done = clock::now_ns();
        let is_whole = moved == i64::from(request.length);
        if is_whole {
            samples.push(issued, done, &request);
        }
        if !is_whole || done >= deadline_ns || stop.load(Ordering::Relaxed) {
            let mut shared = shared.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
            shared.stop_ns.get_or_insert(done);
            if !is_whole {
                shared.failure.get_or_insert(io_fault(&request, moved as i32));
            }
        }
    }
}

fn next(shared: &Mutex<Shared<'_, '_>>) -> Option<(Request, u64)> {
    let mut shared = shared.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    if shared.stop_ns.is_some() {
        return None;
    }
    if shared.left > 0 {
        if let Some(request) = (shared.source)() {
            shared.left -= 1;
            return Some((request, shared.left as u64));
        }
    }
    shared.stop_ns = Some(clock::now_ns());
    None
}

/// Bytes moved, or the negative error number.
fn transfer(fd: RawFd, buffer: *mut u8, request: &Request) -> i64 {
    let iovec = libc::iovec { iov_base: buffer.cast(), iov_len: request.length as usize };
    let offset = request.offset as libc::off_t;
    loop {
        // SAFETY: the slot holds at least `length` bytes and belongs to this thread alone.
        let moved = unsafe {
            match request.op {
                Op::Read => libc::preadv2(fd, &iovec, 1, offset, 0),
                Op::Write => libc::pwritev2(fd, &iovec, 1, offset, 0),
                Op::DurableWrite => libc::pwritev2(fd, &iovec, 1, offset, libc::RWF_DSYNC),
                Op::Flush => libc::fdatasync(fd) as libc::ssize_t,
            }
        };
        if moved >= 0 {
            return moved as i64;
        }
        let code = std::io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO);
        if code != libc::EINTR {
            return -i64::from(code);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_worker_that_panics_keeps_its_samples_and_fails_the_run() {
        use std::os::fd::AsRawFd;
        // Any file that can be read; no direct I/O is needed here.
        let file = std::fs::File::open("/proc/self/exe").unwrap();
        let mut asked = 0;
        let mut source = || {
            asked += 1;
            assert!(asked <= 5, "this panic is part of the test");
            Some(Request::read(0, 512))
        };
        let mut samples = Samples::default();
        let limits = Limits { queue_depth: 1, max_length: 512, duration_ns: u64::MAX / 2, max_requests: 100 };
        let stop = AtomicBool::new(false);
        let outcome = run(file.as_raw_fd(), &limits, &mut source, &mut samples, &stop);
        assert_eq!(samples.len(), 5);
        assert!(matches!(outcome, Err(Fault::Device(text)) if text.contains("panicked")));
    }
}
