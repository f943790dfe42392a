//! What both ends keep about the datagrams of a transport (wire.md W38 to W42).

use alloc::vec::Vec;
use core::time::Duration;

use crate::limits::RECORD_OVERHEAD_IN_DATAGRAMS;
use crate::packing::Packing;
use crate::wire::body::{BodyDecoder, BodyEncoder};
use crate::wire::frame::{Frame, Frames};
use crate::wire::record::{Direction, Record};
use crate::{Error, Kind};

/// Datagrams that may wait below us (DESIGN: nothing stale is ever queued).
const MAX_IN_FLIGHT: u8 = 2;

/// Smaller ones are not worth having: the smallest path of QUIC gives more (RFC 9000, section 14).
const SMALLEST: usize = 256;

/// W40: an acknowledgement waits so long for a datagram that goes anyway ...
const FEEDBACK_WITHIN: Duration = Duration::from_millis(100);

/// ... or until so many datagrams came, ...
const FEEDBACK_AFTER: u32 = 8;

/// ... but none goes sooner after another: the sixteen that a decoder promises then last for 0.8 s.
const FEEDBACK_SPACING: Duration = Duration::from_millis(50);

/// W41: a value that was not followed by a newer one for so long goes over the stream as well.
pub(crate) const REST: Duration = Duration::from_millis(250);

/// The datagrams of one transport.
pub(crate) struct Datagrams {
    /// Octets of the largest one.
    max: usize,
    in_flight: u8,
    pub(crate) encoder: BodyEncoder,
    pub(crate) decoder: BodyDecoder,
    /// Datagrams that came since the last acknowledgement.
    unanswered: u32,
    /// When they are to be acknowledged at the latest.
    answer_at: Option<Duration>,
    answered: Option<Duration>,
}

impl Datagrams {
    /// `None` if the transport has none of a useful size. `sends`: where this end's bodies go.
    pub(crate) fn new(
        max: usize,
        sends: Direction,
        coded: bool,
        max_message: usize,
    ) -> Option<Self> {
        let takes = match sends {
            Direction::ToServer => Direction::ToClient,
            Direction::ToClient => Direction::ToServer,
        };
        (max >= SMALLEST).then(|| Datagrams {
            max,
            in_flight: 0,
            encoder: BodyEncoder::for_datagrams(sends, coded),
            decoder: BodyDecoder::for_datagrams(takes, coded, max_message),
            unanswered: 0,
            answer_at: None,
            answered: None,
        })
    }

    pub(crate) fn ready(&self) -> bool {
        self.in_flight < MAX_IN_FLIGHT
    }

    pub(crate) fn sent(&mut self) {
        self.in_flight = self.in_flight.saturating_sub(1);
    }

    /// Whether a message with a key of so many octets goes into a datagram of its own at least; else it takes the stream.
    pub(crate) fn takes(&self, message: usize, key: usize) -> bool {
        message + key + RECORD_OVERHEAD_IN_DATAGRAMS <= self.max
    }

    /// Whether a further message of so many octets is worth trying to get into the datagram that is made.
    pub(crate) fn may_fit(&self, message: usize) -> bool {
        self.encoder.may_fit(message, self.max)
    }

    /// The body, if there is one, and the feedback that [`Datagrams::begin`] started with, in as few datagrams as it takes.
    pub(crate) fn finish(&mut self, start: Vec<u8>) -> Result<Vec<Vec<u8>>, Error> {
        let made = match (self.encoder.is_empty(), start.is_empty()) {
            (true, true) => Vec::new(),
            (true, false) => Vec::from([start]),
            (false, _) => self.encoder.finish_datagrams(start, self.max)?,
        };
        let count = u8::try_from(made.len()).unwrap_or(u8::MAX);
        self.in_flight = self.in_flight.saturating_add(count);
        Ok(made)
    }

    /// When an acknowledgement is due, if no datagram goes before.
    pub(crate) fn answer_at(&self) -> Option<Duration> {
        self.answer_at.filter(|_| self.ready())
    }

    pub(crate) fn must_answer(&self, now: Duration) -> bool {
        self.answer_at.is_some_and(|at| at <= now)
    }

    /// Starts a datagram, with an acknowledgement if there is something to acknowledge.
    pub(crate) fn begin(&mut self, now: Duration) -> Vec<u8> {
        let mut packet = Vec::new();
        let spaced = self.answered.is_none_or(|before| now >= before + FEEDBACK_SPACING);
        if self.unanswered > 0 && spaced {
            self.unanswered = 0;
            self.answer_at = None;
            let mut acknowledgement = Vec::new();
            self.decoder.acknowledge(&mut acknowledgement);
            if !acknowledgement.is_empty() {
                self.answered = Some(now);
                Frame::Feedback(&acknowledgement).write(&mut packet);
            }
        }
        packet
    }

    /// Calls `each` for every record of a datagram that came. What is wrong with it costs nothing but itself.
    ///
    /// # Errors
    /// Whatever is wrong; nobody is to blame, as a datagram may come too late to be understood.
    pub(crate) fn receive(
        &mut self,
        now: Duration,
        packet: &[u8],
        packing: &mut Packing,
        kind_of: impl Fn(u32) -> Result<Kind, Error>,
        each: impl FnMut(Record<'_>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let mut frames = Frames::new(packet);
        while let Some(frame) = frames.next()? {
            match frame {
                Frame::Feedback(acknowledgement) => self.encoder.acknowledge(acknowledgement),
                Frame::Messages(body) => {
                    return self.decoder.plain(body, Some(packing), kind_of, each);
                }
                Frame::Coded(body) => {
                    self.came(now);
                    return self.decoder.coded(body, kind_of, each);
                }
                _ => return Err(Error::malformed("datagram: it has only bodies and feedback")),
            }
        }
        Ok(())
    }

    fn came(&mut self, now: Duration) {
        self.unanswered = self.unanswered.saturating_add(1);
        let within =
            if self.unanswered >= FEEDBACK_AFTER { Duration::ZERO } else { FEEDBACK_WITHIN };
        let earliest = self.answered.map_or(now, |before| before + FEEDBACK_SPACING);
        let at = (now + within).max(earliest);
        self.answer_at = Some(self.answer_at.map_or(at, |before| before.min(at)));
    }
}
