//! Which pages a host fetches for a buffered read (rule H2): pure decisions; see `diskmodel/host/read_ahead.py`.

use std::collections::VecDeque;

/// Readers that are distinguished.
const N_READERS: usize = 64;

/// A sequential reader: where it goes on, what has been asked for on its behalf.
struct Reader {
    expected: i64,
    end: i64,
    /// Reading this sector, or one behind it, sets off the next window.
    marker: i64,
    /// Sectors of the last window; 0: none yet.
    window: i64,
}

/// Windows of read-ahead, growing to their limit.
pub struct ReadAhead {
    limit: i64,
    page: i64,
    capacity: i64,
    readers: VecDeque<Reader>,
}

impl ReadAhead {
    /// All in sectors; with a limit of 0 every read fetches its own pages only.
    pub fn new(limit: i64, page: i64, capacity: i64) -> Self {
        ReadAhead { limit: limit / page * page, page, capacity, readers: VecDeque::new() }
    }

    /// Ranges [first, end) to fetch, now, for a read of [start, end): what it needs, then what it does not yet.
    pub fn read(&mut self, start: i64, end: i64, wanted: &mut Vec<(i64, i64)>) {
        wanted.clear();
        let (page, limit, capacity) = (self.page, self.limit, self.capacity);
        let (first, last) = (start / page * page, (end + page - 1) / page * page);
        let Some(reader) = self.readers.iter_mut().find(|reader| reader.expected == start) else {
            if self.readers.len() == N_READERS {
                self.readers.pop_front();
            }
            self.readers.push_back(Reader { expected: end, end: last, marker: 0, window: 0 });
            wanted.push((first, last.min(capacity)));
            return;
        };
        reader.expected = end;
        if limit == 0 {
            if last > reader.end {
                wanted.push((reader.end, last));
                reader.end = last;
            }
        } else {
            if reader.window == 0 || last > reader.end {
                // the reader has caught up: a window from here, and a mark right behind what is read now
                let begin = reader.end.max(first);
                reader.window = first_window((last - first) / page, page, limit).max(last - begin);
                reader.marker = last;
                wanted.push((begin, begin + reader.window));
                reader.end = begin + reader.window;
            }
            if end > reader.marker && reader.end < capacity {
                reader.window = next_window(reader.window, limit);
                reader.marker = reader.end;
                wanted.push((reader.end, reader.end + reader.window));
                reader.end += reader.window;
            }
        }
        wanted.retain_mut(|(begin, end)| {
            *end = capacity.min(*end);
            begin < end
        });
    }
}

fn first_window(n_pages: i64, page: i64, limit: i64) -> i64 {
    let window = page * (n_pages as u64).next_power_of_two() as i64;
    if window <= limit / 32 {
        4 * window
    } else if window <= limit / 4 {
        2 * window
    } else {
        limit
    }
}

fn next_window(window: i64, limit: i64) -> i64 {
    if window < limit / 16 {
        4 * window
    } else if window <= limit / 2 {
        2 * window
    } else {
        limit
    }
}
