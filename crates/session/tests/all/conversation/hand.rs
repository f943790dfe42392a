//! A room whose clients are written by hand, packet by packet, as another implementation would do
//! it: by the grammar alone.

use std::collections::BTreeMap;
use std::time::Duration;

use groupwire_session::room::{self, Room};
use groupwire_session::{LinkId, Owner, ParticipantId, Position};

use super::end::{End, Verb};
use super::{MS, Sent, plain, room_of};
use crate::grammar::{
    Fields, Frame, From, Value, read_datagram, read_packet, write_datagram, write_packet,
};
use crate::support::secrets::Drawn;

/// A room, and transports without delay.
pub(crate) struct ByHand {
    pub(crate) now: Duration,
    room: End<Room>,
    secrets: Drawn,
    /// All that went over transports.
    pub(crate) sent: Vec<Sent>,
    /// Bytes of the largest datagram on transports that are opened from now on; 0: they have none.
    pub(crate) max_datagram: usize,
    /// Frames and datagrams from the server that the test has not taken yet, by transport.
    came: BTreeMap<u64, Vec<Frame>>,
    datagrams: BTreeMap<u64, Vec<Fields>>,
}

impl ByHand {
    pub(crate) fn new(config: room::Config) -> Self {
        let (secrets, came, datagrams) = Default::default();
        let (now, sent, max_datagram) = (Duration::ZERO, Vec::new(), 0);
        ByHand { now, room: room_of(config), secrets, sent, max_datagram, came, datagrams }
    }

    /// A room without gmc.
    pub(crate) fn plain() -> Self {
        ByHand::new(plain())
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
        if is_first {
            self.room.join(self.now, link, self.max_datagram, packet, &mut self.secrets);
            self.take();
        } else {
            self.tell(room::Input::Packet { link: LinkId(link), packet });
        }
    }

    /// A client sends a datagram.
    pub(crate) fn throw(&mut self, link: u64, datagram: &Fields) {
        let packet = &write_datagram(datagram);
        self.tell(room::Input::Datagram { link: LinkId(link), packet });
    }

    /// The datagrams that came over a transport since the last call.
    pub(crate) fn catch(&mut self, link: u64) -> Vec<Fields> {
        self.datagrams.remove(&link).unwrap_or_default()
    }

    /// The transactions up to this position are durable now.
    pub(crate) fn durable(&mut self, position: u64) {
        let (position, reserved) = (Position(position), ParticipantId(1024));
        self.tell(room::Input::Durable { position, reserved });
    }

    /// The client is connected to another server, and is told where this one is.
    pub(crate) fn is_elsewhere(&mut self, link: u64) {
        let address = "https://gw-1.example.com".to_owned();
        let owner = Owner { after: 1300 * MS, address, port: 443 };
        self.tell(room::Input::Owner { link: LinkId(link), owner: &owner });
    }

    /// The transport breaks.
    pub(crate) fn cut(&mut self, link: u64) {
        self.tell(room::Input::Closed { link: LinkId(link) });
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

    fn tell(&mut self, input: room::Input<'_>) {
        let now = self.now;
        self.room.act(now, |room| room.handle_input(now, input));
        self.take();
    }

    fn is_first(&self, link: u64, is_up: bool) -> bool {
        !self.sent.iter().any(|sent| sent.link == link && sent.is_up == is_up)
    }

    fn take(&mut self) {
        for output in std::mem::take(&mut self.room.said.outputs) {
            let link = output.link.expect("a room's output has a transport");
            if output.bytes.is_empty() {
                continue;
            }
            if output.verb == Verb::Datagram {
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
