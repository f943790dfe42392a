//! What a channel needs (wire.md W15; AFEC paper, Table 1).

use alloc::vec::Vec;
use core::time::Duration;

use crate::Error;
use crate::wire::io::{Reader, Write};

/// Whether a message may be lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Every message reaches everybody, once, in the room's one order.
    Transaction,
    /// A share of the messages may be lost or late.
    Awareness,
}

/// What happens to messages above a channel's maximum rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Overflow {
    /// Only the newest value of each key matters; older ones are replaced.
    Conflate,
    /// All values are sent, in fewer packets.
    Aggregate,
}

/// What a channel needs, from the sender's application to the receiver's.
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
    /// Whether messages may be lost.
    pub kind: Kind,
    /// What happens above `rate_max`.
    pub overflow: Overflow,
    /// 0 (least) to 255; 128 unless stated.
    pub priority: u8,
    /// The channel shares no compression context with others, since lengths can leak what else was sent.
    pub private: bool,
    /// Share of messages that may be lost or late, in 1/1000. 0 for transactions.
    pub loss: u16,
    /// From application to application; after it a message is worth nothing. `None`: it keeps.
    pub deadline: Option<Duration>,
    /// Lowest useful rate in 1/1000 messages per second; 0 for none.
    pub rate_min: u32,
    /// Highest useful rate in 1/1000 messages per second; 0 for unbounded.
    pub rate_max: u32,
}

/// Half a value for each tick, in 1/1000 and microseconds: as many survive two hops that lose three in ten each.
const TOO_FEW: u128 = 500 * 1_000_000;

impl Qos {
    /// A channel whose every message arrives, in order, once.
    pub const fn transaction() -> Self {
        Qos {
            kind: Kind::Transaction,
            overflow: Overflow::Aggregate,
            priority: 128,
            private: false,
            loss: 0,
            deadline: None,
            rate_min: 0,
            rate_max: 0,
        }
    }

    /// A channel on which the newest value matters and 5 % may be lost.
    pub const fn awareness() -> Self {
        Qos { kind: Kind::Awareness, overflow: Overflow::Conflate, loss: 50, ..Self::transaction() }
    }

    /// Sets the share that may be lost, in 1/1000.
    pub const fn loss_per_mille(mut self, loss: u16) -> Self {
        self.loss = loss;
        self
    }

    /// Sets the deadline. It travels in whole milliseconds.
    pub const fn deadline(mut self, deadline: Duration) -> Self {
        self.deadline = Some(deadline);
        self
    }

    /// Sets the useful rates, in messages per second; 0 leaves a bound open.
    pub const fn rate(mut self, min: u32, max: u32) -> Self {
        self.rate_min = min.saturating_mul(1000);
        self.rate_max = max.saturating_mul(1000);
        self
    }

    /// Sends all values above the maximum rate, in fewer packets.
    pub const fn aggregate(mut self) -> Self {
        self.overflow = Overflow::Aggregate;
        self
    }

    /// Sets the priority.
    pub const fn priority(mut self, priority: u8) -> Self {
        self.priority = priority;
        self
    }

    /// Keeps the channel's compression context to itself.
    pub const fn private(mut self) -> Self {
        self.private = true;
        self
    }

    /// Whether one value a tick may be too few for the lowest useful rate, once some are lost.
    pub(crate) fn outruns(&self, tick: Duration) -> bool {
        u128::from(self.rate_min) * tick.as_micros() > TOO_FEW
    }

    /// Checks that the parts fit together.
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
        if self.loss > 1000 {
            return wrong("loss is a share in 1/1000, at most 1000");
        }
        if self.rate_max > 0 && self.rate_min > self.rate_max {
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

    /// The shortest time between two sendings; zero when the rate is unbounded.
    pub fn interval(&self) -> Duration {
        interval_of(self.rate_max)
    }

    /// Whether a channel of this QoS can become one of `other` while it is open (W77): what its messages are, and who
    /// may learn their lengths, stays.
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
        Ok(())
    }

    const LONGEST_DEADLINE: Duration = Duration::from_secs(24 * 3600);

    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        out.u8(self.kind as u8);
        out.u8(self.overflow as u8);
        out.u8(self.priority);
        out.u8(u8::from(self.private));
        out.varint(u64::from(self.loss));
        out.varint(self.deadline.map_or(0, |deadline| deadline.as_millis() as u64));
        out.varint(u64::from(self.rate_min));
        out.varint(u64::from(self.rate_max));
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
        let private = reader.u8()? & 1 == 1;
        let loss = u16::try_from(reader.varint()?).map_err(|_| reader.malformed())?;
        let deadline = match reader.varint()? {
            0 => None,
            ms => Some(Duration::from_millis(ms)),
        };
        let (rate_min, rate_max) = (reader.varint_u32()?, reader.varint_u32()?);
        let qos = Qos { kind, overflow, priority, private, loss, deadline, rate_min, rate_max };
        qos.validate().map_err(|_| reader.malformed())?;
        Ok(qos)
    }
}

/// The channels of a whiteboard, as Table 1 of the AFEC paper has them: names and needs.
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

/// What the pointer of [`table_1`] needs while people talk.
pub const POINTER_WHILE_TALKING: Qos =
    Qos::awareness().rate(20, 30).deadline(Duration::from_millis(100)).loss_per_mille(100);

/// The time between two messages at this rate, in 1/1000 per second; zero when it is unbounded.
pub(crate) fn interval_of(rate: u32) -> Duration {
    match rate {
        0 => Duration::ZERO,
        rate => Duration::from_nanos(1_000_000_000_000 / u64::from(rate)),
    }
}

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
            Qos::awareness().deadline(Duration::ZERO),
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
    }

    #[test]
    fn table_1_can_be() {
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
