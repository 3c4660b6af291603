//! Reports progress on standard error: lines for people, or JSON lines for programs.

use std::io::{IsTerminal, Write};

use serde_json::{json, Value};

use crate::clock;
use crate::fault::Fault;

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Style {
    Text,
    Json,
    None,
}

pub struct Progress {
    style: Style,
    start_ns: u64,
    last_ns: u64,
    is_terminal: bool,
    line_is_open: bool,
}

const EVERY_NS: u64 = 500_000_000;

impl Progress {
    pub fn new(style: Style) -> Self {
        let is_terminal = std::io::stderr().is_terminal();
        Progress { style, start_ns: clock::now_ns(), last_ns: 0, is_terminal, line_is_open: false }
    }

    pub fn elapsed_s(&self) -> f64 {
        (clock::now_ns() - self.start_ns) as f64 / 1e9
    }

    /// One event; `text` is what people read, `details` are further keys of the JSON line.
    pub fn say(&mut self, event: &str, text: &str, details: Value) {
        let elapsed = (self.elapsed_s() * 10.0).round() / 10.0;
        match self.style {
            Style::None => {}
            Style::Text => {
                self.close_line();
                self.put(&format!("{}\n", visible(text)));
            }
            Style::Json => {
                let mut line = json!({"event": event, "elapsed_s": elapsed, "text": text});
                if let (Some(line), Value::Object(details)) = (line.as_object_mut(), details) {
                    line.extend(details);
                }
                self.put(&format!("{line}\n"));
            }
        }
    }

    /// Reports the progress of the whole, at most twice a second. Called between runs only: writing would disturb a run.
    pub fn tick(&mut self, doing: &str, fraction: f64, remaining_s: f64) {
        let now = clock::now_ns();
        if now - self.last_ns < EVERY_NS {
            return;
        }
        self.last_ns = now;
        let fraction = fraction.clamp(0.0, 1.0);
        let text = format!("{:5.1} %  {doing}, about {remaining_s:.0} s left", fraction * 100.0);
        match self.style {
            Style::Text if self.is_terminal => {
                self.put(&format!("\r\x1b[K{}", visible(&text)));
                self.line_is_open = true;
            }
            Style::Json => {
                let details = json!({"doing": doing, "fraction": fraction, "remaining_s": remaining_s.round()});
                self.say("progress", &text, details);
            }
            _ => {}
        }
    }

    pub fn fault(&mut self, fault: &Fault) {
        let details = match fault {
            Fault::Input { field, value, rule, fix } => {
                json!({"kind": "input", "field": field, "value": value, "rule": rule, "fix": fix})
            }
            Fault::Device(_) => json!({"kind": "device"}),
            Fault::Interrupted => json!({"kind": "interrupted"}),
            Fault::NobodyReads => json!({"kind": "nobody_reads"}),
        };
        match self.style {
            Style::None => self.put(&format!("error: {}\n", visible(&fault.to_string()))),
            _ => self.say("error", &format!("error: {fault}"), details),
        }
    }

    fn close_line(&mut self) {
        if std::mem::take(&mut self.line_is_open) {
            self.put("\r\x1b[K");
        }
    }

    /// A closed standard error must not end a measurement.
    fn put(&self, text: &str) {
        let _ = std::io::stderr().write_all(text.as_bytes());
    }
}

/// Control characters, of names of files for instance, as escapes: a terminal would obey them.
fn visible(text: &str) -> String {
    let shown = |c: char| if c.is_control() && c != '\n' { c.escape_default().to_string() } else { c.to_string() };
    text.chars().map(shown).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_cannot_command_the_terminal() {
        assert_eq!(visible("a\x1b]0;title\x07\nb\u{9b}"), "a\\u{1b}]0;title\\u{7}\nb\\u{9b}");
    }
}
