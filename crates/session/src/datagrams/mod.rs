//! Awareness as datagrams, one hop: afec decides what a packet holds, gmc codes it as a unit (wire.md W38 to W42, W67 to
//! W69). Copies of transactions ride along (W81 to W83).

mod body;
mod copies;
mod hop;

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::time::Duration;

use groupwire_afec::CHANNELS;
use groupwire_afec::code::Code;
use groupwire_afec::stats::{ReceiverStats, SenderStats};

use self::hop::Hop;
use crate::ids::{ChannelNo, Counter, Position};
use crate::limits::RECORD_OVERHEAD_IN_DATAGRAMS;
use crate::packing::Packing;
use crate::trace::Part;
use crate::wire::body::Batch;
use crate::wire::record::{Direction, Record};
use crate::{Error, Qos};

pub(crate) use self::hop::Path;
pub use self::hop::Redundancy;
pub(crate) use self::hop::{Incoming, Needs, Notice};

/// Datagrams that may wait below us (DESIGN: nothing stale is ever queued).
const MAX_IN_FLIGHT: u8 = 2;

/// Smaller ones are not worth having: the smallest path of QUIC gives more (RFC 9000, section 14).
const SMALLEST: usize = 256;

/// W41: a value that was not followed by a newer one for so long goes over the stream as well.
pub(crate) const REST: Duration = Duration::from_millis(250);

/// Whether a message of this channel with a key of so many octets goes into a datagram of its own, of at most `max` octets.
pub(crate) fn goes_as_datagram(max: usize, channel: ChannelNo, message: usize, key: usize) -> bool {
    channel.get() as usize <= CHANNELS && message + key + RECORD_OVERHEAD_IN_DATAGRAMS <= max
}

/// FNV-1a of 32 bits: quick, and nobody gains by finding two of a value.
fn fnv1a<'a>(octets: impl Iterator<Item = &'a u8>) -> u32 {
    let step = |sum: u32, octet: &u8| (sum ^ u32::from(*octet)).wrapping_mul(0x0100_0193);
    octets.fold(0x811c_9dc5, step)
}

/// The datagrams of one transport.
pub(crate) struct Datagrams {
    settings: Settings,
    in_flight: u8,
    /// Made when it is first used: an idle connection costs nothing.
    hop: Option<Box<Hop>>,
}

/// What does not change while a transport lasts.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Settings {
    /// Octets of the largest datagram.
    pub(crate) max: usize,
    /// Where this end's datagrams go.
    pub(crate) sends: Direction,
    /// Whether both ends have gmc.
    pub(crate) coded: bool,
    /// Whether both ends know of copies of transactions.
    pub(crate) copies: bool,
    pub(crate) max_message: usize,
    pub(crate) redundancy: Redundancy,
}

/// A datagram that was made.
pub(crate) struct Made {
    pub(crate) octets: Vec<u8>,
    /// Of them, what is no body.
    pub(crate) private: usize,
    /// Of those, what says what came.
    pub(crate) feedback: usize,
    /// What the body holds, if anybody looks on.
    pub(crate) parts: Vec<Part>,
}

impl Datagrams {
    /// `None` if the transport has none of a useful size.
    pub(crate) fn new(settings: Settings) -> Option<Self> {
        (settings.max >= SMALLEST).then_some(Datagrams { settings, in_flight: 0, hop: None })
    }

    pub(crate) fn ready(&self) -> bool {
        self.in_flight < MAX_IN_FLIGHT
    }

    pub(crate) fn sent(&mut self) {
        self.in_flight = self.in_flight.saturating_sub(1);
    }

    /// Whether a message of this channel with a key of so many octets goes into a datagram of its own at least; else it
    /// takes the stream.
    pub(crate) fn takes(&self, channel: ChannelNo, message: usize, key: usize) -> bool {
        goes_as_datagram(self.settings.max, channel, message, key)
    }

    /// Before this, what the path carries permits no new messages.
    pub(crate) fn clear_at(&self) -> Option<Duration> {
        self.hop.as_ref()?.clear_at()
    }

    /// Whether the datagrams that are made next can hold one more message.
    pub(crate) fn has_room(&self) -> bool {
        self.hop.as_ref().is_none_or(|hop| hop.has_room())
    }

    /// Takes a message that is to be sent.
    pub(crate) fn submit(&mut self, now: Duration, record: &Record<'_>, needs: Needs) {
        self.hop().submit(now, record, needs);
    }

    /// Whether transactions of a channel that the stream takes are worth copying.
    pub(crate) fn wants_copies(&self, qos: &Qos) -> bool {
        self.hop.as_ref().is_some_and(|hop| hop.wants_copies(qos))
    }

    /// Takes a transaction that is handed to the stream now, to copy it. `previous`: the position of the last one before it
    /// that its receiver is sent; towards the server 0.
    pub(crate) fn copy(
        &mut self,
        now: Duration,
        record: &Record<'_>,
        previous: Position,
        qos: &Qos,
    ) {
        if self.wants_copies(qos) {
            self.hop().copy(now, record, previous, qos);
        }
    }

    /// Transactions of this end's own up to this one are ordered, and need no copies.
    pub(crate) fn settled(&mut self, counter: Counter) {
        if let Some(hop) = self.hop.as_mut() {
            hop.settled(counter);
        }
    }

    /// So many messages of a channel were missed beyond what may, from application to application.
    pub(crate) fn judged(&mut self, channel: ChannelNo, beyond: f64) {
        if let Some(hop) = self.hop.as_mut() {
            hop.judged(channel, beyond);
        }
    }

    /// Whether a datagram is due, beside new messages.
    pub(crate) fn is_due(&self, now: Duration) -> bool {
        self.timeout(now).is_some_and(|at| at <= now)
    }

    /// When a datagram is due if nothing happens before; `None` as long as the transport takes none.
    pub(crate) fn timeout(&self, now: Duration) -> Option<Duration> {
        self.hop.as_ref().filter(|_| self.ready())?.timeout(now)
    }

    /// The datagrams that are due, as far as the transport takes them. `traced`: they are described.
    pub(crate) fn make(&mut self, now: Duration, traced: bool) -> Result<Vec<Made>, Error> {
        let mut made = Vec::new();
        while self.ready() {
            let Some(hop) = self.hop.as_mut() else { break };
            let before = made.len();
            hop.make(now, traced, &mut made)?;
            let count = u8::try_from(made.len() - before).unwrap_or(u8::MAX);
            if count == 0 {
                break;
            }
            self.in_flight = self.in_flight.saturating_add(count);
        }
        Ok(made)
    }

    /// Puts what is said of a class's datagrams before the first of these, or into one of its own.
    pub(crate) fn put_before(&mut self, front: Vec<u8>, made: &mut Vec<Made>) {
        let size = front.len();
        // Two classes' at a time may be more than a small datagram takes: as good as lost.
        if front.is_empty() || size > self.settings.max {
            return;
        }
        match made.first_mut().filter(|first| first.octets.len() + size <= self.settings.max) {
            Some(first) => {
                first.octets.splice(0..0, front);
                first.private += size;
                first.feedback += size;
            }
            None => {
                self.in_flight = self.in_flight.saturating_add(1);
                let parts = Vec::new();
                made.push(Made { octets: front, private: size, feedback: size, parts });
            }
        }
    }

    /// Begins to read a datagram that came. For each record call [`Datagrams::next`], then [`Datagrams::finish`]. `one_way`: what
    /// its way took, if its path does not know better.
    ///
    /// # Errors
    /// Whatever is wrong; nobody is to blame, as a datagram may come too late to be understood.
    pub(crate) fn read<'p>(
        &mut self,
        now: Duration,
        packet: &'p [u8],
        one_way: Duration,
        batch: &'p mut Batch,
    ) -> Result<Incoming<'p>, Error> {
        self.hop().read(now, packet, one_way, batch)
    }

    /// The next record of a datagram, with its age by now; `None` behind the last one.
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
        self.hop().next(now, incoming, packing, needs_of)
    }

    /// Ends reading a datagram. Returns why it could not be decoded to its end, else what reading its records came to.
    ///
    /// # Errors
    /// As [`Datagrams::read`].
    pub(crate) fn finish(
        &mut self,
        now: Duration,
        incoming: Incoming<'_>,
        outcome: Result<(), Error>,
    ) -> Result<(), Error> {
        self.hop().finish(now, incoming, outcome)
    }

    /// Bytes of the largest datagram.
    pub(crate) fn max(&self) -> usize {
        self.settings.max
    }

    /// The next thing that is to be known of the path.
    pub(crate) fn notice(&mut self) -> Option<Notice> {
        self.hop.as_mut()?.notice()
    }

    /// What was sent and what came of a channel on this hop.
    pub(crate) fn stats(&self, channel: ChannelNo) -> Option<(SenderStats, Code, &ReceiverStats)> {
        self.hop.as_ref()?.stats(channel)
    }

    /// Octets of the datagram that came last that are no body.
    pub(crate) fn before_body(&self) -> usize {
        self.hop.as_ref().map_or(0, |hop| hop.before_body())
    }

    /// What is known of the path.
    pub(crate) fn path(&self, now: Duration) -> Path {
        self.hop.as_ref().map(|hop| hop.path(now)).unwrap_or_default()
    }

    /// What codes what is sent, once something was.
    pub(crate) fn coder(&self) -> Option<&groupwire_gmc::Encoder> {
        self.hop.as_ref()?.coder()
    }

    fn hop(&mut self) -> &mut Hop {
        self.hop.get_or_insert_with(|| Box::new(Hop::new(self.settings)))
    }
}
