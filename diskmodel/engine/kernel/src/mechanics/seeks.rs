//! Seek times by distance in cylinders, shared by the runs of a drive.

use std::sync::{Arc, OnceLock};

/// By how much a seek inward takes longer than one outward (rule M3).
#[derive(Clone, Copy, Debug, Default)]
pub struct Turned {
    pub inward_ns: i64,
}

impl Turned {
    /// What is added to a seek: together the whole difference, also where it is odd.
    pub fn ns(self, is_inward: bool) -> i64 {
        let outward = -(self.inward_ns >> 1);
        if is_inward {
            self.inward_ns + outward
        } else {
            outward
        }
    }
}

/// Times that fit, and what follows from them.
#[derive(Clone, Debug, Default)]
pub struct Seeks {
    /// Of reads; behind them those of writes, where they have others.
    pub ns: Arc<[u32]>,
    /// The least seek over so many cylinders or more: measured seeks need not grow with the distance.
    pub least_ns: Arc<[u32]>,
    /// The longest seek.
    pub longest_ns: u32,
    /// The times of writes that came with these of reads first, and both together: for the next run of the drive.
    joined: Arc<OnceLock<(Arc<[u32]>, Both)>>,
}

/// Times of reads and of writes one behind the other, and the least of both.
type Both = (Arc<[u32]>, Arc<[u32]>);

impl Seeks {
    /// These of reads, and others of writes over as many cylinders.
    #[must_use]
    pub fn with_writes(self, writes: &Seeks) -> Self {
        let (of, both) = self.joined.get_or_init(|| (writes.ns.clone(), self.both(writes)));
        let (ns, least_ns) = if Arc::ptr_eq(of, &writes.ns) { both.clone() } else { self.both(writes) };
        Seeks { ns, least_ns, longest_ns: self.longest_ns.max(writes.longest_ns), joined: Arc::default() }
    }

    fn both(&self, writes: &Seeks) -> Both {
        let mut ns = self.ns.to_vec();
        ns.extend_from_slice(&writes.ns);
        let least = |(&read, &write): (&u32, &u32)| read.min(write);
        (ns.into(), self.least_ns.iter().zip(&*writes.least_ns).map(least).collect::<Vec<_>>().into())
    }

    /// Number of cylinders.
    pub fn cylinders(&self) -> usize {
        self.least_ns.len()
    }

    /// None where a time does not fit in 32 bits.
    fn of(numbers: &[i64]) -> Option<Self> {
        let (least, longest) = numbers.iter().fold((0, 0), |(least, longest), &ns| (ns.min(least), ns.max(longest)));
        let (0, Ok(longest_ns)) = (least, u32::try_from(longest)) else { return None };
        let ns: Vec<_> = numbers.iter().map(|&ns| ns as u32).collect();
        let mut least_ns = ns.clone();
        for distance in (1..least_ns.len()).rev() {
            least_ns[distance - 1] = least_ns[distance - 1].min(least_ns[distance]);
        }
        Some(Seeks { ns: ns.into(), least_ns: least_ns.into(), longest_ns, joined: Arc::default() })
    }
}

/// A column of seek times as a caller hands it over: those that do not fit are kept as they came, to be reported.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize), serde(from = "Vec<i64>"))]
pub struct SeekColumn(pub Result<Seeks, Vec<i64>>);

impl SeekColumn {
    pub(crate) fn len(&self) -> usize {
        match &self.0 {
            Ok(seeks) => seeks.ns.len(),
            Err(numbers) => numbers.len(),
        }
    }
}

impl SeekColumn {
    /// The seeks of a column that was checked, which is empty afterwards.
    pub fn take(&mut self) -> Seeks {
        std::mem::replace(&mut self.0, Ok(Seeks::default())).unwrap_or_default()
    }
}

impl From<Vec<i64>> for SeekColumn {
    fn from(numbers: Vec<i64>) -> Self {
        SeekColumn(Seeks::of(&numbers).ok_or(numbers))
    }
}

impl FromIterator<i64> for SeekColumn {
    fn from_iter<T: IntoIterator<Item = i64>>(numbers: T) -> Self {
        numbers.into_iter().collect::<Vec<_>>().into()
    }
}
