//! The same frames without Groupwire: each in a datagram, with or without a copy of the one before,
//! or all over a WebSocket, through a server that passes them on.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use super::row::Scheme;
use super::talk::{HEADER, Talk, header};
use crate::sim::http3::{Ends, QuicConnection, Side};
use crate::sim::{Lane, Node, TcpConnection};

/// The bytes that RFC 2198 adds for a redundant block, and Opus for a low-rate copy.
const RED_HEADER: usize = 5;
const LBRR_HEADER: usize = 1;
/// The size of Opus's low-rate copy (LBRR), as a share of the frame's.
const LBRR_SHARE: f64 = 0.6;
/// A copy is sent only with a frame that follows this soon: the offset in RFC 2198 is short, and a
/// later copy is of no use.
const FOLLOWS: u64 = 10;
/// The flag of a message that has a copy of the frame before.
const HAS_COPY: u8 = 1;

/// The transport of a scheme.
pub(super) fn lane(scheme: Scheme) -> Lane {
    if scheme == Scheme::Websocket { Lane::WebSocket } else { Lane::WebTransport }
}

enum End {
    Tcp(Box<TcpConnection>),
    Quic(Box<QuicConnection>),
}

impl End {
    fn new(scheme: Scheme, side: Side) -> Self {
        match lane(scheme) {
            Lane::WebSocket => End::Tcp(Box::new(TcpConnection::new(1))),
            Lane::WebTransport => End::Quic(Box::new(QuicConnection::new(1, side, Ends::Plain))),
        }
    }

    fn send(&mut self, now: Duration, message: &[u8]) {
        match self {
            End::Tcp(tcp) => tcp.write(message),
            End::Quic(quic) => quic.send_datagram(now, message.to_vec()),
        }
    }

    fn receive(&mut self, now: Duration, packet: &[u8]) -> Vec<Vec<u8>> {
        match self {
            End::Tcp(tcp) => {
                tcp.receive(now, packet);
                std::iter::from_fn(|| tcp.read()).collect()
            }
            End::Quic(quic) => {
                quic.receive(now, packet);
                std::iter::from_fn(|| quic.read_datagram()).collect()
            }
        }
    }

    fn poll(&mut self, now: Duration, send: &mut dyn FnMut(&[u8])) -> Option<Duration> {
        match self {
            End::Tcp(tcp) => tcp.poll(now, send),
            End::Quic(quic) => quic.poll(now, send),
        }
    }
}

/// A server that sends each message to all other people at once.
pub(super) struct Relay {
    /// The ends, by the number of their node.
    ends: BTreeMap<usize, End>,
}

impl Relay {
    pub(super) fn new(scheme: Scheme, people: usize) -> Self {
        Relay { ends: (1..=people).map(|node| (node, End::new(scheme, Side::Server))).collect() }
    }
}

impl Node for Relay {
    fn receive(&mut self, now: Duration, from: usize, packet: &[u8]) {
        let came = self.ends.get_mut(&from).map(|end| end.receive(now, packet));
        for message in came.into_iter().flatten() {
            for (_, end) in self.ends.iter_mut().filter(|(node, _)| **node != from) {
                end.send(now, &message);
            }
        }
    }

    fn poll(&mut self, now: Duration, send: &mut dyn FnMut(usize, &[u8])) -> Option<Duration> {
        let ends = self.ends.iter_mut();
        ends.filter_map(|(node, end)| end.poll(now, &mut |packet| send(*node, packet))).min()
    }
}

/// A person who talks and listens.
pub(super) struct Person {
    scheme: Scheme,
    talk: Arc<Talk>,
    who: usize,
    next: usize,
    end: End,
    /// When each frame of the other person came, itself or in a copy.
    pub(super) came: Vec<Option<Duration>>,
}

impl Person {
    pub(super) fn new(scheme: Scheme, talk: &Arc<Talk>, who: usize) -> Self {
        let (end, came) = (End::new(scheme, Side::Client), vec![None; talk.frames[1 - who].len()]);
        Person { scheme, talk: Arc::clone(talk), who, next: 0, end, came }
    }

    /// The message with the frame of this number.
    fn message(&self, number: usize) -> Vec<u8> {
        let frames = &self.talk.frames[self.who];
        let frame = frames[number];
        let before = number.checked_sub(1).map(|before| frames[before]);
        let before = before.filter(|before| before.slot + FOLLOWS >= frame.slot);
        let copy = before.and_then(|before| match self.scheme {
            Scheme::Red => Some(RED_HEADER + before.size),
            Scheme::Lbrr if before.voice => {
                Some(LBRR_HEADER + (before.size as f64 * LBRR_SHARE) as usize)
            }
            _ => None,
        });
        let mut message = header(&frame, if copy.is_some() { HAS_COPY } else { 0 }).to_vec();
        message.resize(HEADER + frame.size + copy.unwrap_or(0), 0x5a);
        message
    }

    fn note(&mut self, now: Duration, number: usize) {
        self.came[number].get_or_insert(now);
    }
}

impl Node for Person {
    fn receive(&mut self, now: Duration, _: usize, packet: &[u8]) {
        for message in self.end.receive(now, packet) {
            let Some(number) = self.talk.find(1 - self.who, &message) else { continue };
            self.note(now, number);
            if message[3] & HAS_COPY != 0 {
                self.note(now, number - 1);
            }
        }
    }

    fn poll(&mut self, now: Duration, send: &mut dyn FnMut(usize, &[u8])) -> Option<Duration> {
        let talk = Arc::clone(&self.talk);
        let frames = &talk.frames[self.who];
        while frames.get(self.next).is_some_and(|frame| frame.at() <= now) {
            let message = self.message(self.next);
            self.end.send(now, &message);
            self.next += 1;
        }
        let wanted = self.end.poll(now, &mut |packet| send(0, packet));
        let next = frames.get(self.next).map(|frame| frame.at());
        [wanted, next].into_iter().flatten().min()
    }
}
