//! Pieces of a request that continue each other on a disk are one command (rule L2).

use super::{ChildIo, Layout};

/// Pieces among which the last one of a disk is looked for one by one, which takes less than to remember it. At double, a
/// request of more pieces takes a tenth longer.
const FEW: usize = 16;
/// Operations that pieces have.
const N_OPERATIONS: usize = 3;

/// Where the last piece of each disk and operation is in a list.
#[derive(Default)]
pub struct Joining {
    /// Counted from 1.
    last: Vec<u32>,
    n_known: usize,
}

impl Joining {
    /// Before another list is begun.
    pub fn clear(&mut self) {
        self.last.clear();
        self.n_known = 0;
    }

    /// Adds a piece, joined to the last one of its disk and operation where it continues that.
    #[inline]
    pub fn add(&mut self, pieces: &mut Vec<ChildIo>, piece: ChildIo) {
        let last = if pieces.len() <= FEW {
            pieces.iter_mut().rev().find(|other| other.on == piece.on)
        } else {
            self.last_of(pieces, &piece).map(|at| &mut pieces[at])
        };
        if let Some(last) = last {
            if last.lba + last.n == piece.lba {
                last.n += piece.n;
                return;
            }
        }
        pieces.push(piece);
    }

    /// Adds a piece of a read: joined, or on its own where the layout keeps strips apart (rule L4).
    #[inline]
    pub fn add_read(&mut self, layout: &Layout, pieces: &mut Vec<ChildIo>, piece: ChildIo) {
        if layout.cuts_reads {
            pieces.push(piece);
        } else {
            self.add(pieces, piece);
        }
    }

    #[cold]
    fn last_of(&mut self, pieces: &[ChildIo], piece: &ChildIo) -> Option<usize> {
        for (at, other) in pieces.iter().enumerate().skip(self.n_known) {
            let key = key_of(other);
            if key >= self.last.len() {
                self.last.resize(key + 1, 0);
            }
            self.last[key] = at as u32 + 1;
        }
        self.n_known = pieces.len();
        (*self.last.get(key_of(piece))? as usize).checked_sub(1)
    }
}

fn key_of(piece: &ChildIo) -> usize {
    piece.disk() as usize * N_OPERATIONS + piece.op() as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drawn::drawn_from;

    #[test]
    fn many_pieces_are_joined_as_a_few_are() {
        let mut below = drawn_from(3);
        for n in [5, FEW + 1, 300] {
            let (mut joining, mut found) = (Joining::default(), Vec::new());
            let mut expected: Vec<ChildIo> = Vec::new();
            for _ in 0..n {
                let piece = ChildIo::new(below(4) as u32, below(3) as u8, below(4), 1 + below(2));
                joining.add(&mut found, piece);
                match expected.iter_mut().rev().find(|other| other.on == piece.on) {
                    Some(last) if last.lba + last.n == piece.lba => last.n += piece.n,
                    _ => expected.push(piece),
                }
            }
            assert_eq!(found, expected);
            assert!(n < 300 || found.len() < n);
        }
    }
}
