//! What Linux md does beside planning requests: bits of intent, stripes, their logs, and a pass over the members.

pub(in crate::simulation) mod bitmap;
pub(in crate::simulation) mod partial_parity;
pub(in crate::simulation) mod rebuild;
pub(in crate::simulation) mod stripe_journal;
pub(in crate::simulation) mod stripes;

use crate::layout::Layout;
use crate::simulation::md::bitmap::Intents;
use crate::simulation::md::partial_parity::PartialLogs;
use crate::simulation::md::rebuild::Rebuild;
use crate::simulation::md::stripe_journal::StripeJournal;
use crate::simulation::md::stripes::Stripes;

pub struct Md {
    pub(in crate::simulation) intents: Option<Box<Intents>>,
    pub(in crate::simulation) stripes: Option<Box<Stripes>>,
    pub(in crate::simulation) stripe_journal: Option<Box<StripeJournal>>,
    pub(in crate::simulation) partial: Option<Box<PartialLogs>>,
    pub(in crate::simulation) rebuild: Rebuild,
}

impl Md {
    pub fn new(layout: &Layout) -> Self {
        Md {
            intents: Intents::of(layout).map(Box::new),
            stripes: Stripes::of(layout).map(Box::new),
            stripe_journal: StripeJournal::of(layout).map(Box::new),
            partial: PartialLogs::of(layout).map(Box::new),
            rebuild: Rebuild::new(layout),
        }
    }
}
