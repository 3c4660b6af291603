//! What the arms of a run did, for pages that play it back.

use crate::layout::{Family, Layout};

/// One access of an arm to the media, as `diskmodel.lab.recording.Movement`; times in ns.
#[derive(Clone, Copy, Debug)]
pub struct Movement {
    pub op: u8,
    pub lba: i64,
    pub n: i64,
    pub submitted: i64,
    pub start: i64,
    pub done: i64,
    pub seek: i64,
    pub rotation: i64,
    pub transfer: i64,
    pub from_cylinder: i64,
    pub cylinder: i64,
    /// Where the first sector begins on its track, and the sectors of that track.
    pub index: i64,
    pub per_track: i64,
}

impl Movement {
    /// Its columns in order.
    pub fn columns(&self) -> [i64; 13] {
        let Movement { lba, n, submitted, start, done, seek, rotation, transfer, from_cylinder, cylinder, .. } = *self;
        let op = i64::from(self.op);
        [
            op,
            lba,
            n,
            submitted,
            start,
            done,
            seek,
            rotation,
            transfer,
            from_cylinder,
            cylinder,
            self.index,
            self.per_track,
        ]
    }
}

/// What the first `n_rows` strips of every disk hold: for each disk the number of the host's strip, or -1, -2 … for the
/// first, second … parity strip of its row (rules L3, L6).
pub fn strips(layout: &Layout, n_rows: i64) -> Vec<Vec<Option<i64>>> {
    let n_disks = i64::from(layout.n_disks);
    let mut held = vec![vec![None; n_rows as usize]; n_disks as usize];
    let mut put = |disk: u32, lba: i64, label: i64| {
        let row = (lba - layout.data_offset) / layout.strip;
        if row < n_rows {
            held[disk as usize][row as usize] = Some(label);
        }
    };
    match layout.family {
        Family::Parity => {
            for row in 0..n_rows * layout.n_groups {
                let found = layout.row(row);
                for (strip, (disk, lba)) in found.iter().enumerate() {
                    let strip = strip as i64;
                    let is_data = strip < layout.n_data;
                    put(*disk, *lba, if is_data { row * layout.n_data + strip } else { layout.n_data - strip - 1 });
                }
            }
        }
        Family::Copies => {
            let mut copies = Vec::new();
            for chunk in 0..n_rows * n_disks {
                layout.copies_of(chunk, &mut copies);
                copies.iter().for_each(|copy| put(copy.disk, copy.lba, chunk));
            }
        }
        // records are in no rows that a picture shows
        Family::Pool => {}
        Family::Concat => {
            for (disk, row) in (0..n_disks).flat_map(|disk| (0..n_rows).map(move |row| (disk, row))) {
                put(disk as u32, layout.data_offset + row * layout.strip, disk * (layout.member / layout.strip) + row);
            }
        }
    }
    held
}
