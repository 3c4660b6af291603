//! What happens to an access at random (rule M9); see `diskmodel/drive/draws.py`.

use crate::generator::Generator;

/// Parts of a share of 1.
const PPM: u64 = 1_000_000;

/// Shares of accesses to the media with which something happens, the same for every disk of an array.
#[derive(Clone, Debug, Default)]
pub struct Chances {
    /// Of accesses on arrival; 1 where all are made on arrival, or none.
    pub zero_latency_ppm: u64,
    pub retry_ppm: u64,
    pub retry_ns: Vec<i64>,
}

impl Chances {
    /// Whether some accesses read in order, and others do not.
    pub fn are_mixed(&self) -> bool {
        self.zero_latency_ppm < PPM
    }

    pub fn has_draws(&self) -> bool {
        self.are_mixed() || self.retry_ppm > 0
    }
}

/// What an access has drawn.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct AccessDraw {
    pub in_order: bool,
    pub late_ns: i64,
}

/// The draws of one disk.
#[derive(Clone, Copy, Debug)]
pub(super) struct Draws {
    generator: Generator,
}

impl Draws {
    pub fn new(first: u32, disk: u32) -> Self {
        Draws { generator: Generator::new(first.wrapping_add(disk.wrapping_mul(2_654_435_769))) }
    }

    /// What the next access to the media draws.
    #[inline(never)]
    pub fn next(&mut self, chances: &Chances) -> AccessDraw {
        let zero_ppm = chances.zero_latency_ppm;
        let in_order = zero_ppm < PPM && self.generator.below(PPM) >= zero_ppm;
        if chances.retry_ppm == 0 || self.generator.below(PPM) >= chances.retry_ppm {
            return AccessDraw { in_order, late_ns: 0 };
        }
        let at = self.generator.below(chances.retry_ns.len() as u64) as usize;
        AccessDraw { in_order, late_ns: chances.retry_ns[at] }
    }
}
