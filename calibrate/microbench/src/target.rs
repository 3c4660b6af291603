//! Opens what is measured with direct I/O; makes scratch files that vanish with the program.

use std::ffi::CString;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::device::{self, DeviceFacts};
use crate::engine::Arena;
use crate::fault::{Fault, Outcome};
use crate::safety::{self, Permission, Situation, TargetKind};
use crate::users;

pub const MIN_BYTES: u64 = 16 << 20;
const TMPFS: i64 = 0x0102_1994;
const RAMFS: i64 = 0x8584_58f6;
const FUSE: i64 = 0x6573_5546;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TargetFacts {
    pub path: String,
    /// "file", "scratch file" or "block device".
    pub kind: String,
    pub size_bytes: u64,
    /// Smallest direct I/O, and the multiple that offsets must have.
    pub alignment_bytes: u64,
    pub is_writable: bool,
    pub device: DeviceFacts,
}

pub struct Target {
    file: File,
    pub facts: TargetFacts,
}

pub struct Wish<'a> {
    pub target: &'a str,
    pub write: bool,
    pub allow_target: Option<&'a str>,
    pub scratch_bytes: u64,
}

impl Target {
    pub fn fd(&self) -> RawFd {
        self.file.as_raw_fd()
    }
}

pub fn open(wish: &Wish<'_>, filling: &mut dyn FnMut(u64, u64) -> Outcome<()>) -> Outcome<Target> {
    let path = Path::new(wish.target);
    let metadata = match fs::metadata(path) {
        Ok(metadata) => Some(metadata),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(open_fault(wish.target, &error)),
    };
    let kind = match &metadata {
        None => TargetKind::Missing,
        Some(m) if m.is_dir() => TargetKind::Directory,
        Some(m) if m.is_file() => TargetKind::RegularFile,
        Some(m) if m.file_type().is_block_device() => TargetKind::BlockDevice,
        Some(_) => TargetKind::Other,
    };
    let users = match &metadata {
        Some(m) if kind == TargetKind::BlockDevice => [device::users(m.rdev()), users::of(m)].concat(),
        Some(m) if kind == TargetKind::RegularFile => users::of(m),
        _ => Vec::new(),
    };
    let situation =
        Situation { target: wish.target, kind, write: wish.write, allowed: wish.allow_target, users: &users };
    let permission = safety::decide(&situation)?;
    if permission == Permission::Scratch {
        return scratch(path, kind == TargetKind::Directory, wish, filling);
    }
    let is_writable = permission == Permission::ReadWrite;
    let mut flags = libc::O_DIRECT;
    if kind == TargetKind::BlockDevice && is_writable {
        flags |= libc::O_EXCL; // the kernel then refuses a device that anybody has claimed
    }
    if kind == TargetKind::RegularFile {
        refuse_memory(path)?;
    }
    let file = OpenOptions::new()
        .read(true)
        .write(is_writable)
        .custom_flags(flags)
        .open(path)
        .map_err(|error| open_fault(wish.target, &error))?;
    let name = if kind == TargetKind::BlockDevice { "block device" } else { "file" };
    if kind == TargetKind::RegularFile {
        refuse_sparse(&file, path)?;
    }
    finish(file, wish.target, name, is_writable)
}

fn finish(file: File, path: &str, kind: &str, is_writable: bool) -> Outcome<Target> {
    let failed = |error: io::Error| Fault::device(format!("looking at {path}"), &error);
    let metadata = file.metadata().map_err(failed)?;
    let is_block = metadata.file_type().is_block_device();
    let size = if is_block {
        // SAFETY: plain system call on a valid descriptor; the metadata of a block device doesn't include its size.
        let end = unsafe { libc::lseek(file.as_raw_fd(), 0, libc::SEEK_END) };
        u64::try_from(end).map_err(|_| failed(io::Error::last_os_error()))?
    } else {
        metadata.len()
    };
    if size < MIN_BYTES {
        return Err(Fault::input(
            if kind == "scratch file" { "size" } else { "target" },
            format!("{path} ({size} bytes)"),
            &format!("is too small to measure a disk by: at least {MIN_BYTES} bytes"),
            "use a larger file, or name a directory and let a scratch file be made",
        ));
    }
    let facts = device::facts(if is_block { metadata.rdev() } else { metadata.dev() });
    let alignment = alignment(file.as_raw_fd(), path, size, facts.logical_sector_bytes)?;
    Ok(Target {
        file,
        facts: TargetFacts {
            path: path.into(),
            kind: kind.into(),
            size_bytes: size / alignment * alignment,
            alignment_bytes: alignment,
            is_writable,
            device: facts,
        },
    })
}

fn scratch(
    path: &Path,
    is_directory: bool,
    wish: &Wish<'_>,
    filling: &mut dyn FnMut(u64, u64) -> Outcome<()>,
) -> Outcome<Target> {
    let folder =
        if is_directory { path } else { path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new(".")) };
    if !folder.is_dir() {
        let fix = "make the directory first, or name one that exists";
        return Err(Fault::input("target", wish.target, "lies in a directory that doesn't exist", fix));
    }
    refuse_memory(folder)?;
    if wish.scratch_bytes < MIN_BYTES {
        let rule = format!("is too small to measure a disk by: at least {MIN_BYTES} bytes");
        return Err(Fault::input("size", wish.scratch_bytes, &rule, "give a larger --size"));
    }
    let free = free_bytes(folder)?;
    if wish.scratch_bytes > free / 20 * 19 {
        let rule = format!("must leave a twentieth of the {free} free bytes in {}", folder.display());
        return Err(Fault::input("size", wish.scratch_bytes, &rule, "give a smaller --size or another directory"));
    }
    let name: PathBuf = if is_directory {
        folder.join(format!(".diskmodel-scratch-{}-{:08x}", std::process::id(), fastrand::u32(..)))
    } else {
        path.to_path_buf()
    };
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .create_new(true)
        .mode(0o600)
        .custom_flags(libc::O_DIRECT)
        .open(&name)
        .map_err(|error| {
            if error.raw_os_error() == Some(libc::EINVAL) {
                // Some file systems make the file and only then refuse direct I/O; that it is ours O_EXCL has seen to.
                let _ = fs::remove_file(&name);
            }
            open_fault(&name.to_string_lossy(), &error)
        })?;
    // Unlinked while open, the file vanishes however this program ends, even when it is killed.
    fs::remove_file(&name).map_err(|error| Fault::device(format!("unlinking {}", name.display()), &error))?;
    fill(&file, wish.scratch_bytes, filling)?;
    finish(file, wish.target, "scratch file", true)
}

/// Writes incompressible bytes to the whole file, so that every block of it lies on the medium.
fn fill(file: &File, size: u64, filling: &mut dyn FnMut(u64, u64) -> Outcome<()>) -> Outcome<()> {
    use std::os::unix::fs::FileExt;
    const CHUNK: usize = 4 << 20;
    let failed = |error: io::Error| match error.raw_os_error() {
        Some(libc::ENOSPC | libc::EDQUOT | libc::EFBIG) => Fault::input(
            "size",
            size,
            &format!("the scratch file doesn't fit ({error})"),
            "give a smaller --size or another directory",
        ),
        _ => Fault::device("filling the scratch file", &error),
    };
    // SAFETY: plain system call on a valid descriptor. Reserving first keeps the file in one piece where it can be.
    let reserved = unsafe { libc::fallocate(file.as_raw_fd(), 0, 0, size as libc::off_t) };
    if reserved != 0 {
        let error = io::Error::last_os_error();
        if error.raw_os_error() != Some(libc::EOPNOTSUPP) {
            return Err(failed(error));
        }
    }
    let mut memory = vec![0u8; CHUNK + 4096];
    let start = memory.as_ptr().align_offset(4096);
    let chunk = &mut memory[start..start + CHUNK];
    let mut rng = fastrand::Rng::new();
    let mut offset = 0;
    while offset < size {
        rng.fill(chunk);
        let length = CHUNK.min((size - offset) as usize).div_ceil(4096) * 4096;
        file.write_all_at(&chunk[..length], offset).map_err(failed)?;
        offset += length as u64;
        filling(offset.min(size), size)?;
    }
    file.sync_all().map_err(failed)
}

fn c_path(path: &Path) -> Outcome<CString> {
    use std::os::unix::ffi::OsStrExt;
    CString::new(path.as_os_str().as_bytes())
        .map_err(|_| Fault::input("target", path.display(), "must not contain a NUL character", "name another path"))
}

fn file_system(path: &Path) -> Outcome<i64> {
    let name = c_path(path)?;
    // SAFETY: statfs fills the zeroed struct; the name is a valid C string.
    let facts = unsafe {
        let mut facts: libc::statfs = std::mem::zeroed();
        if libc::statfs(name.as_ptr(), &mut facts) != 0 {
            return Err(open_fault(&path.to_string_lossy(), &io::Error::last_os_error()));
        }
        facts
    };
    Ok(facts.f_type as i64 & 0xffff_ffff)
}

fn free_bytes(folder: &Path) -> Outcome<u64> {
    let name = c_path(folder)?;
    // SAFETY: as above.
    let facts = unsafe {
        let mut facts: libc::statvfs = std::mem::zeroed();
        if libc::statvfs(name.as_ptr(), &mut facts) != 0 {
            return Err(Fault::device(folder.display(), &io::Error::last_os_error()));
        }
        facts
    };
    Ok(facts.f_bavail as u64 * facts.f_frsize as u64)
}

fn refuse_memory(path: &Path) -> Outcome<()> {
    match file_system(path)? {
        TMPFS | RAMFS => Err(Fault::input(
            "target",
            path.display(),
            "lies on tmpfs, which is memory and not a disk",
            "name a file or directory on the disk that you want measured",
        )),
        _ => Ok(()),
    }
}

/// Holes and blocks that were reserved but never written are answered by the file system without any disk.
fn refuse_sparse(file: &File, path: &Path) -> Outcome<()> {
    let metadata = file.metadata().map_err(|error| Fault::device(format!("looking at {}", path.display()), &error))?;
    // SAFETY: plain system call on a valid descriptor.
    let hole = unsafe { libc::lseek(file.as_raw_fd(), 0, libc::SEEK_HOLE) };
    let has_hole = hole >= 0 && (hole as u64) < metadata.len();
    // A FUSE server need not count blocks.
    let lacks_blocks = metadata.blocks() * 512 < metadata.len() && file_system(path)? != FUSE;
    if has_hole || lacks_blocks {
        let rule = "is sparse, compressed or reserved but not written: the disk wouldn't be read";
        let fix = "copy it (cp --sparse=never), or name a directory and let a scratch file be made";
        return Err(Fault::input("target", path.display(), rule, fix));
    }
    Ok(())
}

/// The finest granularity at which a direct read works: what the kernel says, else what works.
fn alignment(fd: RawFd, path: &str, size: u64, sector: Option<u64>) -> Outcome<u64> {
    let mut last = io::Error::from_raw_os_error(libc::EINVAL);
    let buffer = Arena::new(1, 4096)?;
    let mut found = None;
    for candidate in [512, 1024, 2048, 4096].into_iter().filter(|c| *c >= sector.unwrap_or(512)) {
        let offset = (size / 2 / 4096 * 4096 + candidate) as libc::off_t;
        // SAFETY: candidate is at most the size of the buffer, which belongs to this function alone.
        if unsafe { libc::pread(fd, buffer.slot(0).cast(), candidate as usize, offset) } == candidate as isize {
            found = Some(candidate);
            break;
        }
        last = io::Error::last_os_error();
    }
    found.ok_or_else(|| open_fault(path, &last))
}

fn open_fault(path: &str, error: &io::Error) -> Fault {
    let (rule, fix) = match error.raw_os_error() {
        Some(libc::EINVAL | libc::EOPNOTSUPP) => (
            "its file system has no direct I/O (O_DIRECT), so the page cache would be measured",
            "name a file or directory on a local disk's file system (ext4, xfs), or the block device",
        ),
        Some(libc::EACCES | libc::EPERM) => {
            ("you have no permission", "run it as a user that may, for example with sudo")
        }
        Some(libc::EBUSY) => {
            ("the device is busy: somebody has claimed it", "unmount it first, or measure without --write")
        }
        Some(libc::EROFS) => ("its file system is read-only", "name an existing file, or another directory"),
        Some(libc::ENOSPC) => ("the disk is full", "name another directory"),
        Some(libc::EEXIST) => ("it appeared while we were starting", "name another path"),
        _ => return Fault::input("target", path, &format!("cannot be opened ({error})"), "name another target"),
    };
    Fault::input("target", path, rule, fix)
}
