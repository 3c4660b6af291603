//! Writers that wait until what was dirty is on the array (rule P9): pure decisions; see
//! `diskmodel/engine/reference/flusher.py`.

/// A write that is followed by fsync.
struct Sync {
    host: u32,
    /// When the write came in.
    since: i64,
    at: i64,
    /// First pages of the requests that it waits for, once all that was dirty has been sent.
    awaited: Option<Vec<i64>>,
}

/// All of them, and the flusher's requests in flight, by their first pages.
#[derive(Default)]
pub struct Syncs {
    waiting: Vec<Sync>,
    under_way: Vec<i64>,
}

impl Syncs {
    pub fn begin(&mut self, host: u32, since: i64, now: i64) {
        self.waiting.push(Sync { host, since, at: now, awaited: None });
    }

    /// Whether some of what a writer waits for has not been sent.
    pub fn are_unsent(&self) -> bool {
        self.waiting.iter().any(|sync| sync.awaited.is_none())
    }

    pub fn sent(&mut self, first: i64) {
        self.under_way.push(first);
    }

    pub fn written(&mut self, first: i64) {
        let awaited = self.waiting.iter_mut().filter_map(|sync| sync.awaited.as_mut());
        for pages in awaited.chain([&mut self.under_way]) {
            if let Some(at) = pages.iter().position(|&page| page == first) {
                pages.swap_remove(at);
            }
        }
    }

    /// `oldest`: since when the page is dirty that has been so for longest.
    pub fn look(&mut self, oldest: Option<i64>) {
        for sync in self.waiting.iter_mut().filter(|sync| sync.awaited.is_none()) {
            if oldest.is_none_or(|oldest| oldest > sync.at) {
                sync.awaited = Some(self.under_way.clone());
            }
        }
    }

    /// A writer for whom everything is on the array, and since when it waits.
    pub fn next_done(&mut self) -> Option<(u32, i64)> {
        let at = self.waiting.iter().position(|sync| sync.awaited.as_ref().is_some_and(Vec::is_empty))?;
        let sync = self.waiting.remove(at);
        Some((sync.host, sync.since))
    }
}
