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

/// Times of a column that fit.
#[derive(Clone, Debug, Default)]
pub struct Seeks {
    ns: Arc<[u32]>,
    longest_ns: u32,
    /// For the next run of the drive.
    table: Arc<OnceLock<Made>>,
}

/// The times of writes that came with those of reads first, and the table of both.
type Made = (Option<Arc<[u32]>>, SeekTable);

/// What moves are looked up in.
#[derive(Clone, Debug, Default)]
pub struct SeekTable {
    /// Of reads; behind them those of writes, where they have others.
    pub ns: Arc<[u32]>,
    pub cylinders: usize,
    /// The longest seek.
    pub longest_ns: u32,
    /// Made for the first run that asks for it, as only those with deep queues do.
    least_ns: Arc<OnceLock<Box<[u32]>>>,
}

impl SeekTable {
    /// The least seek over each number of cylinders or more: measured seeks need not grow with the distance.
    #[inline]
    pub fn least_ns(&self) -> &[u32] {
        self.least_ns.get_or_init(|| {
            let (reads, writes) = self.ns.split_at(self.cylinders);
            let mut least = Box::<[u32]>::from(reads);
            least.iter_mut().zip(writes).for_each(|(least, &ns)| *least = ns.min(*least));
            for distance in (1..least.len()).rev() {
                least[distance - 1] = least[distance - 1].min(least[distance]);
            }
            least
        })
    }
}

impl Seeks {
    /// These of reads, and of writes over as many cylinders, where they have others.
    #[must_use]
    pub fn table(&self, writes: Option<&Seeks>) -> SeekTable {
        let (known, table) = self.table.get_or_init(|| (writes.map(|writes| writes.ns.clone()), self.made(writes)));
        let is_known = match (known, writes) {
            (Some(known), Some(writes)) => Arc::ptr_eq(known, &writes.ns),
            (None, None) => true,
            _ => false,
        };
        if is_known {
            table.clone()
        } else {
            self.made(writes)
        }
    }

    fn made(&self, writes: Option<&Seeks>) -> SeekTable {
        let ns = writes.map_or_else(|| self.ns.clone(), |writes| shared(&[&self.ns, &writes.ns], |&ns| ns));
        let longest_ns = writes.map_or(0, |writes| writes.longest_ns).max(self.longest_ns);
        SeekTable { ns, cylinders: self.ns.len(), longest_ns, least_ns: Arc::default() }
    }

    /// The least seek to another cylinder; 0 where there is none.
    pub fn shortest_ns(&self) -> u32 {
        self.ns.iter().skip(1).copied().min().unwrap_or(0)
    }

    /// None where a time does not fit in 32 bits.
    fn of(numbers: &[i64]) -> Option<Self> {
        let (mut bits, mut longest_ns) = (0, 0);
        let ns = shared(&[numbers], |&ns| {
            bits |= ns;
            longest_ns = longest_ns.max(ns as u32);
            ns as u32
        });
        (bits >> 32 == 0).then(|| Seeks { ns, longest_ns, table: Arc::default() })
    }
}

/// Columns one behind the other, written where they stay: a drive of 24 TB has 700,000 cylinders.
fn shared<T>(columns: &[&[T]], mut number: impl FnMut(&T) -> u32) -> Arc<[u32]> {
    let mut all = Arc::<[u32]>::new_uninit_slice(columns.iter().map(|column| column.len()).sum());
    if let Some(mut places) = Arc::get_mut(&mut all) {
        for column in columns {
            let (these, others) = places.split_at_mut(column.len());
            these.iter_mut().zip(*column).for_each(|(place, from)| {
                place.write(number(from));
            });
            places = others;
        }
    }
    // SAFETY: nobody else has it yet, and there are as many places as numbers, each of which was written
    unsafe { all.assume_init() }
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

impl From<&[i64]> for SeekColumn {
    fn from(numbers: &[i64]) -> Self {
        SeekColumn(Seeks::of(numbers).ok_or_else(|| numbers.to_vec()))
    }
}

impl From<Vec<i64>> for SeekColumn {
    fn from(numbers: Vec<i64>) -> Self {
        SeekColumn::from(&*numbers)
    }
}

impl FromIterator<i64> for SeekColumn {
    fn from_iter<T: IntoIterator<Item = i64>>(numbers: T) -> Self {
        numbers.into_iter().collect::<Vec<_>>().into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_seek_is_of_reads_and_writes_over_as_many_cylinders_or_more() {
        let of = |ns: &[i64]| SeekColumn::from(ns).take();
        let reads = of(&[0, 50, 40, 70, 60]);
        assert_eq!(reads.table(None).least_ns(), [0, 40, 40, 60, 60]);
        let both = reads.table(Some(&of(&[0, 90, 30, 90, 80])));
        assert_eq!(both.least_ns(), [0, 30, 30, 60, 60]);
        assert_eq!((both.cylinders, both.longest_ns), (5, 90));
    }

    #[test]
    fn times_that_do_not_fit_in_32_bits_are_kept_as_they_came() {
        for (ns, fits) in [(-1, false), (i64::MIN, false), (1 << 32, false), ((1 << 32) - 1, true)] {
            assert_eq!(SeekColumn::from(&[0, ns][..]).0.is_ok(), fits, "{ns}");
        }
    }
}
