//! A client on WebTransport (T5, T6). A sampled one decodes as it goes; others follow the group
//! that they are served by, and decode only what comes to them alone. All acknowledge as they go:
//! what the server sends next depends on it.

use std::sync::PoisonError;

use groupwire_quic::wtransport::quinn::Endpoint;
use tokio::select;

use super::follower::{Desk, Follower};
use super::frames::{varint, write_varint};
use super::member::{Member, Packet};
use super::state::FanoutState;
use super::webtransport::Session;

/// Bytes read at a time.
const READ: usize = 4 << 10;

/// The most bytes of a packet's length (T1).
const LENGTH: usize = 4;

pub(super) struct Quic {
    session: Session,
    /// The beginning of a packet of the stream whose rest has not arrived yet.
    partial: Vec<u8>,
    packets: Vec<Packet>,
    pub(super) member: Box<Member>,
    follower: Option<Follower>,
}

/// Bytes that arrived, over the stream or as a datagram.
pub(super) enum News {
    Stream(Vec<u8>),
    Datagram(Vec<u8>),
}

impl Quic {
    pub(super) async fn open(
        shared: &FanoutState,
        (endpoint, port): (&Endpoint, u16),
        mut member: Box<Member>,
        follower: Option<Follower>,
    ) -> Result<Self, String> {
        let config = shared.quic.clone().ok_or("no certificates are known")?;
        let session = Session::open(endpoint, config, port).await;
        let session = session.map_err(|error| error.to_string())?;
        shared.watch(session.connection.clone());
        let mut packets = Vec::new();
        member.open(&shared.ledger, session.max_datagram, &mut packets);
        Ok(Quic { session, partial: Vec::new(), packets, member, follower })
    }

    /// Waits for the next bytes of the stream, or the next datagram.
    pub(super) async fn next(&mut self) -> Result<News, String> {
        let mut space = [0; READ];
        select! {
            read = self.session.reader.read(&mut space) => match read {
                Ok(Some(count)) => Ok(News::Stream(space[..count].to_vec())),
                Ok(None) => Err("the server ended the stream".to_owned()),
                Err(error) => Err(error.to_string()),
            },
            datagram = self.session.connection.read_datagram() => {
                datagram.map(|bytes| News::Datagram(bytes.to_vec())).map_err(|error| error.to_string())
            }
        }
    }

    pub(super) fn take(&mut self, shared: &FanoutState, news: News) -> Result<(), String> {
        match news {
            News::Datagram(datagram) => {
                if let Some(packet) = self.session.payload(&datagram) {
                    self.receive_datagram(shared, packet);
                }
            }
            News::Stream(bytes) => {
                self.partial.extend(bytes);
                while let Some((start, end)) = packet(&self.partial)? {
                    let rest = self.partial.split_off(end);
                    let bytes = std::mem::replace(&mut self.partial, rest);
                    self.receive(shared, &bytes[start..])?;
                }
            }
        }
        Ok(())
    }

    fn receive_datagram(&mut self, shared: &FanoutState, packet: &[u8]) {
        let at = shared.ledger.now();
        let Quic { member, follower, .. } = self;
        let is_followed = follower.as_mut().is_some_and(|follower| {
            desk(shared, member, at, |desk| follower.datagram(desk, packet))
        });
        if !is_followed {
            member.receive_datagram(&shared.ledger, at, packet, &mut self.packets);
        }
    }

    fn receive(&mut self, shared: &FanoutState, packet: &[u8]) -> Result<(), String> {
        let at = shared.ledger.now();
        let Quic { member, follower, packets, .. } = self;
        // Frames of groups come only once the client is ready.
        let Some(follower) = follower.as_mut().filter(|_| member.is_ready) else {
            member.receive(&shared.ledger, at, packet, packets);
            return Ok(());
        };
        let mut left = Vec::new();
        desk(shared, member, at, |desk| follower.packet(desk, packet, &mut left, packets))?;
        if !left.is_empty() {
            member.receive(&shared.ledger, at, &left, packets);
        }
        Ok(())
    }

    pub(super) fn send_message(&mut self, shared: &FanoutState, message: &[u8]) {
        self.member.send_message(&shared.ledger, message, &mut self.packets);
    }

    pub(super) fn due(&mut self, shared: &FanoutState) -> Option<u64> {
        let followed = self.follower.as_ref().and_then(Follower::due);
        let due = self.member.due(&shared.ledger, &mut self.packets);
        due.into_iter().chain(followed).min()
    }

    pub(super) fn wake(&mut self, shared: &FanoutState) {
        let now = shared.ledger.now();
        if let Some(follower) = self.follower.as_mut().filter(|one| one.due().is_some()) {
            let reference = shared.reference.lock().unwrap_or_else(PoisonError::into_inner);
            follower.wake(&reference, now, &mut self.packets);
        }
        self.member.wake(&shared.ledger, &mut self.packets);
    }

    pub(super) async fn flush(&mut self) -> Result<(), String> {
        for packet in std::mem::take(&mut self.packets) {
            match packet {
                Packet::Datagram(packet) => self.session.send_datagram(&packet),
                Packet::Stream(packet) => {
                    let mut bytes = Vec::with_capacity(LENGTH + packet.len());
                    write_varint(packet.len() as u64, &mut bytes);
                    bytes.extend(packet);
                    let sent = self.session.writer.write_all(&bytes).await;
                    sent.map_err(|error| error.to_string())?;
                }
            }
        }
        Ok(())
    }
}

/// Calls `work` with the state that a follower needs.
fn desk<T>(
    shared: &FanoutState,
    member: &mut Member,
    at: u64,
    work: impl FnOnce(&mut Desk<'_>) -> T,
) -> T {
    let tally = &mut member.tally;
    work(&mut Desk { ledger: &shared.ledger, reference: &shared.reference, tally, at })
}

/// The start and the end of the first packet of a stream, if the packet has arrived completely
/// (T1).
fn packet(bytes: &[u8]) -> Result<Option<(usize, usize)>, String> {
    let mut rest = bytes;
    let Some(size) = varint(&mut rest) else {
        return if bytes.len() < LENGTH {
            Ok(None)
        } else {
            Err("no length of a packet".to_owned())
        };
    };
    let start = bytes.len() - rest.len();
    if start > LENGTH {
        return Err("no length of a packet".to_owned());
    }
    let end = start + size as usize;
    Ok((bytes.len() >= end).then_some((start, end)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn t1_packets_are_found_when_they_are_there() {
        for size in [0, 127, 128, 20_000] {
            let mut bytes = Vec::new();
            write_varint(size as u64, &mut bytes);
            let start = bytes.len();
            bytes.resize(start + size, 7);
            if size > 0 {
                assert_eq!(packet(&bytes[..start + size - 1]), Ok(None));
            }
            bytes.push(9);
            assert_eq!(packet(&bytes), Ok(Some((start, start + size))));
        }
        assert_eq!(packet(&[]), Ok(None));
        assert!(packet(&[0xff; 4]).is_err());
    }
}
