//! The settings that both ends share. The model, below, is all that an end has learned from earlier
//! messages; both ends have equal models.

/// Settings of an [`Encoder`](crate::Encoder) and its [`Decoder`](crate::Decoder).
///
/// Both ends must use the same settings. They are not sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    /// How the link delivers packets. Default [`Delivery::Ordered`].
    pub delivery: Delivery,
    /// Bytes of model state per direction, between [`Config::MEMORY_MIN`] and
    /// [`Config::MEMORY_MAX`]; a value outside is taken as the nearer bound. Default 64 KiB.
    ///
    /// Below 8 KiB the smallest tables may take up to 1 KiB more. Working buffers come on top:
    /// about four times the largest packet so far, counted before compression.
    pub memory: usize,
    /// How many small numbers travel with each message, at most [`Config::FIELDS_MAX`]. Default 0.
    ///
    /// The first is taken as the message's channel and the second as its sender: messages with the
    /// same channel and the same sender are expected to resemble each other most.
    pub fields: usize,
    /// A bit for each field, the lowest for the first. A field whose bit is set is a counter: it is
    /// coded by its difference from its last value in the same channel from the same sender.
    /// Channel and sender cannot be counters. Default none.
    pub counters: u32,
    /// The largest message, in bytes. Default 64 KiB.
    pub max_message: usize,
    /// The most messages in one packet. Default 4096.
    pub max_messages_per_packet: usize,
    /// The most bytes of all messages of one packet together, which bounds the work that a packet
    /// can cause. Default 256 KiB.
    pub max_packet: usize,
    /// Adds a check byte to each packet. With it the decoder notices with a probability of 255 in
    /// 256 if the messages that it decoded are not those that the encoder coded. Default off.
    pub check: bool,
}

/// How a link delivers packets, which decides what the model may learn, and when.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Delivery {
    /// Every packet arrives, once and in order: a WebSocket, a TCP connection, a QUIC stream. The
    /// model learns each message at once, which takes the fewest bytes.
    #[default]
    Ordered,
    /// Packets may be lost, repeated and reordered on the way to one decoder. The decoder
    /// acknowledges the packets that it has, and the model learns only these.
    Datagrams,
    /// Packets may be lost, repeated and reordered on the way to many decoders. The model learns
    /// all packets, each as soon as the application knows that all decoders have it: see
    /// [`Encoder::advance`](crate::Encoder::advance).
    Room,
}

impl Config {
    /// The least memory in bytes, which holds one or two templates (earlier messages with gaps for
    /// the values that differ).
    pub const MEMORY_MIN: usize = 4 << 10;
    /// The most memory in bytes. Tables keep a log of their changes, in which an index has 24 bits.
    pub const MEMORY_MAX: usize = 16 << 20;
    /// The most fields that a message can carry.
    pub const FIELDS_MAX: usize = 32;

    pub(crate) fn field_count(&self) -> usize {
        self.fields.min(Self::FIELDS_MAX)
    }

    pub(crate) fn counter_count(&self) -> usize {
        self.counter_bits().count_ones() as usize
    }

    /// The bits of [`Config::counters`] that take effect: those of configured fields other than
    /// channel and sender.
    pub(crate) fn counter_bits(&self) -> u32 {
        self.counters & ((1u64 << self.field_count()) - 1) as u32 & !3
    }

    /// [`Config::memory`] within its bounds.
    pub(crate) fn memory_bounded(&self) -> usize {
        self.memory.clamp(Self::MEMORY_MIN, Self::MEMORY_MAX)
    }
}

impl Default for Config {
    fn default() -> Self {
        Self {
            delivery: Delivery::Ordered,
            memory: 64 << 10,
            fields: 0,
            counters: 0,
            max_message: 64 << 10,
            max_messages_per_packet: 4096,
            max_packet: 256 << 10,
            check: false,
        }
    }
}
