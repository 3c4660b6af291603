//! Writes files: whole or not at all, regular files only, never through a link, never over the target.
//!
//! A file is written under a name of its own beside its place, brought to the medium (fsync) and renamed; then the
//! folder is brought to the medium. Whatever fails before the rename, the old file is as it was. `diskmodel/output.py`
//! follows the same rules in Python:
//!
//! - `-` is standard output. Devices, pipes, sockets and symbolic links are refused.
//! - A new file gets the mode that the umask leaves; a replaced file keeps its mode, and its owner and group where the
//!   system permits that.
//! - A file without any write permission is refused, also for root, and so is a file with several names (hard links):
//!   the other names would keep the old content.

use std::ffi::CString;
use std::fs::{self, File, Metadata, OpenOptions, Permissions};
use std::io::{self, BufWriter, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{fchown, FileTypeExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use crate::fault::{Fault, Outcome};

const STDOUT: &str = "-";
/// Bytes of the final name that the temporary name repeats: with the rest it stays below the 255 of every file system.
const NAME_BYTES: usize = 120;
const BUFFER_BYTES: usize = 1 << 20;

pub fn is_stdout(path: &Path) -> bool {
    path.as_os_str() == STDOUT
}

/// Refuses a place that cannot be written, before anything is measured. `target` is what will be measured.
pub fn check(path: &Path, target: &Path) -> Outcome<()> {
    if is_stdout(path) {
        return Ok(());
    }
    let old = old_file(path)?;
    if let (Some(old), Ok(target)) = (&old, fs::metadata(target)) {
        if (old.dev(), old.ino()) == (target.dev(), target.ino()) {
            return Err(refusal(path, "is the target, which would be overwritten", "name another file for the result"));
        }
    }
    let trial = temporary(path);
    create(&trial, 0o600).map_err(|error| unwritable(path, &error))?;
    fs::remove_file(&trial).map_err(|error| unwritable(path, &error))
}

/// Replaces the file at `path` by what `write` writes, or writes it to standard output.
pub fn replace(path: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Outcome<()> {
    if is_stdout(path) {
        return print(write);
    }
    let old = old_file(path)?;
    let part = temporary(path);
    // Only what was created here is removed: a name that somebody else has taken is not ours.
    let file = create(&part, if old.is_some() { 0o600 } else { 0o666 }).map_err(|error| unwritable(path, &error))?;
    let written = fill(file, old.as_ref(), write).and_then(|()| {
        old_file(path).map_err(|fault| io::Error::other(fault.to_string()))?;
        fs::rename(&part, path)
    });
    if let Err(error) = written {
        let _ = fs::remove_file(&part);
        return Err(unwritable(path, &error));
    }
    File::open(folder_of(path)).and_then(|folder| sync(&folder)).map_err(|error| unwritable(path, &error))
}

/// Writes to standard output. A full disk is bad input; a reader that has gone ends the program quietly.
pub fn print(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Outcome<()> {
    let mut out = BufWriter::with_capacity(BUFFER_BYTES, io::stdout().lock());
    write(&mut out).and_then(|()| out.flush()).map_err(|error| match error.kind() {
        io::ErrorKind::BrokenPipe => Fault::NobodyReads,
        _ => {
            // What the buffer still has must not be tried again when it is dropped.
            let (_, _) = out.into_parts();
            unwritable(Path::new(STDOUT), &error)
        }
    })
}

fn create(part: &Path, mode: u32) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).mode(mode).custom_flags(libc::O_NOFOLLOW).open(part)
}

fn fill(file: File, old: Option<&Metadata>, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let mut out = BufWriter::with_capacity(BUFFER_BYTES, file);
    write(&mut out)?;
    let file = out.into_inner().map_err(|error| error.into_error())?;
    if let Some(old) = old {
        // Another user's file stays his where the system permits it.
        match fchown(&file, Some(old.uid()), Some(old.gid())) {
            Err(error) if error.kind() != io::ErrorKind::PermissionDenied => return Err(error),
            _ => {}
        }
        file.set_permissions(Permissions::from_mode(old.mode() & 0o777))?;
    }
    sync(&file)
}

/// Some file systems have no fsync (of folders): nothing more can be done there.
fn sync(file: &File) -> io::Result<()> {
    match file.sync_all() {
        Err(error) if matches!(error.raw_os_error(), Some(libc::EINVAL | libc::ENOSYS | libc::EOPNOTSUPP)) => Ok(()),
        done => done,
    }
}

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

fn temporary(path: &Path) -> PathBuf {
    let name = path.file_name().map(|name| name.as_bytes()).unwrap_or_default();
    let start = String::from_utf8_lossy(&name[..name.len().min(NAME_BYTES / 3)]).into_owned();
    path.with_file_name(format!(".{start}.{}.{:016x}.part", std::process::id(), fastrand::u64(..)))
}

/// The file that would be replaced, None where there is none; a fault where it may not be replaced.
fn old_file(path: &Path) -> Outcome<Option<Metadata>> {
    let old = match fs::symlink_metadata(path) {
        Ok(old) => old,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(unwritable(path, &error)),
    };
    let kind = old.file_type();
    let (what, fix) = if kind.is_file() {
        ("", "")
    } else if kind.is_dir() {
        ("a directory", "name a file in it")
    } else if kind.is_symlink() {
        ("a symbolic link", "name the file that it points to")
    } else if kind.is_fifo() {
        ("a named pipe (FIFO)", "name a file, or - for standard output")
    } else if kind.is_char_device() || kind.is_block_device() {
        ("a device", "name a file, or - for standard output")
    } else {
        ("a socket", "name a file, or - for standard output")
    };
    if !what.is_empty() {
        return Err(refusal(path, &format!("is {what}, not a regular file"), fix));
    }
    if old.nlink() > 1 {
        let rule = format!("has {} names (hard links), and the others would keep the old content", old.nlink());
        return Err(refusal(path, &rule, "remove this name first, or name another file"));
    }
    if old.mode() & 0o222 == 0 || !is_writable(path) {
        return Err(refusal(path, "is read-only", "allow writing (chmod u+w), or name another file"));
    }
    Ok(Some(old))
}

fn is_writable(path: &Path) -> bool {
    let Ok(name) = CString::new(path.as_os_str().as_bytes()) else { return false };
    // SAFETY: plain system call; the name is a valid C string.
    unsafe { libc::faccessat(libc::AT_FDCWD, name.as_ptr(), libc::W_OK, libc::AT_EACCESS) == 0 }
}

fn refusal(path: &Path, rule: &str, fix: &str) -> Fault {
    Fault::input("out", path.display(), rule, fix)
}

fn unwritable(path: &Path, error: &io::Error) -> Fault {
    let (rule, fix) = match error.raw_os_error() {
        Some(libc::ENOSPC | libc::EDQUOT) => ("cannot be written: the disk is full", "name a file on another disk"),
        Some(libc::EFBIG) => {
            ("cannot be written: it is larger than the file-size limit allows", "raise the limit (ulimit -f)")
        }
        Some(libc::EACCES | libc::EPERM) => {
            ("cannot be written: no permission", "name a file in a directory of your own")
        }
        Some(libc::ENOENT | libc::ENOTDIR) => {
            ("lies in a directory that doesn't exist", "make it first, or name another")
        }
        Some(libc::EROFS) => ("lies on a read-only file system", "name a file on another"),
        _ => return refusal(path, &format!("cannot be written ({error})"), "name another file"),
    };
    refusal(path, rule, fix)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    struct Folder(PathBuf);

    impl Folder {
        fn new() -> Self {
            let path = std::env::temp_dir().join(format!("output-{}-{:x}", std::process::id(), fastrand::u64(..)));
            fs::create_dir(&path).unwrap();
            Folder(path)
        }

        fn names(&self) -> Vec<String> {
            let mut names: Vec<_> =
                fs::read_dir(&self.0).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
            names.sort();
            names
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    fn put(path: &Path, text: &str) -> Outcome<()> {
        replace(path, |out| out.write_all(text.as_bytes()))
    }

    #[test]
    fn links_devices_and_pipes_are_refused_and_stay() {
        let folder = Folder::new();
        let victim = folder.0.join("victim");
        fs::write(&victim, "kept").unwrap();
        let (link, dangling) = (folder.0.join("link"), folder.0.join("dangling"));
        symlink(&victim, &link).unwrap();
        symlink(folder.0.join("nowhere"), &dangling).unwrap();
        for path in [link, dangling, "/dev/null".into(), folder.0.clone()] {
            assert!(put(&path, "new").is_err(), "{}", path.display());
            assert!(check(&path, Path::new("/")).is_err(), "{}", path.display());
        }
        assert_eq!(fs::read_to_string(&victim).unwrap(), "kept");
        assert_eq!(folder.names(), ["dangling", "link", "victim"]);
    }

    #[test]
    fn a_replaced_file_keeps_its_mode() {
        let folder = Folder::new();
        let path = folder.0.join("m.json");
        for mode in [0o600, 0o664, 0o640] {
            fs::write(&path, "old").unwrap();
            fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
            put(&path, "new").unwrap();
            assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, mode);
            assert_eq!(fs::read_to_string(&path).unwrap(), "new");
        }
        assert_eq!(folder.names(), ["m.json"]);
    }

    #[test]
    fn read_only_files_and_those_with_two_names_stay() {
        let folder = Folder::new();
        let (read_only, first, second) = (folder.0.join("read-only"), folder.0.join("first"), folder.0.join("second"));
        fs::write(&read_only, "old").unwrap();
        fs::set_permissions(&read_only, Permissions::from_mode(0o444)).unwrap();
        fs::write(&first, "old").unwrap();
        fs::hard_link(&first, second).unwrap();
        for path in [read_only, first] {
            assert!(put(&path, "new").is_err());
            assert_eq!(fs::read_to_string(&path).unwrap(), "old");
        }
    }

    #[test]
    fn a_writer_that_fails_leaves_the_old_file_alone() {
        let folder = Folder::new();
        let path = folder.0.join("m.json");
        fs::write(&path, "old").unwrap();
        let failed = replace(&path, |out| {
            out.write_all(b"half")?;
            Err(io::Error::from_raw_os_error(libc::ENOSPC))
        });
        assert!(failed.unwrap_err().to_string().contains("the disk is full"));
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
        assert_eq!(folder.names(), ["m.json"]);
    }

    #[test]
    fn the_target_is_not_the_result() {
        let folder = Folder::new();
        let path = folder.0.join("target");
        fs::write(&path, "data").unwrap();
        assert!(check(&path, &path).unwrap_err().to_string().contains("is the target"));
        assert!(check(&folder.0.join("m.json"), &path).is_ok());
        assert_eq!(folder.names(), ["target"]);
    }

    #[test]
    fn names_as_long_as_a_file_system_takes_them() {
        let folder = Folder::new();
        for name in ["n".repeat(255), "ü".repeat(127)] {
            put(&folder.0.join(&name), "text").unwrap();
        }
    }
}
