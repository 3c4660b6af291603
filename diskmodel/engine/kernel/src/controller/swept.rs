//! How long a round of the destaging sweep is, without disks (rule K8 with runs that take no time; rule Z10).

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rustc_hash::FxHashSet;

use super::dirty_blocks::Lanes;

/// A sweep through the blocks of one lane.
#[derive(Default)]
struct Sweep {
    ahead: BinaryHeap<Reverse<i64>>,
    behind: BinaryHeap<Reverse<i64>>,
    position: i64,
    /// The use at which it began; none before it begins for the first time.
    began: Option<usize>,
}

/// What sweeps have gone through.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Swept {
    /// Whole rounds of all lanes, and the uses of blocks that they took together.
    pub n_rounds: usize,
    pub n_uses: usize,
    /// Blocks that wait behind the sweeps in the end.
    pub n_behind: usize,
}

/// Sweeps a cache in which `n` blocks wait always: those that wait when the `uses` come, and then these.
pub fn swept(uses: &[i64], waiting: &[i64], n: usize, lanes: &Lanes) -> Swept {
    let stripe_of = |block: i64| (block * lanes.block_sectors).div_euclid(lanes.stripe_sectors);
    let n_lanes = lanes.n as usize;
    let mut sweeps: Vec<Sweep> = (0..n_lanes).map(|_| Sweep::default()).collect();
    let mut waits = FxHashSet::default();
    for &block in waiting {
        sweeps[lanes.lane_of(block)].ahead.push(Reverse(block));
        waits.insert(block);
    }
    let (mut found, mut turn) = (Swept::default(), 0);
    for (at, &block) in uses.iter().enumerate() {
        if !waits.insert(block) {
            continue;
        }
        let sweep = &mut sweeps[lanes.lane_of(block)];
        let part = if block >= sweep.position { &mut sweep.ahead } else { &mut sweep.behind };
        part.push(Reverse(block));
        while waits.len() > n {
            while sweeps[turn].ahead.is_empty() && sweeps[turn].behind.is_empty() {
                turn = (turn + 1) % n_lanes;
            }
            let sweep = &mut sweeps[turn];
            if sweep.ahead.is_empty() {
                std::mem::swap(&mut sweep.ahead, &mut sweep.behind);
                if let Some(began) = sweep.began.replace(at) {
                    found.n_rounds += 1;
                    found.n_uses += at - began;
                }
            }
            let Some(Reverse(first)) = sweep.ahead.pop() else { break };
            let (mut run, stripe) = (first, stripe_of(first));
            waits.remove(&run);
            while sweep.ahead.peek() == Some(&Reverse(run + 1)) && stripe_of(run + 1) == stripe {
                sweep.ahead.pop();
                run += 1;
                waits.remove(&run);
            }
            sweep.position = run + 1;
            turn = (turn + 1) % n_lanes;
        }
    }
    found.n_behind = sweeps.iter().map(|sweep| sweep.behind.len()).sum();
    found
}

#[cfg(test)]
mod tests {
    use super::{swept, Lanes, Swept};

    fn of(blocks: &[i64], n: usize) -> Swept {
        let lanes = Lanes {
            n: 1,
            block_sectors: 8,
            stripe_sectors: 128,
            lane_sectors: 128,
            lane_step: 1,
            strip_sectors: 128,
            strip_cost: 1,
            stripe_cost: 0,
            next_sectors: 128,
            budget: 1,
            most: 1,
        };
        swept(blocks, &[], n, &lanes)
    }

    #[test]
    fn a_sweep_by_hand() {
        // as `test_a_sweep_by_hand` of tests/unit/result/test_rounds.py
        let uses = [10, 50, 30, 31, 5, 6, 7, 40, 41, 20, 60, 3, 61, 100, 1, 2];
        assert_eq!(of(&uses[..12], 2).n_rounds, 0);
        let whole = of(&uses, 2);
        assert_eq!((whole.n_rounds, whole.n_uses), (1, 15 - 6));
    }

    #[test]
    fn places_below_zero_have_stripes_too() {
        assert_eq!(of(&[-1, -2, -17, 5, 6], 2), Swept { n_rounds: 0, n_uses: 0, n_behind: 0 });
    }
}
