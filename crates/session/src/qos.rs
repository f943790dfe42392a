//! The quality of service (QoS) of a channel: what its messages need (wire W15).

use alloc::vec::Vec;
use core::time::Duration;

use crate::wire::io::{Reader, Write};
use crate::{Error, Rate};

/// The kind of a channel, which says whether its messages may be lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Every message reaches every participant once, in the one order of the room.
    Transaction,
    /// A share of the messages may be lost or late: pointers and presence, for example.
    Awareness,
}

/// What happens to messages above a channel's maximum rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Overflow {
    /// A newer message replaces an older one with the same key that has not been sent yet.
    Conflate,
    /// All messages are sent, in fewer packets.
    Aggregate,
}

/// What a channel needs, from the sending application to the receiving one.
///
/// ```
/// use core::time::Duration;
/// use groupwire_session::Qos;
///
/// let pointer = Qos::awareness()
///     .loss_per_mille(50)
///     .deadline(Duration::from_millis(250))
///     .rate(5, 25);
/// assert!(pointer.validate().is_ok());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Qos {
    /// The kind of the channel: transactions, or awareness that may be lost.
    pub kind: Kind,
    /// What happens to messages above `rate_max`.
    pub overflow: Overflow,
    /// The priority of messages, from 0 (lowest) to 255; 128 unless stated.
    pub priority: u8,
    /// True if the channel shares no compression context with other channels. With a shared
    /// context, the length of a message reveals something about other messages (law 5 in
    /// docs/laws.md).
    pub private: bool,
    /// True if the room writes into the channel that a participant left, after the participant's
    /// transactions on it (wire W113).
    pub departures: bool,
    /// On an awareness channel that aggregates, the number of senders whose messages the room
    /// passes on at a time: those that are the loudest, compared with how loud each usually is
    /// (wire W119). 0: the channel is not one of sound frames, and all messages are passed on.
    pub speakers: u8,
    /// The share of messages that may be lost or late, in 1/1000; 0 for transactions.
    pub loss: u16,
    /// The longest useful time from the sending application to the receiving one. A later message
    /// is of no use. `None` means that messages are useful at any time.
    pub deadline: Option<Duration>,
    /// The lowest useful rate; zero for none.
    pub rate_min: Rate,
    /// The highest useful rate; zero for no limit.
    pub rate_max: Rate,
}

/// Half a message per tick, in millihertz times microseconds. If one value is sent at each tick,
/// and each of the two legs (client to server, server to client) loses 30 %, about half of the
/// values arrive (0.7 * 0.7 = 0.49).
const TOO_FEW: u128 = 500 * 1_000_000;

impl Qos {
    /// A channel on which every message arrives once and in order.
    pub const fn transaction() -> Self {
        Qos {
            kind: Kind::Transaction,
            overflow: Overflow::Aggregate,
            priority: 128,
            private: false,
            departures: false,
            speakers: 0,
            loss: 0,
            deadline: None,
            rate_min: Rate::ZERO,
            rate_max: Rate::ZERO,
        }
    }

    /// A channel on which only the newest message of each key matters, and 5 % of the messages may
    /// be lost.
    pub const fn awareness() -> Self {
        Qos { kind: Kind::Awareness, overflow: Overflow::Conflate, loss: 50, ..Self::transaction() }
    }

    /// A channel of sound frames, 20 ms each: every frame is sent as it comes, 1 % may be lost or
    /// late, and none is of use after 180 ms. With these values less than 2 % of the frames are
    /// missed when they are to be played, and there are 250 ms from mouth to ear, on paths that
    /// lose 20 % on both legs (`groupwire-lab voice`). The room passes on the frames of four
    /// senders at a time.
    /// The first byte of a message says how loud it is (wire W119).
    ///
    /// ```
    /// use groupwire_session::{Overflow, Qos};
    ///
    /// let talk = Qos::voice().speakers(2);
    /// assert_eq!((talk.overflow, talk.loss), (Overflow::Aggregate, 10));
    /// assert!(talk.validate().is_ok());
    /// ```
    pub const fn voice() -> Self {
        let voice = Self::awareness().aggregate().loss_per_mille(10);
        voice.deadline(Duration::from_millis(180)).speakers(4)
    }

    /// Sets the share of messages that may be lost or late, in 1/1000.
    pub const fn loss_per_mille(mut self, loss: u16) -> Self {
        self.loss = loss;
        self
    }

    /// Sets the deadline. On the wire, it is rounded down to whole milliseconds.
    pub const fn deadline(mut self, deadline: Duration) -> Self {
        self.deadline = Some(deadline);
        self
    }

    /// Sets the lowest and the highest useful rate, in messages per second; 0 for no bound.
    pub const fn rate(mut self, min: u32, max: u32) -> Self {
        self.rate_min = Rate::per_second(min);
        self.rate_max = Rate::per_second(max);
        self
    }

    /// Also sends the messages above the highest rate, in fewer packets ([`Overflow::Aggregate`]).
    pub const fn aggregate(mut self) -> Self {
        self.overflow = Overflow::Aggregate;
        self
    }

    /// Sets the priority.
    pub const fn priority(mut self, priority: u8) -> Self {
        self.priority = priority;
        self
    }

    /// Lets the channel share no compression context with other channels.
    pub const fn private(mut self) -> Self {
        self.private = true;
        self
    }

    /// Lets the room write into a channel of transactions that a participant left, if it has sent
    /// transactions on it (wire W113).
    pub const fn departures(mut self) -> Self {
        self.departures = true;
        self
    }

    /// Lets the room pass on only the messages of this many senders at a time, at most
    /// [`Qos::MOST_SPEAKERS`]; 0 for all of them. See [`Qos::speakers`](struct@Qos).
    pub const fn speakers(mut self, speakers: u8) -> Self {
        self.speakers = speakers;
        self
    }

    /// True if the messages are sound frames: the room passes them on without waiting for its tick,
    /// and keeps none (wire W119).
    pub(crate) const fn has_speakers(&self) -> bool {
        self.speakers > 0
    }

    /// True if one message per tick may be too few for the lowest useful rate, when some messages
    /// are lost (wire W30).
    pub(crate) fn outruns(&self, tick: Duration) -> bool {
        u128::from(self.rate_min.millihertz()) * tick.as_micros() > TOO_FEW
    }

    /// Checks that the values do not contradict each other.
    ///
    /// # Errors
    /// [`Error::InvalidQos`] names the contradiction.
    pub fn validate(&self) -> Result<(), Error> {
        let wrong = |why| Err(Error::InvalidQos { why });
        if self.kind == Kind::Transaction && self.loss > 0 {
            return wrong(
                "a transaction channel has no loss target: use awareness, or a loss of 0",
            );
        }
        if self.kind == Kind::Transaction && self.overflow == Overflow::Conflate {
            return wrong("a transaction channel never drops a value: use aggregate");
        }
        if self.kind == Kind::Awareness && self.departures {
            return wrong("only a channel of transactions records departures");
        }
        let is_aggregated = (self.kind, self.overflow) == (Kind::Awareness, Overflow::Aggregate);
        let most = if is_aggregated { Self::MOST_SPEAKERS } else { 0 };
        if self.speakers > most {
            return wrong("only awareness that aggregates has speakers, at most 15");
        }
        if self.loss > 1000 {
            return wrong("loss is a share in 1/1000, at most 1000");
        }
        if !self.rate_max.is_zero() && self.rate_min > self.rate_max {
            return wrong("the minimum rate is above the maximum");
        }
        if self.deadline.is_some_and(|deadline| deadline.as_millis() == 0) {
            return wrong("a deadline is at least one millisecond");
        }
        if self.deadline.is_some_and(|deadline| deadline > Self::LONGEST_DEADLINE) {
            return wrong("a deadline is at most one day: leave it out instead");
        }
        Ok(())
    }

    /// The shortest time between two messages at the highest rate; zero if the rate has no limit.
    pub fn interval(&self) -> Duration {
        self.rate_max.interval()
    }

    /// Checks that an open channel may change from this QoS to `other`: kind, overflow and
    /// `private` must stay the same (wire W77), and `departures` and `speakers`.
    ///
    /// # Errors
    /// [`Error::InvalidQos`] says what must stay the same, or what contradicts in `other`.
    pub(crate) fn can_become(&self, other: &Qos) -> Result<(), Error> {
        other.validate()?;
        if (self.kind, self.overflow) != (other.kind, other.overflow) {
            return Err(Error::InvalidQos {
                why: "kind and overflow stay as they are while a channel is open: open another channel",
            });
        }
        if self.private != other.private {
            return Err(Error::InvalidQos {
                why: "a channel stays private, or not, while it is open: open another channel",
            });
        }
        if (self.departures, self.speakers) != (other.departures, other.speakers) {
            return Err(Error::InvalidQos {
                why: "departures and speakers of a channel stay as they are: open another channel",
            });
        }
        Ok(())
    }

    /// One day (wire W15), so that sums of times never overflow.
    const LONGEST_DEADLINE: Duration = Duration::from_secs(24 * 3600);

    /// The most speakers: four bits on the wire (wire W15).
    pub const MOST_SPEAKERS: u8 = 15;

    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        out.u8(self.kind as u8);
        out.u8(self.overflow as u8);
        out.u8(self.priority);
        out.u8(u8::from(self.private) | u8::from(self.departures) << 1 | self.speakers << 2);
        out.varint(u64::from(self.loss));
        out.varint(self.deadline.map_or(0, |deadline| deadline.as_millis() as u64));
        out.varint(u64::from(self.rate_min.millihertz()));
        out.varint(u64::from(self.rate_max.millihertz()));
    }

    pub(crate) fn read(reader: &mut Reader<'_>) -> Result<Self, Error> {
        let kind = match reader.u8()? {
            0 => Kind::Transaction,
            1 => Kind::Awareness,
            _ => return Err(reader.malformed()),
        };
        let overflow = match reader.u8()? {
            0 => Overflow::Conflate,
            1 => Overflow::Aggregate,
            _ => return Err(reader.malformed()),
        };
        let priority = reader.u8()?;
        let flags = reader.u8()?;
        let (private, departures) = (flags & 1 != 0, flags & 2 != 0);
        let speakers = flags >> 2 & Self::MOST_SPEAKERS;
        let loss = u16::try_from(reader.varint()?).map_err(|_| reader.malformed())?;
        let deadline = match reader.varint()? {
            0 => None,
            ms => Some(Duration::from_millis(ms)),
        };
        let rate_min = Rate::from_millihertz(reader.varint_u32()?);
        let rate_max = Rate::from_millihertz(reader.varint_u32()?);
        let qos = Qos {
            kind,
            overflow,
            priority,
            private,
            departures,
            speakers,
            loss,
            deadline,
            rate_min,
            rate_max,
        };
        qos.validate().map_err(|_| reader.malformed())?;
        Ok(qos)
    }
}

/// Names and QoS of the channels of a shared whiteboard, from Table 1 of the AFEC paper
/// (docs/qos.md).
///
/// ```
/// use groupwire_session::{Client, client::Config, table_1};
///
/// let mut client = Client::new(core::time::Duration::ZERO, Config::new("whiteboard"))?;
/// for (name, qos) in table_1() {
///     client.channel(name, qos)?;
/// }
/// # Ok::<(), groupwire_session::Error>(())
/// ```
pub const fn table_1() -> [(&'static str, Qos); 10] {
    const fn transaction(deadline_ms: u64) -> Qos {
        Qos::transaction().deadline(Duration::from_millis(deadline_ms))
    }
    const fn awareness(min: u32, max: u32, deadline_ms: u64, loss: u16) -> Qos {
        let deadline = Duration::from_millis(deadline_ms);
        Qos::awareness().rate(min, max).deadline(deadline).loss_per_mille(loss)
    }
    [
        ("add", transaction(250)),
        ("delete", transaction(500)),
        ("move", awareness(5, 25, 100, 200)),
        ("moved", transaction(500)),
        ("resize", awareness(5, 25, 100, 200)),
        ("resized", transaction(500)),
        ("type", awareness(1, 5, 100, 50)),
        ("typed", transaction(500)),
        ("viewport", awareness(2, 5, 250, 200)),
        ("pointer", awareness(10, 25, 100, 200)),
    ]
}

/// The QoS of the pointer channel of [`table_1`] while people talk about what they point at.
pub const POINTER_WHILE_TALKING: Qos =
    Qos::awareness().rate(20, 30).deadline(Duration::from_millis(100)).loss_per_mille(100);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn w15_contradictions_are_named() {
        for qos in [
            Qos::transaction().loss_per_mille(1),
            Qos { overflow: Overflow::Conflate, ..Qos::transaction() },
            Qos::awareness().loss_per_mille(1001),
            Qos::awareness().rate(30, 25),
            Qos::awareness().departures(),
            Qos::awareness().deadline(Duration::ZERO),
            Qos::awareness().speakers(1),
            Qos::transaction().speakers(1),
            Qos::voice().speakers(16),
        ] {
            assert!(matches!(qos.validate(), Err(Error::InvalidQos { .. })), "{qos:?}");
        }
    }

    #[test]
    fn w15_round_trip() {
        let qos = Qos::awareness().rate(5, 25).deadline(Duration::from_millis(250)).private();
        let mut out = Vec::new();
        qos.write(&mut out);
        assert_eq!(Qos::read(&mut Reader::new(&out, "qos")), Ok(qos));
        // W113: an awareness channel cannot record departures.
        out[3] |= 2;
        assert!(matches!(Qos::read(&mut Reader::new(&out, "qos")), Err(Error::Malformed { .. })));
        let qos = Qos::transaction().departures();
        out.clear();
        qos.write(&mut out);
        assert_eq!((out[3], Qos::read(&mut Reader::new(&out, "qos"))), (2, Ok(qos)));
    }

    /// An older end sends 0 in the bits of W119, and ignores them.
    #[test]
    fn w15_speakers_stand_in_bits_of_the_flags() {
        for speakers in [1, 4, 15] {
            let (qos, mut out) = (Qos::voice().speakers(speakers), Vec::new());
            qos.write(&mut out);
            assert_eq!(out[3], speakers << 2);
            out[3] |= 0xc0;
            assert_eq!(Qos::read(&mut Reader::new(&out, "qos")), Ok(qos));
            out[1] = Overflow::Conflate as u8;
            assert!(Qos::read(&mut Reader::new(&out, "qos")).is_err());
        }
        assert_eq!(Qos::voice().can_become(&Qos::voice().loss_per_mille(10)), Ok(()));
        assert!(Qos::voice().can_become(&Qos::voice().speakers(8)).is_err());
    }

    #[test]
    fn table_1_is_valid() {
        for (name, qos) in table_1() {
            assert_eq!(qos.validate(), Ok(()), "{name}");
        }
        let [.., (_, pointer)] = table_1();
        assert_eq!(pointer.can_become(&POINTER_WHILE_TALKING), Ok(()));
    }

    #[test]
    fn interval_is_the_inverse_of_the_rate() {
        assert_eq!(Qos::awareness().rate(0, 25).interval(), Duration::from_millis(40));
        assert_eq!(Qos::awareness().interval(), Duration::ZERO);
    }
}
