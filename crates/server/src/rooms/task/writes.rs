//! Writes packets to sockets, on several processors if there are many packets.
//!
//! Most of a packet's cost is the system call that writes it. A room with thousands of people has
//! thousands of packets in each tick. Written one after the other they would take tens of
//! milliseconds, and the last receivers would wait for all others. Therefore the packets of a large
//! tick are divided among threads by connection, which keeps the order of each connection's
//! packets.

use std::num::NonZero;
use std::sync::{Arc, LazyLock};
use std::thread;

use groupwire_session::LinkId;
use groupwire_session::room::SharedPacket;

use super::connection::{ByLink, Socket};
use crate::ends::socket_writer::{FramedPacket, SocketWriter};

/// From this many packets on, starting threads costs little beside writing.
const MANY: usize = 512;
/// More processors would wait for each other in the kernel.
const MOST_PROCESSORS: usize = 8;
/// One processor is left to connections and other rooms. On two, two writing threads made the last
/// receivers wait longer than one.
const LEFT_TO_OTHERS: usize = 1;

/// The memory of this many connections is read before a packet is written to each of them, so that
/// the processor waits for all of it at once: since the last tick, other data has taken its place
/// in the caches. With more connections, the first system calls would displace the memory of the
/// last ones again.
const AT_ONCE: usize = 16;

/// The number of threads that write the packets of a large tick. Computed once, because the system
/// reads files for it.
static PROCESSORS: LazyLock<usize> = LazyLock::new(|| {
    let processors = thread::available_parallelism().map_or(1, NonZero::get);
    processors.saturating_sub(LEFT_TO_OTHERS).clamp(1, MOST_PROCESSORS)
});

/// A packet, whose second part may be shared with packets to others.
pub(super) struct Write {
    pub(super) link: LinkId,
    pub(super) writer: Arc<SocketWriter>,
    pub(super) packet: Vec<u8>,
    pub(super) body: Option<Arc<[u8]>>,
}

/// Packets that are to be written.
pub(super) struct Writes {
    waiting: Vec<Write>,
    processors: usize,
}

impl Default for Writes {
    fn default() -> Self {
        Writes { waiting: Vec::new(), processors: *PROCESSORS }
    }
}

impl Writes {
    pub(super) fn push(&mut self, write: Write) {
        self.waiting.push(write);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Shrinks the capacity to this many packets, or to those that wait.
    pub(super) fn shrink_to(&mut self, packets: usize) {
        self.waiting.shrink_to(packets);
    }

    /// Writes all packets, and calls `sent` for each that the kernel has taken whole.
    pub(super) fn write_all(&mut self, mut sent: impl FnMut(LinkId)) {
        if self.waiting.len() < MANY || self.processors == 1 {
            for write in self.waiting.drain(..) {
                if write.run() {
                    sent(write.link);
                }
            }
            return;
        }
        let mut shares: Vec<Vec<Write>> = Vec::new();
        shares.resize_with(self.processors, Vec::new);
        for write in self.waiting.drain(..) {
            shares[(write.link.0 % self.processors as u64) as usize].push(write);
        }
        let taken: Vec<Vec<LinkId>> = thread::scope(|scope| {
            let mut shares = shares.into_iter();
            let own = shares.next().unwrap_or_default();
            let others: Vec<_> =
                shares.map(|share| scope.spawn(move || write_share(share))).collect();
            let mut taken = vec![write_share(own)];
            // A thread that panicked has logged why. Its unwritten packets count as under way, and
            // their connections stall.
            taken.extend(others.into_iter().filter_map(|other| other.join().ok()));
            taken
        });
        taken.into_iter().flatten().for_each(sent);
    }

    /// Writes a packet to several connections. Returns those that have not been sent it.
    pub(super) fn write_shared(&self, sockets: &ByLink<Socket>, shared: &SharedPacket) -> Left {
        let (links, packet) = (&shared.links[..], &FramedPacket::new(&shared.packet));
        if links.len() < MANY || self.processors == 1 {
            return write_to_each(sockets, links, packet);
        }
        let mut shares = links.chunks(links.len().div_ceil(self.processors));
        thread::scope(|scope| {
            let own = shares.next().unwrap_or_default();
            let spawn = |share| (share, scope.spawn(move || write_to_each(sockets, share, packet)));
            let others: Vec<_> = shares.map(spawn).collect();
            let mut left = write_to_each(sockets, own, packet);
            for (share, other) in others {
                // A thread that panicked has logged why. Its packets count as under way, and their
                // connections stall.
                let panicked = |_| Left { unsent: share.to_vec(), ..Left::default() };
                let more = other.join().unwrap_or_else(panicked);
                left.unsent.extend(more.unsent);
                left.without_socket.extend(more.without_socket);
            }
            left
        })
    }
}

/// The connections that have not been sent a packet.
#[derive(Default)]
pub(super) struct Left {
    /// Their writers keep the packet.
    pub(super) unsent: Vec<LinkId>,
    /// They have no socket that the room's task may write to.
    pub(super) without_socket: Vec<LinkId>,
}

/// Writes a packet to connections, one after the other.
fn write_to_each(sockets: &ByLink<Socket>, links: &[LinkId], packet: &FramedPacket) -> Left {
    let mut left = Left::default();
    for links in links.chunks(AT_ONCE) {
        let mut writers = [None; AT_ONCE];
        for (writer, link) in writers.iter_mut().zip(links) {
            *writer = sockets.get(link).and_then(Socket::writer);
        }
        writers.iter().flatten().for_each(|writer| writer.load());
        for (link, writer) in links.iter().zip(writers) {
            match writer {
                Some(writer) if writer.send_framed(packet) => {}
                Some(_) => left.unsent.push(*link),
                None => left.without_socket.push(*link),
            }
        }
    }
    left
}

/// Writes packets one after the other. Returns the links of those that the kernel has taken whole.
fn write_share(share: Vec<Write>) -> Vec<LinkId> {
    share.into_iter().filter(Write::run).map(|write| write.link).collect()
}

impl Write {
    fn run(&self) -> bool {
        self.writer.send(&self.packet, self.body.as_deref().unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncReadExt;
    use tokio::net::{TcpListener, TcpStream};

    use super::*;
    use crate::ends::link::Link;
    use crate::ends::socket_writer::Framing;

    /// Writes `count` numbered packets to each of some connections, and checks that each receives
    /// its own in their order.
    async fn packets_keep_their_order(count: u32, processors: usize) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let mut writes = Writes { processors, ..Writes::default() };
        let mut connections = Vec::new();
        for number in 0..10_u64 {
            let client = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
            let (server, _) = listener.accept().await.unwrap();
            let writer = SocketWriter::new(Link::plain(server), Framing::Length);
            connections.push((LinkId(number), writer, client));
        }
        let body: Arc<[u8]> = Arc::from(*b"shared");
        for packet in 0..count {
            for (link, writer, _) in &connections {
                let (link, writer) = (*link, Arc::clone(writer));
                let packet = [packet.to_le_bytes(), (link.0 as u32).to_le_bytes()].concat();
                writes.push(Write { link, writer, packet, body: Some(Arc::clone(&body)) });
            }
        }
        let mut sent = 0;
        writes.write_all(|_| sent += 1);
        assert_eq!(sent, count * 10);
        assert!(writes.is_empty());
        for (link, _, client) in &mut connections {
            for packet in 0..count {
                let mut received = [0; 15];
                client.read_exact(&mut received).await.unwrap();
                let expected =
                    [&[14][..], &packet.to_le_bytes(), &(link.0 as u32).to_le_bytes(), b"shared"];
                assert_eq!(received[..], expected.concat());
            }
        }
    }

    #[tokio::test]
    async fn a_few_packets_are_written_in_their_order() {
        packets_keep_their_order(5, 4).await;
    }

    #[tokio::test]
    async fn each_connection_has_its_packets_in_their_order_on_several_processors() {
        for processors in [2, 3, 8] {
            packets_keep_their_order(100, processors).await;
        }
    }

    #[tokio::test]
    async fn one_processor_writes_everything_itself() {
        packets_keep_their_order(100, 1).await;
    }

    /// Two ends of a connection over the loopback, whose first end is a room's.
    async fn connection(framing: Framing) -> (Socket, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let client = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        let (server, _) = listener.accept().await.unwrap();
        (Socket::new(SocketWriter::new(Link::plain(server), framing), None), client)
    }

    #[tokio::test]
    async fn connections_are_sent_a_shared_packet_in_the_framing_of_each() {
        for processors in [1, 3] {
            let writes = Writes { processors, ..Writes::default() };
            let (mut sockets, mut clients) = (ByLink::default(), Vec::new());
            for number in 0..20 {
                let framing = if number % 2 == 0 { Framing::WebSocket } else { Framing::Length };
                let (socket, client) = connection(framing).await;
                sockets.insert(LinkId(number), socket);
                clients.push((client, framing));
            }
            // Enough packets to divide them among threads.
            let links: Vec<LinkId> = (0..MANY as u64).map(|nth| LinkId(nth % 21)).collect();
            let packet = Arc::from(vec![7; 600]);
            let left =
                writes.write_shared(&sockets, &SharedPacket { links: links.clone(), packet });
            let count = |link| links.iter().filter(|&&one| one == LinkId(link)).count();
            assert_eq!(left.without_socket, vec![LinkId(20); count(20)]);
            assert!(left.unsent.is_empty());
            for (number, (client, framing)) in clients.iter_mut().enumerate() {
                let header: &[u8] = match framing {
                    Framing::WebSocket => &[0x82, 126, 2, 88],
                    Framing::Length => &[0xd8, 4],
                };
                for _ in 0..count(number as u64) {
                    let mut received = vec![0; header.len() + 600];
                    client.read_exact(&mut received).await.unwrap();
                    assert_eq!(received, [header, &[7; 600]].concat());
                }
            }
        }
    }

    #[tokio::test]
    async fn what_the_kernel_does_not_take_of_a_shared_packet_is_sent_later() {
        let (socket, mut client) = connection(Framing::Length).await;
        let writer = Arc::clone(socket.writer().unwrap());
        let sockets: ByLink<Socket> = [(LinkId(1), socket)].into_iter().collect();
        let (writes, links) = (Writes::default(), vec![LinkId(1)]);
        let shared = SharedPacket { links, packet: Arc::from(vec![9; 60_000]) };
        let mut written = 1;
        while writes.write_shared(&sockets, &shared).unsent.is_empty() {
            written += 1;
        }
        let reading = tokio::spawn(async move {
            let mut received = vec![0; written * 60_003];
            client.read_exact(&mut received).await.map(|_| received)
        });
        assert_eq!(writer.flush().await.unwrap(), 1);
        let received = reading.await.unwrap().unwrap();
        let is_whole = |packet: &[u8]| packet[..3] == [0xe0, 0xd4, 3] && packet[3..] == [9; 60_000];
        assert!(received.chunks(60_003).all(is_whole));
    }
}
