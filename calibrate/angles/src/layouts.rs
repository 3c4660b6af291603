//! The likeliest layout of tracks and cylinders, of many, by Viterbi paths over the tracks that addresses leave out.

use super::{fraction, nearest};

/// What an angle that is off, and a track that is left out, count; natural logarithms of likelihoods.
#[derive(Clone, Copy)]
pub struct Judgement {
    /// Of an angle that is off by x turns: `per_square` · x², at least `floor`.
    pub per_square: f32,
    pub floor: f32,
    pub slip: f32,
    /// Candidates that are so far behind the best are dropped.
    pub max_behind: f32,
    /// Points before the first are dropped, and points from one dropping to the next.
    pub first_cull: usize,
    pub cull_every: usize,
}

/// Candidates: a row for each layout, all of which are tried with every offset.
pub struct Layouts<'a> {
    /// Block at which a track begins, counted as the points are.
    pub first: &'a [f64],
    /// Turns from track to track beyond whole ones, and what a cylinder's end adds.
    pub track: &'a [f64],
    pub cylinder: &'a [f64],
    pub offsets: &'a [f64],
    /// Tracks of a cylinder, and blocks of a track.
    pub heads: usize,
    pub period: f64,
    /// Tracks that may be left out; `start` is the track of its cylinder that the first point lies on, if known.
    pub max_slips: usize,
    pub start: Option<usize>,
}

/// The likeliest candidate, and the tracks left out before each point, counted from `start`'s cylinder.
pub struct Likeliest {
    pub row: usize,
    pub offset: usize,
    pub path: Vec<usize>,
}

/// A candidate, with the log-likelihood of the best path to each state.
struct Runner {
    row: usize,
    offset: usize,
    value: Vec<f32>,
}

impl Layouts<'_> {
    /// Finds the likeliest candidate for measured angles, in turns, of blocks in ascending order.
    pub fn likeliest(&self, blocks: &[f64], angle: &[f64], judgement: &Judgement) -> Likeliest {
        let mut runners = self.runners();
        let mut at = 0;
        while at < blocks.len() {
            let until = blocks.len().min(if at < judgement.first_cull {
                judgement.first_cull
            } else {
                at + judgement.cull_every
            });
            self.advance(&mut runners, &blocks[at..until], &angle[at..until], judgement);
            at = until;
            if at < blocks.len() {
                drop_far_behind(&mut runners, judgement.max_behind);
            }
        }
        let mut best = &runners[0];
        let mut top = best.best();
        for runner in &runners[1..] {
            if runner.best() > top {
                (best, top) = (runner, runner.best());
            }
        }
        Likeliest {
            row: best.row,
            offset: best.offset,
            path: self.path(best.row, best.offset, blocks, angle, judgement),
        }
    }

    fn n_states(&self) -> usize {
        self.heads + self.max_slips
    }

    fn runners(&self) -> Vec<Runner> {
        let value = self.begin();
        let places = (0..self.first.len()).flat_map(|row| (0..self.offsets.len()).map(move |offset| (row, offset)));
        places.map(|(row, offset)| Runner { row, offset, value: value.clone() }).collect()
    }

    /// Nothing is left out before the first point, which lies on any track of its cylinder, or on a known one.
    fn begin(&self) -> Vec<f32> {
        let is_start = |state| self.start.map_or(state < self.heads, |start| state == start);
        (0..self.n_states()).map(|state| if is_start(state) { 0.0 } else { -1e9 }).collect()
    }

    /// Takes the runners, which are in order of row, past some points.
    fn advance(&self, runners: &mut [Runner], blocks: &[f64], angle: &[f64], judgement: &Judgement) {
        let n = self.n_states();
        let mut there = vec![0.0; blocks.len() * n];
        let mut before = vec![0.0; n];
        let mut known = usize::MAX;
        for runner in runners {
            if runner.row != known {
                known = runner.row;
                for ((block, angle), there) in blocks.iter().zip(angle).zip(there.chunks_exact_mut(n)) {
                    self.residuals(known, *block, *angle, there);
                }
            }
            let offset = self.offsets[runner.offset] as f32;
            for there in there.chunks_exact(n) {
                step(&mut runner.value, &mut before, judgement.slip);
                weigh(&mut runner.value, there, offset, judgement);
            }
        }
    }

    /// By how much a measured angle is beyond that of a layout with offset 0, in turns, for each state.
    fn residuals(&self, row: usize, block: f64, angle: f64, there: &mut [f32]) {
        let place = (block - self.first[row]) / self.period;
        let begun = place.floor();
        let beyond = angle as f32 - (place - begun) as f32;
        let heads = self.heads as i64;
        let first = begun as i64;
        let (mut cylinder, mut in_cylinder) = (first.div_euclid(heads), first.rem_euclid(heads));
        for (track, there) in (first..).zip(there) {
            let turned = self.track[row] * track as f64 + self.cylinder[row] * cylinder as f64;
            *there = beyond - fraction(turned) as f32;
            in_cylinder += 1;
            if in_cylinder == heads {
                (cylinder, in_cylinder) = (cylinder + 1, 0);
            }
        }
    }

    /// The tracks left out before each point on one candidate's likeliest path.
    fn path(&self, row: usize, offset: usize, blocks: &[f64], angle: &[f64], judgement: &Judgement) -> Vec<usize> {
        let n = self.n_states();
        let offset = self.offsets[offset] as f32;
        let mut value = self.begin();
        let (mut there, mut before) = (vec![0.0; n], vec![0.0; n]);
        let mut has_slipped = vec![false; blocks.len() * n];
        for ((block, angle), slipped) in blocks.iter().zip(angle).zip(has_slipped.chunks_exact_mut(n)) {
            step(&mut value, &mut before, judgement.slip);
            for (slipped, (value, before)) in slipped.iter_mut().zip(value.iter().zip(&before)) {
                *slipped = value > before;
            }
            self.residuals(row, *block, *angle, &mut there);
            weigh(&mut value, &there, offset, judgement);
        }
        let mut state = first_largest(&value);
        let mut path = vec![0; blocks.len()];
        for (place, slipped) in path.iter_mut().zip(has_slipped.chunks_exact(n)).rev() {
            *place = state;
            state -= usize::from(slipped[state]);
        }
        path
    }
}

impl Runner {
    fn best(&self) -> f32 {
        self.value.iter().copied().fold(f32::NEG_INFINITY, f32::max)
    }
}

/// One more track may have been left out than before; what was `before` is kept.
fn step(value: &mut [f32], before: &mut [f32], slip: f32) {
    before.copy_from_slice(value);
    for (value, one_less) in value[1..].iter_mut().zip(&before[..]) {
        let slipped = one_less - slip;
        *value = if slipped > *value { slipped } else { *value };
    }
}

/// Adds the log-likelihood of a point.
fn weigh(value: &mut [f32], there: &[f32], offset: f32, judgement: &Judgement) {
    for (value, there) in value.iter_mut().zip(there) {
        let off = there - offset;
        let off = off - nearest(off);
        let likely = off * off * judgement.per_square;
        *value += if likely > judgement.floor { likely } else { judgement.floor };
    }
}

fn first_largest(value: &[f32]) -> usize {
    (1..value.len()).fold(0, |best, k| if value[k] > value[best] { k } else { best })
}

/// Drops candidates where they are a fifth of all or more: what they might still reach counts more than a little time.
fn drop_far_behind(runners: &mut Vec<Runner>, max_behind: f32) {
    let best: Vec<f32> = runners.iter().map(Runner::best).collect();
    let top = best.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let is_near = |value: &f32| *value >= top - max_behind;
    if 5 * best.iter().filter(|value| is_near(value)).count() < 4 * runners.len() {
        let mut values = best.iter();
        runners.retain(|_| values.next().is_some_and(is_near));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const JUDGEMENT: Judgement =
        Judgement { per_square: -800.0, floor: -5.0, slip: 7.0, max_behind: 90.0, first_cull: 10, cull_every: 5 };

    /// Angles of a drive with tracks of 100 blocks, 3 heads, and a track left out from block 5,000 on.
    fn angle(block: f64) -> f64 {
        let track = (block / 100.0).floor() + f64::from(u8::from(block >= 5000.0));
        (block / 100.0).fract() + 0.1 * track + 0.05 * (track / 3.0).floor() + 0.25
    }

    #[test]
    fn the_true_layout_wins_and_the_slip_is_found() {
        let blocks: Vec<f64> = (0..60).map(|k| 37.0 + 173.0 * f64::from(k)).collect();
        let measured: Vec<f64> = blocks.iter().map(|block| angle(*block).fract()).collect();
        let layouts = Layouts {
            first: &[0.0, 0.0, 50.0],
            track: &[0.12, 0.1, 0.1],
            cylinder: &[0.05, 0.05, 0.05],
            offsets: &[0.0, 0.25, 0.5, 0.75],
            heads: 3,
            period: 100.0,
            max_slips: 4,
            start: None,
        };
        let found = layouts.likeliest(&blocks, &measured, &JUDGEMENT);
        assert_eq!((found.row, found.offset), (1, 1));
        let expected: Vec<usize> = blocks.iter().map(|block| usize::from(*block >= 5000.0)).collect();
        assert_eq!(found.path, expected);
    }
}
