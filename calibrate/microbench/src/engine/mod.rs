//! Engines keep a number of direct I/Os outstanding and time each of them.

mod arena;
mod threads;
mod uring;

use std::os::fd::RawFd;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::clock;
use crate::fault::{Fault, Outcome};
use crate::request::{Op, Request, Samples, Source};

pub use arena::Arena;
pub use uring::noop_latency_ns;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Uring,
    Threads,
}

impl Kind {
    pub fn name(self) -> &'static str {
        match self {
            Kind::Uring => "io_uring",
            Kind::Threads => "threads",
        }
    }
}

/// How one run is done: how many outstanding, how large at most, and when to stop issuing.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    pub queue_depth: usize,
    pub max_length: u32,
    pub duration_ns: u64,
    pub max_requests: usize,
}

/// When a run began, when it stopped issuing, and when the last request was back.
#[derive(Clone, Copy, Debug)]
pub struct Times {
    pub start_ns: u64,
    pub stop_ns: u64,
    pub end_ns: u64,
    pub cpu_user_ns: u64,
    pub cpu_system_ns: u64,
}

/// Runs requests of `source` until it ends, the limits are reached or `stop` is set; then waits for what is outstanding.
pub fn run(
    kind: Kind,
    fd: RawFd,
    limits: &Limits,
    source: &mut Source<'_>,
    samples: &mut Samples,
    stop: &AtomicBool,
) -> Outcome<Times> {
    samples.reserve(limits.max_requests.min(1 << 20) + limits.queue_depth);
    let times = match kind {
        Kind::Uring => uring::run(fd, limits, source, samples, stop)?,
        Kind::Threads => threads::run(fd, limits, source, samples, stop)?,
    };
    if stop.load(Ordering::Relaxed) {
        return Err(Fault::Interrupted);
    }
    Ok(times)
}

/// The engine to use: io_uring where the kernel offers it, threads otherwise, and why it isn't io_uring.
pub fn choose(wanted: Option<Kind>) -> Outcome<(Kind, Option<String>)> {
    match (wanted, uring::available()) {
        (Some(Kind::Threads), _) => Ok((Kind::Threads, Some("asked for".into()))),
        (_, Ok(())) => Ok((Kind::Uring, None)),
        (Some(Kind::Uring), Err(error)) => {
            Err(Fault::input("engine", "io_uring", &format!("the kernel refuses it ({error})"), "use --engine threads"))
        }
        (None, Err(error)) => Ok((Kind::Threads, Some(format!("io_uring is not available: {error}")))),
    }
}

struct Stopwatch {
    start_ns: u64,
    cpu: (u64, u64),
}

impl Stopwatch {
    fn start() -> Self {
        let cpu = clock::cpu_ns();
        Stopwatch { start_ns: clock::now_ns(), cpu }
    }

    fn finish(&self, stop_ns: Option<u64>) -> Times {
        let end_ns = clock::now_ns();
        let (user, system) = clock::cpu_ns();
        Times {
            start_ns: self.start_ns,
            stop_ns: stop_ns.unwrap_or(end_ns),
            end_ns,
            cpu_user_ns: user - self.cpu.0,
            cpu_system_ns: system - self.cpu.1,
        }
    }
}

fn io_fault(request: &Request, code: i32) -> Fault {
    let what = match request.op {
        Op::Read => "read",
        Op::Write | Op::DurableWrite => "write",
        Op::Flush => "flush",
    };
    let place = format!("{what} of {} bytes at {}", request.length, request.offset);
    if code < 0 {
        Fault::device(place, &std::io::Error::from_raw_os_error(-code))
    } else {
        Fault::Device(format!("{place}: only {code} bytes came through; did the target change its size?"))
    }
}
