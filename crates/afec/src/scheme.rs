//! The schemes by which redundancy is chosen. "The paper" is the AFEC paper of 2012. A code is the plan by which a
//! sender repeats the messages of a channel; the message error rate is the share of messages that do not arrive in
//! time.

use crate::code::{Code, Repeats};

/// How redundancy is chosen. Both ends of a path use the same.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Scheme {
    /// The controller of this crate: the cheapest code that holds each channel's loss target.
    #[default]
    Adaptive,
    /// Always the same code. With [`Code::PLAIN`] this is plain UDP.
    Fixed(Code),
    /// FEC-n of the paper: each packet repeats the last n messages. After the last message of a cluster (a run of
    /// messages without a pause), further packets carry the repeats that are still missing.
    Fec(u8),
    /// The controller of the paper (section 3.3).
    Afec2012(Afec2012),
}

/// The settings of the paper's controller.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Afec2012 {
    /// The message error rate below which the sender drops one repeat (called DEC).
    pub min: f64,
    /// The message error rate above which the sender adds one repeat (called NAK).
    pub max: f64,
    /// The number of newest messages over which the error rate is measured.
    pub window: usize,
    /// The time between two checks of the error rate, in ms.
    pub period_ms: u32,
    /// Whether late messages count as lost. In the paper they do not.
    pub late_counts: bool,
}

impl Default for Afec2012 {
    /// The values of the paper's evaluation (section 4): 5 to 6 % of the last 1000 messages. The paper does not state
    /// the period. With 5 s the error rate stays within 4 to 7 % on all loss patterns of the paper, as the paper
    /// reports (section 4.1.3). With 1 s the error rate stays below that range and the repeats cost twice as much
    /// (measured with `groupwire-lab afec --part paper`).
    fn default() -> Self {
        Afec2012 { min: 0.05, max: 0.06, window: 1000, period_ms: 5000, late_counts: false }
    }
}

/// The most repeats of a message with the paper's controller: about as many messages of a telepointer (the pointer of
/// another user) as one packet of the usual path MTU holds.
const MOST: u8 = 32;

impl Scheme {
    /// The code that a channel has until one is chosen.
    pub(crate) fn first_code(&self) -> Code {
        match self {
            Scheme::Fixed(code) => *code,
            Scheme::Adaptive => Code::PLAIN,
            Scheme::Fec(n) => {
                Code { repeats: Repeats::repeat_last(*n), tail_flush: true, ..Code::PLAIN }
            }
            Scheme::Afec2012(_) => Code { tail_flush: true, ..Code::PLAIN },
        }
    }

    /// Whether a cluster ends as in the paper, with "packets containing only redundant messages until the recovery
    /// requirements are met" (section 3.2). If not, it ends with a tail flush, which is one packet.
    pub(crate) fn flushes_each(&self) -> bool {
        matches!(self, Scheme::Fec(_) | Scheme::Afec2012(_))
    }

    /// Changes the code by a step of the paper's controller: 1 for NAK, -1 for DEC.
    pub(crate) fn step(&self, code: &mut Code, steps: i8) {
        if let Scheme::Afec2012(_) = self {
            let now = code.repeats.len() as i8;
            code.repeats = Repeats::repeat_last(
                now.saturating_add(steps.clamp(-1, 1)).clamp(0, MOST as i8) as u8,
            );
        }
    }
}
