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

use clap::{CommandFactory, Parser};

use cli::{Cli, Command};
use fault::{Fault, Outcome};
use progress::Progress;

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
    let cli = Cli::parse();
    let style = match (&cli.measure, &cli.command) {
        (Some(measure), _) => measure.common.progress,
        (_, Some(Command::Raw(raw))) => raw.common.progress,
        _ => progress::Style::Text,
    };
    let mut progress = Progress::new(style);
    let outcome = watch_signals().and_then(|stop| match (&cli.command, &cli.measure) {
        (Some(Command::List), _) => {
            list();
            Ok(())
        }
        (Some(Command::Raw(arguments)), _) => raw::run(arguments, &mut progress, &stop),
        (None, Some(arguments)) => measure::measure(arguments, &mut progress, &stop),
        (None, None) => {
            let _ = Cli::command().print_help();
            Err(Fault::input("target", "(none)", "is missing", "name a block device, a file or a directory"))
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
