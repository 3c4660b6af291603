//! What stations say to each other, written down where somebody asks for it: the same log as that of the reference engine
//! (`diskmodel/engine/reference/clock.py`), so that it shows at which station the two first differ.
//!
//! Only a kernel that was compiled with the feature `ports` has it: to ask at each port whether somebody reads it would make
//! 1 to 3 % more instructions of a run.

/// Who says something to whom, from what a drive has done up to the host and down again: so it goes within an instant.
#[derive(Clone, Copy, Debug)]
pub enum Port {
    DriveToVolume,
    VolumeToController,
    ControllerToHost,
    HostToController,
    ControllerToVolume,
    VolumeToDrive,
}

/// Time, port, drive (0 at other ports), operation, first sector, sectors.
pub type Said = [i64; 6];

/// Whether this kernel can have a log.
pub const HAS_PORTS: bool = cfg!(feature = "ports");

/// A log, if there is one.
#[derive(Default)]
pub struct Ports(Option<Vec<Said>>);

impl Ports {
    pub fn log(&mut self) {
        self.0 = Some(Vec::new());
    }

    pub fn take(&mut self) -> Vec<Said> {
        self.0.take().unwrap_or_default()
    }

    #[inline(always)]
    pub fn is_logged(&self) -> bool {
        HAS_PORTS && self.0.is_some()
    }

    /// Writes down what was said, and has been written down elsewhere.
    pub fn again(&mut self, line: Said) {
        if let Some(said) = &mut self.0 {
            said.push(line);
        }
    }

    #[cold]
    #[inline(never)]
    pub fn say(&mut self, time: i64, port: Port, device: u32, (op, sector, n): (u8, i64, i64)) {
        if let Some(said) = &mut self.0 {
            said.push([time, port as i64, i64::from(device), i64::from(op), sector, n]);
        }
    }
}
