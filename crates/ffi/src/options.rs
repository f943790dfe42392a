//! The arguments of the functions of a room.

use std::time::Duration;

use groupwire_client::{self as client, Access, ModelMemory, Rate, Trust};

use crate::error::{Code, Error};

/// How to join a room.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// The name of the room, 1 to 256 bytes.
    pub room: String,
    /// A token by which the server decides who may join; empty for none. When another one is
    /// needed, [`Event::TokenWanted`](crate::Event::TokenWanted) asks for it, and
    /// [`Room::set_token`](crate::Room::set_token) gives it.
    pub token: Vec<u8>,
    /// The presence of this participant, which all others see: at most 4,096 bytes.
    pub presence: Vec<u8>,
    /// How the server is authenticated over `https://` and `wss://`: `auto`, `roots`, `roots:FILE`,
    /// `ask`, or SHA-256 hashes of 64 hexadecimal digits, separated by commas
    /// ([`Trust`](groupwire_client::Trust)). Empty: `auto`.
    pub trust: String,
    /// The memory of the models that compress messages.
    pub memory: Memory,
}

/// The memory of each of the up to four models that compress the messages of a connection.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[repr(u32)]
pub enum Memory {
    /// 64 KiB.
    #[default]
    Full = 0,
    /// 16 KiB, with which messages take more bytes.
    Small = 1,
}

/// The two kinds of channels.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[repr(u32)]
pub enum Kind {
    /// Every message reaches everybody, once and in one order.
    #[default]
    Transaction = 0,
    /// Some messages may be lost, and newer ones replace older ones.
    Awareness = 1,
}

/// What happens above the highest rate.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[repr(u32)]
pub enum Overflow {
    /// `Conflate` for awareness, `Aggregate` for transactions.
    #[default]
    Usual = 0,
    /// Only the newest value of each key is sent.
    Conflate = 1,
    /// All values are sent, in fewer packets.
    Aggregate = 2,
}

/// What the messages of a channel need (docs/qos.md). The participant that opens a channel first
/// decides; the server has the last word.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Qos {
    /// The kind of the channel.
    pub kind: Kind,
    /// What happens above the highest rate.
    pub overflow: Overflow,
    /// 0 (least) to 255; usually 128.
    pub priority: u8,
    /// True for a compression context of its own, for contents whose length is a secret.
    pub private: bool,
    /// True if the order of a channel of transactions records who left.
    pub departures: bool,
    /// On awareness with [`Overflow::Aggregate`]: the number of senders, at most 15, whose frames
    /// of sound the room passes on at a time; 0 for messages of another kind.
    pub speakers: u8,
    /// Awareness only: the share of messages that may be lost or late, 0 to 1.
    pub loss: f64,
    /// Milliseconds after which a message is of no use; 0 for never.
    pub deadline_ms: u64,
    /// The lowest useful rate in messages per second; 0 for none.
    pub min_rate: f64,
    /// The highest useful rate in messages per second; 0 for no bound.
    pub max_rate: f64,
}

impl Options {
    /// Options for this room with defaults for everything else.
    pub fn new(room: impl Into<String>) -> Options {
        Options {
            room: room.into(),
            token: Vec::new(),
            presence: Vec::new(),
            trust: String::new(),
            memory: Memory::Full,
        }
    }

    pub(crate) fn to_client(&self) -> Result<(client::Options, Trust), Error> {
        let trust = if self.trust.is_empty() { "auto" } else { self.trust.as_str() };
        let trust = trust.parse().map_err(|expected: &str| {
            Error::own(Code::InvalidArgument, format!("`trust`: {expected}"))
        })?;
        let memory = match self.memory {
            Memory::Full => ModelMemory::Full,
            Memory::Small => ModelMemory::Small,
        };
        let options = client::Options {
            token: self.token.clone(),
            presence: self.presence.clone(),
            memory,
            ..client::Options::new(&self.room)
        };
        Ok((options, trust))
    }
}

impl Default for Qos {
    fn default() -> Self {
        Qos::transaction()
    }
}

impl Qos {
    /// Messages that must all arrive, once and in order.
    pub const fn transaction() -> Qos {
        Qos {
            kind: Kind::Transaction,
            overflow: Overflow::Usual,
            priority: 128,
            private: false,
            departures: false,
            speakers: 0,
            loss: 0.0,
            deadline_ms: 0,
            min_rate: 0.0,
            max_rate: 0.0,
        }
    }

    /// Values that newer ones replace, of which 5 % may be lost.
    pub const fn awareness() -> Qos {
        Qos { kind: Kind::Awareness, loss: 0.05, ..Qos::transaction() }
    }

    /// Frames of sound (docs/voice.md): each is of use for 180 ms, and those of the four loudest
    /// senders are passed on.
    pub fn voice() -> Qos {
        Qos::from_client(client::Qos::voice())
    }

    pub(crate) fn to_client(self) -> Result<client::Qos, Error> {
        let base = match self.kind {
            Kind::Transaction => client::Qos::transaction(),
            Kind::Awareness => client::Qos::awareness(),
        };
        let overflow = match self.overflow {
            Overflow::Usual => base.overflow,
            Overflow::Conflate => client::Overflow::Conflate,
            Overflow::Aggregate => client::Overflow::Aggregate,
        };
        if !(0.0..=1.0).contains(&self.loss) {
            return Err(Error::argument("`loss`", format!("0 to 1, not {}", self.loss)));
        }
        let deadline = (self.deadline_ms > 0).then(|| Duration::from_millis(self.deadline_ms));
        Ok(client::Qos {
            overflow,
            priority: self.priority,
            private: self.private,
            departures: self.departures,
            speakers: self.speakers,
            // Rounding keeps 0.05 at 50 per mille.
            loss: (self.loss * 1000.0).round() as u16,
            deadline,
            rate_min: rate("`min_rate`", self.min_rate)?,
            rate_max: rate("`max_rate`", self.max_rate)?,
            ..base
        })
    }

    pub(crate) fn from_client(qos: client::Qos) -> Qos {
        Qos {
            kind: match qos.kind {
                client::Kind::Transaction => Kind::Transaction,
                client::Kind::Awareness => Kind::Awareness,
            },
            overflow: match qos.overflow {
                client::Overflow::Conflate => Overflow::Conflate,
                client::Overflow::Aggregate => Overflow::Aggregate,
            },
            priority: qos.priority,
            private: qos.private,
            departures: qos.departures,
            speakers: qos.speakers,
            loss: f64::from(qos.loss) / 1000.0,
            deadline_ms: qos.deadline.map_or(0, |deadline| deadline.as_millis() as u64),
            min_rate: qos.rate_min.hertz(),
            max_rate: qos.rate_max.hertz(),
        }
    }
}

/// A rate of an argument: not negative, and at most what 32 bits of thousandths hold.
pub(crate) fn rate(name: &str, hertz: f64) -> Result<Rate, Error> {
    let millihertz = (hertz * 1000.0).round();
    if !(0.0..=f64::from(u32::MAX)).contains(&millihertz) {
        return Err(Error::argument(
            name,
            format!("0 to 4,294,967 messages per second, not {hertz}"),
        ));
    }
    Ok(Rate::from_millihertz(millihertz as u32))
}

/// This participant's own settings of a channel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChannelOptions {
    /// True if this participant sends.
    pub publish: bool,
    /// True if this participant receives.
    pub subscribe: bool,
    /// How messages are compressed between this participant and the server: `template`, `off`,
    /// `auto`, or a codec such as `zstd-3` (docs/codecs.md). Empty: `template`.
    pub compress: String,
}

impl Default for ChannelOptions {
    fn default() -> Self {
        ChannelOptions { publish: true, subscribe: true, compress: String::new() }
    }
}

impl ChannelOptions {
    pub(crate) fn to_client(&self) -> Result<client::ChannelOptions, Error> {
        let access = Access { publish: self.publish, subscribe: self.subscribe };
        Ok(client::ChannelOptions { access, compress: compress(&self.compress)? })
    }
}

pub(crate) fn compress(name: &str) -> Result<client::Compress, Error> {
    if name.is_empty() { Ok(client::Compress::default()) } else { Ok(name.parse()?) }
}

/// Options of one message.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SendOptions {
    /// True if receivers are told that the message is text; then it has to be UTF-8.
    pub text: bool,
    /// On a conflated channel, the key whose older values of this participant it replaces.
    pub key: Option<Vec<u8>>,
    /// The priority of this message; `None` for that of the channel.
    pub priority: Option<u8>,
    /// The only receiver; only transactions can have one.
    pub to: Option<Recipient>,
}

/// The only receiver of a message. [`Event::Receipt`](crate::Event::Receipt) tells the outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Recipient {
    /// The participant.
    pub participant: u32,
    /// A number of the program's own, by which it knows the message in the event.
    pub tag: u32,
}

/// What happened to a message that was given to [`Room::send`](crate::Room::send).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub enum Sent {
    /// The message is on its way, or waits to be sent.
    Accepted = 0,
    /// It waits, and replaced an older value of its key.
    Conflated = 1,
    /// The message was not taken, because too many messages wait: try again after
    /// [`Event::Drain`](crate::Event::Drain).
    NotNow = 2,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_qos_survives_the_way_to_the_client_and_back() {
        let qos =
            Qos { loss: 0.2, deadline_ms: 250, min_rate: 5.0, max_rate: 25.5, ..Qos::awareness() };
        let back = Qos::from_client(qos.to_client().unwrap());
        assert_eq!(back, Qos { overflow: Overflow::Conflate, ..qos });
        let voice = client::Qos::voice();
        assert_eq!(Qos::from_client(voice).to_client().unwrap(), voice);
    }

    #[test]
    fn numbers_out_of_their_range_are_refused() {
        for qos in [
            Qos { loss: -0.1, ..Qos::awareness() },
            Qos { loss: f64::NAN, ..Qos::awareness() },
            Qos { max_rate: f64::INFINITY, ..Qos::awareness() },
            Qos { min_rate: -1.0, ..Qos::awareness() },
            Qos { max_rate: 1e9, ..Qos::awareness() },
        ] {
            assert_eq!(qos.to_client().unwrap_err().code, Code::InvalidArgument, "{qos:?}");
        }
    }

    #[test]
    fn a_trust_or_compression_that_does_not_exist_is_refused() {
        let options = Options { trust: "certainly".to_owned(), ..Options::new("demo") };
        assert_eq!(options.to_client().unwrap_err().code, Code::InvalidArgument);
        assert_eq!(compress("zip").unwrap_err().code, Code::InvalidCompress);
    }
}
