//! The frames HELLO and WELCOME (wire W9 to W14).

use alloc::vec::Vec;
use core::time::Duration;

use super::io::{Reader, Write};
use crate::Error;
use crate::ids::{Counter, ParticipantId, Position};
use crate::limits::{MAX_PRESENCE, MAX_ROOM_NAME, MAX_TOKEN, Timing};

/// A random number that proves the right to resume a session (wire W13).
pub type Secret = [u8; 16];

/// The smallest `max_packet` that an end may state, in bytes. A packet of this size can contain the
/// largest presence (4,096 bytes) and other frames.
const LEAST_MAX_PACKET: u64 = 8192;

/// The first frame of a client (wire W9 to W11).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Hello<'a> {
    /// The lowest protocol version that the client speaks.
    pub(crate) lowest: u8,
    pub(crate) capabilities: u64,
    pub(crate) max_packet: usize,
    pub(crate) max_message: usize,
    pub(crate) room: &'a str,
    pub(crate) token: &'a [u8],
    /// The bytes that the application shows to the other participants about this one, such as a
    /// name.
    pub(crate) presence: &'a [u8],
    pub(crate) resume: Option<Resume>,
}

/// The session that a client wants to continue after its transport broke (wire W13, W14).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Resume {
    pub(crate) participant: ParticipantId,
    pub(crate) secret: Secret,
    /// The incarnation of the room that the session belongs to.
    pub(crate) incarnation: u64,
    /// The position up to which the client received all transactions.
    pub(crate) position: Position,
    /// The counter of the newest of its own transactions whose position in the room's order the
    /// client knows.
    pub(crate) counter: Counter,
}

/// The server's answer to the field `resume` of HELLO (wire W12).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// The client did not ask to resume, and is a new participant.
    New,
    /// The session continues as the same participant, and no transaction is lost.
    Resumed,
    /// The server no longer has the session or the room's state, and the client is a new
    /// participant.
    Lost,
}

/// The first frame of a server (wire W10 to W14).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Welcome {
    pub(crate) capabilities: u64,
    pub(crate) max_packet: usize,
    pub(crate) max_message: usize,
    pub(crate) max_snapshot: usize,
    /// The number of the room's present state. If the room loses its state, it begins again with
    /// another number (wire W13).
    pub(crate) incarnation: u64,
    pub(crate) participant: ParticipantId,
    pub(crate) secret: Secret,
    pub(crate) outcome: Outcome,
    /// The counter of the client's newest transaction that the room has.
    pub(crate) counter: Counter,
    /// The position of the room's newest transaction.
    pub(crate) position: Position,
    pub(crate) timing: Timing,
}

impl<'a> Hello<'a> {
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        out.u8(self.lowest);
        out.varint(self.capabilities);
        out.varint(self.max_packet as u64);
        out.varint(self.max_message as u64);
        out.bytes(self.room.as_bytes());
        out.bytes(self.token);
        out.bytes(self.presence);
        match &self.resume {
            None => out.u8(0),
            Some(resume) => {
                out.u8(1);
                out.varint(u64::from(resume.participant));
                out.extend_from_slice(&resume.secret);
                out.u64(resume.incarnation);
                out.varint(resume.position.get());
                out.varint(u64::from(resume.counter));
            }
        }
    }

    pub(crate) fn read(r: &mut Reader<'a>) -> Result<Self, Error> {
        let lowest = r.u8()?;
        let capabilities = r.varint()?;
        let max_packet = read_max_packet(r)?;
        let max_message = read_size(r)?;
        let room = r.text(MAX_ROOM_NAME, "room name")?;
        if room.is_empty() {
            return Err(Error::malformed("room name: it is empty"));
        }
        let token = r.bytes(MAX_TOKEN, "token")?;
        let presence = r.bytes(MAX_PRESENCE, "presence")?;
        let resume = match r.u8()? {
            0 => None,
            1 => Some(Resume {
                participant: ParticipantId(r.varint_u32()?),
                secret: r.array()?,
                incarnation: r.u64()?,
                position: Position(r.varint()?),
                counter: Counter(r.varint_u32()?),
            }),
            _ => return Err(r.malformed()),
        };
        Ok(Hello { lowest, capabilities, max_packet, max_message, room, token, presence, resume })
    }
}

impl Welcome {
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        out.varint(self.capabilities);
        out.varint(self.max_packet as u64);
        out.varint(self.max_message as u64);
        out.varint(self.max_snapshot as u64);
        out.u64(self.incarnation);
        out.varint(u64::from(self.participant));
        out.extend_from_slice(&self.secret);
        out.u8(self.outcome as u8);
        out.varint(u64::from(self.counter));
        out.varint(self.position.get());
        for time in [self.timing.tick, self.timing.ping, self.timing.dead, self.timing.away] {
            out.varint(time.as_millis() as u64);
        }
    }

    pub(crate) fn read(r: &mut Reader<'_>) -> Result<Self, Error> {
        let capabilities = r.varint()?;
        let max_packet = read_max_packet(r)?;
        let (max_message, max_snapshot) = (read_size(r)?, read_size(r)?);
        let incarnation = r.u64()?;
        let participant = ParticipantId(r.varint_u32()?);
        let secret = r.array()?;
        let outcome = match r.u8()? {
            0 => Outcome::New,
            1 => Outcome::Resumed,
            2 => Outcome::Lost,
            _ => return Err(r.malformed()),
        };
        let (counter, position) = (Counter(r.varint_u32()?), Position(r.varint()?));
        let timing = Timing {
            tick: read_millis(r)?,
            ping: read_millis(r)?,
            dead: read_millis(r)?,
            away: read_millis(r)?,
        };
        if timing.ping.is_zero() || timing.dead <= timing.ping {
            return Err(Error::malformed("WELCOME: a peer would be dead before it is asked"));
        }
        Ok(Welcome {
            capabilities,
            max_packet,
            max_message,
            max_snapshot,
            incarnation,
            participant,
            secret,
            outcome,
            counter,
            position,
            timing,
        })
    }
}

/// Reads a time in milliseconds. A time of more than a day is malformed, because sums of larger
/// times could overflow.
fn read_millis(r: &mut Reader<'_>) -> Result<Duration, Error> {
    match r.varint()? {
        ms if ms <= 24 * 3600 * 1000 => Ok(Duration::from_millis(ms)),
        _ => Err(r.malformed()),
    }
}

fn read_size(r: &mut Reader<'_>) -> Result<usize, Error> {
    usize::try_from(r.varint()?).map_err(|_| r.malformed())
}

fn read_max_packet(r: &mut Reader<'_>) -> Result<usize, Error> {
    match r.varint()? {
        size if size < LEAST_MAX_PACKET => {
            Err(Error::malformed("max_packet: at least 8192 is needed"))
        }
        size => usize::try_from(size).map_err(|_| r.malformed()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn welcome_round_trips() {
        let welcome = Welcome {
            capabilities: 1,
            max_packet: 65_536,
            max_message: 60_000,
            max_snapshot: 1 << 22,
            incarnation: u64::MAX - 3,
            participant: ParticipantId(4),
            secret: [7; 16],
            outcome: Outcome::Lost,
            counter: Counter(12),
            position: Position(1 << 33),
            timing: Timing::default(),
        };
        let mut out = Vec::new();
        welcome.write(&mut out);
        assert_eq!(Welcome::read(&mut Reader::new(&out, "WELCOME")), Ok(welcome));
    }
}
