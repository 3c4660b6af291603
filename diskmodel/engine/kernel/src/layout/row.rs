//! Which disks hold a row with parity (rules L6 and L11).

use super::{ChildIo, Layout, Rotation};

/// One row. Its strips are numbered, those of data first, then those of parity.
#[derive(Clone, Copy, Default)]
pub struct Row {
    /// First disk of its group.
    base: i64,
    /// Disk of the group with the first parity strip.
    first: i64,
    n_data: i64,
    n_parity: i64,
    /// Data begins behind the last parity strip.
    is_symmetric: bool,
    is_rebuilt: bool,
    lba: i64,
}

impl Row {
    pub fn new(layout: &Layout, row: i64, front: i64) -> Self {
        let (number, group) = layout.by.groups.split(row);
        let (n, m) = (layout.n_data + layout.n_parity, layout.n_parity);
        let turned = layout.by.width.split(number).1;
        let first = match layout.rotation {
            Rotation::None => n - m,
            Rotation::LeftSymmetric | Rotation::LeftAsymmetric => n - 1 - turned,
            Rotation::RightSymmetric | Rotation::RightAsymmetric => turned,
        };
        Row {
            base: group * n,
            first,
            n_data: layout.n_data,
            n_parity: m,
            is_symmetric: matches!(layout.rotation, Rotation::LeftSymmetric | Rotation::RightSymmetric),
            is_rebuilt: layout.rebuild_disk >= 0 && (number + 1) * layout.strip <= front,
            lba: layout.data_offset + number * layout.strip,
        }
    }

    pub fn n_data(&self) -> usize {
        self.n_data as usize
    }

    pub fn n_strips(&self) -> usize {
        (self.n_data + self.n_parity) as usize
    }

    /// The disk that is meant to hold a strip.
    fn planned_disk(&self, strip: usize) -> u32 {
        let (strip, n) = (strip as i64, self.n_data + self.n_parity);
        let wrap = |i: i64| if i >= n { i - n } else { i };
        let disk = if strip >= self.n_data {
            wrap(self.first + strip - self.n_data)
        } else if self.is_symmetric {
            wrap(wrap(self.first + self.n_parity) + strip)
        } else {
            // data in order on what parity leaves free: its part that went round comes first
            let around = (self.first + self.n_parity - n).max(0);
            if strip + around < self.first {
                strip + around
            } else {
                strip + self.n_parity
            }
        };
        (self.base + disk) as u32
    }

    /// The disk that is meant to hold a strip, and its first sector there.
    #[cfg(feature = "movements")]
    pub fn place(&self, strip: usize) -> (u32, i64) {
        (self.planned_disk(strip), self.lba)
    }

    /// The disk that holds a strip, the spare where it has taken a lost one's place; none if it is lost.
    fn disk(&self, layout: &Layout, strip: usize) -> Option<u32> {
        let disk = self.planned_disk(strip);
        if !layout.has_failed(disk) {
            Some(disk)
        } else if self.is_rebuilt && i64::from(disk) == layout.rebuild_disk {
            Some(layout.n_disks)
        } else {
            None
        }
    }

    /// The disk with the first parity strip, none if it is lost, and the one that counts as it then.
    pub fn parity(&self, layout: &Layout) -> (Option<u32>, u32) {
        let strip = self.n_data();
        let disk = self.disk(layout, strip);
        (disk, disk.unwrap_or_else(|| self.planned_disk(strip)))
    }

    pub fn is_lost(&self, layout: &Layout, strip: usize) -> bool {
        !layout.failed.is_empty() && self.disk(layout, strip).is_none()
    }

    /// Sectors [start, end) of a strip that is not lost.
    pub fn piece(&self, layout: &Layout, strip: usize, op: u8, (start, end): (i64, i64)) -> ChildIo {
        let disk = if layout.failed.is_empty() { Some(self.planned_disk(strip)) } else { self.disk(layout, strip) };
        let disk = disk.unwrap_or_default();
        ChildIo::new(disk, op, self.lba + start, end - start)
    }

    /// Sectors [start, end) of a strip where it is meant to lie, lost or not.
    pub fn planned_piece(&self, strip: usize, op: u8, (start, end): (i64, i64)) -> ChildIo {
        ChildIo::new(self.planned_disk(strip), op, self.lba + start, end - start)
    }

    /// The strips that are left, data before parity.
    pub fn survivors<'a>(&'a self, layout: &'a Layout) -> impl Iterator<Item = usize> + 'a {
        (0..self.n_strips()).filter(|&strip| !self.is_lost(layout, strip))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(n: i64, m: i64, first: i64, is_symmetric: bool) -> Row {
        Row { first, n_data: n - m, n_parity: m, is_symmetric, ..Row::default() }
    }

    /// By the table of rule L6: each disk once, parity on successive disks, data behind it or in order.
    #[test]
    fn strips_lie_where_the_rule_puts_them() {
        for (n, m) in [(3, 1), (8, 1), (6, 2), (7, 3)] {
            for first in 0..n {
                let parity: Vec<_> = (0..m).map(|i| ((first + i) % n) as u32).collect();
                let behind: Vec<_> = (0..n - m).map(|i| ((first + m + i) % n) as u32).collect();
                let in_order: Vec<_> = (0..n as u32).filter(|disk| !parity.contains(disk)).collect();
                for (is_symmetric, data) in [(true, behind), (false, in_order)] {
                    let row = row(n, m, first, is_symmetric);
                    let disks: Vec<_> = (0..n as usize).map(|strip| row.planned_disk(strip)).collect();
                    assert_eq!(disks, [data, parity.clone()].concat(), "{n} disks, {m} parity from {first}");
                }
            }
        }
    }
}
