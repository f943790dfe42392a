//! Awareness messages in datagrams, on one leg between client and server: afec decides what a
//! packet holds, gmc codes it as a unit (wire W38 to W43 and W67 to W69). Copies of transactions go
//! in the same datagrams (wire W81 to W83).
//!
//! A leg sends ([`leg`]) and receives ([`incoming`]). Its share of the loss is in [`share`], a
//! datagram's messages in [`body`], copies of transactions in [`copies`].

mod acknowledging;
mod body;
mod copies;
mod hash;
mod incoming;
mod leg;
mod settings;
pub(crate) mod share;

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::time::Duration;

use groupwire_afec::CHANNELS;
use groupwire_afec::code::Code;
use groupwire_afec::stats::{ReceiverStats, SenderStats};

use self::leg::Leg;
use crate::clock::Way;
use crate::ids::{ChannelNo, Counter, Position};
use crate::limits::RECORD_OVERHEAD_IN_DATAGRAMS;
use crate::packing::Packing;
use crate::wire::payload::Batch;
use crate::wire::record::Record;
use crate::{Error, Qos};

pub(crate) use self::incoming::Incoming;
pub use self::leg::PathNeeds;
pub(crate) use self::leg::{OutgoingDatagram, Path};
pub use self::settings::Redundancy;
pub(crate) use self::settings::Settings;
pub(crate) use self::share::{Needs, Notice};

/// The most datagrams that the transport may hold before it has sent them. The number is small, so
/// that datagrams are made late and contain the newest values.
const MAX_IN_FLIGHT: u8 = 2;

/// Datagrams are not used if the largest one is smaller than this, in bytes. Every path of QUIC
/// carries more: 1,200 bytes with headers (RFC 9000, section 14).
const SMALLEST: usize = 256;

/// A value that was sent as a datagram is also sent over the stream if there is no newer value of
/// its key for this time (wire W41).
pub(crate) const SETTLED_AFTER: Duration = Duration::from_millis(250);

/// True if a message of this channel fits a datagram of its own. `max`: bytes of the largest
/// datagram; `message` and `key`: their sizes in bytes.
pub(crate) fn fits_datagram(max: usize, channel: ChannelNo, message: usize, key: usize) -> bool {
    channel.get() as usize <= CHANNELS && message + key + RECORD_OVERHEAD_IN_DATAGRAMS <= max
}

/// The datagrams of one transport.
pub(crate) struct Datagrams {
    settings: Settings,
    /// Datagrams that the transport has not sent yet.
    in_flight: u8,
    /// Made on first use, so that an idle connection needs no memory for it.
    leg: Option<Box<Leg>>,
    /// From when on this end asks for signs of life.
    asks_at: Option<Duration>,
}

impl Datagrams {
    /// `None` if the transport's datagrams are too small to be used.
    pub(crate) fn new(settings: Settings) -> Option<Self> {
        (settings.max >= SMALLEST).then_some(Datagrams {
            settings,
            in_flight: 0,
            leg: None,
            asks_at: None,
        })
    }

    /// Both ends have agreed on these settings. Until now, nothing but questions was sent.
    pub(crate) fn agree(&mut self, settings: Settings) {
        self.settings = settings;
        if let Some(leg) = &mut self.leg {
            leg.agree(settings);
        }
    }

    /// True if the transport accepts another datagram.
    pub(crate) fn ready(&self) -> bool {
        self.in_flight < MAX_IN_FLIGHT
    }

    /// The transport sent a datagram.
    pub(crate) fn sent(&mut self) {
        self.in_flight = self.in_flight.saturating_sub(1);
    }

    /// The transport dropped a datagram before it left, which the other end will take for lost.
    pub(crate) fn dropped(&mut self) {
        self.sent();
        if let Some(leg) = self.leg.as_mut() {
            leg.dropped();
        }
    }

    /// What the datagrams need of the transport's congestion control.
    pub(crate) fn path_needs(&self, now: Duration) -> PathNeeds {
        self.leg.as_ref().map(|leg| leg.path_needs(now)).unwrap_or_default()
    }

    /// True if a message of this channel fits a datagram of its own. Otherwise it goes over the
    /// stream. `message` and `key`: their sizes in bytes.
    pub(crate) fn fits(&self, channel: ChannelNo, message: usize, key: usize) -> bool {
        fits_datagram(self.settings.max, channel, message, key)
    }

    /// The time from which on the path's rate permits new messages. `None` for at once.
    pub(crate) fn clear_at(&self) -> Option<Duration> {
        self.leg.as_ref()?.clear_at()
    }

    /// True if another message may be submitted before the next datagrams are made.
    pub(crate) fn can_submit(&self) -> bool {
        self.leg.as_ref().is_none_or(|leg| leg.can_submit())
    }

    /// Takes a message to send.
    pub(crate) fn submit(&mut self, now: Duration, record: &Record<'_>, needs: Needs) {
        self.leg().submit(now, record, needs);
    }

    /// True if transactions of a channel are copied: it has a deadline, and the path to the other
    /// end loses packets (wire W82).
    pub(crate) fn wants_copies(&self, qos: &Qos) -> bool {
        self.leg.as_ref().is_some_and(|leg| leg.wants_copies(qos))
    }

    /// Copies a transaction that is handed to the stream now. `previous`: the position of the
    /// transaction before it that the stream brings to the receiver; 0 in the direction of the
    /// server.
    pub(crate) fn add_copy(
        &mut self,
        now: Duration,
        record: &Record<'_>,
        previous: Position,
        qos: &Qos,
    ) {
        if self.wants_copies(qos) {
            self.leg().add_copy(now, record, previous, qos);
        }
    }

    /// This end's own transactions up to `counter` are ordered and need no copies any more.
    pub(crate) fn on_ordered(&mut self, counter: Counter) {
        if let Some(leg) = self.leg.as_mut() {
            leg.on_ordered(counter);
        }
    }

    /// Adapts the repeats of a channel: of its messages from application to application, the
    /// receiver missed `beyond` more than the channel's target permits. Below zero: fewer.
    pub(crate) fn report_misses(&mut self, channel: ChannelNo, beyond: f64) {
        if let Some(leg) = self.leg.as_mut() {
            leg.report_misses(channel, beyond);
        }
    }

    /// A channel was closed: none of its messages is sent or repeated any more (wire W85).
    pub(crate) fn close(&mut self, channel: ChannelNo) {
        if let Some(leg) = self.leg.as_mut() {
            leg.close(channel);
        }
    }

    /// True if a datagram is due, even without new messages.
    pub(crate) fn is_due(&self, now: Duration) -> bool {
        self.timeout(now).is_some_and(|at| at <= now)
    }

    /// The time at which a datagram is due if nothing happens before. `None` while the transport
    /// accepts none.
    pub(crate) fn timeout(&self, now: Duration) -> Option<Duration> {
        if !self.ready() {
            return None;
        }
        match &self.leg {
            Some(leg) => leg.timeout(now, self.asks_at),
            None => self.asks_at,
        }
    }

    /// Sets from when on this end asks for signs of life (wire W35). `None` while no answer is
    /// missing.
    pub(crate) fn ask_at(&mut self, at: Option<Duration>) {
        self.asks_at = at;
    }

    /// Makes the datagrams that are due, as many as the transport accepts. `traced`: also fills
    /// [`OutgoingDatagram::parts`].
    pub(crate) fn make(
        &mut self,
        now: Duration,
        traced: bool,
    ) -> Result<Vec<OutgoingDatagram>, Error> {
        let mut made = Vec::new();
        while self.ready() {
            if self.leg.is_none() && self.asks_at.is_none_or(|at| at > now) {
                break;
            }
            let (before, asks_at) = (made.len(), self.asks_at);
            self.leg().make(now, traced, asks_at, &mut made)?;
            let count = u8::try_from(made.len() - before).unwrap_or(u8::MAX);
            if count == 0 {
                break;
            }
            self.in_flight = self.in_flight.saturating_add(count);
        }
        Ok(made)
    }

    /// Puts feedback about the datagrams of fan-out groups before the first one of `made`, or into
    /// a datagram of its own.
    pub(crate) fn put_before(&mut self, feedback: Vec<u8>, made: &mut Vec<OutgoingDatagram>) {
        let size = feedback.len();
        // The feedback about two groups may be too large for a small datagram. It is dropped then,
        // as if it was lost.
        if feedback.is_empty() || size > self.settings.max {
            return;
        }
        match made.first_mut().filter(|first| first.bytes.len() + size <= self.settings.max) {
            Some(first) => {
                first.bytes.splice(0..0, feedback);
                first.header_bytes += size;
                first.feedback_bytes += size;
            }
            None => {
                self.in_flight = self.in_flight.saturating_add(1);
                let parts = Vec::new();
                made.push(OutgoingDatagram {
                    bytes: feedback,
                    header_bytes: size,
                    feedback_bytes: size,
                    parts,
                });
            }
        }
    }

    /// Begins to read a datagram. Call [`Datagrams::next`] for each record, then
    /// [`Datagrams::finish`]. `way`: what the comparison of clocks tells of the time that it took.
    ///
    /// # Errors
    /// The datagram is malformed, or too old to be decoded. It is dropped; neither end is at fault.
    pub(crate) fn read<'p>(
        &mut self,
        now: Duration,
        packet: &'p [u8],
        way: Way,
        batch: &'p mut Batch,
    ) -> Result<Incoming<'p>, Error> {
        self.leg().read(now, packet, way, batch)
    }

    /// The next record of a datagram, with its age at `now`. `None` after the last one.
    ///
    /// # Errors
    /// As [`Datagrams::read`].
    pub(crate) fn next<'r>(
        &mut self,
        now: Duration,
        incoming: &'r mut Incoming<'_>,
        packing: &'r mut Packing,
        needs_of: impl Fn(ChannelNo) -> Result<Needs, Error>,
    ) -> Result<Option<Record<'r>>, Error> {
        self.leg().next(now, incoming, packing, needs_of)
    }

    /// Ends reading a datagram. If the datagram could not be decoded to its end, returns that
    /// error, else `outcome`, which is the result of processing its records.
    ///
    /// # Errors
    /// As [`Datagrams::read`].
    pub(crate) fn finish(
        &mut self,
        now: Duration,
        incoming: Incoming<'_>,
        outcome: Result<(), Error>,
    ) -> Result<(), Error> {
        self.leg().finish(now, incoming, outcome)
    }

    /// Bytes of the largest datagram.
    pub(crate) fn max(&self) -> usize {
        self.settings.max
    }

    /// The next channel whose target this leg cannot meet, or can meet again.
    pub(crate) fn notice(&mut self) -> Option<Notice> {
        self.leg.as_mut()?.notice()
    }

    /// Statistics of a channel on this leg: what was sent, its present code, and what was received.
    pub(crate) fn stats(&self, channel: ChannelNo) -> Option<(SenderStats, Code, &ReceiverStats)> {
        self.leg.as_ref()?.stats(channel)
    }

    /// Bytes before the body in the newest received datagram.
    pub(crate) fn before_body(&self) -> usize {
        self.leg.as_ref().map_or(0, |leg| leg.before_body())
    }

    /// The measured state of the path: loss in both directions, and the rate.
    pub(crate) fn path(&self, now: Duration) -> Path {
        self.leg.as_ref().map(|leg| leg.path(now)).unwrap_or_default()
    }

    /// The encoder of the payloads. `None` before the first coded body.
    pub(crate) fn coder(&self) -> Option<&groupwire_gmc::Encoder> {
        self.leg.as_ref()?.coder()
    }

    fn leg(&mut self) -> &mut Leg {
        self.leg.get_or_insert_with(|| Box::new(Leg::new(self.settings)))
    }
}
