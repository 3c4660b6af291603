//! Writes of a parity array with a stripe cache (rule L15); see `diskmodel/engine/reference/raid.py`.

use std::ops::Range;

use crate::command::{Command, Slots};
use crate::device::Device;
use crate::layout::{is_within, Joining, Layout, Stretch, StripeCache};
use crate::simulation::md::{HasMd, OfMd};
use crate::simulation::{Array, ArrayAccess, Owner};
use crate::traffic::PASS_THROUGH;

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

/// Stretches of rows that are written by one access.
#[derive(Default)]
pub struct Stretches {
    pages: Vec<Range<i64>>,
    /// The writes that they are part of, and the accesses that wait for them.
    writes: Vec<u32>,
    followers: Vec<u32>,
    /// What they need has been read, and no write can join them.
    pub(in crate::simulation) are_written: bool,
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

impl<D: Device, K: HasMd<D>> Array<D, K> {
    /// Writes rows: reads go first, then what needs none; each of the others is written by itself.
    #[inline(never)]
    pub(super) fn write_stripes(&mut self, owner: Owner, sector: i64, n: i64, asked: i64, bits: Option<(i64, i64)>) {
        let Some(mut stripes) = self.kind.md().and_then(|md| md.stripes.take()) else { return };
        let is_fua =
            self.block.has_passing && matches!(owner, Owner::Host(host) if self.requests[host].sync >= PASS_THROUGH);
        let write = StripeWrite { owner, asked, start: self.events.now, out: 0, bits };
        let write = stripes.writes.put(write);
        let (mut at_once, mut joins) = (Vec::new(), Joining::default());
        let mut to_submit = Vec::new();
        let together = self.prepare_part(asked, write, is_fua);
        for Stretch { pages, busy, reads, writes, .. } in stripes.cache.write(&self.volume.layout, sector, n) {
            if busy.is_none() && reads.is_empty() {
                writes.into_iter().for_each(|piece| joins.add(&mut at_once, piece));
                self.volume.accesses[together].stretches.pages.push(pages.clone());
                stripes.cache.begin(pages, together);
                continue;
            }
            stripes.writes[write].out += 1;
            let joined = busy.filter(|&id| reads.is_empty() && !self.volume.accesses[id].stretches.are_written);
            if let Some(id) = joined {
                let ArrayAccess { then, stretches, is_fua: has_fua, .. } = &mut self.volume.accesses[id];
                *has_fua |= is_fua;
                stretches.writes.push(write);
                for piece in writes {
                    if !is_within(&piece, then) {
                        then.push(piece);
                    }
                }
                continue;
            }
            let id = self.prepare_part(asked, write, is_fua);
            self.volume.accesses[id].then = writes;
            self.volume.accesses[id].stretches.pages.push(pages.clone());
            stripes.cache.begin(pages, id);
            if let Some(busy) = busy {
                self.volume.accesses[busy].stretches.followers.push(id);
                self.volume.accesses[id].out = 1;
            }
            to_submit.push((id, reads));
        }
        if at_once.is_empty() {
            self.volume.accesses[together].stretches = Stretches::default();
            self.volume.accesses.release(together);
        } else {
            self.volume.accesses[together].stretches.are_written = true;
            to_submit.push((together, at_once));
            stripes.writes[write].out += 1;
        }
        if let Some(md) = self.kind.md() {
            md.stripes = Some(stripes);
        }
        for (id, pieces) in to_submit {
            if pieces.is_empty() {
                // nothing is read: it waits for what it follows
                continue;
            }
            self.volume.plan.first = pieces;
            if self.volume.accesses[id].stretches.are_written {
                self.submit_writes(id);
            } else {
                self.submit(id);
            }
        }
    }

    fn prepare_part(&mut self, asked: i64, write: u32, is_fua: bool) -> u32 {
        self.volume.plan.then.clear();
        self.volume.plan.lost.clear();
        let is_direct = self.block.submitter.is_none();
        let id = self.prepare(Owner::Md(OfMd::Stripes), asked, is_direct, None);
        self.volume.accesses[id].is_fua = is_fua;
        let stretches = &mut self.volume.accesses[id].stretches;
        // what had the slot before may have been written in two phases, too
        stretches.are_written = false;
        stretches.writes.push(write);
        id
    }

    /// Stretches have been written: so has every write of which they were the last part, and what waits for them begins.
    pub(super) fn stretches_written(&mut self, access: u32, last: &Command) {
        let Stretches { pages, writes, followers, .. } = std::mem::take(&mut self.volume.accesses[access].stretches);
        self.volume.accesses.release(access);
        for pages in pages {
            if let Some(stripes) = self.kind.stripes() {
                stripes.cache.end(pages, access);
            }
        }
        for id in writes {
            let Some(stripes) = self.kind.stripes() else { return };
            let write = &mut stripes.writes[id];
            write.out -= 1;
            if write.out == 0 {
                let StripeWrite { owner, asked, start, bits, .. } = *write;
                stripes.writes.release(id);
                self.finish(owner, asked, start, bits, last);
            }
        }
        for id in followers {
            self.volume.accesses[id].out -= 1;
            if self.volume.accesses[id].out == 0 {
                self.begin_second(id);
            }
        }
    }
}
