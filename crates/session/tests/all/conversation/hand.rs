//! A room whose clients are written by hand, packet by packet, as another implementation would do
//! it: by the grammar alone.

use std::collections::BTreeMap;
use std::time::Duration;

use super::{End, MS, Sent};
use crate::grammar::{
    Fields, Frame, From, Value, hex, read_datagram, read_packet, write_datagram, write_packet,
};

/// A room, and transports without delay.
pub(crate) struct ByHand {
    pub(crate) now: Duration,
    room: End,
    /// All that went over transports.
    pub(crate) sent: Vec<Sent>,
    /// Bytes of the largest datagram on transports that are opened from now on; 0: they have none.
    pub(crate) max_datagram: usize,
    /// Frames and datagrams from the server that the test has not taken yet, by transport.
    came: BTreeMap<u64, Vec<Frame>>,
    datagrams: BTreeMap<u64, Vec<Fields>>,
}

impl ByHand {
    pub(crate) fn new(room: &str) -> Self {
        let room = End::room(room);
        let (now, sent, max_datagram) = (Duration::ZERO, Vec::new(), 0);
        let (came, datagrams) = Default::default();
        ByHand { now, room, sent, max_datagram, came, datagrams }
    }

    /// A client sends frames over a transport. The first frames open the transport.
    pub(crate) fn say(&mut self, link: u64, frames: &[Frame]) {
        let is_first = self.is_first(link, true);
        self.send(link, &write_packet(From::Client, is_first, frames));
    }

    /// A client sends a packet of these bytes, as [`ByHand::say`].
    pub(crate) fn send(&mut self, link: u64, packet: &[u8]) {
        let is_first = self.is_first(link, true);
        self.note(link, true, is_first, packet.to_vec());
        let what = match is_first {
            true => format!("join {link} {} {} #0", self.max_datagram, hex(&[link as u8; 16])),
            false => format!("packet {link} #0"),
        };
        self.room.run_to(self.now);
        self.room.input(self.now, &what, |_| packet.to_vec());
        self.take();
    }

    /// A client sends a datagram.
    pub(crate) fn throw(&mut self, link: u64, datagram: &Fields) {
        let bytes = write_datagram(datagram);
        self.room.run_to(self.now);
        self.room.input(self.now, &format!("datagram {link} #0"), |_| bytes.clone());
        self.take();
    }

    /// The datagrams that came over a transport since the last call.
    pub(crate) fn catch(&mut self, link: u64) -> Vec<Fields> {
        self.datagrams.remove(&link).unwrap_or_default()
    }

    /// Passes an input to the room, in the words of a conversation.
    pub(crate) fn tell(&mut self, what: &str) {
        self.room.run_to(self.now);
        self.room.input(self.now, what, |_| Vec::new());
        self.take();
    }

    /// The transport breaks.
    pub(crate) fn cut(&mut self, link: u64) {
        self.tell(&format!("closed {link}"));
    }

    pub(crate) fn run(&mut self, ms: u32) {
        for _ in 0..ms {
            self.now += MS;
            self.room.run_to(self.now);
            self.take();
        }
    }

    /// The frames that came over a transport since the last call.
    pub(crate) fn hear(&mut self, link: u64) -> Vec<Frame> {
        self.came.remove(&link).unwrap_or_default()
    }

    fn is_first(&self, link: u64, is_up: bool) -> bool {
        !self.sent.iter().any(|sent| sent.link == link && sent.is_up == is_up)
    }

    fn take(&mut self) {
        for output in self.room.take() {
            let link = output.link.expect("a room's output has a transport");
            if output.bytes.is_empty() {
                continue;
            }
            if output.verb == "datagram" {
                let datagram = read_datagram(&output.bytes).expect("a datagram of the grammar");
                self.datagrams.entry(link).or_default().push(datagram);
                continue;
            }
            let is_first = self.is_first(link, false);
            // W5: a refusal without the version byte, because a frame after HELLO was wrong.
            let has_version = is_first && output.bytes.first() == Some(&1);
            let frames = read_packet(From::Server, has_version, &output.bytes);
            let frames = frames.expect("what a room sends follows the grammar");
            self.came.entry(link).or_default().extend(frames);
            self.note(link, false, has_version, output.bytes);
        }
    }

    fn note(&mut self, link: u64, is_up: bool, is_first: bool, bytes: Vec<u8>) {
        self.sent.push(Sent { at: self.now, link, is_up, is_datagram: false, is_first, bytes });
    }
}

/// HELLO of a client without capabilities.
pub(crate) fn hello() -> Fields {
    let bytes = |text: &str| Value::Bytes(text.into());
    Fields::default()
        .num("lowest", 1)
        .num("capabilities", 0)
        .num("max_packet", 65_536)
        .num("max_message", 60_000)
        .with("room", Value::Text("demo".into()))
        .with("token", bytes(""))
        .with("presence", bytes("Ann"))
        .with("resume", Value::None)
}

/// OPEN for a channel of transactions or awareness, with template compression.
pub(crate) fn open(reference: u64, name: &str, is_awareness: bool, have: u64) -> Frame {
    let kind = u64::from(is_awareness);
    let qos = Fields::default()
        .num("kind", kind)
        .num("overflow", 1 - kind)
        .num("priority", 128)
        .num("flags", 0)
        .num("loss", 50 * kind)
        .num("deadline_ms", 250 * kind)
        .num("rate_min", 0)
        .num("rate_max", 25_000 * kind);
    let fields = Fields::default()
        .num("ref", reference)
        .num("access", 3)
        .with("name", Value::Text(name.into()))
        .with("qos", Value::Fields(qos))
        .num("have", have)
        .with("compress", Value::Bytes(vec![0]));
    Frame::new("OPEN", fields)
}

/// A payload of plain records, which ends its packet.
pub(crate) fn messages(records: Vec<Fields>) -> Frame {
    let fields = Fields::default().with("records", Value::List(records));
    Frame { is_last: true, ..Frame::new("MESSAGES", fields) }
}

/// A record of a text towards the server.
pub(crate) fn record(channel: u64, gap: u64, stamp: u64, key: Option<&str>, text: &str) -> Fields {
    let flags = 1 | if key.is_some() { 2 } else { 0 };
    let record = Fields::default()
        .num("channel", channel)
        .num("sender", 0)
        .num("flags", flags)
        .num("gap", gap)
        .num("age", 0)
        .num("stamp", stamp);
    let record = match key {
        Some(key) => record.with("key", Value::Bytes(key.into())),
        None => record,
    };
    record.with("octets", Value::Bytes(text.into()))
}
