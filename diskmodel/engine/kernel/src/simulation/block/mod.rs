//! Linux's block layer above the disks: which writes it lets go, what it flushes, and how many are in progress.

pub(in crate::simulation) mod flushing;
pub(in crate::simulation) mod request_tags;
pub(in crate::simulation) mod submission;

use crate::simulation::{Clients, Flushes, RequestTags, Submitter};
use crate::traffic::Traffic;

pub struct BlockLayer {
    pub(in crate::simulation) submitter: Option<Box<Submitter>>,
    pub(in crate::simulation) tags: Option<Box<RequestTags>>,
    pub(in crate::simulation) flushes: Box<Flushes>,
    /// Whether there are writes that pass the drives' buffers.
    pub(in crate::simulation) has_passing: bool,
}

impl BlockLayer {
    pub fn new<T: Traffic>(
        submitter: Option<Submitter>,
        tags: Option<RequestTags>,
        flushes: Flushes,
        clients: &Clients<T>,
    ) -> Self {
        BlockLayer {
            has_passing: flushes.has_passing(clients.traffic.rules(), clients.journal.is_some()),
            submitter: submitter.map(Box::new),
            tags: tags.map(Box::new),
            flushes: Box::new(flushes),
        }
    }
}
