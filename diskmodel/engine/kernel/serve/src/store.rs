//! Where the data of the virtual drive lie: in a file given by descriptor (sparse, or in memory), or nowhere.

use std::io;
use std::os::fd::RawFd;

/// A descriptor, or a drive that reads as zeros and forgets what is written.
#[derive(Clone, Copy, Debug)]
pub enum Store {
    File(RawFd),
    Zero,
}

impl Store {
    /// Fills `buffer` with what lies at `offset`.
    pub fn read(self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        let Store::File(fd) = self else {
            buffer.fill(0);
            return Ok(());
        };
        let mut at = 0;
        while at < buffer.len() {
            let left = &mut buffer[at..];
            // SAFETY: the pointer and the length are those of a live slice.
            let n = unsafe { libc::pread(fd, left.as_mut_ptr().cast(), left.len(), (offset + at as u64) as i64) };
            match n {
                0 => {
                    left.fill(0);
                    return Ok(());
                }
                n if n > 0 => at += n as usize,
                _ => interrupted_or_failed()?,
            }
        }
        Ok(())
    }

    pub fn write(self, data: &[u8], offset: u64) -> io::Result<()> {
        let Store::File(fd) = self else { return Ok(()) };
        let mut at = 0;
        while at < data.len() {
            let left = &data[at..];
            // SAFETY: the pointer and the length are those of a live slice.
            let n = unsafe { libc::pwrite(fd, left.as_ptr().cast(), left.len(), (offset + at as u64) as i64) };
            if n > 0 {
                at += n as usize;
            } else {
                interrupted_or_failed()?;
            }
        }
        Ok(())
    }
}

fn interrupted_or_failed() -> io::Result<()> {
    let error = io::Error::last_os_error();
    if error.kind() == io::ErrorKind::Interrupted {
        Ok(())
    } else {
        Err(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::AsRawFd;

    #[test]
    fn what_was_written_is_read_back_and_the_rest_is_zero() {
        let path = std::env::temp_dir().join(format!("diskmodel-store-{}", std::process::id()));
        let file = std::fs::OpenOptions::new().read(true).write(true).create_new(true).open(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        let store = Store::File(file.as_raw_fd());
        store.write(b"abc", 5).unwrap();
        let mut found = [9; 12];
        store.read(&mut found, 0).unwrap();
        assert_eq!(&found, b"\0\0\0\0\0abc\0\0\0\0");
        assert!(Store::File(-1).write(b"x", 0).is_err());
        Store::Zero.write(b"abc", 5).unwrap();
        Store::Zero.read(&mut found, 5).unwrap();
        assert_eq!(found, [0; 12]);
    }
}
