//! The command line.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Parser, ValueEnum};

use crate::document::Settings;
use crate::engine::Kind;
use crate::experiments;
use crate::fault::{Fault, Outcome};
use crate::progress::Style;

/// Measures a disk, or the disk under a file or directory, with direct I/O, and records the latency of every request.
///
/// TARGET is a block device or a file, which are only read, or a directory or a new path, where a scratch file is made
/// that vanishes with the program. Exit status: 0 done, 2 bad input, 130 interrupted (the result so far is valid, see
/// --resume), 141 when nobody reads standard output, 1 a fault of the device (the result so far is partial) or of this
/// program.
#[derive(Parser)]
#[command(name = "diskmodel-bench", version, after_help = OTHER_COMMANDS)]
pub struct MeasureCommand {
    #[command(flatten)]
    pub measure: Measure,
}

/// Runs one job, such as random reads of 4 KiB at depth 16, and records it in the same format.
#[derive(Parser)]
#[command(name = "diskmodel-bench raw", version)]
pub struct RawCommand {
    #[command(flatten)]
    pub raw: Raw,
}

const OTHER_COMMANDS: &str = "Other commands:
  diskmodel-bench raw TARGET …   runs one job: pattern, length, depth, share of reads (raw --help)
  diskmodel-bench list           lists the experiments and what they need";

pub enum Command {
    Measure(Measure),
    Raw(Raw),
    List,
}

/// The first word chooses; a target of that name is written ./raw.
pub fn parse() -> Command {
    let words: Vec<OsString> = std::env::args_os().collect();
    match words.get(1).and_then(|word| word.to_str()) {
        Some("raw") => {
            let rest = words[..1].iter().chain(&words[2..]);
            Command::Raw(RawCommand::parse_from(rest).raw)
        }
        Some("list") if words.len() == 2 => Command::List,
        _ => Command::Measure(MeasureCommand::parse_from(words).measure),
    }
}

#[derive(Args)]
pub struct Common {
    /// Block device, file, directory, or path of a scratch file to be made.
    pub target: String,
    /// The result (JSON); "-" for standard output.
    #[arg(long, short)]
    pub out: PathBuf,
    /// Allow writing: to a scratch file, or to the target that --allow-target names.
    #[arg(long)]
    pub write: bool,
    /// Destroy what is on this very target; has to repeat TARGET exactly.
    #[arg(long, value_name = "TARGET")]
    pub allow_target: Option<String>,
    /// Size of a scratch file; K, M, G, T for powers of 1024.
    #[arg(long, default_value = "1G", value_parser = parse_size)]
    pub size: u64,
    /// How requests are issued.
    #[arg(long, value_enum, default_value = "auto")]
    pub engine: EngineChoice,
    /// Seed of the generator of addresses.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Progress on standard error: lines for people, JSON lines for programs, or none.
    #[arg(long, value_enum, default_value = "text")]
    pub progress: Style,
    /// End when this process, which started us, ends: nobody would read the result.
    #[arg(long, hide = true, value_name = "PID")]
    pub parent: Option<libc::pid_t>,
}

#[derive(Args)]
pub struct Measure {
    #[command(flatten)]
    pub common: Common,
    /// About one minute.
    #[arg(long, conflicts_with = "thorough")]
    pub quick: bool,
    /// About forty minutes, depths to 256.
    #[arg(long)]
    pub thorough: bool,
    /// Time for all experiments together, instead of the mode's own.
    #[arg(long, allow_negative_numbers = true)]
    pub seconds: Option<f64>,
    /// Only these, separated by commas.
    #[arg(long, value_delimiter = ',')]
    pub experiments: Vec<String>,
    /// Most rows to record; runs end early rather than lose any.
    #[arg(long)]
    pub max_rows: Option<usize>,
    /// Go on with the interrupted measurement in --out.
    #[arg(long)]
    pub resume: bool,
}

#[derive(Args)]
pub struct Raw {
    #[command(flatten)]
    pub common: Common,
    #[arg(long, value_enum, default_value = "random")]
    pub pattern: Pattern,
    /// Length of each request.
    #[arg(long, default_value = "4K", value_parser = parse_size)]
    pub length: u64,
    /// Outstanding requests, 1 to 256.
    #[arg(long, default_value_t = 1)]
    pub depth: usize,
    #[arg(long, default_value_t = 10.0, allow_negative_numbers = true)]
    pub seconds: f64,
    /// Share of reads; below 1 needs --write.
    #[arg(long, default_value_t = 1.0, allow_negative_numbers = true)]
    pub read_fraction: f64,
    /// Stay within the first part of the target.
    #[arg(long, value_parser = parse_size)]
    pub span: Option<u64>,
    /// End after so many requests.
    #[arg(long)]
    pub requests: Option<usize>,
    /// Leave the columns out of the result; the summary stays.
    #[arg(long)]
    pub no_samples: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Pattern {
    Random,
    Sequential,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum EngineChoice {
    Auto,
    #[value(name = "io_uring")]
    Uring,
    Threads,
}

impl EngineChoice {
    pub fn kind(self) -> Option<Kind> {
        match self {
            EngineChoice::Auto => None,
            EngineChoice::Uring => Some(Kind::Uring),
            EngineChoice::Threads => Some(Kind::Threads),
        }
    }
}

/// `64M` → 67 108 864; also `64MiB`, and plain bytes.
fn parse_size(text: &str) -> Result<u64, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let factor = match text[digits.len()..].to_ascii_lowercase().trim_end_matches("ib") {
        "" => 1,
        "k" => 1 << 10,
        "m" => 1 << 20,
        "g" => 1u64 << 30,
        "t" => 1 << 40,
        _ => return Err("must be a number of bytes, or one with K, M, G or T (powers of 1024)".into()),
    };
    let number: u64 = digits.parse().map_err(|_| "must be a whole number of bytes, K, M, G or T".to_string())?;
    number.checked_mul(factor).ok_or_else(|| "is too large".into())
}

impl Measure {
    pub fn settings(&self) -> Outcome<Settings> {
        for name in &self.experiments {
            if !experiments::ALL.iter().any(|experiment| experiment.name == name) {
                let known: Vec<_> = experiments::ALL.iter().map(|experiment| experiment.name).collect();
                let rule = format!("must be one of {}", known.join(", "));
                return Err(Fault::input("experiments", name, &rule, "see `diskmodel-bench list`"));
            }
        }
        let (mode, seconds, rows) = match (self.quick, self.thorough) {
            (true, _) => ("quick", 60.0, 400_000),
            (_, true) => ("thorough", 2400.0, 8_000_000),
            _ => ("default", 600.0, 2_000_000),
        };
        let seconds = self.seconds.unwrap_or(seconds);
        if !(seconds > 0.0 && seconds <= 1e6) {
            return Err(Fault::input(
                "seconds",
                seconds,
                "must be above 0 and at most a million",
                "give a time in seconds",
            ));
        }
        Ok(Settings {
            mode: mode.into(),
            seconds,
            seed: self.common.seed,
            is_writing: self.common.write,
            max_rows: self.max_rows.unwrap_or(rows),
            experiments: self.experiments.clone(),
        })
    }
}

impl Raw {
    pub fn check(&self) -> Outcome<()> {
        if !(1..=256).contains(&self.depth) {
            return Err(Fault::input("depth", self.depth, "must lie in 1..256", "give fewer outstanding requests"));
        }
        if !(0.0..=1.0).contains(&self.read_fraction) {
            return Err(Fault::input("read-fraction", self.read_fraction, "must lie in 0..1", "0.7 means 70 % reads"));
        }
        if self.read_fraction < 1.0 && !self.common.write {
            let fix = "add --write, with a directory or new path as TARGET";
            return Err(Fault::input(
                "read-fraction",
                self.read_fraction,
                "below 1 it writes, which was not allowed",
                fix,
            ));
        }
        if self.length == 0 || self.length > 16 << 20 {
            return Err(Fault::input("length", self.length, "must lie in 1..16777216", "try 4K"));
        }
        if self.requests == Some(0) {
            return Err(Fault::input("requests", 0, "must be at least 1", "give a number, or leave it out"));
        }
        if !(self.seconds > 0.0 && self.seconds <= 1e6) {
            return Err(Fault::input("seconds", self.seconds, "must be above 0 and at most a million", "try 10"));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_powers_of_1024() {
        assert_eq!(parse_size("64M"), Ok(64 << 20));
        assert_eq!(parse_size("4KiB"), Ok(4096));
        assert_eq!(parse_size("512"), Ok(512));
        for bad in ["", "M", "1.5G", "-1", "4Q", "99999999999T"] {
            assert!(parse_size(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn the_command_line_is_well_formed() {
        use clap::CommandFactory;
        MeasureCommand::command().debug_assert();
        RawCommand::command().debug_assert();
    }
}
