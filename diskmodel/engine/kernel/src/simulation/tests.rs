//! Disks with a scripted station above them: what they are asked for, and what they say upward.

use super::block::submission::Request;
use super::md::Turn;
use super::pool::OfPool;
use super::*;
use crate::command::Command;
use crate::layout::ChildIo;
use crate::mechanics::READ;
use crate::online::tests::scenario;
use crate::scenario::Built;

/// Writes down what it hears: accesses that have ended, and who has been flushed for, each with the time.
#[derive(Default)]
struct Scripted {
    ended: Vec<(i64, u32)>,
    flushed: Vec<(i64, u32)>,
}

impl<D: Device> AboveDisks<D> for Scripted {
    fn begin(_: &mut Array<D, Self>, _: Request) {
        panic!("nobody has asked for anything through it");
    }

    fn submit_writes(_: &mut Array<D, Self>, _: u32) {
        panic!("no access has a second phase");
    }

    fn ended(on: &mut Array<D, Self>, last: &Command) {
        on.kind.ended.push((on.events.now, last.access));
    }

    fn flushed(on: &mut Array<D, Self>, who: u32) {
        on.kind.flushed.push((on.events.now, who));
    }

    fn disk_flushed(_: &mut Array<D, Self>, _: u32) {}
    fn take_turn(_: &mut Array<D, Self>, _: Turn) {}
}

/// What is heard of small disks that are asked for something and left alone then.
fn heard(ask: impl FnOnce(&mut Array<crate::hdd::Disk, Scripted>)) -> Scripted {
    let Built::Hdd(Parts { model, disks, before }) = scenario().build().unwrap().0 else { panic!("hard disks") };
    let flushes = Box::new(before.flushes);
    let block = BlockLayer { submitter: None, tags: None, flushes, has_passing: false };
    let drives = Drives::new(disks, model, 0);
    let mut array = Array::of(drives, before.layout, block, Processors::new(1), Scripted::default());
    ask(&mut array);
    while let Some(next) = array.events.next() {
        match next.action() {
            Action::Wake(device) => array.drives.woken(device, &mut array.events),
            Action::CommandDone(id) => array.command_done(id),
            Action::Destaged(device, n) => array.drives.destaged(device, n, &mut array.events),
            other => panic!("{other:?} is none of theirs"),
        }
    }
    array.kind
}

/// When an access to these disks ends, of which something is read.
fn end_of(disks: &[u32]) -> i64 {
    let found = heard(|array| {
        array.volume.plan.first =
            disks.iter().map(|&disk| ChildIo::new(disk, READ, 1_000 * i64::from(disk), 8)).collect();
        array.start(Owner::Pool(OfPool::Labels), 0, true, None);
    });
    assert_eq!(found.ended.len(), 1, "it ends once, however many disks it needs");
    found.ended[0].0
}

#[test]
fn an_access_ends_with_the_last_of_its_disks() {
    let alone = [0, 2, 3].map(|disk| end_of(&[disk]));
    assert!(alone.iter().all(|&end| end > 0));
    assert_eq!(end_of(&[0, 2, 3]), alone.into_iter().max().unwrap());
}

/// Who comes while all disks are being flushed is served by the next flush, with the others that came (rule Y5).
#[test]
fn flushes_that_come_meanwhile_share_the_next_one() {
    let found = heard(|array| (7..=9).for_each(|who| array.flush_members(who)));
    let [first, second, third] = found.flushed[..] else { panic!("{:?}", found.flushed) };
    assert_eq!([first.1, second.1, third.1], [7, 8, 9]);
    assert!(first.0 > 0 && second.0 > first.0);
    assert_eq!(second.0, third.0);
}
