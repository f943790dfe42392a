//! A client's first packet, and the server's answer if it refuses that packet before a room gets it
//! (wire W4, W5).

use alloc::vec::Vec;
use core::time::Duration;

use super::VERSION;
use super::frame::{Frame, Frames, error_frame};
use super::handshake::Hello;
use crate::Error;
use crate::limits::DEFAULT_MAX_PACKET;

/// The first packet of a client, of which only HELLO has been decoded. A server reads the name of
/// the room from it, then hands it to that [`Room`](crate::Room).
///
/// ```
/// use groupwire_session::{Error, Opening};
///
/// let error = Opening::read(b"GET / HTTP/1.1").unwrap_err();
/// assert_eq!(error, Error::Version { theirs: b'G', ours: 1 });
/// ```
#[derive(Debug, Clone)]
pub struct Opening<'a> {
    pub(crate) hello: Hello<'a>,
    /// The frames after HELLO.
    pub(crate) rest: &'a [u8],
    /// The whole packet.
    pub(crate) packet: &'a [u8],
}

impl<'a> Opening<'a> {
    /// Decodes the first packet of a transport.
    ///
    /// # Errors
    /// The packet is malformed or too large, or the client does not speak [`VERSION`]. [`refusal`]
    /// makes the answer to the client.
    pub fn read(packet: &'a [u8]) -> Result<Self, Error> {
        if packet.len() > DEFAULT_MAX_PACKET {
            let (what, size, limit) = ("packet", packet.len(), DEFAULT_MAX_PACKET);
            return Err(Error::TooLarge { what, size, limit });
        }
        let (&version, rest) = packet.split_first().ok_or(Error::malformed("opening"))?;
        // In all versions of the protocol, HELLO begins with the field `lowest`. This server
        // understands what follows it only if `lowest` is at most VERSION.
        if version < VERSION {
            return Err(Error::Version { theirs: version, ours: VERSION });
        }
        let mut frames = Frames::new(rest);
        match frames.next() {
            Ok(Some(Frame::Hello(hello))) if hello.lowest <= VERSION => {
                Ok(Opening { hello, rest: frames.remaining(), packet })
            }
            Ok(Some(Frame::Hello(hello))) => {
                Err(Error::Version { theirs: hello.lowest, ours: VERSION })
            }
            _ if version != VERSION => Err(Error::Version { theirs: version, ours: VERSION }),
            Ok(_) => Err(Error::malformed("opening: HELLO comes first")),
            Err(error) => Err(error),
        }
    }

    /// The name of the room that the client wants to join.
    pub fn room(&self) -> &'a str {
        self.hello.room
    }

    /// The token that the server's [`Authority`](crate::Authority) decides by.
    pub fn token(&self) -> &'a [u8] {
        self.hello.token
    }
}

/// Makes the server's answer to a first packet that it refuses before a room gets it. The server
/// then closes the transport.
pub fn refusal(error: &Error) -> Vec<u8> {
    let mut packet = alloc::vec![VERSION];
    error_frame(error, true, 0, &mut packet);
    packet
}

/// Makes the server's answer to a first packet that comes while the server stops. The server then
/// closes the transport, and the client comes back after `retry`.
pub fn goodbye(retry: Duration) -> Vec<u8> {
    let mut packet = alloc::vec![VERSION];
    Frame::Bye { reason: 0, retry_ms: retry.as_millis() as u64 }.write(&mut packet);
    packet
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::MAX_ROOM_NAME;
    use alloc::{string::String, vec};
    use proptest::prelude::*;

    fn hello(room: &str) -> Hello<'_> {
        Hello {
            lowest: 1,
            capabilities: 0,
            max_packet: 65_536,
            max_message: 60_000,
            room,
            token: b"",
            presence: b"",
            resume: None,
        }
    }

    fn opening(hello: Hello<'_>) -> Vec<u8> {
        let mut packet = vec![VERSION];
        Frame::Hello(hello).write(&mut packet);
        packet
    }

    #[test]
    fn w4_an_unknown_version_is_named_in_the_error() {
        let mut packet = opening(hello("demo"));
        packet[0] = 0;
        let error = Opening::read(&packet).unwrap_err();
        assert_eq!(error, Error::Version { theirs: 0, ours: VERSION });
        // A newer client that also speaks version 1 is accepted; one that does not gets an error.
        packet[0] = 9;
        assert!(Opening::read(&packet).is_ok());
        let newer = opening(Hello { lowest: 2, ..hello("demo") });
        let error = Opening::read(&newer).unwrap_err();
        assert_eq!(error, Error::Version { theirs: 2, ours: VERSION });
    }

    #[test]
    fn w11_a_room_name_of_10_kb_is_too_large() {
        let name = String::from_utf8(vec![b'r'; 10_240]).unwrap();
        let error = Opening::read(&opening(hello(&name))).unwrap_err();
        let limit = MAX_ROOM_NAME;
        assert_eq!(error, Error::TooLarge { what: "room name", size: 10_240, limit });
    }

    #[test]
    fn w5_hello_comes_first() {
        let mut packet = vec![VERSION];
        Frame::Ping { time: 1 }.write(&mut packet);
        assert!(matches!(Opening::read(&packet), Err(Error::Malformed { .. })));
    }

    proptest! {
        #[test]
        fn random_openings_never_panic(packet: Vec<u8>) {
            let _ = Opening::read(&packet);
            let mut versioned = vec![VERSION, 0x01, packet.len().min(127) as u8];
            versioned.extend_from_slice(&packet);
            let _ = Opening::read(&versioned);
        }
    }
}
