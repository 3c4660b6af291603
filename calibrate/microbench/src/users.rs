//! What uses a file or a block device as a disk: loop devices, swap space, and mounts of any kind.

use std::fs::{self, Metadata};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

/// What uses the file or the block device, in words; empty when nothing is known to.
pub fn of(target: &Metadata) -> Vec<String> {
    let is_block = target.file_type().is_block_device();
    let is_it = |path: &Path| {
        fs::metadata(path).is_ok_and(|found| match is_block {
            true => found.file_type().is_block_device() && found.rdev() == target.rdev(),
            false => (found.dev(), found.ino()) == (target.dev(), target.ino()),
        })
    };
    let text = |path: &str| fs::read_to_string(path).unwrap_or_default();
    let mut found = loops(Path::new("/sys/block"), &is_it);
    found.extend(swaps(&text("/proc/swaps"), &is_it));
    found.extend(mounts(&text("/proc/self/mountinfo"), &is_it));
    found
}

fn loops(block: &Path, is_it: &dyn Fn(&Path) -> bool) -> Vec<String> {
    let mut found: Vec<String> = fs::read_dir(block)
        .into_iter()
        .flatten()
        .flatten()
        .filter(|device| {
            let backing = fs::read(device.path().join("loop/backing_file")).unwrap_or_default();
            let backing = String::from_utf8_lossy(&backing).into_owned();
            !backing.is_empty() && is_it(Path::new(backing.trim_end_matches('\n')))
        })
        .map(|device| format!("it backs the loop device {}", device.file_name().to_string_lossy()))
        .collect();
    found.sort();
    found
}

fn swaps(swaps: &str, is_it: &dyn Fn(&Path) -> bool) -> Vec<String> {
    let used = swaps.lines().skip(1).filter_map(|line| line.split_whitespace().next());
    used.filter(|name| is_it(&unescaped(name))).map(|_| "it is swap space".to_string()).collect()
}

/// Mounts whose source it is (FUSE, for instance, mounts images without a loop device), or that lie on it.
fn mounts(mountinfo: &str, is_it: &dyn Fn(&Path) -> bool) -> Vec<String> {
    let mut found = Vec::new();
    for line in mountinfo.lines() {
        // The optional fields in the middle end with a lone "-"; the source is the second field behind it.
        let Some((before, behind)) = line.split_once(" - ") else { continue };
        let (place, source) =
            (before.split(' ').nth(4).unwrap_or_default(), behind.split(' ').nth(1).unwrap_or_default());
        if source.starts_with('/') && is_it(&unescaped(source)) {
            found.push(format!("it is mounted on {}", unescaped(place).display()));
        }
    }
    found
}

/// `\040` and its like, as the kernel writes blanks, tabs, line ends and backslashes.
fn unescaped(name: &str) -> PathBuf {
    use std::ffi::OsString;
    use std::os::unix::ffi::OsStringExt;
    let bytes = name.as_bytes();
    let mut found = Vec::with_capacity(bytes.len());
    let mut place = 0;
    while place < bytes.len() {
        let octal = bytes.get(place + 1..place + 4).filter(|_| bytes[place] == b'\\');
        match octal.and_then(|digits| std::str::from_utf8(digits).ok()).and_then(|s| u8::from_str_radix(s, 8).ok()) {
            Some(byte) => {
                found.push(byte);
                place += 4;
            }
            None => {
                found.push(bytes[place]);
                place += 1;
            }
        }
    }
    PathBuf::from(OsString::from_vec(found))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn image(path: &Path) -> bool {
        path == Path::new("/srv/my image.img")
    }

    #[test]
    fn swap_files_are_found_with_blanks_in_their_names() {
        let table = "Filename Type Size Used Priority\n/dev/sda2 partition 1 0 -2\n/srv/my\\040image.img file 1 0 -3\n";
        assert_eq!(swaps(table, &image), ["it is swap space"]);
        assert!(swaps(&table.replace("image", "other"), &image).is_empty());
    }

    #[test]
    fn mounts_are_found_by_their_source_whatever_the_file_system() {
        let line = "36 35 98:0 / /mnt\\040a rw,noatime master:1 shared:2 - fuse.fuse2fs /srv/my\\040image.img rw\n";
        assert_eq!(mounts(line, &image), ["it is mounted on /mnt a"]);
        assert!(mounts("36 35 98:0 / /srv/my\\040image.img rw - tmpfs tmpfs rw\n", &image).is_empty());
        assert!(mounts("nonsense\n", &image).is_empty());
    }

    #[test]
    fn loop_devices_are_found_by_what_backs_them() {
        let block = std::env::temp_dir().join(format!("users-{}-{:x}", std::process::id(), fastrand::u64(..)));
        for (name, backing) in [("loop0", "/srv/other.img\n"), ("loop7", "/srv/my image.img\n")] {
            fs::create_dir_all(block.join(name).join("loop")).unwrap();
            fs::write(block.join(name).join("loop/backing_file"), backing).unwrap();
        }
        fs::create_dir_all(block.join("vda")).unwrap();
        let found = loops(&block, &image);
        fs::remove_dir_all(&block).unwrap();
        assert_eq!(found, ["it backs the loop device loop7"]);
    }
}
