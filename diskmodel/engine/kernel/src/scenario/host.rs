//! A host, as a caller hands it over.

use crate::simulation::{Host, HostTunables};

/// A host that costs time or buffers, as `diskmodel.host.tables.HostTables`.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "python", derive(pyo3::FromPyObject), pyo3(from_item_all))]
#[cfg_attr(feature = "serde", derive(serde::Deserialize))]
pub struct HostTables {
    pub submission_ns: i64,
    pub is_buffered: bool,
    pub read_ahead_sectors: i64,
    pub largest_request_sectors: i64,
    pub page_sectors: i64,
}

impl HostTables {
    pub fn build(&self, capacity: i64) -> Result<Host, String> {
        if self.page_sectors <= 0 || self.largest_request_sectors <= 0 {
            return Err("pages and requests must have at least one sector".into());
        }
        let tunables = HostTunables {
            submission_ns: self.submission_ns,
            is_buffered: self.is_buffered,
            read_ahead: self.read_ahead_sectors,
            longest: self.largest_request_sectors,
            page: self.page_sectors,
        };
        Ok(Host::new(&tunables, capacity))
    }
}
