//! QUIC as quinn has it, as far as the latency and bytes of small messages depend on it: one stream
//! and datagrams over links that lose, as a WebTransport session uses them.
//!
//! What there is: short headers, frames and tags as long as real ones, with a connection id towards
//! the server and none towards its client; what goes at one instant in as few packets as it fits;
//! acknowledgements after a number of packets, after a time, with data that goes, and at once when
//! something is missing, as the other end asked (quinn does not ask again if that frame is lost) or
//! as usual; loss after three later packets or after nine eighths of a round trip, retransmission
//! of the stream's data, probes (two PINGs or IMMEDIATE_ACKs, as quinn sends them when nothing
//! waits) after a timeout that doubles; the congestion control of `groupwire-quic` at our ends,
//! NewReno with a window of two packets at least at others'; datagrams that wait for it, and are
//! dropped after 100 ms.
//!
//! What there is not: opening and closing (the connection stands), pacing, flow control, changes of
//! keys and ids, the streams of HTTP/3, and the search for packets larger than 1200 bytes, which
//! the ends of `groupwire-quic` do not do either (T27).

mod acks;
mod ends;
mod packet;
mod ranges;
mod recovery;
mod stream;
#[cfg(test)]
mod tests;
mod window;

use std::collections::VecDeque;
use std::time::Duration;

use groupwire_session::PathNeeds;

use acks::Acks;
pub use ends::Ends;
use packet::{Frame, MTU, Reader, Writer};
use recovery::{Recovery, Sent};
use stream::{Incoming, Outgoing};

/// T6: a datagram that could not be sent for this time is dropped.
const MAX_AGE: Duration = Duration::from_millis(100);

/// The size of the largest datagram, which fits into a packet towards a server, alone.
pub const MAX_DATAGRAM: usize =
    MTU - packet::overhead(Side::Client, Ends::Plain) - packet::DATAGRAM_FRAME;

/// The two ends of a connection. Headers towards the server are longer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// The end that opened the connection.
    Client,
    /// The end that accepted the connection.
    Server,
}

/// Counts of the datagrams that this end was given to send.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Gone {
    /// Datagrams that were sent.
    pub sent: u32,
    /// Datagrams that were too large, or could not be sent in time.
    pub dropped: u32,
}

/// One end of a connection, without a network: messages of the stream and datagrams go in and out,
/// packets go out and in.
#[derive(Debug)]
pub struct QuicConnection {
    port: u32,
    side: Side,
    ends: Ends,
    recovery: Recovery,
    acks: Acks,
    outgoing: Outgoing,
    incoming: Incoming,
    /// The datagrams to be sent, and when the application passed them.
    datagrams: VecDeque<(Duration, Vec<u8>)>,
    arrived: VecDeque<Vec<u8>>,
    /// Datagrams that were sent or dropped, and not yet reported.
    gone: Gone,
}

impl QuicConnection {
    /// An end of an open connection. Both ends have the same port and the same `ends`; later
    /// connections between the same nodes have other ports.
    pub fn new(port: u32, side: Side, ends: Ends) -> Self {
        QuicConnection {
            port,
            side,
            ends,
            recovery: Recovery::new(ends, side),
            acks: Acks::new(),
            outgoing: Outgoing::default(),
            incoming: Incoming::default(),
            datagrams: VecDeque::new(),
            arrived: VecDeque::new(),
            gone: Gone::default(),
        }
    }

    /// The port that names the connection.
    pub fn port(&self) -> u32 {
        self.port
    }

    /// The port that a packet is for; `None` if it is damaged or no packet of QUIC.
    pub fn port_of(packet: &[u8]) -> Option<u32> {
        packet::tag(packet).map(|(port, _)| port)
    }

    /// Writes a message to the stream; it leaves with the next [`QuicConnection::poll`] if the
    /// congestion window allows.
    ///
    /// # Panics
    /// If it is longer than 65,535 bytes.
    pub fn write(&mut self, message: &[u8]) {
        self.outgoing.write(message);
    }

    /// The next message of the stream that has arrived completely, after all earlier ones were
    /// read.
    pub fn read(&mut self) -> Option<Vec<u8>> {
        self.incoming.read()
    }

    /// Queues a datagram of up to [`MAX_DATAGRAM`] bytes; a larger one is dropped, as QUIC does.
    pub fn send_datagram(&mut self, now: Duration, datagram: Vec<u8>) {
        match datagram.len() <= MAX_DATAGRAM {
            true => self.datagrams.push_back((now, datagram)),
            false => self.gone.dropped += 1,
        }
    }

    /// The next datagram that has arrived.
    pub fn read_datagram(&mut self) -> Option<Vec<u8>> {
        self.arrived.pop_front()
    }

    /// Sets the session's needs in the congestion control.
    pub fn set_needs(&mut self, needs: PathNeeds) {
        self.recovery.window.set_needs(needs);
    }

    /// The datagrams that were sent or dropped since the last call.
    pub fn take_gone(&mut self) -> Gone {
        std::mem::take(&mut self.gone)
    }

    /// Bytes written to the stream that were never sent.
    pub fn unsent(&self) -> usize {
        self.outgoing.unsent()
    }

    /// Handles a packet. Damaged packets are dropped, and so are repeated ones, and those of other
    /// connections.
    pub fn receive(&mut self, now: Duration, packet: &[u8]) {
        let sender = match self.side {
            Side::Client => Side::Server,
            Side::Server => Side::Client,
        };
        let Some((port, number)) = packet::tag(packet) else { return };
        if port != self.port || self.acks.has(number) {
            return;
        }
        let (mut is_eliciting, mut is_hurried) = (false, false);
        let mut reader = Reader::new(packet, sender, self.ends);
        while let Some(frame) = reader.next() {
            match frame {
                Frame::Ack { ranges, delay } => {
                    let outcome = self.recovery.acknowledged(now, &ranges, delay);
                    outcome.acked.iter().for_each(|range| self.outgoing.acknowledged(range));
                    outcome.lost.iter().for_each(|range| self.outgoing.lost(range));
                    if let Some(largest) = outcome.acks_seen {
                        self.acks.seen_up_to(largest);
                    }
                }
                Frame::Ping => is_eliciting = true,
                Frame::ImmediateAck => {
                    is_eliciting = true;
                    is_hurried = true;
                }
                Frame::AckFrequency(asked) => {
                    is_eliciting = true;
                    self.acks.ask(asked);
                }
                Frame::Stream { offset, data } => {
                    is_eliciting = true;
                    self.incoming.insert(offset, data);
                }
                Frame::Datagram(data) => {
                    is_eliciting = true;
                    self.arrived.push_back(data.to_vec());
                }
            }
        }
        self.acks.received(now, number, is_eliciting);
        if is_hurried {
            self.acks.hurry(now);
        }
    }

    /// Sends the packets that are due. Returns the time of the next timeout.
    pub fn poll(&mut self, now: Duration, send: &mut dyn FnMut(&[u8])) -> Option<Duration> {
        for range in self.recovery.check_timers(now) {
            self.outgoing.lost(&range);
        }
        while self.datagrams.front().is_some_and(|(made, _)| now > *made + MAX_AGE) {
            self.datagrams.pop_front();
            self.gone.dropped += 1;
        }
        loop {
            let asks = self.recovery.asking.wanted(self.recovery.rtt()).is_some();
            let has_data = asks || self.outgoing.has_data() || !self.datagrams.is_empty();
            let has_room = self.recovery.has_room(now);
            self.recovery.is_idle = !has_data && has_room;
            let may_send = self.recovery.probes > 0 || (has_data && has_room);
            if !may_send && !self.acks.is_due(now) {
                break;
            }
            self.send_packet(now, may_send, send);
        }
        let stale =
            self.datagrams.front().map(|(made, _)| *made + MAX_AGE + Duration::from_nanos(1));
        [self.recovery.timer(), self.acks.due(), stale].into_iter().flatten().min()
    }

    /// Sends a packet with an acknowledgement, if there is something to acknowledge, and data if
    /// there `may` be any.
    fn send_packet(&mut self, now: Duration, may: bool, send: &mut dyn FnMut(&[u8])) {
        let number = self.recovery.next_number();
        let mut writer = Writer::new(self.side, self.ends);
        let mut sent = Sent::at(now);
        if let Some((ranges, delay)) = self.acks.take(now) {
            sent.ack = ranges.last().map(|range| range.end - 1);
            writer.ack(ranges, delay);
        }
        if may {
            if let Some(asked) = self.recovery.asking.wanted(self.recovery.rtt()) {
                let sequence = self.recovery.asking.asks(number, asked.max_delay);
                writer.ack_frequency(sequence, asked);
                sent.is_eliciting = true;
            }
            while self.datagrams.front().is_some_and(|(_, one)| writer.fits_datagram(one.len())) {
                if let Some((_, datagram)) = self.datagrams.pop_front() {
                    writer.datagram(&datagram);
                    self.gone.sent += 1;
                    sent.is_eliciting = true;
                }
            }
            if let Some((offset, data)) = self.outgoing.take(writer.room_for_stream()) {
                writer.stream(offset, &data);
                sent.stream = Some(offset..offset + data.len() as u64);
                sent.is_eliciting = true;
            }
            if !sent.is_eliciting {
                match self.ends.know_extension() {
                    true => writer.immediate_ack(),
                    false => writer.ping(),
                }
                sent.is_eliciting = true;
            }
        }
        let packet = writer.finish(self.port, number);
        sent.bytes = packet.len();
        self.recovery.sent(number, sent);
        send(&packet);
    }
}
