//! The same script without Groupwire: one JSON message per datagram, or all messages of a tick,
//! through a relay.
//!
//! Transactions go over the stream. Nothing is repeated, named or numbered: the messages themselves
//! tell all.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use groupwire_session::Kind;

use super::notes::Arrival;
use super::path::{Party, Path, join, wire_bytes};
use super::play::Played;
use super::script::Script;
use crate::sim::http3::{Ends, QuicConnection, Side};
use crate::sim::{Network, Node};

/// The largest number of JSON bytes in one datagram: a packet of the path, less headers.
const MOST: usize = 1100;

/// Plays a script. Each end collects messages for `tick`; zero: it sends each at once.
pub(super) fn play_plain(
    script: &Arc<Script>,
    paths: &[Path],
    tick: Duration,
    seed: u64,
) -> Played {
    let mut network = Network::new();
    network.add(Party::Server(Box::new(Relay::new(tick, paths.len()))));
    for who in 0..paths.len() {
        network.add(Party::Person(Box::new(Person {
            script: Arc::clone(script),
            who,
            end: End::new(Side::Client, tick),
            next: 0,
            arrivals: Vec::new(),
        })));
    }
    join(&mut network, paths, seed);
    network.run_until(script.end + Duration::from_secs(5));
    let arrivals = (1..=paths.len()).map(|node| match network.node(node) {
        Party::Person(person) => person.arrivals.clone(),
        Party::Server(_) => Vec::new(),
    });
    Played {
        arrivals: arrivals.collect(),
        wire_bytes: wire_bytes(&network, paths),
        ..Played::default()
    }
}

/// An end of a connection, with the messages that it collects.
struct End {
    connection: QuicConnection,
    tick: Duration,
    /// The time at which the collected messages are sent.
    due: Option<Duration>,
    last: Option<Duration>,
    /// Messages as JSON that wait to be sent as a datagram, and over the stream.
    datagram: Vec<u8>,
    stream: Vec<u8>,
}

impl End {
    fn new(side: Side, tick: Duration) -> Self {
        let connection = QuicConnection::new(1, side, Ends::Plain);
        End { connection, tick, due: None, last: None, datagram: Vec::new(), stream: Vec::new() }
    }

    fn send(&mut self, now: Duration, message: &[u8], kind: Kind) {
        if kind == Kind::Awareness && self.datagram.len() + message.len() > MOST {
            self.flush(now);
        }
        let list = match kind {
            Kind::Awareness => &mut self.datagram,
            Kind::Transaction => &mut self.stream,
        };
        // Messages in a packet are separated by line feeds.
        if !list.is_empty() {
            list.push(b'\n');
        }
        list.extend_from_slice(message);
        match self.tick.is_zero() {
            true => self.flush(now),
            false => {
                let next = self.last.map_or(now, |last| (last + self.tick).max(now));
                self.due.get_or_insert(next);
            }
        }
    }

    fn flush(&mut self, now: Duration) {
        (self.due, self.last) = (None, Some(now));
        if !self.datagram.is_empty() {
            self.connection.send_datagram(now, std::mem::take(&mut self.datagram));
        }
        if !self.stream.is_empty() {
            self.connection.write(&std::mem::take(&mut self.stream));
        }
    }

    /// Returns the received packets, each with its kind.
    fn receive(&mut self, now: Duration, packet: &[u8]) -> Vec<(Kind, Vec<u8>)> {
        self.connection.receive(now, packet);
        let stream = std::iter::from_fn(|| self.connection.read());
        let mut came: Vec<_> = stream.map(|one| (Kind::Transaction, one)).collect();
        let datagrams = std::iter::from_fn(|| self.connection.read_datagram());
        came.extend(datagrams.map(|one| (Kind::Awareness, one)));
        came
    }

    fn poll(&mut self, now: Duration, send: &mut dyn FnMut(&[u8])) -> Option<Duration> {
        if self.due.is_some_and(|due| due <= now) {
            self.flush(now);
        }
        let wanted = self.connection.poll(now, send);
        [wanted, self.due].into_iter().flatten().min()
    }
}

/// A relay that sends each message to all other ends.
struct Relay {
    /// The ends, by the number of their node.
    ends: BTreeMap<usize, End>,
}

impl Relay {
    fn new(tick: Duration, count: usize) -> Self {
        Relay { ends: (1..=count).map(|node| (node, End::new(Side::Server, tick))).collect() }
    }
}

impl Node for Relay {
    fn receive(&mut self, now: Duration, from: usize, packet: &[u8]) {
        let came = self.ends.get_mut(&from).map(|end| end.receive(now, packet));
        for (kind, messages) in came.into_iter().flatten() {
            for message in messages.split(|byte| *byte == b'\n') {
                for (_, end) in self.ends.iter_mut().filter(|(node, _)| **node != from) {
                    end.send(now, message, kind);
                }
            }
        }
    }

    fn poll(&mut self, now: Duration, send: &mut dyn FnMut(usize, &[u8])) -> Option<Duration> {
        let ends = self.ends.iter_mut();
        ends.filter_map(|(node, end)| end.poll(now, &mut |packet| send(*node, packet))).min()
    }
}

struct Person {
    script: Arc<Script>,
    who: usize,
    end: End,
    next: usize,
    arrivals: Vec<Arrival>,
}

impl Node for Person {
    fn receive(&mut self, now: Duration, _: usize, packet: &[u8]) {
        for (_, messages) in self.end.receive(now, packet) {
            let each = messages.split(|byte| *byte == b'\n');
            let found = each.filter_map(|message| self.script.find(message));
            self.arrivals.extend(found.map(|message| Arrival { at: now, message }));
        }
    }

    fn poll(&mut self, now: Duration, send: &mut dyn FnMut(usize, &[u8])) -> Option<Duration> {
        let script = Arc::clone(&self.script);
        let actions = &script.actions[self.who];
        while let Some(action) = actions.get(self.next).filter(|action| action.at <= now) {
            self.next += 1;
            let kind = script.channels[action.channel].qos.kind;
            self.end.send(now, &action.bytes, kind);
        }
        let wanted = self.end.poll(now, &mut |packet| send(0, packet));
        let next = actions.get(self.next).map(|action| action.at);
        [wanted, next].into_iter().flatten().min()
    }
}
