//! What a command counts for against a volume's limits, and what is left of them (rules U1 to U3); see
//! `diskmodel/drive/cloud/limits.py`.

use super::CloudTables;
use crate::events::LAST_NS;
use crate::units::NS_PER_S;

/// What a command counts for.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Charge {
    pub ops: i64,
    pub bytes: i64,
}

/// Counts commands: what continues the one before belongs to it (rule U1).
#[derive(Default)]
pub struct Meter {
    op: u8,
    end: i64,
    run: i64,
}

impl Meter {
    pub fn charge(&mut self, op: u8, lba: i64, n: i64, tables: &CloudTables) -> Charge {
        let goes_on = tables.merges && op == self.op && lba == self.end;
        let before = if goes_on { self.run } else { 0 };
        *self = Meter { op, end: lba + n, run: before + n };
        let (all, old) = (of_run(self.run, tables), of_run(before, tables));
        Charge { ops: all.ops - old.ops, bytes: all.bytes - old.bytes }
    }
}

/// What sectors in one run count for.
fn of_run(sectors: i64, tables: &CloudTables) -> Charge {
    if sectors == 0 {
        return Charge::default();
    }
    let per_op = tables.op_bytes / tables.sector_bytes;
    Charge { ops: (sectors + per_op - 1) / per_op, bytes: (sectors * tables.sector_bytes).max(tables.least_bytes) }
}

/// One limit: when it lets the next command pass at its own rate, and by how much that may be late.
struct Bucket {
    per_s: i64,
    burst_ns: i64,
    due_ns: i64,
}

impl Bucket {
    fn all(rates: &[i64], bursts: &[i64], is_spent: bool) -> Vec<Bucket> {
        let bucket = |(&per_s, &burst_ns)| Bucket { per_s, burst_ns, due_ns: if is_spent { burst_ns } else { 0 } };
        rates.iter().zip(bursts).map(bucket).collect()
    }

    /// Takes what a command counts for; returns how long the limit takes to regain it.
    fn spend(&mut self, amount: i64, now: i64) -> i64 {
        let ns = amount * NS_PER_S / self.per_s;
        self.due_ns = (self.due_ns.max(now) + ns).min(LAST_NS);
        ns
    }
}

/// The limits of one volume, the highest of operations and of bytes first (rule U2).
pub struct Budgets {
    ops: Vec<Bucket>,
    bytes: Vec<Bucket>,
}

impl Budgets {
    pub fn new(tables: &CloudTables) -> Self {
        Budgets {
            ops: Bucket::all(&tables.op_rates, &tables.op_bursts_ns, tables.is_spent),
            bytes: Bucket::all(&tables.byte_rates, &tables.byte_bursts_ns, tables.is_spent),
        }
    }

    /// From when on a command may pass.
    pub fn open_ns(&self) -> i64 {
        self.ops.iter().chain(&self.bytes).map(|bucket| bucket.due_ns - bucket.burst_ns).max().unwrap_or(0)
    }

    /// A command passes now; returns how long the highest limits are busy with it (rule U5).
    pub fn spend(&mut self, charge: Charge, now: i64) -> i64 {
        let mut busy = 0;
        for (buckets, amount) in [(&mut self.ops, charge.ops), (&mut self.bytes, charge.bytes)] {
            for (at, bucket) in buckets.iter_mut().enumerate() {
                let ns = bucket.spend(amount, now);
                if at == 0 {
                    busy = busy.max(ns);
                }
            }
        }
        busy
    }
}
