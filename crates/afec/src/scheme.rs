//! The schemes by which redundancy is chosen. A code is the plan by which a sender repeats the
//! messages of a channel.

use crate::code::Code;

/// How redundancy is chosen. Both ends of a path use the same.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Scheme {
    /// The controller of this crate: the cheapest code that holds each channel's loss target.
    #[default]
    Adaptive,
    /// Always the same code. With [`Code::PLAIN`] this is plain UDP.
    Fixed(Code),
}

impl Scheme {
    /// The code that a channel has until one is chosen.
    pub(crate) fn first_code(&self) -> Code {
        match self {
            Scheme::Fixed(code) => *code,
            Scheme::Adaptive => Code::PLAIN,
        }
    }
}
