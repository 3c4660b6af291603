//! The loop: drain the kernel's requests, let the model's time pass, answer what has completed, wait.

use std::collections::HashMap;
use std::io;
use std::os::fd::RawFd;

use super::clock::{self, Clock, Waiter};
use super::drive::Drive;
use super::lateness::Lateness;
use super::protocol::{self as fuse, Message, Tree};
use super::store::Store;
use diskmodel_kernel::mechanics::{READ, WRITE};

/// What is served, and how.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// The opened /dev/fuse of the mount, non-blocking.
    pub fuse_fd: RawFd,
    /// When this becomes readable, the server ends.
    pub stop_fd: RawFd,
    pub store: Store,
    pub tree: Tree,
    /// Seconds of the machine that a second of the model lasts.
    pub time_scale: f64,
}

/// Why the server ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    Stopped,
    /// Somebody unmounted it.
    Unmounted,
}

#[derive(Clone, Debug, Default)]
pub struct Statistics {
    pub n_reads: u64,
    pub n_writes: u64,
    pub read_bytes: u64,
    pub write_bytes: u64,
    pub n_flushes: u64,
    pub n_data_errors: u64,
    pub most_outstanding: usize,
    /// From the first request to the last answer, in time of the machine.
    pub busy_ns: i64,
    pub late: Lateness,
}

impl Statistics {
    /// (p50, p99, most) of the time by which answers were later than the model's.
    pub fn late_ns(&self) -> (i64, i64, i64) {
        (self.late.quantile_ns(0.5), self.late.quantile_ns(0.99), self.late.most_ns())
    }
}

/// A read or write in the model.
struct Pending {
    unique: u64,
    op: u8,
    offset: u64,
    length: usize,
    is_durable: bool,
    /// Of a read: its data, once they have been fetched.
    data: Option<Vec<u8>>,
    failed: bool,
}

/// A flush waits for the writes that came before it, then for the drive's cache; so does a durable write for itself.
struct Flush {
    unique: u64,
    answer: Vec<u8>,
    /// Writes that were in flight and are not yet done.
    before: Vec<u64>,
    mark: u64,
}

pub struct Server<D: Drive> {
    drive: D,
    settings: Settings,
    clock: Clock,
    pending: HashMap<u64, Pending>,
    /// Reads whose data have not been fetched.
    unfetched: Vec<u64>,
    flushes: Vec<Flush>,
    spare: Vec<Vec<u8>>,
    n_tags: u64,
    first_ns: Option<i64>,
    statistics: Statistics,
}

/// A busy server looks only now and then whether it should end.
const TURNS_BETWEEN_LOOKS: u32 = 256;
/// Buffers kept for reads to come.
const MAX_SPARE: usize = 64;

impl<D: Drive> Server<D> {
    pub fn new(drive: D, settings: Settings) -> Self {
        Server {
            drive,
            settings,
            clock: Clock::new(settings.time_scale),
            pending: HashMap::new(),
            unfetched: Vec::new(),
            flushes: Vec::new(),
            spare: Vec::new(),
            n_tags: 0,
            first_ns: None,
            statistics: Statistics::default(),
        }
    }

    pub fn statistics(&self) -> &Statistics {
        &self.statistics
    }

    /// Serves until it is stopped or the file system is unmounted.
    pub fn run(&mut self) -> Result<Ending, String> {
        clock::sharpen_timers();
        let mut buffer = vec![0; fuse::MAX_BYTES + 4096];
        let Settings { fuse_fd, stop_fd, .. } = self.settings;
        let (mut is_near, mut n_turns) = (false, 0u32);
        let mut waiter = Waiter::new();
        loop {
            n_turns = n_turns.wrapping_add(1);
            let now = clock::monotonic_ns();
            self.pass_time(now)?;
            match receive(fuse_fd, &mut buffer) {
                Received::Message(n) => {
                    let now = clock::monotonic_ns();
                    self.pass_time(now)?;
                    if !self.handle(&buffer[..n], now)? {
                        return Ok(Ending::Unmounted);
                    }
                    continue;
                }
                Received::Nothing => {}
                Received::Unmounted => return Ok(Ending::Unmounted),
                Received::Failed(error) => return Err(format!("reading from /dev/fuse: {error}")),
            }
            if let Some(tag) = self.unfetched.pop() {
                self.fetch(tag);
                continue;
            }
            let deadline = self.drive.next_event_ns().map(|t| self.clock.real_ns(t));
            if (!is_near || n_turns % TURNS_BETWEEN_LOOKS == 0) && clock::is_readable(stop_fd) {
                return Ok(Ending::Stopped);
            }
            is_near = waiter.wait([fuse_fd, stop_fd], deadline);
        }
    }

    /// Brings the model to the present and answers what has completed by then.
    fn pass_time(&mut self, now_ns: i64) -> Result<(), String> {
        let to = self.clock.model_ns(now_ns);
        if self.drive.next_event_ns().is_none_or(|t| t > to) {
            return Ok(());
        }
        let mut completed = Vec::new();
        self.drive.advance(to, &mut |tag, done_ns| completed.push((tag, done_ns)));
        for (tag, done_ns) in completed {
            self.answer(tag, done_ns)?;
        }
        self.answer_flushes()
    }

    fn answer(&mut self, tag: u64, done_ns: i64) -> Result<(), String> {
        if self.pending.get(&tag).is_some_and(|p| p.op == READ && p.data.is_none()) {
            self.fetch(tag);
        }
        let Some(pending) = self.pending.remove(&tag) else {
            return Err(format!("the model completed request {tag}, which was not in flight"));
        };
        let error = if pending.failed { libc::EIO } else { 0 };
        let now = clock::monotonic_ns();
        self.statistics.late.record(now - self.clock.real_ns(done_ns));
        self.statistics.busy_ns = now - self.first_ns.unwrap_or(now);
        match (&pending.data, error) {
            (Some(data), 0) => self.reply(pending.unique, 0, &data[..pending.length])?,
            (_, 0) if pending.is_durable => {
                let answer = fuse::written(pending.length).0;
                self.flushes.push(Flush {
                    unique: pending.unique,
                    answer,
                    before: Vec::new(),
                    mark: self.drive.mark(),
                });
            }
            (_, 0) => self.reply(pending.unique, 0, &fuse::written(pending.length).0)?,
            _ => self.reply(pending.unique, error, &[])?,
        }
        if let Some(data) = pending.data.filter(|_| self.spare.len() < MAX_SPARE) {
            self.spare.push(data);
        }
        if pending.op == WRITE {
            for flush in &mut self.flushes {
                flush.before.retain(|&t| t != tag);
                // what this write left in the cache is part of what must reach the media
                flush.mark = flush.mark.max(self.drive.mark());
            }
        }
        Ok(())
    }

    fn answer_flushes(&mut self) -> Result<(), String> {
        let drive = &self.drive;
        let (done, waiting): (Vec<_>, Vec<_>) =
            self.flushes.drain(..).partition(|f| f.before.is_empty() && drive.is_durable(f.mark));
        self.flushes = waiting;
        done.iter().try_for_each(|flush| self.reply(flush.unique, 0, &flush.answer))
    }

    /// Fetches the data of a read ahead of its completion.
    fn fetch(&mut self, tag: u64) {
        let Some(pending) = self.pending.get_mut(&tag) else { return };
        if pending.data.is_some() {
            return;
        }
        let mut data = self.spare.pop().unwrap_or_default();
        if data.len() < pending.length {
            data.resize(pending.length, 0);
        }
        pending.failed = self.settings.store.read(&mut data[..pending.length], pending.offset).is_err();
        self.statistics.n_data_errors += u64::from(pending.failed);
        pending.data = Some(data);
    }

    /// Answers a message or hands it to the model; false when it was the last.
    fn handle(&mut self, bytes: &[u8], now_ns: i64) -> Result<bool, String> {
        let Some(message) = Message::parse(bytes) else { return Err("the kernel sent a malformed request".into()) };
        let Message { opcode, unique, node, body } = message;
        let tree = self.settings.tree;
        match opcode {
            fuse::READ if node == fuse::FILE => self.read(&message, now_ns)?,
            fuse::WRITE if node == fuse::FILE => self.write(&message, bytes, now_ns)?,
            fuse::FSYNC if node == fuse::FILE => self.flush(unique)?,
            fuse::INIT => match fuse::init(body) {
                Ok(answer) => self.reply(unique, 0, &answer.0)?,
                Err(reason) => {
                    self.reply(unique, libc::EPROTO, &[])?;
                    return Err(reason);
                }
            },
            fuse::LOOKUP => {
                let is_there = node == fuse::ROOT && body.strip_suffix(b"\0") == Some(fuse::FILE_NAME);
                if is_there {
                    self.reply(unique, 0, &tree.entry().0)?;
                } else {
                    self.reply(unique, libc::ENOENT, &[])?;
                }
            }
            fuse::GETATTR => self.reply(unique, 0, &tree.getattr(node).0)?,
            fuse::SETATTR => {
                // like a device: truncating when it is opened for writing changes nothing
                let is_kept = message.new_size().is_none_or(|size| size == 0 || size == tree.size_bytes);
                if is_kept && node == fuse::FILE {
                    self.reply(unique, 0, &tree.getattr(node).0)?;
                } else {
                    self.reply(unique, libc::EPERM, &[])?;
                }
            }
            fuse::OPEN => {
                let flags = fuse::FOPEN_DIRECT_IO | fuse::FOPEN_NOFLUSH | fuse::FOPEN_PARALLEL_DIRECT_WRITES;
                self.reply(unique, 0, &fuse::opened(flags).0)?;
            }
            fuse::OPENDIR => self.reply(unique, 0, &fuse::opened(0).0)?,
            fuse::READDIR => match message.range() {
                Some((offset, size)) => self.reply(unique, 0, &Tree::readdir(offset, size).0)?,
                None => self.reply(unique, libc::EINVAL, &[])?,
            },
            fuse::STATFS => self.reply(unique, 0, &tree.statfs().0)?,
            fuse::RELEASE | fuse::RELEASEDIR => self.reply(unique, 0, &[])?,
            fuse::FORGET | fuse::BATCH_FORGET | fuse::INTERRUPT => {}
            fuse::DESTROY => {
                self.reply(unique, 0, &[])?;
                return Ok(false);
            }
            _ => self.reply(unique, libc::ENOSYS, &[])?,
        }
        Ok(true)
    }

    fn read(&mut self, message: &Message, now_ns: i64) -> Result<(), String> {
        let Some((offset, asked)) = message.range() else { return self.reply(message.unique, libc::EINVAL, &[]) };
        let left = self.settings.tree.size_bytes.saturating_sub(offset);
        let length = asked.min(fuse::MAX_BYTES).min(usize::try_from(left).unwrap_or(usize::MAX));
        if length == 0 {
            return self.reply(message.unique, 0, &[]);
        }
        let tag = self.submit(message, READ, offset, length, now_ns)?;
        self.unfetched.push(tag);
        self.statistics.n_reads += 1;
        self.statistics.read_bytes += length as u64;
        Ok(())
    }

    fn write(&mut self, message: &Message, bytes: &[u8], now_ns: i64) -> Result<(), String> {
        let Some((offset, length)) = message.range() else { return self.reply(message.unique, libc::EINVAL, &[]) };
        let Some(data) = bytes.get(fuse::WRITE_HEADER..fuse::WRITE_HEADER + length) else {
            return self.reply(message.unique, libc::EINVAL, &[]);
        };
        let left = self.settings.tree.size_bytes.saturating_sub(offset);
        let length = length.min(usize::try_from(left).unwrap_or(usize::MAX));
        if length == 0 {
            let error = if data.is_empty() { 0 } else { libc::ENOSPC };
            return self.reply(message.unique, error, if error == 0 { &[0; 8] } else { &[] });
        }
        let tag = self.submit(message, WRITE, offset, length, now_ns)?;
        self.statistics.n_writes += 1;
        self.statistics.write_bytes += length as u64;
        if self.settings.store.write(&data[..length], offset).is_err() {
            self.statistics.n_data_errors += 1;
            if let Some(pending) = self.pending.get_mut(&tag) {
                pending.failed = true;
            }
        }
        Ok(())
    }

    fn submit(&mut self, message: &Message, op: u8, offset: u64, length: usize, now_ns: i64) -> Result<u64, String> {
        self.n_tags += 1;
        let tag = self.n_tags;
        let (unique, is_durable) = (message.unique, op == WRITE && message.is_durable());
        self.pending.insert(tag, Pending { unique, op, offset, length, is_durable, data: None, failed: false });
        self.statistics.most_outstanding = self.statistics.most_outstanding.max(self.pending.len());
        self.first_ns.get_or_insert(now_ns);
        self.drive.submit(self.clock.model_ns(now_ns), tag, op, offset as i64, length as i64)?;
        Ok(tag)
    }

    fn flush(&mut self, unique: u64) -> Result<(), String> {
        let before = self.pending.iter().filter(|(_, p)| p.op == WRITE).map(|(&tag, _)| tag).collect();
        self.flushes.push(Flush { unique, answer: Vec::new(), before, mark: self.drive.mark() });
        self.statistics.n_flushes += 1;
        self.answer_flushes()
    }

    fn reply(&self, unique: u64, error: i32, body: &[u8]) -> Result<(), String> {
        send(self.settings.fuse_fd, &fuse::out_header(unique, error, body.len()), body)
    }
}

enum Received {
    Message(usize),
    Nothing,
    Unmounted,
    Failed(io::Error),
}

fn receive(fd: RawFd, buffer: &mut [u8]) -> Received {
    // SAFETY: the pointer and the length are those of a live slice.
    let n = unsafe { libc::read(fd, buffer.as_mut_ptr().cast(), buffer.len()) };
    if n >= 0 {
        return Received::Message(n as usize);
    }
    let error = io::Error::last_os_error();
    match error.raw_os_error() {
        // ENOENT: the request was taken back before it was read
        Some(libc::EAGAIN | libc::EINTR | libc::ENOENT) => Received::Nothing,
        Some(libc::ENODEV | libc::ECONNABORTED) => Received::Unmounted,
        _ => Received::Failed(error),
    }
}

fn send(fd: RawFd, header: &[u8], body: &[u8]) -> Result<(), String> {
    let parts =
        [header, body].map(|part| libc::iovec { iov_base: part.as_ptr().cast_mut().cast(), iov_len: part.len() });
    let n_parts = if body.is_empty() { 1 } else { 2 };
    // SAFETY: the parts point into live slices, which writev only reads.
    if unsafe { libc::writev(fd, parts.as_ptr(), n_parts) } >= 0 {
        return Ok(());
    }
    let error = io::Error::last_os_error();
    match error.raw_os_error() {
        // ENOENT: nobody waits for this answer any more; ENODEV: unmounted, which the next read reports
        Some(libc::ENOENT | libc::ENODEV | libc::ECONNABORTED) => Ok(()),
        _ => Err(format!("answering through /dev/fuse: {error}")),
    }
}
