//! Writes down the conversations of docs/wire/vectors: one client's packets, in bytes and in words.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use groupwire_session::room;

use crate::conversation::Sent;
use crate::conversation::hand::{ByHand, messages, record};
use crate::grammar::{Fields, Frame, From, Meaning, Numbers, Value, hex, read_packet};

/// A room and the clients that talk to it. The text shows the packets of one of them, Ann.
pub(super) struct Conversation {
    pub(super) room: ByHand,
    /// The transports that Ann uses, one after the other.
    anns: &'static [u64],
    /// The actions of Ann's application, each with the number of packets before it.
    remarks: Vec<(usize, &'static str)>,
}

/// A client written by hand, with the numbers of its present transport (W21 to W24).
pub(super) struct Person {
    pub(super) link: u64,
    pub(super) up: Numbers,
    pub(super) counter: u32,
    pub(super) index: u32,
}

/// A transaction that Ann was sent: its sender, counter and position.
pub(super) type Place = (u64, u32, u64);

impl Conversation {
    pub(super) fn new(config: room::Config, anns: &'static [u64]) -> Self {
        Conversation { room: ByHand::new(config), anns, remarks: Vec::new() }
    }

    /// Adds a line to the text: the next action of Ann's application, or what happens to her
    /// transport.
    pub(super) fn remark(&mut self, remark: &'static str) {
        self.remarks.push((self.room.sent.len(), remark));
    }

    /// Notes a packet that Ann sends and that does not reach the room.
    pub(super) fn lose(&mut self, link: u64, frame: &Frame) {
        let bytes = crate::grammar::write_packet(From::Client, false, std::slice::from_ref(frame));
        let (at, is_first, is_datagram) = (self.room.now, false, false);
        self.room.sent.push(Sent { at, link, is_up: true, is_datagram, is_first, bytes });
    }

    /// The text of the conversation after its head, and its transactions.
    pub(super) fn write(&self, head: &str) -> (String, Vec<Place>) {
        let mut text = head.to_owned();
        let mut reader = Reader::default();
        let mut remarks = self.remarks.iter().peekable();
        for (at, sent) in self.room.sent.iter().enumerate() {
            if !self.anns.contains(&sent.link) {
                continue;
            }
            while let Some((_, remark)) = remarks.next_if(|(before, _)| *before <= at) {
                let _ = writeln!(text, "# {remark}");
            }
            reader.write(sent, &mut text);
        }
        assert!(remarks.next().is_none(), "a remark behind the last packet");
        (text, reader.transactions)
    }
}

impl Person {
    pub(super) fn new(link: u64) -> Self {
        Person { link, up: Numbers::new(0, 0, 0), counter: 0, index: 0 }
    }

    /// Goes on over another transport, on which WELCOME states this counter.
    pub(super) fn moves_to(&mut self, link: u64, counter: u64) {
        (self.link, self.up) = (link, Numbers::new(0, counter, 0));
    }

    /// The record of the next transaction.
    pub(super) fn next_transaction(&mut self, channel: u64, text: &str) -> Fields {
        self.counter += 1;
        self.transaction_again(channel, self.counter, text)
    }

    /// The record of a transaction that has its number already.
    pub(super) fn transaction_again(&mut self, channel: u64, counter: u32, text: &str) -> Fields {
        record(channel, self.up.next_transaction(counter), 0, None, text)
    }

    /// The record of the next value on channel 2.
    pub(super) fn next_value(&mut self, text: &str) -> Fields {
        self.index += 1;
        self.value_again(self.index, self.counter, text)
    }

    /// The record of a value that has its index already, and of the last transaction before it.
    pub(super) fn value_again(&mut self, index: u32, after: u32, text: &str) -> Fields {
        let (gap, stamp) = self.up.next_awareness(2, index, after);
        record(2, gap, stamp, Some("me"), text)
    }

    pub(super) fn transaction(&mut self, room: &mut ByHand, text: &str) {
        let record = self.next_transaction(1, text);
        room.say(self.link, &[messages(vec![record])]);
    }

    pub(super) fn value(&mut self, room: &mut ByHand, text: &str) {
        let record = self.next_value(text);
        room.say(self.link, &[messages(vec![record])]);
    }

    /// W35: answers the newest PING.
    pub(super) fn pong(&self, room: &mut ByHand) {
        let mut pings = room.hear(self.link).into_iter().filter(|frame| frame.name == "PING");
        if let Some(ping) = pings.next_back() {
            let now = room.now.as_micros() as u64;
            let pong = Fields::default().num("time", ping.number("time"));
            let pong = pong.num("received", now).num("sent", now);
            room.say(self.link, &[Frame::new("PONG", pong)]);
        }
    }

    /// W35: sends PING.
    pub(super) fn ping(&self, room: &mut ByHand) {
        let ping = ping(room);
        room.say(self.link, &[ping]);
    }
}

pub(super) fn ping(room: &ByHand) -> Frame {
    Frame::new("PING", Fields::default().num("time", room.now.as_micros() as u64))
}

/// BYE of a client.
pub(super) fn bye() -> Frame {
    Frame::new("BYE", Fields::default().num("reason", 0).num("retry_ms", 0))
}

/// What HELLO of participant 1 says to resume; the secret of a participant is the number of its
/// first transport.
pub(super) fn resume(participant: u64, position: u64, counter: u64) -> Value {
    let resume = Fields::default()
        .num("participant", participant)
        .with("secret", Value::Bytes(vec![participant as u8; 16]))
        .num("incarnation", 7)
        .num("position", position)
        .num("counter", counter);
    Value::Fields(resume)
}

/// The state of the session that a reader of the conversation can derive.
#[derive(Default)]
struct Reader {
    /// By channel number, true for channels of awareness.
    kinds: BTreeMap<u64, bool>,
    /// By transport, and whether it is the client's direction.
    numbers: BTreeMap<(u64, bool), Numbers>,
    /// The incarnation, position and counter in the last HELLO.
    resume: Option<[u64; 3]>,
    participant: u64,
    transactions: Vec<Place>,
}

impl Reader {
    fn write(&mut self, sent: &Sent, text: &mut String) {
        let Sent { at, link, is_up, is_first, bytes, .. } = sent;
        let (from, arrow) = if *is_up { (From::Client, '>') } else { (From::Server, '<') };
        let _ = writeln!(text, "{arrow} {link} {} {}", at.as_millis(), hex(bytes));
        if *is_first {
            *text += "    version 1\n";
        }
        for frame in read_packet(from, *is_first, bytes).unwrap() {
            self.take(&frame, *link);
            if frame.name != "MESSAGES" {
                let _ = writeln!(text, "    {} {}", frame.name, frame.fields.json());
                continue;
            }
            *text += "    MESSAGES\n";
            for record in frame.list("records") {
                let meaning = self.meaning(record, *link, *is_up);
                let _ = writeln!(text, "        {} => {meaning}", record.json());
            }
        }
    }

    /// W22, W23: takes in a frame that begins or changes the counting.
    fn take(&mut self, frame: &Frame, link: u64) {
        match frame.name {
            "HELLO" => {
                self.resume = match frame.fields.get("resume") {
                    Value::Fields(resume) => {
                        Some(["incarnation", "position", "counter"].map(|name| resume.number(name)))
                    }
                    _ => None,
                };
            }
            "WELCOME" => {
                self.participant = frame.number("participant");
                let is_same = |resume: &[u64; 3]| resume[0] == frame.number("incarnation");
                let [_, position, counter] = self.resume.filter(is_same).unwrap_or_default();
                let counter = if frame.number("outcome") == 1 { counter } else { 0 };
                let up = Numbers::new(0, frame.number("counter"), 0);
                let down = Numbers::new(self.participant, counter, position);
                self.numbers.extend([((link, true), up), ((link, false), down)]);
            }
            "CHANNEL" => {
                let is_awareness = frame.fields.fields("qos").number("kind") == 1;
                self.kinds.insert(frame.number("id"), is_awareness);
            }
            _ => {}
        }
        if let Some(numbers) = self.numbers.get_mut(&(link, false)) {
            numbers.pass(frame);
        }
    }

    fn meaning(&mut self, record: &Fields, link: u64, is_up: bool) -> String {
        let numbers = self.numbers.get_mut(&(link, is_up)).unwrap();
        match numbers.read(record, self.kinds[&record.number("channel")], is_up) {
            Meaning::Awareness { index, after } => format!("index {index}, after {after}"),
            Meaning::Transaction { counter, .. } if is_up => format!("counter {counter}"),
            Meaning::Transaction { counter, position } => {
                self.transactions.push((record.number("sender"), counter, position));
                format!("counter {counter}, position {position}")
            }
        }
    }
}
