//! TCP as Linux has it, as far as the latency and bytes of small messages depend on it: an ordered
//! reliable stream over links that lose.
//!
//! What there is: segments as long as real ones, no Nagle, selective acknowledgements,
//! retransmission after three duplicate acknowledgements, after one and a quarter of a round trip
//! (RACK), after a tail loss probe, or after a timeout of the round trip and at least 200 ms,
//! doubled each time; small segments that are sent again are joined; slow start and CUBIC from a
//! first window of 10, proportional rate reduction after a loss; acknowledgements at once from an
//! end that only receives, and when something is missing, else delayed by 40 ms or for a second
//! segment.
//!
//! What there is not: opening and closing (the connection stands), flow control (the application
//! reads at once), undoing what turns out to have been too early (DSACK, F-RTO).

mod cubic;
mod rack;
mod receiver;
mod rtt;
mod segment;
mod sender;

use std::time::Duration;

use receiver::Receiver;
use segment::Segment;
use sender::Sender;

/// The bytes of the length before each message.
const LENGTH: usize = 2;

/// One end of a connection, without a network: messages go in and out, segments go out and in.
#[derive(Debug, Default)]
pub struct TcpConnection {
    port: u32,
    sender: Sender,
    receiver: Receiver,
    /// Space for a segment that is being written.
    packet: Vec<u8>,
    data: Vec<u8>,
}

impl TcpConnection {
    /// An end of an open connection. Both ends have the same port; later connections between the
    /// same nodes have others.
    pub fn new(port: u32) -> Self {
        TcpConnection { port, ..TcpConnection::default() }
    }

    /// The port that names the connection.
    pub fn port(&self) -> u32 {
        self.port
    }

    /// The port that a segment is for; `None` if it is damaged.
    pub fn port_of(packet: &[u8]) -> Option<u32> {
        Segment::read(packet).map(|segment| segment.port)
    }

    /// Writes a message; it leaves with the next [`TcpConnection::poll`] if the congestion window
    /// allows.
    ///
    /// # Panics
    /// If it is longer than 65,535 bytes.
    pub fn write(&mut self, message: &[u8]) {
        let length = u16::try_from(message.len()).expect("messages have up to 65,535 bytes");
        self.sender.write(length.to_be_bytes().into_iter().chain(message.iter().copied()));
    }

    /// The next message that has arrived completely, after all earlier ones were read.
    pub fn read(&mut self) -> Option<Vec<u8>> {
        let stream = self.receiver.ready();
        let length = u16::from_be_bytes([*stream.front()?, *stream.get(1)?]);
        let end = LENGTH + usize::from(length);
        (stream.len() >= end).then(|| stream.drain(..end).skip(LENGTH).collect())
    }

    /// Handles a segment. Damaged segments are dropped, and so are those of other connections.
    pub fn receive(&mut self, now: Duration, packet: &[u8]) {
        let Some(segment) = Segment::read(packet).filter(|one| one.port == self.port) else {
            return;
        };
        self.sender.acknowledged(now, segment.ack, &segment.sacks);
        self.receiver.receive(now, segment.seq, segment.data);
    }

    /// Sends the segments that are due. Returns the time of the next timeout.
    pub fn poll(&mut self, now: Duration, send: &mut dyn FnMut(&[u8])) -> Option<Duration> {
        self.sender.check_timers(now);
        while let Some(chunk) = self.sender.send(now) {
            self.data.clear();
            self.sender.copy(&chunk, &mut self.data);
            self.receiver.data_leaves(now);
            self.send_segment(chunk.seq, send);
        }
        if self.receiver.due().is_some_and(|due| due <= now) {
            self.data.clear();
            self.receiver.goes_alone(now);
            self.send_segment(self.sender.next(), send);
        }
        [self.sender.expires(), self.receiver.due()].into_iter().flatten().min()
    }

    /// Bytes written, lengths among them, that the other end has not acknowledged.
    pub fn pending(&self) -> usize {
        self.sender.pending()
    }

    /// Bytes that were never sent, because the congestion window is full.
    pub fn unsent(&self) -> usize {
        self.sender.unsent()
    }

    /// Sends `data` with the newest acknowledgement.
    fn send_segment(&mut self, seq: u64, send: &mut dyn FnMut(&[u8])) {
        let (ack, sacks) = self.receiver.acknowledge();
        self.packet.clear();
        Segment { port: self.port, seq, ack, sacks, data: &self.data }.write(&mut self.packet);
        send(&self.packet);
    }
}

#[cfg(test)]
mod tests;
