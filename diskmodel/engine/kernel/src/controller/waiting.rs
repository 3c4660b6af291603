//! Which blocks wait when a sweep takes as many as come (rule Z4).

/// Blocks that wait, ascending, and how many uses a round of the sweep takes.
#[derive(Debug, PartialEq, Eq)]
pub struct Waiting {
    pub blocks: Vec<i64>,
    pub round_uses: i64,
}

/// The blocks that wait in `n` lines when sweeps that go round take as many as come, from the `uses` that wrote, the latest
/// last; all that were written where these are fewer. `lane` has the lane of each; without it there is one.
///
/// A sweep is about to begin at the lowest block of each lane. It last passed the share `x` of a lane's writes (in order of
/// place) a share `1 - x` of a whole round ago, so a write waits if its age, in writes of its lane, is less than `1 - x` of
/// a round. The length of a round is the one that leaves `n` lines; of writes that leave at once the latest stay.
pub fn waiting_in_round(uses: &[i64], lane: Option<&[i64]>, n: usize, line_blocks: i64) -> Waiting {
    let bits = usize::BITS - uses.len().leading_zeros();
    let (turns, longest_round) = turns_of_blocks(uses, lane, bits);
    let mut lines: Vec<u64> = if line_blocks == 1 {
        turns.iter().map(|&(_, turn)| turn).collect()
    } else {
        let of_line = |line: &[(i64, u64)]| line.iter().map(|&(_, turn)| turn).min().unwrap_or(0);
        turns.chunk_by(|a, b| a.0 / line_blocks == b.0 / line_blocks).map(of_line).collect()
    };
    if n == 0 || lines.len() < n {
        let blocks = if n == 0 { Vec::new() } else { turns.iter().map(|&(block, _)| block).collect() };
        return Waiting { blocks, round_uses: longest_round as i64 };
    }
    let last = *lines.select_nth_unstable(n - 1).1;
    let blocks = turns.iter().filter(|&&(_, turn)| turn <= last).map(|&(block, _)| block).collect();
    Waiting { blocks, round_uses: (last >> bits) as i64 }
}

/// Of each use its lane, and how many of that lane's uses came since, itself included; and how many each lane has.
///
/// Counted in the lane's own: one sequential writer goes through all lanes, and none may seem ahead of another.
fn ages(n_uses: usize, lane: Option<&[i64]>) -> (Vec<(u32, u32)>, Vec<u64>) {
    let Some(lane) = lane else {
        return ((1..=n_uses as u32).rev().map(|age| (0, age)).collect(), vec![n_uses as u64]);
    };
    let mut since = vec![0; lane.iter().max().map_or(0, |&most| most as usize + 1)];
    // side by side: they are asked for in another order, and each look takes longer than the division that follows
    let mut ages = vec![(0, 0); n_uses];
    for (at, &lane) in lane.iter().enumerate().rev() {
        since[lane as usize] += 1;
        ages[at] = (lane as u32, since[lane as usize] as u32);
    }
    (ages, since)
}

/// Calls `each` for the uses by block, those of one as they came, with the block and the number of the use.
fn by_place(uses: &[i64], bits: u32, mut each: impl FnMut(i64, usize)) {
    // one number for a use, where it has room: those are sorted in half of the time
    if uses.iter().all(|&block| block < 1 << (63 - bits)) {
        let mut numbers: Vec<i64> = uses.iter().enumerate().map(|(at, &block)| block << bits | at as i64).collect();
        numbers.sort_unstable();
        numbers.into_iter().for_each(|number| each(number >> bits, (number & ((1 << bits) - 1)) as usize));
    } else {
        let mut order: Vec<usize> = (0..uses.len()).collect();
        order.sort_by_key(|&at| uses[at]);
        order.into_iter().for_each(|at| each(uses[at], at));
    }
}

/// Each block, ascending, and when its first use would be written: the round and, within it, the latest use first, as one
/// number. And the longest round of any use.
fn turns_of_blocks(uses: &[i64], lane: Option<&[i64]>, bits: u32) -> (Vec<(i64, u64)>, u64) {
    let n = uses.len() as u64;
    let (ages, mut beyond) = ages(uses.len(), lane);
    let mut found: Vec<(i64, u64)> = Vec::with_capacity(uses.len());
    let mut longest = 0;
    by_place(uses, bits, |block, at| {
        let (lane, age) = ages[at];
        let beyond = &mut beyond[lane as usize];
        // in whole numbers: sequential writes must not scatter by rounding
        let round = u64::from(age) * n / *beyond;
        *beyond -= 1;
        longest = round.max(longest);
        let turn = round << bits | (n - 1 - at as u64);
        match found.last_mut() {
            Some((last, first)) if *last == block => *first = turn.min(*first),
            _ => found.push((block, turn)),
        }
    });
    (found, longest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_one_writer_in_order_the_latest_wait() {
        let uses: Vec<i64> = (0..1000).collect();
        assert_eq!(waiting_in_round(&uses, None, 100, 1).blocks, (900..1000).collect::<Vec<_>>());
        let few = waiting_in_round(&uses[..50], None, 100, 1);
        assert_eq!(few.blocks, uses[..50]);
        assert_eq!(waiting_in_round(&uses, None, 0, 1).blocks, []);
    }

    #[test]
    fn lanes_do_not_know_each_other() {
        let uses: Vec<i64> = (0..400).map(|at| (at * 37) % 401).collect();
        let lane: Vec<i64> = uses.iter().map(|block| block / 16 % 3).collect();
        let found = waiting_in_round(&uses, Some(&lane), 120, 1);
        assert_eq!(found.blocks.len(), 120);
        assert!(found.blocks.is_sorted());
        // places far apart are sorted in another way
        let far: Vec<i64> = uses.iter().map(|block| block << 54).collect();
        let same = waiting_in_round(&far, Some(&lane), 120, 1);
        assert_eq!(same.blocks, found.blocks.iter().map(|block| block << 54).collect::<Vec<_>>());
        assert_eq!(same.round_uses, found.round_uses);
    }

    #[test]
    fn a_line_waits_with_its_first_block() {
        let uses = [8, 100, 9, 200, 10, 300];
        let found = waiting_in_round(&uses, None, 2, 8);
        assert_eq!(found.blocks.iter().map(|block| block / 8).collect::<std::collections::BTreeSet<_>>().len(), 2);
    }
}
