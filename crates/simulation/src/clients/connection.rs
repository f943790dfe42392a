//! A connection between a participant and the server, over a simulated network.

use std::collections::VecDeque;
use std::task::Waker;
use std::time::Duration;

use groupwire_client::world::LinkEvent;

use crate::clients::path::Way;

/// The size of the sender's socket buffer: packets that have left but not arrived. If they have
/// more bytes, the sender has to wait.
const WINDOW: usize = 65_536;

/// Bytes of the largest datagram: QUIC's packet size before path MTU discovery, less its headers.
const MAX_DATAGRAM: usize = 1200;

/// A number that no other connection of a simulation has.
pub(crate) type Number = u32;

/// What one end of a connection gets from the other one.
pub(crate) enum Arrival {
    Packet(Vec<u8>),
    /// The other end has closed the connection.
    End,
}

/// Something on its way, in order with what else is on the stream.
pub(crate) struct Flight {
    pub(crate) bytes: usize,
    pub(crate) arrival: Arrival,
    /// True if the sender is told that it has left only when it arrives: the buffer was full.
    pub(crate) is_blocked: bool,
}

/// One direction of the stream.
#[derive(Default)]
pub(crate) struct Lane {
    /// When the packet that was sent last arrives.
    pub(crate) last: Duration,
    /// Packets under way, in the order in which they were sent.
    pub(crate) under_way: VecDeque<Flight>,
    /// The bytes of these packets.
    bytes: usize,
}

impl Lane {
    /// Adds a packet; returns whether the sender has to wait.
    pub(crate) fn put(&mut self, bytes: usize, arrival: Arrival) -> bool {
        self.bytes += bytes;
        let is_blocked = self.bytes > WINDOW;
        self.under_way.push_back(Flight { bytes, arrival, is_blocked });
        is_blocked
    }

    /// Takes the oldest packet, so that the order is kept even if a partition delays some arrivals.
    pub(crate) fn take(&mut self) -> Option<Flight> {
        let flight = self.under_way.pop_front()?;
        self.bytes -= flight.bytes;
        Some(flight)
    }
}

/// Whether a connection is open for the participant that opens it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Opening {
    Waiting,
    Open,
    Refused,
}

pub(crate) struct Connection {
    pub(crate) member: usize,
    /// The index of its room.
    pub(crate) room: usize,
    pub(crate) has_datagrams: bool,
    pub(crate) opening: Opening,
    pub(crate) lanes: [Lane; 2],
    /// True for an end to which nothing is reported any more.
    pub(crate) is_client_deaf: bool,
    pub(crate) is_server_deaf: bool,
    /// Nothing arrives any more.
    pub(crate) is_broken: bool,
    inbox: VecDeque<LinkEvent>,
    /// Wakes the participant that waits for the opening or for an event.
    waker: Option<Waker>,
}

impl Connection {
    pub(crate) fn new(member: usize, room: usize, has_datagrams: bool) -> Connection {
        Connection {
            member,
            room,
            has_datagrams,
            opening: Opening::Waiting,
            lanes: Default::default(),
            is_client_deaf: false,
            is_server_deaf: false,
            is_broken: false,
            inbox: VecDeque::new(),
            waker: None,
        }
    }

    pub(crate) fn max_datagram(&self) -> usize {
        if self.has_datagrams { MAX_DATAGRAM } else { 0 }
    }

    /// Round trips until the connection is open: QUIC with TLS, then HTTP/3; or TCP, TLS and HTTP
    /// one after the other.
    pub(crate) fn round_trips(&self) -> u32 {
        if self.has_datagrams { 2 } else { 3 }
    }

    pub(crate) fn lane(&mut self, way: Way) -> &mut Lane {
        &mut self.lanes[way as usize]
    }

    /// True once neither end can use the connection any more.
    pub(crate) fn is_over(&self) -> bool {
        let never_opened = self.opening != Opening::Open;
        self.is_broken || (self.is_client_deaf && (self.is_server_deaf || never_opened))
    }

    /// True while packets of the stream have not arrived, or it opens.
    pub(crate) fn is_busy(&self) -> bool {
        let is_opening = self.opening == Opening::Waiting && !self.is_client_deaf;
        let has_packets = self.lanes.iter().any(|lane| !lane.under_way.is_empty());
        !self.is_over() && (is_opening || has_packets)
    }

    /// The opening has an outcome.
    pub(crate) fn opened(&mut self, opening: Opening) {
        self.opening = opening;
        self.wake();
    }

    /// Reports an event to the participant.
    pub(crate) fn tell_client(&mut self, event: LinkEvent) {
        if !self.is_client_deaf {
            self.is_client_deaf = event == LinkEvent::Closed;
            self.inbox.push_back(event);
            self.wake();
        }
    }

    /// The next event for the participant. Without `read`, what has arrived waits.
    pub(crate) fn next(&mut self, read: bool) -> Option<LinkEvent> {
        let is_taken = |event: &LinkEvent| {
            read || !matches!(event, LinkEvent::Packet(_) | LinkEvent::Datagram(_))
        };
        let at = self.inbox.iter().position(is_taken)?;
        // The end comes after all that arrived before it.
        if at > 0 && self.inbox[at] == LinkEvent::Closed { None } else { self.inbox.remove(at) }
    }

    pub(crate) fn wait(&mut self, waker: &Waker) {
        self.waker = Some(waker.clone());
    }

    fn wake(&mut self) {
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
    }
}
