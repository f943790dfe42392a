//! Colyseus, as far as clients of the lab's room need it: a seat, messages, and the room's state.
//!
//! Its state is synchronised in binary changes (@colyseus/schema 5). What they change is put
//! together to the messages that the senders sent, so that it is found and compared as with
//! everybody else.

use std::collections::BTreeMap;
use std::io;

use serde::{Deserialize, Serialize};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::message::Content;

/// The types of messages, which are their first byte.
const JOINED: u8 = 10;
const DATA: u8 = 13;
const STATE: u8 = 14;
const CHANGES: u8 = 15;
/// The end of the message `JOINED` in a room without a state: a serializer of this name, and no
/// data.
const STATELESS: &[u8] = b"\x04none\0";
/// The name of the lab's messages, as a string of the schema's encoding.
const NAME: &[u8] = b"\xa7pointer";

/// Announces that changes of another structure follow, whose number comes next.
const SWITCH: u8 = 255;
/// The operation of a change that adds a value, in the change's upper bits.
const ADD: u8 = 0x80;
/// The operation of a change that deletes a value. The lab's room never deletes any.
const DELETE: u8 = 0x40;
/// The bits of a change that are the number of a field.
const FIELD: u8 = 0x3f;
/// The number of the structure that is the whole state.
const ROOT: u64 = 0;

/// The most bytes of the answer to a request for a seat.
const MAX_ANSWER: u64 = 16 << 10;

/// Takes a seat in the room. Returns the path of its WebSocket.
pub(super) async fn seat(port: u16) -> io::Result<String> {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).await?;
    let request = format!(
        "POST /matchmake/joinOrCreate/pointers HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\
         Content-Type: application/json\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{{}}"
    );
    stream.write_all(request.as_bytes()).await?;
    let mut answer = Vec::new();
    stream.take(MAX_ANSWER).read_to_end(&mut answer).await?;
    path(&answer).ok_or_else(|| {
        io::Error::other(format!("no seat in the room: {}", String::from_utf8_lossy(&answer)))
    })
}

/// The path of the WebSocket that an HTTP answer names.
fn path(answer: &[u8]) -> Option<String> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Seat {
        process_id: String,
        room_id: String,
        session_id: String,
    }
    let head = answer.windows(4).position(|four| four == b"\r\n\r\n")?;
    let seat: Seat = serde_json::from_slice(&answer[head + 4..]).ok()?;
    Some(format!("/{}/{}?sessionId={}", seat.process_id, seat.room_id, seat.session_id))
}

/// A message of the lab in MessagePack, as Colyseus has messages. JavaScript's numbers above 32
/// bits are floats there.
#[derive(Serialize, Deserialize)]
struct Event<'a> {
    r#type: &'a str,
    id: &'a str,
    tool: &'a str,
    x: u16,
    y: u16,
    n: u32,
    t: f64,
}

/// The bytes with which a client sends a message.
pub(super) fn event(message: &[u8]) -> Vec<u8> {
    let mut out = [&[DATA], NAME].concat();
    let event: Option<Event<'_>> = serde_json::from_slice(message).ok();
    out.extend(event.and_then(|event| rmp_serde::to_vec_named(&event).ok()).unwrap_or_default());
    out
}

/// The state of the room at a client.
#[derive(Default)]
pub(super) struct Room {
    pub(super) is_joined: bool,
    /// The number of the structure that holds all pointers.
    pointers: Option<u64>,
    /// Newest values, by the number of the structure.
    values: BTreeMap<u64, Content>,
}

impl Room {
    /// Reads a payload from the server: appends an answer to `answer`, and the messages in it to
    /// `messages`. `None`: it is not a message that the lab's room sends.
    pub(super) fn receive(
        &mut self,
        payload: &[u8],
        answer: &mut Vec<u8>,
        messages: &mut Vec<u8>,
    ) -> Option<()> {
        let (&kind, rest) = payload.split_first()?;
        match kind {
            JOINED => {
                answer.push(JOINED);
                self.is_joined = rest.ends_with(STATELESS);
            }
            DATA => {
                let event: Event<'_> = rmp_serde::from_slice(rest.strip_prefix(NAME)?).ok()?;
                let sender = sender(event.id)?;
                let Event { x, y, n, t, .. } = event;
                Content { sender, x, y, n, unix_ms: t as u64 }.write(messages);
            }
            STATE | CHANGES => {
                self.is_joined = true;
                self.change(rest, messages)?;
            }
            _ => return None,
        }
        Some(())
    }

    /// Applies changes of the state.
    fn change(&mut self, mut bytes: &[u8], messages: &mut Vec<u8>) -> Option<()> {
        let (mut structure, mut changed) = (ROOT, Vec::new());
        while let Some((&operation, mut rest)) = bytes.split_first() {
            if operation == SWITCH {
                structure = number(&mut rest)?;
            } else if operation & DELETE != 0 {
                return None;
            } else if structure == ROOT {
                self.pointers = Some(number(&mut rest)?);
            } else if self.pointers == Some(structure) {
                self.add(operation, &mut rest)?;
            } else {
                let value = self.values.get_mut(&structure)?;
                match operation & FIELD {
                    0 => value.x = u16::from_le_bytes(take(&mut rest)?),
                    1 => value.y = u16::from_le_bytes(take(&mut rest)?),
                    2 => value.n = u32::from_le_bytes(take(&mut rest)?),
                    3 => value.unix_ms = f64::from_le_bytes(take(&mut rest)?) as u64,
                    _ => return None,
                }
                if changed.last() != Some(&structure) {
                    changed.push(structure);
                }
            }
            bytes = rest;
        }
        changed
            .iter()
            .filter_map(|structure| self.values.get(structure))
            .for_each(|value| value.write(messages));
        Some(())
    }

    /// Applies a change of the map of pointers: the entry's index, its key, its structure.
    fn add(&mut self, operation: u8, bytes: &mut &[u8]) -> Option<()> {
        number(bytes)?;
        if operation != ADD {
            return None;
        }
        let length = take::<1>(bytes)?[0].checked_sub(0xa0).filter(|length| *length < 0x20)?;
        let (key, rest) = bytes.split_at_checked(usize::from(length))?;
        *bytes = rest;
        let sender = sender(std::str::from_utf8(key).ok()?)?;
        self.values.insert(number(bytes)?, Content { sender, ..Content::default() });
        Some(())
    }
}

/// The number of the sender with this identity, such as `u07`.
fn sender(id: &str) -> Option<u8> {
    id.strip_prefix('u')?.parse().ok()
}

/// Splits off a number of the schema's encoding, which is MessagePack's but little-endian.
fn number(bytes: &mut &[u8]) -> Option<u64> {
    match take::<1>(bytes)?[0] {
        small @ 0..0x80 => Some(small.into()),
        0xcc => Some(take::<1>(bytes)?[0].into()),
        0xcd => Some(u16::from_le_bytes(take(bytes)?).into()),
        0xce => Some(u32::from_le_bytes(take(bytes)?).into()),
        _ => None,
    }
}

fn take<const N: usize>(bytes: &mut &[u8]) -> Option<[u8; N]> {
    let (taken, rest) = bytes.split_first_chunk()?;
    *bytes = rest;
    Some(*taken)
}

#[cfg(test)]
mod tests {
    use super::super::message::find;
    use super::*;
    use proptest::prelude::*;

    fn bytes(hex: &str) -> Vec<u8> {
        let digits = |at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap();
        (0..hex.len()).step_by(2).map(digits).collect()
    }

    /// The answer to a payload of the server, and the messages in the payload.
    fn received(room: &mut Room, payload: &[u8]) -> Option<(Vec<u8>, Vec<String>)> {
        let (mut answer, mut messages) = (Vec::new(), Vec::new());
        room.receive(payload, &mut answer, &mut messages)?;
        let messages =
            find(&messages).map(|(_, message)| String::from_utf8_lossy(message).into_owned());
        Some((answer, messages.collect()))
    }

    fn message(id: &str, x: u16, n: u32, unix_ms: u64) -> String {
        format!(
            r#"{{"type":"pointer","id":"{id}","tool":"pen","x":{x},"y":1500,"n":{n},"t":{unix_ms}}}"#
        )
    }

    // The hexadecimal bytes below were sent by Colyseus 0.18.17.

    #[test]
    fn a_room_with_a_state_tells_what_changed() {
        let mut room = Room::default();
        let joined = [&[JOINED, 9][..], b"fMhw731fT\x06schema\x02\x80\x01"].concat();
        assert_eq!(received(&mut room, &joined), Some((vec![JOINED], Vec::new())));
        assert!(!room.is_joined);
        assert_eq!(received(&mut room, &bytes("0e8001")), Some((Vec::new(), Vec::new())));
        assert!(room.is_joined);

        let first = bytes(
            "0fff018000a3753037028001a375303303ff0280d30481dc058240420f008300f0944475ab7942ff0380d4\
             0481dc058241420f00830000954475ab7942",
        );
        let both = vec![
            message("u07", 1235, 1_000_000, 1_764_012_345_679),
            message("u03", 1236, 1_000_001, 1_764_012_345_680),
        ];
        assert_eq!(received(&mut room, &first), Some((Vec::new(), both)));
        let second =
            bytes("0fff0280d4048244420f00830030954475ab7942ff0380d3048243420f00830020954475ab7942");
        let both = vec![
            message("u07", 1236, 1_000_004, 1_764_012_345_683),
            message("u03", 1235, 1_000_003, 1_764_012_345_682),
        ];
        assert_eq!(received(&mut room, &second), Some((Vec::new(), both)));
        assert_eq!(received(&mut room, &bytes("0fff09804242")), None, "no such structure");
        assert_eq!(received(&mut room, &bytes("0fff0140")), None, "nothing is deleted");
    }

    #[test]
    fn a_room_without_a_state_sends_messages() {
        let mut room = Room::default();
        let joined = bytes("0a0957344b736a692d7461046e6f6e6500");
        assert_eq!(received(&mut room, &joined), Some((vec![JOINED], Vec::new())));
        assert!(room.is_joined);
        let sent = message("u07", 1235, 1_000_000, 1_764_012_345_679);
        let broadcast = bytes(
            "0da7706f696e746572de0007a474797065a7706f696e746572a26964a3753037a4746f6f6ca370656ea178\
             cd04d3a179cd05dca16ece000f4240a174cb4279ab754494f000",
        );
        assert_eq!(received(&mut room, &broadcast), Some((Vec::new(), vec![sent.clone()])));
        assert_eq!(received(&mut room, &event(sent.as_bytes())), Some((Vec::new(), vec![sent])));
        assert_eq!(received(&mut room, &broadcast[..20]), None);
        assert_eq!(received(&mut room, b""), None);
    }

    #[test]
    fn a_seat_has_a_path() {
        let answer = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n\
            {\"name\":\"pointers\",\"sessionId\":\"s\",\"roomId\":\"r\",\"processId\":\"p\"}";
        assert_eq!(path(answer).as_deref(), Some("/p/r?sessionId=s"));
        assert_eq!(path(b"HTTP/1.1 520\r\n\r\n{\"error\":\"no\"}"), None);
        assert_eq!(path(b""), None);
    }

    proptest! {
        #[test]
        fn noise_does_no_harm(payloads: Vec<Vec<u8>>) {
            let mut room = Room::default();
            for payload in payloads {
                let _ = received(&mut room, &payload);
            }
        }
    }
}
