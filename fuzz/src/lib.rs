//! What the targets of `groupwire-gmc` share: reading an input, writing messages, and a link whose ends are watched.

mod input;
mod link;
mod messages;
mod watched;

pub use input::Input;
pub use link::Link;
pub use messages::{Messages, Sent};
pub use watched::Watched;
