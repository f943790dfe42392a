//! Frames between an *edge*, the server that a client is connected to, and the *owner*, the server
//! that has the client's room. A frame is a length and as many bytes: the kind, the number of the
//! connection at the edge, and the fields of the kind.

use std::time::Duration;

use axum::body::Bytes;
use groupwire_quic::Fate;
use groupwire_session::{Error, Identity, PathNeeds};

use super::fields::{
    Fields, Malformed, put_bytes, put_duration, put_error, put_fate, put_identity, put_links,
    put_needs,
};
use crate::ends::framing::put_varint;

/// The most bytes of a frame beside its packet: its numbers, an identity with its rights, and the
/// numbers of connections that share a packet.
pub(super) const MAX_HEAD: usize = 256 << 10;

/// The most connections of a frame that share a packet, so that their numbers fit.
pub(super) const MAX_SHARING: usize = 16 << 10;

/// A frame from the edge to the owner.
#[derive(Debug, PartialEq)]
pub(super) enum ToOwner {
    /// A client that may join sent its first packet.
    Join(Join),
    Packet {
        link: u64,
        packet: Bytes,
    },
    Datagram {
        link: u64,
        packet: Bytes,
    },
    /// The connections handed one packet each to the kernel or to QUIC.
    Sent {
        links: Vec<u64>,
    },
    /// The connection sent one datagram, or dropped it.
    DatagramGone {
        link: u64,
        fate: Fate,
    },
    /// The connection ends because of an error.
    Fail {
        link: u64,
        error: Error,
    },
    Closed {
        link: u64,
    },
    Renewed {
        link: u64,
        identity: Identity,
    },
    TokenWanted {
        link: u64,
    },
    /// The edge has a mirror of the room of this name. Its packets follow, and those for it go to
    /// this number.
    Mirror {
        link: u64,
        room: String,
    },
}

/// The first packet of a client, with what the edge knows of it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Join {
    pub(super) link: u64,
    /// The number of the transport's name in a list that all servers have.
    pub(super) transport: u8,
    /// True if the participant is one of the edge itself.
    pub(super) is_own: bool,
    /// The most bytes of a datagram; 0 if the transport has no datagrams.
    pub(super) max_datagram: u64,
    pub(super) identity: Identity,
    pub(super) opening: Bytes,
}

/// A frame from the owner to the edge.
#[derive(Debug, PartialEq)]
pub(super) enum ToEdge {
    Packet {
        link: u64,
        packet: Bytes,
    },
    /// A packet to several connections.
    Shared {
        links: Vec<u64>,
        packet: Bytes,
    },
    /// A last packet.
    Close {
        link: u64,
        reason: Option<Error>,
        packet: Bytes,
    },
    Datagram {
        link: u64,
        needs: PathNeeds,
        packet: Bytes,
    },
    /// A datagram that is sent at once or not at all.
    SharedDatagram {
        link: u64,
        packet: Bytes,
    },
    /// Nothing is to be read from the client for this time.
    Hold {
        link: u64,
        time: Duration,
    },
    /// A token of the client to be checked.
    Token {
        link: u64,
        token: Bytes,
    },
    /// The room has handled packets and datagrams of the client.
    Handled {
        link: u64,
        count: u64,
    },
    /// The client is not taken now, and comes back after this time.
    Deferred {
        link: u64,
        retry: Duration,
    },
}

impl ToOwner {
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        match self {
            ToOwner::Join(join) => {
                head(0, join.link, out);
                out.extend([join.transport, join.is_own.into()]);
                put_varint(join.max_datagram, out);
                put_identity(&join.identity, out);
                out.extend_from_slice(&join.opening);
            }
            ToOwner::Packet { link, packet } => {
                head(1, *link, out);
                out.extend_from_slice(packet);
            }
            ToOwner::Datagram { link, packet } => {
                head(2, *link, out);
                out.extend_from_slice(packet);
            }
            ToOwner::Sent { links } => Self::write_sent(links, out),
            ToOwner::DatagramGone { link, fate } => {
                head(4, *link, out);
                put_fate(*fate, out);
            }
            ToOwner::Fail { link, error } => {
                head(5, *link, out);
                put_error(error, out);
            }
            ToOwner::Closed { link } => head(6, *link, out),
            ToOwner::Renewed { link, identity } => {
                head(7, *link, out);
                put_identity(identity, out);
            }
            ToOwner::TokenWanted { link } => head(8, *link, out),
            ToOwner::Mirror { link, room } => {
                head(9, *link, out);
                put_bytes(room.as_bytes(), out);
            }
        }
    }

    /// Writes [`ToOwner::Sent`].
    pub(super) fn write_sent(links: &[u64], out: &mut Vec<u8>) {
        out.push(3);
        put_links(links, out);
    }

    /// # Errors
    /// The frame is malformed.
    pub(super) fn read(frame: Bytes) -> Result<Self, Malformed> {
        let mut fields = Fields::new(frame);
        let (kind, link) = (fields.byte()?, fields.number()?);
        let frame = match kind {
            0 => ToOwner::Join(Join {
                link,
                transport: fields.byte()?,
                is_own: fields.flag()?,
                max_datagram: fields.number()?,
                identity: fields.identity()?,
                opening: fields.rest(),
            }),
            1 => ToOwner::Packet { link, packet: fields.rest() },
            2 => ToOwner::Datagram { link, packet: fields.rest() },
            // Here the number is that of the connections.
            3 => ToOwner::Sent { links: fields.links(link)? },
            4 => ToOwner::DatagramGone { link, fate: fields.fate()? },
            5 => ToOwner::Fail { link, error: fields.error()? },
            6 => ToOwner::Closed { link },
            7 => ToOwner::Renewed { link, identity: fields.identity()? },
            8 => ToOwner::TokenWanted { link },
            9 => ToOwner::Mirror { link, room: fields.text()? },
            _ => return Err(Malformed("no frame to an owner has this kind")),
        };
        fields.end().map(|()| frame)
    }
}

impl ToEdge {
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        match self {
            ToEdge::Packet { link, packet } => write_packet(*link, packet, out),
            ToEdge::Shared { links, packet } => write_shared(links, packet, out),
            ToEdge::Close { link, reason, packet } => {
                head(2, *link, out);
                out.push(reason.is_some().into());
                reason.iter().for_each(|reason| put_error(reason, out));
                out.extend_from_slice(packet);
            }
            ToEdge::Datagram { link, needs, packet } => {
                head(3, *link, out);
                put_needs(*needs, out);
                out.extend_from_slice(packet);
            }
            ToEdge::SharedDatagram { link, packet } => {
                write_shared_datagram(*link, [packet, &[]], out);
            }
            ToEdge::Hold { link, time } => {
                head(5, *link, out);
                put_duration(*time, out);
            }
            ToEdge::Token { link, token } => {
                head(6, *link, out);
                put_bytes(token, out);
            }
            ToEdge::Handled { link, count } => {
                head(7, *link, out);
                put_varint(*count, out);
            }
            ToEdge::Deferred { link, retry } => {
                head(8, *link, out);
                put_duration(*retry, out);
            }
        }
    }

    /// # Errors
    /// The frame is malformed.
    pub(super) fn read(frame: Bytes) -> Result<Self, Malformed> {
        let mut fields = Fields::new(frame);
        let (kind, link) = (fields.byte()?, fields.number()?);
        let frame = match kind {
            0 => ToEdge::Packet { link, packet: fields.rest() },
            // Here the number is that of the connections.
            1 => ToEdge::Shared { links: fields.links(link)?, packet: fields.rest() },
            2 => {
                let reason = match fields.flag()? {
                    true => Some(fields.error()?),
                    false => None,
                };
                ToEdge::Close { link, reason, packet: fields.rest() }
            }
            3 => ToEdge::Datagram { link, needs: fields.needs()?, packet: fields.rest() },
            4 => ToEdge::SharedDatagram { link, packet: fields.rest() },
            5 => ToEdge::Hold { link, time: fields.duration()? },
            6 => ToEdge::Token { link, token: fields.bytes()? },
            7 => ToEdge::Handled { link, count: fields.number()? },
            8 => ToEdge::Deferred { link, retry: fields.duration()? },
            _ => return Err(Malformed("no frame to an edge has this kind")),
        };
        fields.end().map(|()| frame)
    }
}

/// Writes [`ToEdge::Packet`] without a copy of the packet.
pub(super) fn write_packet(link: u64, packet: &[u8], out: &mut Vec<u8>) {
    head(0, link, out);
    out.extend_from_slice(packet);
}

/// Writes [`ToEdge::Shared`] without a copy of the packet.
pub(super) fn write_shared(links: &[u64], packet: &[u8], out: &mut Vec<u8>) {
    out.push(1);
    put_links(links, out);
    out.extend_from_slice(packet);
}

/// Writes [`ToEdge::SharedDatagram`] from its two parts.
pub(super) fn write_shared_datagram(link: u64, parts: [&[u8]; 2], out: &mut Vec<u8>) {
    head(4, link, out);
    parts.iter().for_each(|part| out.extend_from_slice(part));
}

fn head(kind: u8, link: u64, out: &mut Vec<u8>) {
    out.push(kind);
    put_varint(link, out);
}

#[cfg(test)]
mod tests {
    use groupwire_session::Fault;
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    fn bytes() -> impl Strategy<Value = Bytes> {
        vec(any::<u8>(), 0..200).prop_map(Bytes::from)
    }

    fn identity() -> impl Strategy<Value = Identity> {
        (vec(any::<u8>(), 0..20), vec(any::<u8>(), 0..20))
            .prop_map(|(subject, rights)| Identity { subject, rights })
    }

    fn error() -> impl Strategy<Value = Error> {
        let faults = prop::sample::select(vec![
            Fault::Peer,
            Fault::Incompatible,
            Fault::Limit,
            Fault::Refused,
            Fault::Own,
        ]);
        (any::<u32>(), faults, any::<String>()).prop_map(|(code, fault, detail)| Error::Remote {
            code,
            fault,
            detail,
        })
    }

    fn fate() -> impl Strategy<Value = Fate> {
        any::<bool>().prop_map(|sent| if sent { Fate::Sent } else { Fate::Dropped })
    }

    fn time() -> impl Strategy<Value = Duration> {
        any::<u64>().prop_map(Duration::from_micros)
    }

    fn join() -> impl Strategy<Value = Join> {
        (any::<u64>(), any::<u8>(), any::<bool>(), any::<u64>(), identity(), bytes()).prop_map(
            |(link, transport, is_own, max_datagram, identity, opening)| Join {
                link,
                transport,
                is_own,
                max_datagram,
                identity,
                opening,
            },
        )
    }

    fn to_owner() -> impl Strategy<Value = ToOwner> {
        let link = any::<u64>;
        prop_oneof![
            join().prop_map(ToOwner::Join),
            (link(), bytes()).prop_map(|(link, packet)| ToOwner::Packet { link, packet }),
            (link(), bytes()).prop_map(|(link, packet)| ToOwner::Datagram { link, packet }),
            vec(link(), 0..20).prop_map(|links| ToOwner::Sent { links }),
            (link(), fate()).prop_map(|(link, fate)| ToOwner::DatagramGone { link, fate }),
            (link(), error()).prop_map(|(link, error)| ToOwner::Fail { link, error }),
            link().prop_map(|link| ToOwner::Closed { link }),
            (link(), identity()).prop_map(|(link, identity)| ToOwner::Renewed { link, identity }),
            link().prop_map(|link| ToOwner::TokenWanted { link }),
        ]
    }

    fn to_edge() -> impl Strategy<Value = ToEdge> {
        let link = any::<u64>;
        let needs = (any::<u32>(), any::<bool>())
            .prop_map(|(minimum_rate, is_limited)| PathNeeds { minimum_rate, is_limited });
        prop_oneof![
            (link(), bytes()).prop_map(|(link, packet)| ToEdge::Packet { link, packet }),
            (vec(link(), 0..20), bytes())
                .prop_map(|(links, packet)| ToEdge::Shared { links, packet }),
            (link(), prop::option::of(error()), bytes())
                .prop_map(|(link, reason, packet)| ToEdge::Close { link, reason, packet }),
            (link(), needs, bytes()).prop_map(|(link, needs, packet)| ToEdge::Datagram {
                link,
                needs,
                packet
            }),
            (link(), bytes()).prop_map(|(link, packet)| ToEdge::SharedDatagram { link, packet }),
            (link(), time()).prop_map(|(link, time)| ToEdge::Hold { link, time }),
            (link(), bytes()).prop_map(|(link, token)| ToEdge::Token { link, token }),
            (link(), any::<u64>()).prop_map(|(link, count)| ToEdge::Handled { link, count }),
            (link(), time()).prop_map(|(link, retry)| ToEdge::Deferred { link, retry }),
        ]
    }

    proptest! {
        #[test]
        fn frames_to_an_owner_round_trip(frame in to_owner()) {
            let mut out = Vec::new();
            frame.write(&mut out);
            prop_assert_eq!(ToOwner::read(out.into()).unwrap(), frame);
        }

        #[test]
        fn frames_to_an_edge_round_trip(frame in to_edge()) {
            let mut out = Vec::new();
            frame.write(&mut out);
            prop_assert_eq!(ToEdge::read(out.into()).unwrap(), frame);
        }

        #[test]
        fn random_bytes_never_panic(bytes in bytes()) {
            let _ = ToOwner::read(bytes.clone());
            let _ = ToEdge::read(bytes);
        }
    }
}
