//! Records that cross over: their fields and names, how a caller hands them over, and the schema of all of them.

pub mod given;
pub mod named;
pub mod schema;
