//! Commands that wait for a scheduler: a list while they are few, ordered structures when they are many.

use super::deep::Deep;
use super::{Arms, Order, Policy, Row, Waiting};

/// From so many commands on they are kept in order, and below so few in a list again.
const MANY: usize = 40;
const FEW: usize = MANY / 4;

#[derive(Default)]
pub struct Pool {
    list: Row,
    deep: Option<Box<Deep>>,
    turn: u64,
    /// Commands may join those that wait (rule Q9).
    pub merges: bool,
}

impl Pool {
    pub fn is_empty(&self) -> bool {
        self.list.is_empty() && self.deep.is_none()
    }

    pub fn len(&self) -> usize {
        self.deep.as_ref().map_or(self.list.len(), |deep| deep.len())
    }

    pub fn push(&mut self, waiting: Waiting, policy: &Policy) {
        if let Some(deep) = &mut self.deep {
            self.turn += 1;
            deep.push(self.turn, waiting, policy);
            return;
        }
        self.list.push(waiting);
        let many = match policy.order() {
            Order::List => usize::MAX,
            Order::Arrival if !self.merges => usize::MAX,
            // what age takes off the time hides which seeks are too long
            Order::CylinderAndArrival => 3 * MANY,
            _ => MANY,
        };
        if self.list.len() > many {
            let mut deep = Box::new(Deep::new(self.merges));
            for &waiting in self.list.commands() {
                self.turn += 1;
                deep.push(self.turn, waiting, policy);
            }
            self.list.clear();
            self.deep = Some(deep);
        }
    }

    /// Whether anything is to be chosen.
    #[inline]
    pub fn has_choice(&self, policy: &Policy) -> bool {
        self.deep.is_some() || policy.has_choice(self.list.len())
    }

    /// Takes the scheduler's choice out.
    pub fn take(&mut self, policy: &mut Policy, head: i64, now: i64, arms: &impl Arms) -> Option<Waiting> {
        if let Some(deep) = &mut self.deep {
            let chosen = deep.take(policy, head, now, arms);
            if deep.len() < FEW {
                self.end_order();
            }
            return chosen;
        }
        if self.list.is_empty() {
            return None;
        }
        let at = if policy.has_choice(self.list.len()) { policy.choose(&mut self.list, head, now, arms) } else { 0 };
        Some(self.list.remove(at))
    }

    /// Lets `join` change the first command that waits at the border of `new` and may take it; false when there is none.
    pub fn join(
        &mut self,
        new: &Waiting,
        policy: &Policy,
        may: impl Fn(&Waiting) -> bool,
        join: impl FnOnce(&mut Waiting),
    ) -> bool {
        if let Some(deep) = &mut self.deep {
            return deep.join(new, policy, may, join);
        }
        let is_joined = |w: &Waiting| w.op == new.op && (w.lba + w.n == new.lba || new.lba + new.n == w.lba) && may(w);
        let list = self.list.commands();
        let Some(at) = list.iter().position(is_joined) else { return false };
        self.list.change(at, join);
        true
    }

    fn end_order(&mut self) {
        let Some(deep) = self.deep.take() else { return };
        let mut waiting: Vec<_> = deep.iter().map(|(turn, w)| (turn, *w)).collect();
        waiting.sort_unstable_by_key(|(turn, _)| *turn);
        waiting.into_iter().for_each(|(_, w)| self.list.push(w));
    }

    /// The commands in order of arrival, for a choice among them and others; ends what order they were kept in.
    pub fn list(&mut self) -> &mut Row {
        self.end_order();
        &mut self.list
    }
}
