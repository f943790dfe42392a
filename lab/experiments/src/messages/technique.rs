//! The interface of all compression techniques.

use groupwire_papers::gmc2006::Overhead;

use crate::drawing::Event;

/// The reason why a technique could not encode or decode.
pub(super) type Failure = crate::Error;

/// A way to make messages small: both ends of one direction, which share nothing but packets and
/// acknowledgements.
///
/// The driver hands every message to [`encode`](Technique::encode) once, every packet that arrives
/// to [`decode`](Technique::decode), and what [`acknowledge`](Technique::acknowledge) wrote, if it
/// arrives, to [`acknowledged`](Technique::acknowledged).
pub(super) trait Technique {
    /// At the sender: makes a packet of these messages, at least one.
    ///
    /// # Errors
    /// The technique cannot encode a message. The run is over then.
    fn encode(&mut self, messages: &[Message<'_>], packet: &mut Packet) -> Result<(), Failure>;

    /// At the receiver: appends the messages of a packet to `out`, in order.
    ///
    /// # Errors
    /// A packet that cannot be decoded. It counts as wrong, unless it [came too
    /// late](Technique::is_too_late).
    fn decode(&mut self, packet: &Packet, out: &mut Decoded) -> Result<(), Failure>;

    /// Whether this error of [`decode`](Technique::decode) says that the receiver has given up what
    /// the packet needs. The driver accepts that for a few of the packets that others overtook.
    fn is_too_late(&self, _error: &Failure) -> bool {
        false
    }

    /// At the receiver, after each packet: appends an acknowledgement, if there is something to
    /// acknowledge.
    fn acknowledge(&mut self, _out: &mut Vec<u8>) {}

    /// At the sender: takes in what [`acknowledge`](Technique::acknowledge) wrote some time ago.
    ///
    /// # Errors
    /// An acknowledgement that the technique does not understand. It counts as wrong.
    fn acknowledged(&mut self, _bytes: &[u8]) -> Result<(), Failure> {
        Ok(())
    }

    /// Bytes kept from one message to the next.
    fn state(&mut self) -> State;

    /// The size in bytes of a snapshot for a receiver that joins after the last message, if the
    /// technique has snapshots. Called last, because it may change the technique.
    fn snapshot_bytes(&mut self) -> Option<u64> {
        None
    }

    /// Templates in use at the sender, for techniques that have some.
    fn templates(&self) -> Option<usize> {
        None
    }

    /// Announcements by kind, for the GMC paper's compressor. Each is counted once, also where it
    /// was sent again.
    fn overhead(&self) -> Option<Overhead> {
        None
    }

    /// The target ratio after the last message, compressed to original size in percent, for the GMC
    /// paper's compressor.
    fn target_percent(&self) -> Option<f64> {
        None
    }

    /// Bytes of announcements within [`Packet::body`], for techniques that put some there.
    fn announced(&self) -> u64 {
        0
    }
}

/// A message to send.
#[derive(Debug, Clone, Copy)]
pub(super) struct Message<'a> {
    /// The bytes that the application sent.
    pub(super) bytes: &'a [u8],
    /// The number of its kind, which stands for a channel.
    pub(super) kind: u32,
    /// The number of its sender.
    pub(super) sender: u32,
    /// The event of the drawing program that the message stands for, where that is known.
    pub(super) event: Option<&'a Event>,
}

/// A packet. All of its bytes are counted; where it ends is not, because the transport tells.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Packet {
    /// Bytes that are sent in front of the body and apart from it: only where the transport is
    /// reliable and ordered.
    pub(super) announcements: Vec<u8>,
    /// The compressed messages.
    pub(super) body: Vec<u8>,
}

impl Packet {
    /// All of its bytes.
    pub(super) fn bytes(&self) -> usize {
        self.announcements.len() + self.body.len()
    }
}

/// Bytes kept from one message to the next, for one direction.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct State {
    /// The bytes at the sender, if they are known.
    pub(super) encoder: Option<usize>,
    /// The bytes at the receiver, if they are known.
    pub(super) decoder: Option<usize>,
}

impl State {
    /// The state of a technique that starts anew with each packet.
    pub(super) const NONE: State = State { encoder: Some(0), decoder: Some(0) };
    /// The state of a technique that does not tell its size.
    pub(super) const UNKNOWN: State = State { encoder: None, decoder: None };
}

/// The messages that a packet decoded to, one behind the other: their bytes, or the events that
/// they stand for.
#[derive(Debug, Default)]
pub(super) struct Decoded {
    bytes: Vec<u8>,
    ends: Vec<usize>,
    events: Vec<Event>,
}

impl Decoded {
    /// Forgets all messages.
    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
        self.events.clear();
    }

    /// Appends a message.
    pub(super) fn push(&mut self, message: &[u8]) {
        self.push_with(|bytes| bytes.extend_from_slice(message));
    }

    /// Appends what `write` appends to its argument as a message.
    pub(super) fn push_with<T>(&mut self, write: impl FnOnce(&mut Vec<u8>) -> T) -> T {
        let result = write(&mut self.bytes);
        self.ends.push(self.bytes.len());
        result
    }

    /// Appends a message by its event.
    pub(super) fn push_event(&mut self, event: Event) {
        self.events.push(event);
    }

    /// Whether these are the messages that were sent.
    pub(super) fn is(&self, sent: &[Message<'_>]) -> bool {
        if self.events.is_empty() {
            self.iter().eq(sent.iter().map(|message| message.bytes))
        } else {
            self.ends.is_empty()
                && self.events.iter().map(Some).eq(sent.iter().map(|message| message.event))
        }
    }

    /// The messages by their bytes.
    pub(super) fn iter(&self) -> impl Iterator<Item = &[u8]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, &end)| &self.bytes[start..end])
    }
}
