//! Many waiting commands in ordered structures: a choice costs the logarithm of how many they are.
//!
//! The same choices as [`Policy::choose`] makes by looking at every command; `turn` counts the order of arrival, which
//! breaks ties (rule Q1).

use std::collections::BTreeMap;
use std::ops::Bound::{Excluded, Included, Unbounded};

use super::neighbours::Neighbours;
use super::sptf::aged;
use super::{Arms, Margin, Order, Policy, Waiting};

/// Commands by first block and turn.
type ByLba = BTreeMap<(i64, u64), Waiting>;

/// What a command is found by, beside its turn.
fn key_of(waiting: &Waiting, policy: &Policy) -> i64 {
    match policy.order() {
        Order::Arrival | Order::List => 0,
        Order::Cylinder | Order::CylinderAndArrival => i64::from(waiting.target.place.cylinder),
        Order::Block | Order::BlockAndArrival => waiting.lba,
    }
}

#[derive(Default)]
pub struct Deep {
    /// By block: reads and writes apart for mq-deadline, the batch and what comes after it for F-SCAN, else the first.
    by_lba: [ByLba; 2],
    /// By cylinder and turn, for each arm: for positioning times.
    by_cylinder: Vec<BTreeMap<(i64, u64), Waiting>>,
    /// First block (or arm and cylinder) by turn: who came first.
    by_turn: [BTreeMap<u64, (usize, i64)>; 2],
    /// Where commands may be joined.
    neighbours: Option<Neighbours>,
    /// The highest number of a command that came.
    pub(super) last_seq: i64,
    len: usize,
}

impl Deep {
    pub fn new(merges: bool) -> Self {
        Deep { neighbours: merges.then(Neighbours::default), ..Deep::default() }
    }

    pub fn len(&self) -> usize {
        self.len
    }

    pub fn push(&mut self, turn: u64, waiting: Waiting, policy: &Policy) {
        self.len += 1;
        if let Some(neighbours) = &mut self.neighbours {
            neighbours.insert(turn, &waiting, key_of(&waiting, policy));
        }
        self.last_seq = self.last_seq.max(waiting.seq as i64);
        match policy.order() {
            order @ (Order::Cylinder | Order::CylinderAndArrival) => {
                let arm = waiting.actuator as usize;
                let cylinder = i64::from(waiting.target.place.cylinder);
                if self.by_cylinder.len() <= arm {
                    self.by_cylinder.resize_with(arm + 1, BTreeMap::new);
                }
                if order == Order::CylinderAndArrival {
                    self.by_turn[0].insert(turn, (arm, cylinder));
                }
                self.by_cylinder[arm].insert((cylinder, turn), waiting);
            }
            order => {
                let part = policy.part(&waiting);
                if order == Order::BlockAndArrival {
                    self.by_turn[part].insert(turn, (part, waiting.lba));
                }
                self.by_lba[part].insert((key_of(&waiting, policy), turn), waiting);
            }
        }
    }

    /// Takes the policy's choice out.
    pub fn take(&mut self, policy: &mut Policy, head: i64, now: i64, arms: &impl Arms) -> Option<Waiting> {
        let (turn, chosen) = policy.take(self, head, now, arms)?;
        self.len -= 1;
        if let Some(neighbours) = &mut self.neighbours {
            neighbours.remove(turn, &chosen);
        }
        Some(chosen)
    }

    /// Lets `join` change the first command that `new` continues or precedes and that may take it.
    pub fn join(
        &mut self,
        new: &Waiting,
        policy: &Policy,
        may: impl Fn(&Waiting) -> bool,
        join: impl FnOnce(&mut Waiting),
    ) -> bool {
        let Some(neighbours) = &self.neighbours else { return false };
        let fits = |&(turn, key): &(u64, i64)| self.trees().any(|tree| tree.get(&(key, turn)).is_some_and(&may));
        let them = neighbours.of(new).filter(fits);
        let Some((turn, key)) = them.min() else { return false };
        let mut trees = self.by_lba.iter_mut().chain(&mut self.by_cylinder);
        let Some(mut waiting) = trees.find_map(|tree| tree.remove(&(key, turn))) else { return false };
        for by_turn in &mut self.by_turn {
            by_turn.remove(&turn);
        }
        if let Some(neighbours) = &mut self.neighbours {
            neighbours.remove(turn, &waiting);
        }
        join(&mut waiting);
        self.len -= 1;
        self.push(turn, waiting, policy);
        true
    }

    fn trees(&self) -> impl Iterator<Item = &ByLba> {
        self.by_lba.iter().chain(&self.by_cylinder)
    }

    /// The lowest key of a part.
    pub(super) fn first(&self, part: usize) -> Option<(i64, u64)> {
        self.by_lba[part].keys().next().copied()
    }

    /// Takes a command out of a part, with its turn.
    pub(super) fn remove(&mut self, part: usize, key: (i64, u64)) -> Option<(u64, Waiting)> {
        self.by_turn[part].remove(&key.1);
        self.by_lba[part].remove(&key).map(|waiting| (key.1, waiting))
    }

    /// Exchanges the two parts.
    pub(super) fn swap_parts(&mut self) {
        self.by_lba.swap(0, 1);
    }

    /// The nearest block at or ahead of `head` in a direction; the first of those that begin there.
    pub(super) fn nearest_ahead(&self, part: usize, head: i64, direction: i64) -> Option<(i64, u64)> {
        let tree = &self.by_lba[part];
        if direction > 0 {
            return tree.range((head, 0)..).next().map(|(&key, _)| key);
        }
        let (&(lba, _), _) = tree.range(..=(head, u64::MAX)).next_back()?;
        tree.range((lba, 0)..).next().map(|(&key, _)| key)
    }

    /// The command that came first among reads or writes.
    pub(super) fn oldest(&self, op: usize) -> Option<((i64, u64), &Waiting)> {
        let (&turn, &(_, lba)) = self.by_turn[op].iter().next()?;
        let key = (lba, turn);
        self.by_lba[op].get(&key).map(|waiting| (key, waiting))
    }

    /// Blocks of a command.
    pub(super) fn length(&self, part: usize, key: (i64, u64)) -> i64 {
        self.by_lba[part].get(&key).map_or(0, |waiting| waiting.n)
    }

    /// Least positioning time, weighed by age if there is a limit: outwards from each arm, until the seek alone takes
    /// longer than the best.
    pub(super) fn least_time(&mut self, age_ns: Option<i64>, now: i64, arms: &impl Arms) -> Option<(u64, Waiting)> {
        let mut least_left = 1;
        if let Some(age_ns) = age_ns {
            let (&turn, &(arm, cylinder)) = self.by_turn[0].iter().next()?;
            let key = (cylinder, turn);
            // nobody has less of its age left than the one that came first
            least_left = aged(age_ns, now - self.by_cylinder[arm].get(&key)?.arrived);
            if least_left == 0 {
                self.by_turn[0].remove(&turn);
                return self.by_cylinder[arm].remove(&key).map(|waiting| (turn, waiting));
            }
        }
        let mut best: Option<(i128, u64, usize, i64)> = None;
        for (arm, tree) in self.by_cylinder.iter().enumerate() {
            let from = arms.cylinder(arm as u32);
            let mut inwards = tree.range((Included((from, 0)), Unbounded)).peekable();
            let mut outwards = tree.range((Unbounded, Excluded((from, 0)))).rev().peekable();
            loop {
                let step_in = inwards.peek().map(|(key, _)| key.0 - from);
                let step_out = outwards.peek().map(|(key, _)| from - key.0);
                let (distance, is_in) = match (step_in, step_out) {
                    (None, None) => break,
                    (Some(i), Some(o)) => (i.min(o), i <= o),
                    (Some(i), None) => (i, true),
                    (None, Some(o)) => (o, false),
                };
                let bound = i128::from(arms.least_ns(distance)) * i128::from(least_left);
                if best.is_some_and(|(score, ..)| bound > score) {
                    break;
                }
                // none of the same cylinder is sooner, and those behind the best one came later: of flash, all of them
                if is_in && best.is_some_and(|(score, _, a, c)| (score, a, c) == (bound, arm, from + distance)) {
                    inwards = tree.range((Included((from + distance + 1, 0)), Unbounded)).peekable();
                    continue;
                }
                let next = if is_in { inwards.next() } else { outwards.next() };
                let Some((&(cylinder, turn), waiting)) = next else { break };
                let score = match age_ns {
                    Some(age_ns) => {
                        let left = aged(age_ns, now - waiting.arrived);
                        i128::from(arms.time_ns(waiting, Margin::NONE)) * i128::from(left)
                    }
                    None => i128::from(arms.time_ns(waiting, Margin::NONE)),
                };
                if best.is_none_or(|(least, first, ..)| (score, turn) < (least, first)) {
                    best = Some((score, turn, arm, cylinder));
                }
            }
        }
        let (_, turn, arm, cylinder) = best?;
        self.by_turn[0].remove(&turn);
        self.by_cylinder[arm].remove(&(cylinder, turn)).map(|waiting| (turn, waiting))
    }

    /// All commands, in no order.
    pub fn iter(&self) -> impl Iterator<Item = (u64, &Waiting)> {
        self.trees().flat_map(|tree| tree.iter().map(|(key, waiting)| (key.1, waiting)))
    }
}
