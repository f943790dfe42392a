//! QUIC's buffers when a path stalls: two ends over a link that can be held.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use groupwire_quic::{Datagrams, limit_send_buffer, write_all};
use tokio::net::UdpSocket;
use tokio::time::{Instant, sleep, timeout};
use wtransport::endpoint::endpoint_side::{Client, Server};
use wtransport::{Connection, Endpoint};

use crate::support::{self, PATIENCE};

/// The two ends of a connection, and the link between them.
struct Pair {
    client: Connection,
    server: Connection,
    /// While this is set, the link drops all packets.
    held: Arc<AtomicBool>,
    _ends: (Endpoint<Client>, Endpoint<Server>),
}

impl Pair {
    async fn new() -> Self {
        let (config, hash) = support::server();
        let listening = Endpoint::server(config).unwrap();

        let held = Arc::new(AtomicBool::new(false));
        let link = link(listening.local_addr().unwrap(), Arc::clone(&held)).await;
        let dialling = Endpoint::client(support::client(hash)).unwrap();
        let accepting = async { listening.accept().await.await.unwrap().accept().await.unwrap() };
        let connecting = dialling.connect(format!("https://{link}/wt"));
        let (client, server) = tokio::join!(connecting, accepting);
        Pair { client: client.unwrap(), server, held, _ends: (dialling, listening) }
    }

    fn hold(&self, held: bool) {
        self.held.store(held, Ordering::Relaxed);
    }
}

/// Forwards to `server` and back.
async fn link(server: SocketAddr, held: Arc<AtomicBool>) -> SocketAddr {
    let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let address = socket.local_addr().unwrap();
    tokio::spawn(async move {
        let (mut packet, mut client) = ([0; 2048], None);
        while let Ok((size, from)) = socket.recv_from(&mut packet).await {
            let to = if from == server { client } else { Some(server) };
            if from != server {
                client = Some(from);
            }
            if let Some(to) = to.filter(|_| !held.load(Ordering::Relaxed)) {
                let _ = socket.send_to(&packet[..size], to).await;
            }
        }
    });
    address
}

#[tokio::test(flavor = "multi_thread")]
async fn t6_datagrams_made_during_a_stall_are_not_sent_after_it() {
    // The packets under way when the link was held are lost; QUIC buffers two full datagrams.
    let late = late_after_a_stall(1000).await;
    assert!(late.iter().all(|number| *number >= COUNT - 2), "{late:?} of {COUNT}");
}

/// T6: QUIC would send all datagrams of its buffer in one large packet, which takes 300 ms on a
/// modem's link.
#[tokio::test(flavor = "multi_thread")]
async fn t6_few_small_datagrams_are_buffered_during_a_stall() {
    let late = late_after_a_stall(60).await;
    assert!(late.len() <= 3, "{late:?} of {COUNT}");
}

/// The number of datagrams that [`late_after_a_stall`] sends while the link is held.
const COUNT: u32 = 400;

/// Holds the link while datagrams of `size` bytes are sent, which are numbered from 0, and then
/// sends further datagrams. Returns the numbers of the datagrams that were sent while the link was
/// held and arrived afterwards.
async fn late_after_a_stall(size: usize) -> Vec<u32> {
    let pair = Pair::new().await;
    let mut datagrams = Datagrams::new(&pair.client);
    let datagram = |number: u32| [&number.to_be_bytes()[..], &vec![0; size - 4]].concat();
    pair.hold(true);
    for number in 0..COUNT {
        datagrams.send(&datagram(number), Instant::now()).await.unwrap();
        sleep(Duration::from_millis(5)).await;
    }
    pair.hold(false);
    let receiving = tokio::spawn(async move {
        let mut came = Vec::new();
        loop {
            let datagram = pair.server.receive_datagram().await.unwrap();
            let number = u32::from_be_bytes(datagram[..4].try_into().unwrap());
            came.push(number);
            if number > COUNT {
                // The connection closes when its last handle is dropped.
                return (came, pair.server);
            }
        }
    });
    let start = Instant::now();
    let mut number = COUNT;
    while !receiving.is_finished() {
        assert!(start.elapsed() < PATIENCE, "no datagram arrives any more");
        number += 1;
        datagrams.send(&datagram(number), Instant::now()).await.unwrap();
        sleep(Duration::from_millis(5)).await;
    }
    let (came, _server) = receiving.await.unwrap();
    came.into_iter().filter(|number| *number < COUNT).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn t6_a_datagram_larger_than_the_path_is_dropped_without_an_error() {
    let pair = Pair::new().await;
    let mut datagrams = Datagrams::new(&pair.client);
    let max = datagrams.max();
    assert!((1100..1200).contains(&max), "{max}: what 1,200 bytes hold");
    for size in [1500, 100_000, max] {
        let packet = vec![size as u8; size];
        timeout(PATIENCE, datagrams.send(&packet, Instant::now())).await.unwrap().unwrap();
    }
    let came = timeout(PATIENCE, pair.server.receive_datagram()).await.unwrap().unwrap();
    assert_eq!(came.len(), max, "only the datagram that fits arrives");
    pair.client.close(0u32.into(), b"");
    assert!(datagrams.send(b"x", Instant::now()).await.is_err(), "a closed connection is an error");
}

/// T6: a sender waits no longer than the age limit of a datagram.
#[tokio::test(flavor = "multi_thread")]
async fn t6_sending_on_a_stalled_path_waits_no_longer_than_the_age_limit() {
    let pair = Pair::new().await;
    let mut datagrams = Datagrams::new(&pair.client);
    pair.hold(true);
    // More datagrams than the congestion window and the buffer hold. The first one waits until its
    // age limit, later ones replace each other. If each waited for 100 ms, 3000 would take five
    // times the time limit.
    let all = async {
        for _ in 0..3000 {
            datagrams.send(&[0; 1000], Instant::now()).await.unwrap();
        }
    };
    timeout(PATIENCE, all).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_buffers_no_more_than_the_limit() {
    let pair = Pair::new().await;
    let (mut send, _receive) = pair.client.open_bi().await.unwrap().await.unwrap();
    pair.hold(true);
    limit_send_buffer(&pair.client);
    let mut taken = 0;
    // A write that does not end within a second waits for buffer space.
    let second = Duration::from_secs(1);
    while let Ok(written) = timeout(second, write_all(&pair.client, &mut send, &[0; 1000])).await {
        written.unwrap();
        taken += 1000;
    }
    assert!((10_000..100_000).contains(&taken), "{taken} bytes wait for a path that is held");
}
