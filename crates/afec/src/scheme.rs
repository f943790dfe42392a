//! Who decides on redundancy, and how.

use crate::code::{Code, Repeats};

/// How redundancy is chosen. Both ends of a path use the same.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Scheme {
    /// By this crate's controller, at the least cost for each channel's target.
    #[default]
    Adaptive,
    /// Always this code: [`Code::PLAIN`] is UDP as it is.
    Fixed(Code),
    /// FEC-n of the paper: each packet repeats the last so many messages, also after the last message of a cluster.
    Fec(u8),
    /// Neighbouring messages in different packets, none of them twice (paper, section 2.4.1). At most 32 messages make a
    /// block.
    Interleaved {
        /// Packets of a block.
        packets: u8,
        /// Messages of a packet.
        each: u8,
    },
    /// The controller of the paper (section 3.3).
    Afec2012(Afec2012),
}

/// The settings of the paper's controller.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Afec2012 {
    /// Below this message error rate a repeat is taken back (DEC).
    pub min: f64,
    /// Above this one a repeat is added (NAK).
    pub max: f64,
    /// Messages over which the rate is taken.
    pub window: usize,
    /// Between two looks at the rate, in ms.
    pub period_ms: u32,
    /// Whether late messages count as lost. In the paper they do not.
    pub late_counts: bool,
}

impl Default for Afec2012 {
    /// As in the paper's evaluation (section 4): 5 to 6 % of the last 1000 messages. It does not state the period: with
    /// this one the rate stays within 4 to 7 %, as it says (4.1.3), on all its loss patterns; with 1 s it hunts below.
    fn default() -> Self {
        Afec2012 { min: 0.05, max: 0.06, window: 1000, period_ms: 5000, late_counts: false }
    }
}

/// The paper's controller repeats the last so many messages at most: what a path MTU holds of telepointers.
const MOST: u8 = 32;

impl Scheme {
    pub(crate) fn first_code(&self) -> Code {
        match self {
            Scheme::Fixed(code) => *code,
            Scheme::Adaptive | Scheme::Interleaved { .. } => Code::PLAIN,
            Scheme::Fec(n) => {
                Code { repeats: Repeats::repeat_last(*n), close: true, ..Code::PLAIN }
            }
            Scheme::Afec2012(_) => Code { close: true, ..Code::PLAIN },
        }
    }

    /// Whether a cluster is ended as in the paper: by "packets containing only redundant messages until the recovery
    /// requirements are met" (3.2), not by one packet.
    pub(crate) fn closes_each(&self) -> bool {
        matches!(self, Scheme::Fec(_) | Scheme::Afec2012(_))
    }

    /// NAK (1) and DEC (-1): the next code of the paper's controller.
    pub(crate) fn step(&self, code: &mut Code, steps: i8) {
        if let Scheme::Afec2012(_) = self {
            let now = code.repeats.len() as i8;
            code.repeats = Repeats::repeat_last(
                now.saturating_add(steps.clamp(-1, 1)).clamp(0, MOST as i8) as u8,
            );
        }
    }
}
