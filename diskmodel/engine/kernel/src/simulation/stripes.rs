//! Writes of a parity array with a stripe cache (rule L15); see `diskmodel/engine/reference/raid.py`.

use super::{ArrayAccess, Owner, Simulation};
use crate::command::{Command, Slots};
use crate::device::Device;
use crate::layout::{is_within, push_merged, Layout, StripeCache};
use crate::traffic::Traffic;

/// A write to the array while the stretches that it consists of are out.
#[derive(Clone, Copy, Default)]
struct StripeWrite {
    owner: Owner,
    asked: i64,
    start: i64,
    /// Stretches that have not been written.
    out: u32,
    bits: Option<(i64, i64)>,
}

/// The stripe cache, and what it is writing.
pub struct Stripes {
    cache: StripeCache,
    writes: Slots<StripeWrite>,
}

impl Stripes {
    /// None without a stripe cache.
    pub fn of(layout: &Layout) -> Option<Self> {
        StripeCache::of(layout).map(|cache| Stripes { cache, writes: Slots::default() })
    }
}

impl<D: Device, T: Traffic> Simulation<D, T> {
    /// Writes rows: reads go first, then what needs none; each of the others is written by itself.
    #[inline(never)]
    pub(super) fn write_stripes(&mut self, owner: Owner, sector: i64, n: i64, asked: i64, bits: Option<(i64, i64)>) {
        let Some(mut stripes) = self.stripes.take() else { return };
        let write = StripeWrite { owner, asked, start: self.events.now, out: 0, bits };
        let write = stripes.writes.put(write);
        let mut at_once = Vec::new();
        let mut to_submit = Vec::new();
        for stretch in stripes.cache.write(&self.layout, sector, n) {
            if !stretch.reads.is_empty() {
                self.plan.then = stretch.writes;
                let id = self.prepare_part(asked, write);
                self.accesses[id].pages = stretch.pages.clone();
                stripes.cache.begin_reading(stretch.pages, id);
                to_submit.push((id, stretch.reads));
            } else if let Some(id) = stretch.reading {
                let ArrayAccess { then, writes, .. } = &mut self.accesses[id];
                writes.push(write);
                for piece in stretch.writes {
                    if !is_within(&piece, then) {
                        then.push(piece);
                    }
                }
            } else {
                stretch.writes.into_iter().for_each(|piece| push_merged(&mut at_once, piece));
                continue;
            }
            stripes.writes[write].out += 1;
        }
        if !at_once.is_empty() {
            self.plan.then.clear();
            to_submit.push((self.prepare_part(asked, write), at_once));
            stripes.writes[write].out += 1;
        }
        self.stripes = Some(stripes);
        for (id, pieces) in to_submit {
            self.plan.first = pieces;
            self.submit(id);
        }
    }

    fn prepare_part(&mut self, asked: i64, write: u32) -> u32 {
        let is_direct = self.submitter.is_none();
        let id = self.prepare(Owner::Stripes, asked, is_direct, None);
        self.accesses[id].writes.push(write);
        id
    }

    /// What a stretch needed has been read: no write can join it any more.
    pub(super) fn stretch_read(&mut self, id: u32) {
        if let Some(stripes) = &mut self.stripes {
            stripes.cache.end_reading(self.accesses[id].pages.clone(), id);
        }
    }

    /// A stretch has been written: so has every write of which it was the last one.
    pub(super) fn stretch_written(&mut self, mut writes: Vec<u32>, last: &Command) {
        for id in writes.drain(..) {
            let Some(stripes) = &mut self.stripes else { return };
            let write = &mut stripes.writes[id];
            write.out -= 1;
            if write.out == 0 {
                let StripeWrite { owner, asked, start, bits, .. } = *write;
                stripes.writes.release(id);
                self.finish(owner, asked, start, bits, last);
            }
        }
    }
}
