//! Whether a target may be touched, and how: a decision on facts alone, so that it can be tested without devices.

use crate::fault::{Fault, Outcome};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TargetKind {
    Missing,
    Directory,
    RegularFile,
    BlockDevice,
    Other,
}

/// What is known about TARGET before it is opened.
#[derive(Clone, Debug)]
pub struct Situation<'a> {
    pub target: &'a str,
    pub kind: TargetKind,
    /// Writing was asked for.
    pub write: bool,
    /// What `--allow-target` named.
    pub allowed: Option<&'a str>,
    /// Who uses the block device or the file, in words.
    pub users: &'a [String],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Permission {
    /// Make a scratch file at that path, or in that directory; it is ours, so it may be written.
    Scratch,
    ReadOnly,
    ReadWrite,
}

pub fn decide(situation: &Situation<'_>) -> Outcome<Permission> {
    let Situation { target, kind, write, allowed, users } = *situation;
    match kind {
        TargetKind::Missing | TargetKind::Directory => Ok(Permission::Scratch),
        TargetKind::Other => Err(Fault::input(
            "target",
            target,
            "must be a file, a directory or a block device",
            "name a directory to measure the disk it lies on",
        )),
        TargetKind::RegularFile | TargetKind::BlockDevice if !write => Ok(Permission::ReadOnly),
        TargetKind::RegularFile | TargetKind::BlockDevice if !users.is_empty() => Err(Fault::input(
            "target",
            target,
            &format!("is in use and is never written: {}", users.join(", ")),
            "measure it without --write, or name a directory on it: a scratch file is then used",
        )),
        _ if allowed == Some(target) => Ok(Permission::ReadWrite),
        _ => Err(Fault::input(
            "allow-target",
            allowed.unwrap_or("(not given)"),
            &format!("writing would destroy what is on {target}, which this program did not make"),
            &format!("leave out --write, or repeat the target exactly: --allow-target {target}"),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(kind: TargetKind, write: bool, allowed: Option<&str>, users: &[&str]) -> Outcome<Permission> {
        let users: Vec<String> = users.iter().map(|s| s.to_string()).collect();
        decide(&Situation { target: "/dev/sdx", kind, write, allowed, users: &users })
    }

    #[test]
    fn reading_is_always_allowed_and_never_more() {
        for kind in [TargetKind::RegularFile, TargetKind::BlockDevice] {
            for allowed in [None, Some("/dev/sdx")] {
                assert_eq!(ask(kind, false, allowed, &["it is mounted on /"]), Ok(Permission::ReadOnly));
            }
        }
    }

    #[test]
    fn what_we_make_may_be_written() {
        assert_eq!(ask(TargetKind::Missing, true, None, &[]), Ok(Permission::Scratch));
        assert_eq!(ask(TargetKind::Directory, true, None, &[]), Ok(Permission::Scratch));
    }

    #[test]
    fn what_is_in_use_is_never_written_whatever_the_flags_say() {
        for kind in [TargetKind::RegularFile, TargetKind::BlockDevice] {
            assert!(ask(kind, true, Some("/dev/sdx"), &["it is swap space"]).is_err());
        }
    }

    #[test]
    fn writing_needs_the_target_named_exactly() {
        for kind in [TargetKind::RegularFile, TargetKind::BlockDevice] {
            assert!(ask(kind, true, None, &[]).is_err());
            assert!(ask(kind, true, Some("/dev/sdx1"), &[]).is_err());
            assert!(ask(kind, true, Some(""), &[]).is_err());
            assert_eq!(ask(kind, true, Some("/dev/sdx"), &[]), Ok(Permission::ReadWrite));
        }
    }

    #[test]
    fn pipes_and_character_devices_are_refused() {
        assert!(ask(TargetKind::Other, false, None, &[]).is_err());
    }
}
