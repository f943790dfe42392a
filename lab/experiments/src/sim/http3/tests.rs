use groupwire_quic::{AckFrequency, RARE_ACKS};
use proptest::prelude::*;

use super::ends::Asking;
use super::*;
use crate::sim::link::UDP_HEADER;
use crate::sim::{LinkConfig, Network, Node};

const MS: Duration = Duration::from_millis(1);

/// Writes messages and datagrams at a pace, and records what arrives.
struct End {
    peer: usize,
    connection: QuicConnection,
    every: Duration,
    next: Duration,
    count: u32,
    most: u32,
    messages: Vec<(Duration, Vec<u8>)>,
    datagrams: Vec<(Duration, Vec<u8>)>,
}

impl End {
    fn new(peer: usize, side: Side, ends: Ends, most: u32) -> Self {
        End {
            peer,
            connection: QuicConnection::new(7, side, ends),
            every: 40 * MS,
            next: Duration::ZERO,
            count: 0,
            most,
            messages: Vec::new(),
            datagrams: Vec::new(),
        }
    }
}

impl Node for End {
    fn receive(&mut self, now: Duration, _: usize, packet: &[u8]) {
        self.connection.receive(now, packet);
        self.messages.extend(std::iter::from_fn(|| self.connection.read()).map(|one| (now, one)));
        let datagrams = std::iter::from_fn(|| self.connection.read_datagram());
        self.datagrams.extend(datagrams.map(|one| (now, one)));
    }

    fn poll(&mut self, now: Duration, send: &mut dyn FnMut(usize, &[u8])) -> Option<Duration> {
        while self.count < self.most && self.next <= now {
            self.connection.write(&self.count.to_le_bytes());
            self.connection.send_datagram(now, self.count.to_le_bytes().to_vec());
            self.count += 1;
            self.next += self.every;
        }
        let peer = self.peer;
        let wanted = self.connection.poll(now, &mut |packet| send(peer, packet));
        let next = (self.count < self.most).then_some(self.next);
        [wanted, next].into_iter().flatten().min()
    }
}

fn run(loss: &str, most: u32) -> Network<End> {
    run_with(Ends::Plain, loss, [most, 0])
}

/// Runs a client and a server that send these numbers of messages and datagrams.
fn run_with(ends: Ends, loss: &str, [client, server]: [u32; 2]) -> Network<End> {
    let mut network = Network::new();
    network.add(End::new(1, Side::Client, ends, client));
    network.add(End { next: 15 * MS, ..End::new(0, Side::Server, ends, server) });
    let loss = loss.parse().unwrap();
    let config = LinkConfig { delay: 20 * MS, loss, ..LinkConfig::default() };
    network.join_both(0, 1, config, 1);
    network.run_until(60 * MS * client.max(server) + 60_000 * MS);
    network
}

#[test]
fn one_packet_has_the_bytes_of_a_real_one() {
    let network = run("rand0", 1);
    let end = network.node(1);
    assert_eq!(end.messages, [(20 * MS, 0_u32.to_le_bytes().to_vec())]);
    assert_eq!(end.datagrams, [(20 * MS, 0_u32.to_le_bytes().to_vec())]);
    // Header and tag; the datagram after 3 bytes; the message with its length after 4.
    let expected = UDP_HEADER + 1 + 8 + 2 + 16 + 3 + 4 + 4 + 2 + 4;
    assert_eq!(network.link_stats(0, 1).unwrap().bytes, expected as u64);
    // Type, number, a delay of 25 ms in two bytes, no further ranges, the first of one packet.
    assert_eq!(network.link_stats(1, 0).unwrap().bytes, (UDP_HEADER + 1 + 2 + 16 + 6) as u64);
}

#[test]
fn the_stream_arrives_whole_and_in_order_whatever_is_lost() {
    for loss in ["rand0", "rand20", "pb10@4", "out200"] {
        let network = run(loss, 500);
        let end = network.node(1);
        let expected = (0..500_u32).map(|number| number.to_le_bytes().to_vec());
        assert!(end.messages.iter().map(|one| one.1.clone()).eq(expected), "{loss}");
        let lost = network.link_stats(0, 1).unwrap().lost;
        assert_eq!(end.datagrams.len() == 500, loss == "rand0", "{loss}: {lost}");
        assert!(end.datagrams.len() > 350, "{loss}: {}", end.datagrams.len());
        // One acknowledgement for each packet at 40 ms spacing, as quinn was seen to send.
        let (there, back) = (network.link_stats(0, 1).unwrap(), network.link_stats(1, 0).unwrap());
        assert!(back.packets * 10 >= (there.packets - lost) * 8, "{loss}: {there:?} {back:?}");
    }
}

#[test]
fn a_lost_message_is_late_by_what_shows_its_loss() {
    let network = run("rand5", 500);
    let late = |(number, (at, _)): (usize, &(Duration, Vec<u8>))| *at - 40 * MS * number as u32;
    let mut latencies: Vec<_> = network.node(1).messages.iter().enumerate().map(late).collect();
    latencies.sort_unstable();
    assert_eq!(latencies[250], 20 * MS);
    // The time until the next packet, its acknowledgement at once, and the repeat.
    assert!((90 * MS..250 * MS).contains(&latencies[490]), "{:?}", latencies[490]);
}

#[test]
fn rare_acknowledgements_go_with_what_goes_anyway() {
    // Each end sends every 40 ms, the server 35 ms after a packet arrived.
    let sent = |ends| {
        let network = run_with(ends, "rand0", [500, 500]);
        let stats = network.link_stats(1, 0).unwrap();
        (stats.packets, stats.bytes)
    };
    let (native, browser) = (sent(Ends::Native), sent(Ends::Browser));
    assert!(native.0 < 520 && browser.0 > 900, "{native:?} {browser:?}");
    assert!(native.1 * 100 < browser.1 * 75, "{native:?} {browser:?}");
}

#[test]
fn rare_acknowledgements_tell_of_losses_soon() {
    for loss in ["rand5", "rand20", "pb10@4"] {
        let slowest = |ends| {
            let network = run_with(ends, loss, [500, 0]);
            let end = network.node(1);
            let expected = (0..500_u32).map(|number| number.to_le_bytes().to_vec());
            assert!(end.messages.iter().map(|one| one.1.clone()).eq(expected), "{loss}");
            let late =
                |(number, (at, _)): (usize, &(Duration, Vec<u8>))| *at - 40 * MS * number as u32;
            let mut late: Vec<_> = end.messages.iter().enumerate().map(late).collect();
            late.sort_unstable();
            late[475]
        };
        let (native, plain) = (slowest(Ends::Native), slowest(Ends::Browser));
        assert!(native < plain + 100 * MS, "{loss}: {native:?} {plain:?}");
    }
}

#[test]
fn what_is_asked_is_asked_once() {
    let mut asking = Asking::new(Ends::Native);
    let rtt = 40 * MS;
    let wanted = asking.wanted(rtt).unwrap();
    assert_eq!(wanted, AckFrequency { max_delay: rtt, ..RARE_ACKS });
    assert_eq!(asking.asks(3, wanted.max_delay), 0);
    assert_eq!((asking.wanted(rtt), asking.delay()), (None, rtt));
    asking.acknowledged(3);
    assert_eq!((asking.wanted(rtt), asking.delay()), (None, rtt));
    // A round trip that is shorter by more than a fifth; never less than the usual delay.
    let wanted = asking.wanted(10 * MS).unwrap();
    assert_eq!(wanted.max_delay, 25 * MS);
    assert_eq!(asking.asks(9, wanted.max_delay), 1);
    asking.acknowledged(9);
    assert_eq!(asking.wanted(10 * MS), None);
    assert_eq!(Asking::new(Ends::Browser).wanted(rtt), None);
}

#[test]
fn datagrams_wait_for_the_window_and_not_for_long() {
    let mut end = QuicConnection::new(1, Side::Client, Ends::Plain);
    for _ in 0..20 {
        end.send_datagram(Duration::ZERO, vec![1; MAX_DATAGRAM]);
    }
    end.send_datagram(Duration::ZERO, vec![1; MAX_DATAGRAM + 1]);
    let mut packets = 0;
    end.poll(Duration::ZERO, &mut |packet| {
        assert_eq!(packet.len(), MTU);
        packets += 1;
    });
    assert_eq!((packets, end.take_gone()), (10, Gone { sent: 10, dropped: 1 }));
    end.poll(101 * MS, &mut |_| {});
    assert_eq!(end.take_gone(), Gone { sent: 0, dropped: 10 });
}

proptest! {
    #[test]
    fn no_bytes_make_it_panic(bytes: Vec<u8>) {
        let mut packet = vec![0; 11];
        packet.extend(bytes);
        let mut reader = Reader::new(&packet, Side::Client, Ends::Plain);
        while reader.next().is_some() {}
        QuicConnection::new(1, Side::Server, Ends::Plain).receive(Duration::ZERO, &packet);
    }
}
