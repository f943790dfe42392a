//! What the targets share: reading an input and, for `groupwire-gmc`, writing messages and a link
//! whose ends are watched.

mod afec;
mod input;
mod link;
mod messages;
mod watched;

pub use afec::{afec_memory, afec_scheme};
pub use input::Input;
pub use link::Link;
pub use messages::{Messages, Sent};
pub use watched::Watched;
