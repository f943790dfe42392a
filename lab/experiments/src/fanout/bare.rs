//! The system `bare`, a lower bound: what must a delivery cost a program that does nothing else?
//!
//! A server of one thread on WebSockets. It reads the senders' messages, and at each tick it writes
//! the same packet to every connection with one system call each: the names of the messages that
//! came, three bytes a message, which is about what Groupwire's packets have. It decodes nothing,
//! has no rooms, timers or keep-alive, and allocates nothing for a delivery.

use std::io::{self, ErrorKind, Read, Write};
use std::net::Ipv4Addr;
use std::time::{Duration, Instant};

use mio::net::{TcpListener, TcpStream};
use mio::{Events, Interest, Poll, Registry, Token};

use super::ledger::{Ledger, Tally};
use super::message::{Name, find};
use super::websocket::{Kind, write};

/// Bytes of a name: the sender, and the lower 16 bits of the message's number, least significant
/// byte first.
const NAME: usize = 3;
/// Bytes of the header of a WebSocket frame from a server, if its payload has 126 bytes or more
/// (RFC 6455, section 5.2).
const HEADER: usize = 4;
/// Bytes of the header of a short frame from a client, the mask included.
const CLIENT_HEADER: usize = 6;
/// First byte of a final binary frame.
const BINARY: u8 = 0x82;

/// Most bytes of a request for a WebSocket, and most bytes that wait for the tick.
const MAX_WAITING: usize = 16 << 10;
/// Bytes read at a time. No client of the experiment sends more at once.
const READ: usize = 4 << 10;
/// Events taken at a time.
const EVENTS: usize = 1024;

const LISTENER: Token = Token(usize::MAX);
/// The answer to every request. Clients of the experiment all send the key of RFC 6455, section
/// 1.3.
const ANSWER: &[u8] =
    b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
    Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n";

/// Serves until the process is killed.
///
/// # Errors
/// A listening socket or a poll that fails.
pub(crate) fn serve(tick: Duration) -> io::Result<()> {
    let mut poll = Poll::new()?;
    let mut listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0).into())?;
    poll.registry().register(&mut listener, LISTENER, Interest::READABLE)?;
    writeln!(io::stdout(), "listening {} a bare program", listener.local_addr()?.port())?;
    let (mut events, mut server) = (Events::with_capacity(EVENTS), Server::default());
    let mut last = Instant::now();
    loop {
        let due = server.has_names().then(|| tick.saturating_sub(last.elapsed()));
        match poll.poll(&mut events, due) {
            Err(error) if error.kind() != ErrorKind::Interrupted => return Err(error),
            _ => {}
        }
        for event in &events {
            match event.token() {
                LISTENER => server.accept(&listener, poll.registry())?,
                Token(place) => server.read(place),
            }
        }
        if server.has_names() && last.elapsed() >= tick {
            last = Instant::now();
            server.write_to_all();
        }
    }
}

#[derive(Default)]
struct Server {
    /// The connections, by their token; `None`: closed.
    connections: Vec<Option<Connection>>,
    /// The next packet: space for its header, and the names in it. Empty if there are no names.
    packet: Vec<u8>,
}

struct Connection {
    stream: TcpStream,
    /// The beginning of a request or a frame whose rest has not arrived yet.
    partial: Vec<u8>,
    is_open: bool,
}

impl Server {
    fn has_names(&self) -> bool {
        !self.packet.is_empty()
    }

    fn accept(&mut self, listener: &TcpListener, registry: &Registry) -> io::Result<()> {
        loop {
            let mut stream = match listener.accept() {
                Ok((stream, _)) => stream,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) => return Err(error),
            };
            stream.set_nodelay(true)?;
            let place = Token(self.connections.len());
            registry.register(&mut stream, place, Interest::READABLE)?;
            let connection = Connection { stream, partial: Vec::new(), is_open: false };
            self.connections.push(Some(connection));
        }
    }

    /// Reads the bytes that have arrived. Closes the connection if it has ended, or if they are not
    /// what clients of the experiment send.
    fn read(&mut self, place: usize) {
        let Some(slot) = self.connections.get_mut(place) else { return };
        let Some(connection) = slot else { return };
        let mut bytes = [0; READ];
        let is_good = match connection.stream.read(&mut bytes) {
            // A stream socket whose read did not fill the buffer is empty (epoll(7)).
            Ok(count) => {
                (1..READ).contains(&count) && connection.take(&bytes[..count], &mut self.packet)
            }
            Err(error) => matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted),
        };
        if !is_good || self.packet.len() > MAX_WAITING {
            *slot = None;
        }
    }

    /// Writes the packet to all. A connection whose socket does not take it whole is closed.
    fn write_to_all(&mut self) {
        let length = self.packet.len().saturating_sub(HEADER);
        let packet = match u8::try_from(length) {
            Ok(short @ 0..126) => {
                self.packet[2..HEADER].copy_from_slice(&[BINARY, short]);
                &self.packet[2..]
            }
            _ => {
                let [high, low] = (length as u16).to_be_bytes();
                self.packet[..HEADER].copy_from_slice(&[BINARY, 126, high, low]);
                &self.packet[..]
            }
        };
        for slot in &mut self.connections {
            if let Some(connection) = slot.as_mut().filter(|connection| connection.is_open)
                && !matches!(connection.stream.write(packet), Ok(count) if count == packet.len())
            {
                *slot = None;
            }
        }
        self.packet.clear();
    }
}

impl Connection {
    /// Parses bytes, and appends the names in them to the packet. Returns false if they are not
    /// what clients of the experiment send.
    fn take(&mut self, bytes: &[u8], packet: &mut Vec<u8>) -> bool {
        self.partial.extend_from_slice(bytes);
        if !self.is_open {
            let Some(end) = self.partial.windows(4).position(|four| four == b"\r\n\r\n") else {
                return self.partial.len() <= MAX_WAITING;
            };
            self.partial.drain(..end + 4);
            self.is_open = true;
            if !matches!(self.stream.write(ANSWER), Ok(count) if count == ANSWER.len()) {
                return false;
            }
        }
        let is_good = names(&mut self.partial, packet);
        // Most connections never send again, and those that do send whole frames.
        if self.partial.is_empty() {
            self.partial = Vec::new();
        }
        is_good
    }
}

/// Moves the names of complete frames into the packet. Returns false for a frame that is no message
/// of the experiment.
fn names(frames: &mut Vec<u8>, packet: &mut Vec<u8>) -> bool {
    let mut rest = &frames[..];
    while let Some((frame, behind)) = rest.split_at_checked(CLIENT_HEADER + NAME) {
        let Some(name) = frame.strip_prefix(&[BINARY, 0x80 | NAME as u8, 0, 0, 0, 0]) else {
            return false;
        };
        if packet.is_empty() {
            packet.resize(HEADER, 0);
        }
        packet.extend_from_slice(name);
        rest = behind;
    }
    let left = rest.len();
    frames.drain(..frames.len() - left);
    true
}

/// Sends a message as a client: only its name.
pub(super) fn send_message(message: &[u8], out: &mut Vec<u8>) {
    if let Some((Name { sender, number }, _)) = find(message).next() {
        let [low, high, ..] = number.to_le_bytes();
        write(Kind::Binary, &[sender as u8, low, high], out);
    }
}

/// Counts the messages that a packet names.
pub(super) fn receive(tally: &mut Tally, ledger: &Ledger, at: u64, packet: &[u8]) {
    let (names, rest) = packet.as_chunks::<NAME>();
    tally.altered += u64::from(!rest.is_empty());
    for &[sender, low, high] in names {
        tally.take_name(ledger, at, usize::from(sender), u16::from_le_bytes([low, high]));
    }
}

#[cfg(test)]
mod tests {
    use std::net;

    use super::super::message::Pointer;
    use super::super::websocket::{Frame, read};
    use super::*;

    #[test]
    fn names_of_whole_frames_are_packed_and_counted() {
        let ledger = Ledger::new(1, 70_000);
        ledger.open();
        let (mut pointer, mut tally) = (Pointer::new(0, 1), Tally::new(None, true));
        let (mut frames, mut packet) = (Vec::new(), Vec::new());
        // The test sends more messages than 16 bits can number.
        for sent in 1..=66_000 {
            let (name, message) = pointer.next(1_764_012_345_678);
            assert!(ledger.send(name, &message));
            send_message(&message, &mut frames);
            if sent % 30 == 0 {
                assert!(names(&mut frames, &mut packet) && frames.is_empty());
                receive(&mut tally, &ledger, ledger.now(), &packet[HEADER..]);
                packet.clear();
            }
        }
        assert!(tally.is_perfect(&ledger.totals()), "{} arrived", tally.arrived);
        assert_eq!(tally.latencies.as_ref().map(Vec::len), Some(66_000));
        receive(&mut tally, &ledger, ledger.now(), &[7, 0, 0, 1]);
        assert_eq!(tally.altered, 2, "nobody sent it, and a byte too many");
    }

    #[test]
    fn a_part_of_a_frame_waits_for_the_rest_and_other_frames_are_refused() {
        let (mut frames, mut packet) = (vec![BINARY, 0x83, 0, 0, 0, 0, 1], Vec::new());
        assert!(names(&mut frames, &mut packet) && packet.is_empty());
        frames.extend([2, 3, BINARY]);
        assert!(names(&mut frames, &mut packet));
        assert_eq!((&frames[..], &packet[..]), (&[BINARY][..], &[0, 0, 0, 0, 1, 2, 3][..]));
        assert!(!names(&mut vec![0x89, 0x80, 0, 0, 0, 0, 0, 0, 0], &mut packet));
    }

    #[test]
    fn every_connection_is_written_the_packet_of_a_tick() {
        let mut server = Server::default();
        let poll = Poll::new().unwrap();
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0).into()).unwrap();
        let mut clients = Vec::new();
        while server.connections.len() < 3 {
            if clients.len() < 3 {
                let client = net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
                (&client).write_all(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n").unwrap();
                clients.push(client);
            }
            server.accept(&listener, poll.registry()).unwrap();
        }
        while !server.connections.iter().flatten().all(|one| one.is_open) {
            (0..3).for_each(|place| server.read(place));
        }
        for count in [1, 60] {
            let sent: Vec<u8> = (0..count).flat_map(|number| [1, number, 0]).collect();
            server.packet.resize(HEADER, 0);
            server.packet.extend(&sent);
            server.write_to_all();
            assert!(!server.has_names());
            for client in &mut clients {
                let answer = if count == 1 { ANSWER.len() } else { 0 };
                let header = if sent.len() < 126 { 2 } else { HEADER };
                let mut received = vec![0; answer + header + sent.len()];
                client.read_exact(&mut received).unwrap();
                let mut frames = &received[answer..];
                assert_eq!(read(&mut frames), Ok(Some(Frame::Message(&sent))));
            }
        }
    }
}
