//! What the near machine and the agent say to each other: lines of JSON over the tunnel.

use std::io::{self, BufRead, Read, Write};
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::browsers::AllPorts;

/// The longest line, in bytes.
const LONGEST_LINE: u64 = 4096;
/// The largest packet that is measured: that of Ethernet.
pub(crate) const MAX_PACKET: usize = 1500;
/// The most packets per second that an agent sends back to a near machine: 30 messages per second
/// with acknowledgements are a tenth of that.
pub(super) const MAX_PACKETS_PER_SECOND: u32 = 1000;
/// The most bytes of one stream into the agent, and how many per second it reads.
pub(super) const MAX_STREAM: u64 = 4 << 30;
pub(super) const MAX_BYTES_PER_SECOND: u64 = 125 << 20;
/// The time in which the other end has to say something that is due.
pub(super) const PATIENCE: Duration = Duration::from_secs(15);
/// The bytes that open a socket for measured packets.
pub(super) const TICKET: usize = 16;

/// What the near machine asks for, in its first line.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Request<T> {
    /// The token once more: other users of the far machine reach the agent without the tunnel.
    pub(super) token: String,
    /// The version of the near program, because schemes have to be the same at both ends.
    pub(super) version: String,
    pub(super) what: T,
}

/// Send messages of a telepointer back, each as soon as it has come.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Relay {
    /// A contender of the experiment `afec`.
    pub(crate) scheme: String,
    pub(crate) deadline_ms: u64,
    pub(crate) target: f64,
}

/// Run the servers of the experiment `web`, until the near machine hangs up.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Serve {
    /// The origins of the near machine's pages, which may use the servers.
    pub(crate) origins: Vec<String>,
}

/// What the agent can be asked for over its route `control`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Task {
    Relay(Relay),
    Serve(Serve),
}

/// An answer of the agent.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Answer {
    /// A socket waits at this port for the ticket, in hexadecimal digits.
    Open { port: u16, ticket: String },
    /// The ticket has come.
    Ready,
    /// The servers run at these ports.
    Serving { ports: AllPorts },
    /// All bytes of a stream have come.
    Came { bytes: u64, hash: u64 },
    /// The request is refused.
    Refused { why: String },
}

/// Reads a line.
///
/// # Errors
/// The line is too long or is something else, or the connection ends or is silent.
pub(super) fn read<T: DeserializeOwned>(from: &mut impl BufRead) -> io::Result<T> {
    let mut line = String::new();
    from.by_ref().take(LONGEST_LINE).read_line(&mut line)?;
    match line.is_empty() {
        true => Err(io::ErrorKind::UnexpectedEof.into()),
        false => serde_json::from_str(&line).map_err(|error| {
            io::Error::new(io::ErrorKind::InvalidData, format!("not understood: {error}"))
        }),
    }
}

/// Whether nothing came in time.
pub(super) fn is_timeout(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut)
}

/// Writes a line.
pub(super) fn write(to: &mut impl Write, what: &impl Serialize) -> io::Result<()> {
    let mut line = serde_json::to_string(what)?;
    line.push('\n');
    to.write_all(line.as_bytes())?;
    to.flush()
}

/// A hash of bytes that come in pieces: FNV-1a with 64 bits. It finds faults, not forgeries.
#[derive(Debug, Clone, Copy)]
pub(super) struct Hash(pub(super) u64);

impl Default for Hash {
    fn default() -> Self {
        Hash(0xCBF2_9CE4_8422_2325)
    }
}

impl Hash {
    pub(super) fn add(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x100_0000_01B3);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_as_they_were_written_and_never_beyond_the_limit() {
        let mut bytes = Vec::new();
        let open = Answer::Open { port: 7001, ticket: "00ff".into() };
        write(&mut bytes, &open).unwrap();
        write(&mut bytes, &Answer::Ready).unwrap();
        let mut from = &bytes[..];
        assert_eq!(read::<Answer>(&mut from).unwrap(), open);
        assert_eq!(read::<Answer>(&mut from).unwrap(), Answer::Ready);
        assert!(read::<Answer>(&mut from).is_err());
        let endless = vec![b'"'; 1 << 20];
        assert!(read::<Answer>(&mut &endless[..]).is_err());
    }

    #[test]
    fn the_hash_does_not_depend_on_the_pieces() {
        let (mut whole, mut parts) = (Hash::default(), Hash::default());
        whole.add(b"foobar");
        parts.add(b"foo");
        parts.add(b"bar");
        // The value that the authors of FNV publish for it.
        assert_eq!((whole.0, parts.0), (0x8594_4171_F739_67E8, 0x8594_4171_F739_67E8));
    }
}
