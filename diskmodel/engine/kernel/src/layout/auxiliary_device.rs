//! Devices of their own: one write after another passes the link of one (rules X16, X26, Y13); see
//! `diskmodel/layout/auxiliary_devices.py`.

use crate::events::LAST_NS;
use crate::schema::record;
use crate::units::NS_PER_S;

record! {
    /// A device of its own, as `diskmodel.layout.auxiliary_devices.AuxiliaryDeviceTables`.
    #[derive(Clone, Debug)]
    pub struct AuxiliaryDeviceTables {
        /// What a write takes when it has passed the link.
        pub write_ns: i64,
        pub bytes_per_s: i64,
    }
}

/// Writes that wait for a device of its own.
pub struct DeviceQueue {
    write_ns: i64,
    bytes_per_s: i64,
    /// When the device can be sent the next write.
    free: i64,
}

impl DeviceQueue {
    pub fn new(tables: &AuxiliaryDeviceTables) -> Self {
        DeviceQueue { write_ns: tables.write_ns, bytes_per_s: tables.bytes_per_s, free: 0 }
    }

    /// When a write of so many bytes ends that comes now.
    pub fn end_of(&mut self, bytes: i64, now: i64) -> i64 {
        let sent = bytes.saturating_mul(NS_PER_S) / self.bytes_per_s;
        self.free = now.max(self.free).saturating_add(sent).min(LAST_NS);
        self.free + self.write_ns
    }
}
