//! Messages inside of the messages of other protocols, as most applications send them: behind
//! lengths and counters, as a string of another format, in base64.
//!
//! Every envelope takes the same payload, so that what the envelope costs is the difference from
//! the payload alone.

use std::collections::HashMap;
use std::fmt::Write;

/// A protocol whose messages hold payloads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Envelope {
    /// y-protocols' awareness: a type, lengths as variable-length integers, the client's number and
    /// its clock.
    Awareness,
    /// Socket.IO: an event with a number by which it is acknowledged, `427["draw",{...}]`.
    SocketIo,
    /// Phoenix: references and a topic before the payload, `["3","17","room:lobby","draw",{...}]`.
    Phoenix,
    /// A big-endian length of four bytes, which counts the payload, and a counter of four bytes.
    BigEndian,
    /// A little-endian length of four bytes, which counts all that follows, a type of two bytes and
    /// a counter of four.
    LittleEndian,
    /// A netstring: the length as text, `57:{...},`.
    TextLength,
    /// A counter, and the payload in base64, as a JSON object.
    Base64,
    /// LiveKit: the payload in a message within a message of Protocol Buffers.
    LiveKit,
    /// MQTT: a length as variable-length integer, a topic behind its length, a packet's number.
    Mqtt,
    /// STOMP: lines of text with the payload's length among them, and a zero byte at the end.
    Stomp,
    /// Phoenix's binary form: four lengths, the texts that they count, and the payload up to the
    /// end.
    PhoenixBinary,
    /// An array of MessagePack with a type, a counter and the payload as a string.
    MessagePackString,
    /// A JSON object with a counter and the payload as a string, in which quotes are escaped.
    JsonString,
    /// gRPC: a flag and a big-endian length before a message of Protocol Buffers.
    Grpc,
}

impl Envelope {
    /// All protocols: first those that the compressor was tuned on, then those that were held back
    /// to judge it.
    pub(crate) const ALL: [Self; 14] = [
        Self::Awareness,
        Self::SocketIo,
        Self::Phoenix,
        Self::BigEndian,
        Self::LittleEndian,
        Self::TextLength,
        Self::Base64,
        Self::LiveKit,
        Self::Mqtt,
        Self::Stomp,
        Self::PhoenixBinary,
        Self::MessagePackString,
        Self::JsonString,
        Self::Grpc,
    ];

    /// The name of the trace with this envelope.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Awareness => "awareness",
            Self::SocketIo => "socket.io",
            Self::Phoenix => "phoenix",
            Self::BigEndian => "length-be",
            Self::LittleEndian => "length-le",
            Self::TextLength => "netstring",
            Self::Base64 => "base64",
            Self::LiveKit => "livekit",
            Self::Mqtt => "mqtt",
            Self::Stomp => "stomp",
            Self::PhoenixBinary => "phoenix-binary",
            Self::MessagePackString => "msgpack-string",
            Self::JsonString => "json-string",
            Self::Grpc => "grpc",
        }
    }
}

/// Puts payloads into messages of one protocol. Each sender has its own counters.
pub(crate) struct Wrapper {
    envelope: Envelope,
    counters: HashMap<u32, u32>,
}

impl Wrapper {
    pub(crate) fn new(envelope: Envelope) -> Self {
        Self { envelope, counters: HashMap::new() }
    }

    /// The message with this payload, which is JSON.
    pub(crate) fn wrap(&mut self, sender: u32, payload: &[u8]) -> Vec<u8> {
        let counter = self.counters.entry(sender).or_insert(0);
        *counter += 1;
        message(self.envelope, sender, *counter, payload)
    }
}

fn message(envelope: Envelope, sender: u32, count: u32, payload: &[u8]) -> Vec<u8> {
    let length = payload.len() as u32;
    let text = || std::str::from_utf8(payload).expect("JSON is text");
    match envelope {
        Envelope::Awareness => {
            let id = sender.wrapping_mul(0x9e37_79b1).into();
            let state = prefixed(payload);
            let update = [varint(1), varint(id), varint(count.into()), state].concat();
            [varint(1), prefixed(&update)].concat()
        }
        Envelope::SocketIo => format!(r#"42{count}["draw",{}]"#, text()).into_bytes(),
        Envelope::Phoenix => {
            format!(r#"["{}","{count}","room:lobby","draw",{}]"#, sender + 3, text()).into_bytes()
        }
        Envelope::BigEndian => {
            [&length.to_be_bytes(), &count.to_be_bytes(), payload].concat()
        }
        Envelope::LittleEndian => {
            let head = (length + 6).to_le_bytes();
            [&head[..], &7_u16.to_le_bytes(), &count.to_le_bytes(), payload].concat()
        }
        Envelope::TextLength => format!("{length}:{},", text()).into_bytes(),
        Envelope::Base64 => {
            format!(r#"{{"event":"draw","seq":{count},"data":"{}"}}"#, base64(payload)).into_bytes()
        }
        Envelope::LiveKit => {
            let user = [
                field(1, format!("PA_{:08x}", sender.wrapping_mul(0x9e37_79b1)).as_bytes()),
                field(2, payload),
                field(4, b"draw"),
            ];
            [number(1, 1), field(2, &user.concat()), number(16, count.into())].concat()
        }
        Envelope::Mqtt => {
            let topic = b"rooms/lobby/draw";
            let number = (count % 0xffff + 1) as u16;
            let length = (topic.len() as u16).to_be_bytes();
            let rest = [&length[..], topic, &number.to_be_bytes(), payload].concat();
            [&[0x32][..], &prefixed(&rest)].concat()
        }
        Envelope::Stomp => format!(
            "MESSAGE\ndestination:/topic/lobby\nmessage-id:{sender}-{count}\ncontent-length:{length}\n\n{}\0",
            text()
        )
        .into_bytes(),
        Envelope::PhoenixBinary => {
            let count = count.to_string();
            let texts = ["3", &count, "room:lobby", "draw"];
            let lengths: Vec<u8> = texts.iter().map(|text| text.len() as u8).collect();
            [&[0][..], &lengths, texts.concat().as_bytes(), payload].concat()
        }
        Envelope::MessagePackString => {
            rmp_serde::to_vec(&(2, count, text())).expect("writing to memory cannot fail")
        }
        Envelope::JsonString => {
            let data = serde_json::to_string(text()).expect("text can be a string");
            format!(r#"{{"event":"draw","seq":{count},"data":{data}}}"#).into_bytes()
        }
        Envelope::Grpc => {
            let message = [number(1, count.into()), field(2, payload)].concat();
            [&[0][..], &(message.len() as u32).to_be_bytes(), &message].concat()
        }
    }
}

/// A variable-length integer: seven bits in each byte, the low ones first.
fn varint(mut number: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
    bytes
}

fn prefixed(bytes: &[u8]) -> Vec<u8> {
    [&varint(bytes.len() as u64), bytes].concat()
}

/// A field of bytes in Protocol Buffers.
fn field(number: u64, bytes: &[u8]) -> Vec<u8> {
    [varint(number << 3 | 2), prefixed(bytes)].concat()
}

/// A field of a number in Protocol Buffers.
fn number(field: u64, value: u64) -> Vec<u8> {
    [varint(field << 3), varint(value)].concat()
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for group in bytes.chunks(3) {
        let bits = group.iter().fold(0, |bits, &byte| bits << 8 | u32::from(byte))
            << (8 * (3 - group.len()));
        for digit in 0..=group.len() {
            text.push(DIGITS[(bits >> (18 - 6 * digit)) as usize & 63].into());
        }
        write!(text, "{}", &"=="[..3 - group.len()]).expect("writing to memory cannot fail");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_those_of_the_protocols() {
        let payload = br#"{"x":1}"#;
        let wrap = |envelope| message(envelope, 0, 300, payload);
        let text = |envelope| String::from_utf8(wrap(envelope)).unwrap();
        // PROTOCOL.md of y-protocols: a type, an array of bytes; in it a count, then client, clock
        // and state.
        assert_eq!(wrap(Envelope::Awareness)[..7], [1, 12, 1, 0, 0xac, 2, 7]);
        assert_eq!(text(Envelope::SocketIo), r#"42300["draw",{"x":1}]"#);
        assert_eq!(text(Envelope::Phoenix), r#"["3","300","room:lobby","draw",{"x":1}]"#);
        assert_eq!(wrap(Envelope::BigEndian)[..9], *b"\0\0\0\x07\0\0\x01\x2c{");
        assert_eq!(wrap(Envelope::LittleEndian)[..11], *b"\x0d\0\0\0\x07\0\x2c\x01\0\0{");
        assert_eq!(text(Envelope::TextLength), r#"7:{"x":1},"#);
        assert!(text(Envelope::Base64).ends_with(r#""data":"eyJ4IjoxfQ=="}"#));
        assert_eq!(wrap(Envelope::Mqtt)[..4], [0x32, 27, 0, 16]);
        assert!(text(Envelope::Stomp).ends_with("content-length:7\n\n{\"x\":1}\0"));
        assert_eq!(wrap(Envelope::PhoenixBinary)[..9], *b"\0\x01\x03\x0a\x043300");
        assert_eq!(wrap(Envelope::MessagePackString)[..6], *b"\x93\x02\xcd\x01\x2c\xa7");
        assert!(text(Envelope::JsonString).ends_with(r#""data":"{\"x\":1}"}"#));
        assert_eq!(wrap(Envelope::Grpc)[..10], [0, 0, 0, 0, 12, 8, 0xac, 2, 18, 7]);
        assert_eq!(base64(b"abcd"), "YWJjZA==");
    }
}
