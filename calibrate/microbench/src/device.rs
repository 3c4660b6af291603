//! What the kernel says about the target: sizes, scheduler, rotational hint, who uses it. No serial numbers.

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, Serialize, Deserialize, PartialEq)]
pub struct DeviceFacts {
    /// Name in /sys/block, of the whole disk; None for network file systems, FUSE and the like.
    pub disk: Option<String>,
    pub rotational_hint: Option<bool>,
    pub scheduler: Option<String>,
    pub n_requests: Option<u64>,
    pub read_ahead_kib: Option<u64>,
    pub write_cache: Option<String>,
    pub logical_sector_bytes: Option<u64>,
    pub physical_sector_bytes: Option<u64>,
    pub model: Option<String>,
}

/// Folder in /sys of the block device with this number.
pub fn sysfs_folder(device: u64) -> Option<PathBuf> {
    let link = format!("/sys/dev/block/{}:{}", libc::major(device), libc::minor(device));
    fs::canonicalize(link).ok()
}

/// Folder of the whole disk that a partition is on; the folder itself for a disk.
pub fn disk_folder(folder: &Path) -> PathBuf {
    match folder.parent() {
        Some(parent) if folder.join("partition").exists() => parent.to_path_buf(),
        _ => folder.to_path_buf(),
    }
}

fn text(path: PathBuf) -> Option<String> {
    fs::read_to_string(path).ok().map(|s| s.trim().to_string()).filter(|s| !s.is_empty())
}

fn number(path: PathBuf) -> Option<u64> {
    text(path)?.parse().ok()
}

pub fn facts(device: u64) -> DeviceFacts {
    let Some(folder) = sysfs_folder(device) else {
        return DeviceFacts::default();
    };
    let disk = disk_folder(&folder);
    let queue = disk.join("queue");
    DeviceFacts {
        disk: disk.file_name().map(|name| name.to_string_lossy().into_owned()),
        rotational_hint: number(queue.join("rotational")).map(|x| x != 0),
        scheduler: text(queue.join("scheduler")).map(|s| active_scheduler(&s).to_string()),
        n_requests: number(queue.join("nr_requests")),
        read_ahead_kib: number(queue.join("read_ahead_kb")),
        write_cache: text(queue.join("write_cache")),
        logical_sector_bytes: number(queue.join("logical_block_size")),
        physical_sector_bytes: number(queue.join("physical_block_size")),
        model: text(disk.join("device/model")),
    }
}

/// `none [mq-deadline] bfq` → `mq-deadline`.
fn active_scheduler(line: &str) -> &str {
    match (line.find('['), line.find(']')) {
        (Some(open), Some(close)) if open < close => &line[open + 1..close],
        _ => line,
    }
}

/// Bytes read and written by everybody since boot, and the milliseconds the device was busy.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Traffic {
    pub read_bytes: u64,
    pub written_bytes: u64,
}

pub fn traffic(disk: &str) -> Option<Traffic> {
    parse_stat(&text(Path::new("/sys/block").join(disk).join("stat"))?)
}

fn parse_stat(line: &str) -> Option<Traffic> {
    let fields: Vec<u64> = line.split_whitespace().map_while(|field| field.parse().ok()).collect();
    // Documentation/block/stat.rst: sectors of 512 bytes, whatever the device's own are.
    Some(Traffic { read_bytes: fields.get(2)? * 512, written_bytes: fields.get(6)? * 512 })
}

/// What uses a block device, in words; empty when nothing does.
pub fn users(device: u64) -> Vec<String> {
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    let swaps = fs::read_to_string("/proc/swaps").unwrap_or_default();
    let mut found = Vec::new();
    let Some(folder) = sysfs_folder(device) else {
        return found;
    };
    found.extend(users_of(&folder, device, &mounts, &swaps));
    if folder.join("partition").exists() {
        return found;
    }
    for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
        let part = entry.path();
        if part.join("partition").exists() {
            if let Some(number) = text(part.join("dev")).and_then(|s| parse_device(&s)) {
                found.extend(
                    users_of(&part, number, &mounts, &swaps)
                        .into_iter()
                        .map(|user| format!("its partition {} is in use: {user}", entry.file_name().to_string_lossy())),
                );
            }
        }
    }
    found
}

fn users_of(folder: &Path, device: u64, mounts: &str, swaps: &str) -> Vec<String> {
    let mut found: Vec<String> =
        mount_points(mounts, device).into_iter().map(|place| format!("it is mounted on {place}")).collect();
    for holder in fs::read_dir(folder.join("holders")).into_iter().flatten().flatten() {
        found.push(format!("it is held by {}", holder.file_name().to_string_lossy()));
    }
    if let Some(name) = folder.file_name() {
        let node = format!("/dev/{}", name.to_string_lossy());
        if swaps.lines().any(|line| line.split_whitespace().next() == Some(node.as_str())) {
            found.push("it is swap space".into());
        }
    }
    found
}

fn mount_points(mountinfo: &str, device: u64) -> Vec<String> {
    let number = format!("{}:{}", libc::major(device), libc::minor(device));
    let fields = mountinfo.lines().map(|line| line.split(' ').collect::<Vec<_>>());
    fields.filter(|f| f.get(2) == Some(&number.as_str())).filter_map(|f| f.get(4).map(|s| s.to_string())).collect()
}

fn parse_device(text: &str) -> Option<u64> {
    let (major, minor) = text.split_once(':')?;
    Some(libc::makedev(major.parse().ok()?, minor.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scheduler_in_brackets_is_the_active_one() {
        assert_eq!(active_scheduler("none [mq-deadline] bfq"), "mq-deadline");
        assert_eq!(active_scheduler("none"), "none");
    }

    #[test]
    fn traffic_counts_sectors_of_512_bytes() {
        let line = " 100 0 2048 5 10 0 8 3 0 4 8 0 0 0 0 0 0";
        assert_eq!(parse_stat(line), Some(Traffic { read_bytes: 1_048_576, written_bytes: 4096 }));
        assert_eq!(parse_stat("nonsense"), None);
    }

    #[test]
    fn mounts_are_found_by_device_number() {
        let info = "27 1 254:0 / / rw - ext4 /dev/vda rw\n28 27 254:1 / /data rw - ext4 /dev/vda1 rw\n";
        assert_eq!(mount_points(info, libc::makedev(254, 1)), ["/data"]);
        assert!(mount_points(info, libc::makedev(254, 2)).is_empty());
    }
}
