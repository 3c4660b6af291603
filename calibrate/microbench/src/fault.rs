//! What can go wrong: bad input, reported as field, value, rule and fix, or a failure of the device or the program.

use std::fmt;

/// One thing that stops the program, or one experiment of it.
#[derive(Debug, Clone, PartialEq)]
pub enum Fault {
    /// The user can correct it: the field, its value, the rule that it breaks, what to do.
    Input { field: String, value: String, rule: String, fix: String },
    /// The device or the system failed while we were working.
    Device(String),
    /// A signal asked us to stop.
    Interrupted,
    /// The reader of standard output has gone.
    NobodyReads,
}

pub type Outcome<T> = Result<T, Fault>;

impl Fault {
    pub fn input(field: &str, value: impl fmt::Display, rule: &str, fix: &str) -> Self {
        Fault::Input { field: field.into(), value: value.to_string(), rule: rule.into(), fix: fix.into() }
    }

    pub fn device(doing: impl fmt::Display, error: &std::io::Error) -> Self {
        Fault::Device(format!("{doing}: {error}"))
    }

    pub fn exit_status(&self) -> i32 {
        match self {
            Fault::Input { .. } => 2,
            Fault::Device(_) => 1,
            Fault::Interrupted => 130,
            Fault::NobodyReads => 141,
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::Input { field, value, rule, fix } if fix.is_empty() => write!(f, "{field}={value}: {rule}"),
            Fault::Input { field, value, rule, fix } => write!(f, "{field}={value}: {rule}; {fix}"),
            Fault::Device(text) => f.write_str(text),
            Fault::Interrupted => f.write_str("interrupted"),
            Fault::NobodyReads => f.write_str("nobody reads standard output any more"),
        }
    }
}
