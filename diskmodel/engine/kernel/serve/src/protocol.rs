//! The part of the FUSE protocol (7.31 and later) that one directory with one file needs: pure bytes, no descriptors.

pub const LOOKUP: u32 = 1;
pub const FORGET: u32 = 2;
pub const GETATTR: u32 = 3;
pub const SETATTR: u32 = 4;
pub const OPEN: u32 = 14;
pub const READ: u32 = 15;
pub const WRITE: u32 = 16;
pub const STATFS: u32 = 17;
pub const RELEASE: u32 = 18;
pub const FSYNC: u32 = 20;
pub const INIT: u32 = 26;
pub const OPENDIR: u32 = 27;
pub const READDIR: u32 = 28;
pub const RELEASEDIR: u32 = 29;
pub const INTERRUPT: u32 = 36;
pub const DESTROY: u32 = 38;
pub const BATCH_FORGET: u32 = 42;

/// Every read and write goes to the drive.
pub const FOPEN_DIRECT_IO: u32 = 1 << 0;
/// Closing the file asks for nothing.
pub const FOPEN_NOFLUSH: u32 = 1 << 5;
/// Writes do not wait for each other.
pub const FOPEN_PARALLEL_DIRECT_WRITES: u32 = 1 << 6;

const ASYNC_READ: u32 = 1 << 0;
const BIG_WRITES: u32 = 1 << 5;
const ASYNC_DIO: u32 = 1 << 15;
const MAX_PAGES: u32 = 1 << 22;
/// Without it the kernel sends one small request after the other, and no queue ever forms.
const NEEDED: u32 = ASYNC_DIO;
const WANTED: u32 = ASYNC_READ | BIG_WRITES | ASYNC_DIO | MAX_PAGES;

/// Largest read or write; longer ones arrive in pieces.
pub const MAX_BYTES: usize = 1 << 20;
const MAX_REQUEST_PAGES: u16 = (MAX_BYTES / 4096) as u16;
/// Requests in flight at once; the kernel's usual 12 would cap the queue depth.
const MAX_IN_FLIGHT: u16 = 1024;

pub const IN_HEADER: usize = 40;
pub const OUT_HEADER: usize = 16;
/// Header of a write before its data.
pub const WRITE_HEADER: usize = IN_HEADER + 40;

const SETATTR_SIZE: u32 = 1 << 3;
const S_IFDIR: u32 = 0o040_000;
const S_IFREG: u32 = 0o100_000;

/// Numbers of the directory and of the file in it.
pub const ROOT: u64 = 1;
pub const FILE: u64 = 2;
pub const FILE_NAME: &[u8] = b"disk";
/// The kernel need not ask again for what does not change.
const VALID_S: u64 = 1 << 20;

/// One request as the kernel sent it.
#[derive(Clone, Copy, Debug)]
pub struct Message<'a> {
    pub opcode: u32,
    pub unique: u64,
    pub node: u64,
    pub body: &'a [u8],
}

pub fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..at + 4).and_then(|b| b.try_into().ok()).map(u32::from_ne_bytes)
}

pub fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    bytes.get(at..at + 8).and_then(|b| b.try_into().ok()).map(u64::from_ne_bytes)
}

impl<'a> Message<'a> {
    /// The message in what one read of the device returned; None when it is no whole message.
    pub fn parse(bytes: &'a [u8]) -> Option<Self> {
        let length = u32_at(bytes, 0)? as usize;
        if length != bytes.len() || length < IN_HEADER {
            return None;
        }
        Some(Message {
            opcode: u32_at(bytes, 4)?,
            unique: u64_at(bytes, 8)?,
            node: u64_at(bytes, 16)?,
            body: &bytes[IN_HEADER..],
        })
    }

    /// (offset, length) of a read, a write or a directory read.
    pub fn range(&self) -> Option<(u64, usize)> {
        Some((u64_at(self.body, 8)?, u32_at(self.body, 16)? as usize))
    }

    /// Whether a write must be on the media before it is answered (O_DSYNC or O_SYNC).
    pub fn is_durable(&self) -> bool {
        u32_at(self.body, 32).is_some_and(|flags| flags & libc::O_DSYNC as u32 != 0)
    }

    /// The size that a change of attributes asks for, if it does.
    pub fn new_size(&self) -> Option<u64> {
        let valid = u32_at(self.body, 0)?;
        if valid & SETATTR_SIZE == 0 {
            return None;
        }
        u64_at(self.body, 16)
    }
}

/// Bytes of an answer, put together field by field.
#[derive(Default)]
pub struct Body(pub Vec<u8>);

impl Body {
    fn u16(mut self, value: u16) -> Self {
        self.0.extend_from_slice(&value.to_ne_bytes());
        self
    }

    fn u32(mut self, value: u32) -> Self {
        self.0.extend_from_slice(&value.to_ne_bytes());
        self
    }

    fn u64(mut self, value: u64) -> Self {
        self.0.extend_from_slice(&value.to_ne_bytes());
        self
    }

    fn zeros(mut self, n: usize) -> Self {
        self.0.resize(self.0.len() + n, 0);
        self
    }
}

/// Header of an answer: `error` is 0 or a positive errno.
pub fn out_header(unique: u64, error: i32, body_bytes: usize) -> [u8; OUT_HEADER] {
    let mut header = [0; OUT_HEADER];
    header[..4].copy_from_slice(&((OUT_HEADER + body_bytes) as u32).to_ne_bytes());
    header[4..8].copy_from_slice(&(-error).to_ne_bytes());
    header[8..].copy_from_slice(&unique.to_ne_bytes());
    header
}

/// The answer to the first message; an error text when the kernel cannot do what is needed.
pub fn init(body: &[u8]) -> Result<Body, String> {
    let (Some(major), Some(minor), Some(read_ahead), Some(flags)) =
        (u32_at(body, 0), u32_at(body, 4), u32_at(body, 8), u32_at(body, 12))
    else {
        return Err("the kernel's first message is malformed".into());
    };
    if major != 7 || minor < 31 {
        return Err(format!("the kernel speaks FUSE {major}.{minor}; 7.31 (Linux 5.2) or later is needed"));
    }
    if flags & NEEDED != NEEDED {
        return Err("the kernel's FUSE has no asynchronous direct I/O".into());
    }
    Ok(Body::default()
        .u32(7)
        .u32(minor.min(38))
        .u32(read_ahead)
        .u32(flags & WANTED)
        .u16(MAX_IN_FLIGHT)
        .u16(MAX_IN_FLIGHT / 4 * 3)
        .u32(MAX_BYTES as u32)
        .u32(1)
        .u16(MAX_REQUEST_PAGES)
        .zeros(34))
}

/// What the mounted directory holds, and whom it belongs to.
#[derive(Clone, Copy, Debug)]
pub struct Tree {
    pub size_bytes: u64,
    pub uid: u32,
    pub gid: u32,
    pub mounted_unix_s: u64,
}

impl Tree {
    fn attributes(&self, body: Body, node: u64) -> Body {
        let (size, mode, links) =
            if node == ROOT { (0, S_IFDIR | 0o755, 2) } else { (self.size_bytes, S_IFREG | 0o644, 1) };
        body.u64(node)
            .u64(size)
            .u64(size.div_ceil(512))
            .u64(self.mounted_unix_s)
            .u64(self.mounted_unix_s)
            .u64(self.mounted_unix_s)
            .zeros(12)
            .u32(mode)
            .u32(links)
            .u32(self.uid)
            .u32(self.gid)
            .u32(0)
            .u32(4096)
            .u32(0)
    }

    pub fn entry(&self) -> Body {
        let body = Body::default().u64(FILE).u64(0).u64(VALID_S).u64(VALID_S).u32(0).u32(0);
        self.attributes(body, FILE)
    }

    pub fn getattr(&self, node: u64) -> Body {
        self.attributes(Body::default().u64(VALID_S).u32(0).u32(0), node)
    }

    pub fn statfs(&self) -> Body {
        let blocks = self.size_bytes / 4096;
        Body::default().u64(blocks).zeros(16).u64(1).u64(0).u32(4096).u32(255).u32(4096).zeros(28)
    }

    /// Entries of the directory from the place `offset` on.
    pub fn readdir(offset: u64, most_bytes: usize) -> Body {
        const ENTRIES: [(u64, &[u8], u32); 3] = [(ROOT, b".", 4), (ROOT, b"..", 4), (FILE, FILE_NAME, 8)];
        let mut body = Body::default();
        for (place, (node, name, kind)) in ENTRIES.iter().enumerate().skip(offset as usize) {
            let padding = name.len().next_multiple_of(8) - name.len();
            if body.0.len() + 24 + name.len() + padding > most_bytes {
                break;
            }
            body = body.u64(*node).u64(place as u64 + 1).u32(name.len() as u32).u32(*kind);
            body.0.extend_from_slice(name);
            body = body.zeros(padding);
        }
        body
    }
}

pub fn opened(flags: u32) -> Body {
    Body::default().u64(0).u32(flags).u32(0)
}

pub fn written(bytes: usize) -> Body {
    Body::default().u32(bytes as u32).u32(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TREE: Tree = Tree { size_bytes: 1_000_000, uid: 7, gid: 8, mounted_unix_s: 9 };

    fn message(opcode: u32, unique: u64, node: u64, body: &[u8]) -> Vec<u8> {
        let head = Body::default()
            .u32((IN_HEADER + body.len()) as u32)
            .u32(opcode)
            .u64(unique)
            .u64(node)
            .zeros(IN_HEADER - 24);
        [head.0, body.to_vec()].concat()
    }

    #[test]
    fn a_read_is_understood() {
        let body = Body::default().u64(0).u64(8192).u32(4096).zeros(20);
        let bytes = message(READ, 42, FILE, &body.0);
        let found = Message::parse(&bytes).unwrap();
        assert_eq!((found.opcode, found.unique, found.node), (READ, 42, FILE));
        assert_eq!(found.range(), Some((8192, 4096)));
    }

    #[test]
    fn cut_messages_are_refused() {
        let bytes = message(READ, 42, FILE, &[0; 40]);
        for n in 0..bytes.len() {
            assert!(Message::parse(&bytes[..n]).is_none(), "{n} bytes");
        }
        assert!(Message::parse(&message(READ, 1, FILE, &[0; 3])).unwrap().range().is_none());
    }

    #[test]
    fn answers_have_the_sizes_that_the_kernel_expects() {
        let first = Body::default().u32(7).u32(40).u32(131_072).u32(u32::MAX);
        assert_eq!(init(&first.0).unwrap().0.len(), 64);
        assert_eq!(TREE.entry().0.len(), 128);
        assert_eq!(TREE.getattr(ROOT).0.len(), 104);
        assert_eq!(TREE.statfs().0.len(), 80);
        assert_eq!(opened(0).0.len(), 16);
        assert_eq!(written(1).0.len(), 8);
    }

    #[test]
    fn kernels_that_cannot_do_it_are_refused() {
        assert!(init(&Body::default().u32(7).u32(20).u32(0).u32(u32::MAX).0).is_err());
        assert!(init(&Body::default().u32(7).u32(40).u32(0).u32(0).0).is_err());
        assert!(init(&[]).is_err());
    }

    #[test]
    fn the_directory_is_listed_in_parts() {
        let all = Tree::readdir(0, 4096).0;
        assert_eq!(all.len(), 3 * 32);
        let parts: Vec<u8> = (0..3).flat_map(|k| Tree::readdir(k, 40).0).collect();
        assert_eq!(parts, all);
        assert!(Tree::readdir(3, 4096).0.is_empty());
        assert!(Tree::readdir(u64::MAX, 4096).0.is_empty());
    }

    #[test]
    fn sizes_are_asked_for_or_not() {
        let with = Body::default().u32(SETATTR_SIZE).u32(0).u64(0).u64(77);
        let bytes = message(SETATTR, 1, FILE, &with.0);
        assert_eq!(Message::parse(&bytes).unwrap().new_size(), Some(77));
        let without = message(SETATTR, 1, FILE, &[0; 40]);
        assert_eq!(Message::parse(&without).unwrap().new_size(), None);
    }
}
