//! Seek times by distance in cylinders, shared by the runs of a drive.

use std::sync::{Arc, OnceLock};

use super::{READ, WRITE};
use crate::machine::for_wide_registers;

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

/// Distances next to each other whose seeks grow nearly in proportion, a power of 2. With half as many, a table takes a
/// tenth more of a processor's own memory; with double, twice as many near ones do not fit.
const PIECE: usize = 64;
const PIECE_BITS: u32 = PIECE.trailing_zeros();
/// Bits of the growth over a cylinder behind the point.
const FRACTION_BITS: u32 = 12;
/// Most by which the seeks of a piece may grow: its growth times its distances has 31 bits.
const MOST_GROWTH_NS: i64 = 1 << (31 - FRACTION_BITS - 1);

/// Seeks over the distances of a piece, without what each is above its line.
#[derive(Clone, Copy, Debug, Default)]
pub struct Line {
    first_ns: u32,
    growth: i32,
}

impl Line {
    #[inline(always)]
    fn at(self, distance: u32) -> u32 {
        let step = (distance & (PIECE as u32 - 1)) as i32;
        self.first_ns.wrapping_add(((self.growth * step) >> FRACTION_BITS) as u32)
    }
}

/// Times of a column that fit, exactly, in a little more than a byte each: drives have up to 800,000 cylinders, of whose
/// seeks four bytes each lay outside of a processor's own memory.
#[derive(Clone, Debug, Default)]
pub struct Column {
    /// Of each distance up to `n_near`, then of each piece.
    lines: Vec<Line>,
    /// By how much each distance takes longer than its line, ns.
    above_ns: Vec<u8>,
    /// Distances in whole pieces, or all, each of which has a line of its own: those where seeks grow like a root, and up
    /// to the last piece that does not fit.
    n_near: usize,
    longest_ns: u32,
    /// To another cylinder; 0 where there is none.
    shortest_ns: u32,
}

impl Column {
    /// Its lines and what is above them, with a line of its own for each of at least as many near distances.
    fn with(&self, n_near: usize) -> (Vec<Line>, Vec<u8>) {
        let piece_of = |distance: usize| self.n_near + distance / PIECE - self.n_near / PIECE;
        let (mut lines, mut above_ns) = (self.lines[..self.n_near].to_vec(), self.above_ns.clone());
        lines.extend((self.n_near..n_near).map(|distance| {
            let line = self.lines[piece_of(distance)];
            let ns = line.at(distance as u32).wrapping_add(u32::from(self.above_ns[distance]));
            Line { first_ns: ns, growth: 0 }
        }));
        lines.extend(self.lines.iter().skip(piece_of(n_near.next_multiple_of(PIECE))));
        above_ns[..n_near].fill(0);
        (lines, above_ns)
    }
}

/// Times of a column, shared by the runs of a drive.
#[derive(Clone, Debug, Default)]
pub struct Seeks {
    column: Arc<Column>,
    /// For the next run of the drive.
    table: Arc<OnceLock<Made>>,
}

/// The times of writes that came with those of reads first, and the table of both.
type Made = (Option<Arc<Column>>, SeekTable);

/// What moves are looked up in.
#[derive(Clone, Debug, Default)]
pub struct SeekTable {
    /// Of reads; behind them those of writes, where they have others.
    lines: Arc<[Line]>,
    above_ns: Arc<[u8]>,
    n_near: u32,
    /// Where those of writes begin.
    writes_at: u32,
    above_writes_at: u32,
    pub cylinders: usize,
    /// The longest seek.
    pub longest_ns: u32,
    /// Made for the first run that asks for it, as only those with deep queues do.
    least_ns: Arc<OnceLock<Box<[u32]>>>,
}

impl SeekTable {
    #[inline(always)]
    fn line_of(&self, distance: u32) -> u32 {
        if distance < self.n_near {
            distance
        } else {
            (distance >> PIECE_BITS) + self.n_near - (self.n_near >> PIECE_BITS)
        }
    }

    #[inline(always)]
    pub fn ns(&self, distance: usize, op: u8) -> u32 {
        let mask = u32::from(op == WRITE).wrapping_neg();
        let line = self.lines[(self.line_of(distance as u32) + (self.writes_at & mask)) as usize];
        let above_ns = self.above_ns[distance + (self.above_writes_at & mask) as usize];
        line.at(distance as u32).wrapping_add(u32::from(above_ns))
    }

    /// Seeks over several distances; the last bit of `ops` is the operation, where some may be writes.
    #[inline(always)]
    pub fn all_ns<const N: usize, const WITH_WRITES: bool>(&self, distances: &[u32; N], ops: &[u32; N]) -> [i32; N] {
        let farthest = distances.iter().fold(0, |farthest: u32, &distance| farthest.max(distance));
        assert!((farthest as usize) < self.cylinders, "a seek to a cylinder that the drive does not have");
        let (mut lines, mut above) = (distances.map(|distance| self.line_of(distance)), *distances);
        if WITH_WRITES {
            for i in 0..N {
                let mask = (ops[i] & 1).wrapping_neg();
                lines[i] += self.writes_at & mask;
                above[i] += self.above_writes_at & mask;
            }
        }
        let mut found = [0; N];
        for i in 0..N {
            // SAFETY: not even the farthest one is outside of its column, of reads or of writes
            let (line, above_ns) = unsafe {
                (*self.lines.get_unchecked(lines[i] as usize), *self.above_ns.get_unchecked(above[i] as usize))
            };
            found[i] = line.at(distances[i]).wrapping_add(u32::from(above_ns)) as i32;
        }
        found
    }

    /// The least seek over each number of cylinders or more: measured seeks need not grow with the distance.
    #[inline]
    pub fn least_ns(&self) -> &[u32] {
        self.least_ns.get_or_init(|| {
            let each = 0..self.cylinders;
            let mut least: Box<[u32]> =
                each.map(|distance| self.ns(distance, READ).min(self.ns(distance, WRITE))).collect();
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
        let (known, table) = self.table.get_or_init(|| (writes.map(|writes| writes.column.clone()), self.made(writes)));
        let is_known = match (known, writes) {
            (Some(known), Some(writes)) => Arc::ptr_eq(known, &writes.column),
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
        let (reads, writes) = (&*self.column, writes.map(|writes| &*writes.column));
        let n_near = writes.map_or(0, |writes| writes.n_near).max(reads.n_near);
        let (mut lines, mut above_ns) = reads.with(n_near);
        let (mut writes_at, mut above_writes_at) = (0, 0);
        if let Some(writes) = writes {
            (writes_at, above_writes_at) = (lines.len() as u32, above_ns.len() as u32);
            let more = writes.with(n_near);
            lines.extend(more.0);
            above_ns.extend(more.1);
        }
        SeekTable {
            lines: lines.into(),
            above_ns: above_ns.into(),
            n_near: n_near as u32,
            writes_at,
            above_writes_at,
            cylinders: reads.above_ns.len(),
            longest_ns: writes.map_or(0, |writes| writes.longest_ns).max(reads.longest_ns),
            least_ns: Arc::default(),
        }
    }

    /// The least seek to another cylinder; 0 where there is none.
    pub fn shortest_ns(&self) -> u32 {
        self.column.shortest_ns
    }

    /// None where a time does not fit in 32 bits.
    fn of(numbers: &[i64]) -> Option<Self> {
        column_of(numbers).map(|column| Seeks { column: Arc::new(column), table: Arc::default() })
    }
}

for_wide_registers! {
    /// The column of times that have 32 bits; None where one has more.
    pub fn column_of(numbers: &[i64]) -> Option<Column> {
        let mut column = Column { above_ns: vec![0; numbers.len()], ..Column::default() };
        let mut lines = Vec::with_capacity(numbers.len() / PIECE + 1);
        let (mut bits, mut longest_ns) = (0, 0);
        let mut shortest_ns = numbers.iter().take(PIECE).skip(1).copied().min().unwrap_or(0) as u32;
        for (piece, (own, above_ns)) in numbers.chunks(PIECE).zip(column.above_ns.chunks_mut(PIECE)).enumerate() {
            // the last piece may be shorter, and is taken to go on as it ends
            let (n, mut whole) = (own.len(), [own[own.len() - 1]; PIECE]);
            whole[..n].copy_from_slice(own);
            let growth_ns = whole[n - 1].wrapping_sub(whole[0]).wrapping_mul(PIECE as i64) / (n as i64 - 1).max(1);
            let growth = growth_ns.clamp(-MOST_GROWTH_NS, MOST_GROWTH_NS) << (FRACTION_BITS - PIECE_BITS);
            let line = Line { first_ns: whole[0] as u32, growth: growth as i32 };
            let (times, mut above) = (whole.map(|ns| ns as u32), [0; PIECE]);
            for at in 0..PIECE {
                above[at] = times[at].wrapping_sub(line.at(at as u32)) as i32;
            }
            let first = above[0];
            above[n..].fill(first);
            let (mut least, mut most) = (first, first);
            for at in 0..PIECE {
                (least, most) = (least.min(above[at]), most.max(above[at]));
                longest_ns = longest_ns.max(times[at]);
                bits |= whole[at];
            }
            if piece > 0 {
                shortest_ns = times.iter().fold(shortest_ns, |shortest, &ns| shortest.min(ns));
            }
            if i64::from(most) - i64::from(least) > i64::from(u8::MAX) {
                column.n_near = piece * PIECE + n;
            }
            let bytes = above.map(|above| above.wrapping_sub(least) as u8);
            above_ns.copy_from_slice(&bytes[..n]);
            lines.push(Line { first_ns: line.first_ns.wrapping_add(least as u32), ..line });
        }
        (column.longest_ns, column.shortest_ns) = (longest_ns, shortest_ns);
        let n_near = column.n_near;
        column.above_ns[..n_near].fill(0);
        column.lines = numbers[..n_near].iter().map(|&ns| Line { first_ns: ns as u32, growth: 0 }).collect();
        column.lines.extend(&lines[n_near.div_ceil(PIECE)..]);
        (bits >> 32 == 0).then_some(column)
    }
}

/// A column of seek times as a caller hands it over: those that do not fit are kept as they came, to be reported.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize), serde(from = "Vec<i64>"))]
pub struct SeekColumn(pub Result<Seeks, Vec<i64>>);

impl SeekColumn {
    pub(crate) fn len(&self) -> usize {
        match &self.0 {
            Ok(seeks) => seeks.column.above_ns.len(),
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
    use crate::drawn::drawn_from;

    #[test]
    fn the_least_seek_is_of_reads_and_writes_over_as_many_cylinders_or_more() {
        let of = |ns: &[i64]| SeekColumn::from(ns).take();
        let reads = of(&[0, 50, 40, 70, 60]);
        assert_eq!(reads.table(None).least_ns(), [0, 40, 40, 60, 60]);
        let both = reads.table(Some(&of(&[0, 90, 30, 90, 80])));
        assert_eq!(both.least_ns(), [0, 30, 30, 60, 60]);
        assert_eq!((both.cylinders, both.longest_ns), (5, 90));
    }

    /// Of curves like a root, with kinks and steps, and of anything; of less than a piece, and of many.
    #[test]
    fn each_seek_of_a_table_is_as_it_was_given() {
        let mut below = drawn_from(11);
        let mut n_in_pieces = 0;
        for step in 0..300 {
            let n = 1 + below([50, 500, 20_000][step % 3]);
            let (scale, kink) = (1 + below(30_000), below(n));
            let mut column = |with_steps: bool| -> Vec<i64> {
                let of =
                    |distance: i64| (scale as f64 * (distance as f64).sqrt()) as i64 + 9 * (distance - kink).max(0);
                let roots = (0..n).map(|distance| i64::from(distance > 0) * 700_000 + of(distance));
                match step % 5 {
                    0 => (0..n).map(|_| below(1 << 32)).collect(),
                    1 if with_steps => roots.map(|ns| ns + below(50) / 49 * 3_000).collect(),
                    _ => roots.collect(),
                }
            };
            let (reads, writes) = (column(false), column(true));
            let of = |column: &[i64]| SeekColumn::from(column).take();
            let [alone, both] = [None, Some(&of(&writes))].map(|writes| of(&reads).table(writes));
            n_in_pieces += usize::from(alone.lines.len() < reads.len());
            for (distance, (&read, &write)) in reads.iter().zip(&writes).enumerate() {
                let found = [(&alone, READ), (&alone, WRITE), (&both, READ), (&both, WRITE)];
                assert_eq!(found.map(|(table, op)| i64::from(table.ns(distance, op))), [read, read, read, write]);
                let distances = [distance as u32, 0, n as u32 - 1];
                let all = both.all_ns::<3, true>(&distances, &[1, 0, 1]).map(|ns| i64::from(ns as u32));
                assert_eq!(all, [write, reads[0], writes[n as usize - 1]]);
            }
            assert_eq!(i64::from(alone.longest_ns), *reads.iter().max().unwrap());
            assert_eq!(i64::from(of(&reads).shortest_ns()), reads.iter().skip(1).min().copied().unwrap_or(0));
        }
        assert!(n_in_pieces > 100, "{n_in_pieces}");
    }

    #[test]
    fn times_that_do_not_fit_in_32_bits_are_kept_as_they_came() {
        for (ns, fits) in [(-1, false), (i64::MIN, false), (1 << 32, false), ((1 << 32) - 1, true)] {
            assert_eq!(SeekColumn::from(&[0, ns][..]).0.is_ok(), fits, "{ns}");
        }
    }
}
