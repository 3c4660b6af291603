//! When the host's processor stands still (rule H4): pure decisions; see `diskmodel/host/pauses.py`.

use crate::faults::{planted, Fault};

/// Goes through the pauses in order of time; questions may not go back.
pub struct Pauses {
    /// From the end of the pause before (or from time 0) to the beginning, and how long it lasts; at least one.
    drawn: Vec<(i64, i64)>,
    next: usize,
    begin: i64,
    end: i64,
}

impl Pauses {
    /// Nothing where no pause was drawn.
    pub fn of(drawn: &[(i64, i64)]) -> Option<Self> {
        if drawn.is_empty() {
            return None;
        }
        let mut pauses = Pauses { drawn: drawn.to_vec(), next: 0, begin: 0, end: 0 };
        pauses.step();
        Some(pauses)
    }

    fn step(&mut self) {
        let (gap, length) = self.drawn[self.next];
        self.next = (self.next + 1) % self.drawn.len();
        self.begin = self.end + gap;
        self.end = self.begin + length;
    }

    /// The first time from `time` on that lies in no pause.
    pub fn awake(&mut self, time: i64) -> i64 {
        while self.end <= time {
            self.step();
        }
        if self.begin <= time && !planted(Fault::AwakeInPause) {
            self.end
        } else {
            time
        }
    }

    /// When work is done that begins at a time outside of pauses.
    pub fn worked(&mut self, begin: i64, work: i64) -> i64 {
        let (mut at, mut left) = (begin, work);
        while self.end <= at {
            self.step();
        }
        while at + left > self.begin && !planted(Fault::WorkInPause) {
            left -= self.begin - at;
            at = self.end;
            self.step();
        }
        at + left
    }
}
