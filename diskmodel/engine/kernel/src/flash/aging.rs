//! Flash that has been written to before a run. It takes up to a million units to be put in their places, and many short
//! runs begin with the same.

use std::sync::Mutex;

use super::ftl::{Ftl, FtlTables};

/// Beginnings that are kept for the next run: more than the drives that one search compares, of a few megabytes each.
const MAX_KEPT: usize = 12;

struct Kept {
    tables: FtlTables,
    written: Vec<i64>,
    ftl: Ftl,
}

/// The last used first.
static KEPT: Mutex<Vec<Kept>> = Mutex::new(Vec::new());

/// Flash as its tables begin, then written to in this order. Copies have it in common.
pub fn aged(tables: &FtlTables, written: &[i64]) -> Ftl {
    if let Some(ftl) = kept(tables, written) {
        return ftl;
    }
    let mut ftl = Ftl::new(tables);
    for &unit in written {
        ftl.write(Some(unit), tables);
    }
    ftl.freeze();
    if let Ok(mut all) = KEPT.lock() {
        all.truncate(MAX_KEPT - 1);
        all.insert(0, Kept { tables: tables.clone(), written: written.to_vec(), ftl: ftl.clone() });
    }
    ftl
}

fn kept(tables: &FtlTables, written: &[i64]) -> Option<Ftl> {
    let mut all = KEPT.lock().ok()?;
    let at = all.iter().position(|one| one.written == written && one.tables == *tables)?;
    all[..=at].rotate_right(1);
    Some(all[0].ftl.clone())
}
