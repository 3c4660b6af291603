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
mod period;
mod progress;
mod raw;
mod request;
mod safety;
mod session;
mod stats;
mod target;

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

fn main() -> ExitCode {
    let command = cli::parse();
    let style = match &command {
        Command::Measure(arguments) => arguments.common.progress,
        Command::Raw(arguments) => arguments.common.progress,
        Command::List => Style::Text,
    };
    let mut progress = Progress::new(style);
    let outcome = watch_signals().and_then(|stop| match &command {
        Command::Measure(arguments) => measure::measure(arguments, &mut progress, &stop),
        Command::Raw(arguments) => raw::run(arguments, &mut progress, &stop),
        Command::List => {
            list();
            Ok(())
        }
    });
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(fault) => {
            progress.fault(&fault);
            ExitCode::from(fault.exit_status() as u8)
        }
    }
}

fn list() {
    for e in &experiments::ALL {
        let writes = if e.writes { ", writes" } else { "" };
        println!("{}: {} (at least {} s{writes})", e.name, e.why, e.min_seconds);
    }
}
