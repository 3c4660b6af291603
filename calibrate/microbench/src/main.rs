//! Measures a disk with direct I/O and writes every latency into one JSON document.

mod cli;
mod clock;
mod device;
mod document;
mod engine;
mod experiments;
mod fault;
mod measure;
mod noise;
mod output;
mod period;
mod progress;
mod raw;
mod request;
mod safety;
mod session;
mod stats;
mod target;
mod users;

use std::process::ExitCode;
use std::sync::atomic::AtomicBool;
use std::sync::Arc;

use cli::Command;
use fault::{Fault, Outcome};
use progress::{Progress, Style};

/// The first signal asks for an orderly end, a second one ends the program at once.
fn watch_signals() -> Outcome<Arc<AtomicBool>> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        signal_hook::flag::register_conditional_shutdown(signal, 130, Arc::clone(&stop))
            .and_then(|_| signal_hook::flag::register(signal, Arc::clone(&stop)))
            .map_err(|error| Fault::device("watching for signals", &error))?;
    }
    Ok(stop)
}

/// Asks for the signal that ends us orderly when the process that started us dies; ends at once if it is dead already.
fn follow(parent: Option<libc::pid_t>) -> Outcome<()> {
    let Some(parent) = parent else { return Ok(()) };
    // SAFETY: plain system calls.
    let (asked, now) =
        unsafe { (libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGTERM as libc::c_ulong, 0, 0, 0), libc::getppid()) };
    if asked != 0 {
        return Err(Fault::device("following the process that started us", &std::io::Error::last_os_error()));
    }
    // It may have died before we asked: then we have another parent by now, and no signal will come.
    if now == parent {
        Ok(())
    } else {
        Err(Fault::Interrupted)
    }
}

/// A result that grows beyond the limit for files is an error that we report, not the end of the program.
fn ignore_file_size_signal() {
    // SAFETY: plain system call; ignoring a signal runs no code of ours.
    unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
}

fn main() -> ExitCode {
    ignore_file_size_signal();
    let command = cli::parse();
    let (style, parent) = match &command {
        Command::Measure(arguments) => (arguments.common.progress, arguments.common.parent),
        Command::Raw(arguments) => (arguments.common.progress, arguments.common.parent),
        Command::List => (Style::Text, None),
    };
    let mut progress = Progress::new(style);
    let outcome = watch_signals().and_then(|stop| follow(parent).map(|()| stop)).and_then(|stop| match &command {
        Command::Measure(arguments) => measure::measure(arguments, &mut progress, &stop),
        Command::Raw(arguments) => raw::run(arguments, &mut progress, &stop),
        Command::List => list(),
    });
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(fault) => {
            if fault != Fault::NobodyReads {
                progress.fault(&fault);
            }
            ExitCode::from(fault.exit_status() as u8)
        }
    }
}

fn list() -> Outcome<()> {
    output::print(|out| {
        experiments::ALL.iter().try_for_each(|e| {
            let writes = if e.writes { ", writes" } else { "" };
            writeln!(out, "{}: {} (at least {} s{writes})", e.name, e.why, e.min_seconds)
        })
    })
}
