//! What both ends of a connection negotiate: acknowledgements, connection ids and the size of
//! packets.

use groupwire_quic::{Datagrams, End, connection_id, endpoint_settings};
use tokio::time::{Instant, timeout};
use wtransport::endpoint::endpoint_side::{Client, Server};
use wtransport::{Connection, Endpoint};

use crate::support::{self, PATIENCE};

struct Pair {
    client: Connection,
    server: Connection,
    _ends: (Endpoint<Client>, Endpoint<Server>),
}

impl Pair {
    /// Connects with a QUIC Retry: the client's second packet goes to a connection id of the
    /// server.
    async fn new() -> Self {
        let (mut config, hash) = support::server();
        *config.quic_endpoint_config_mut() = endpoint_settings(End::Server);
        let listening = Endpoint::server(config).unwrap();
        let address = listening.local_addr().unwrap();

        let mut config = support::client(hash);
        *config.quic_endpoint_config_mut() = endpoint_settings(End::Client);
        let dialling = Endpoint::client(config).unwrap();
        let accepting = async {
            listening.accept().await.retry();
            listening.accept().await.await.unwrap().accept().await.unwrap()
        };
        let connecting = dialling.connect(format!("https://{address}/wt"));
        let (client, server) = tokio::join!(connecting, accepting);
        Pair { client: client.unwrap(), server, _ends: (dialling, listening) }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn t21_ends_ask_each_other_for_rare_acknowledgements() {
    let pair = timeout(PATIENCE, Pair::new()).await.unwrap();
    let quic = pair.server.quic_connection();
    let acks = || quic.stats().frame_tx.acks;
    let before = acks();
    let mut datagrams = Datagrams::new(&pair.client);
    // Each datagram fills a packet. They are sent in fives, so that the congestion window has space
    // for them.
    for _ in 0..10 {
        for _ in 0..5 {
            datagrams.send(&[7; 1100], Instant::now()).await.unwrap();
        }
        for _ in 0..5 {
            timeout(PATIENCE, pair.server.receive_datagram()).await.unwrap().unwrap();
        }
    }
    // By default there would be 25. The delay limit may cause a few in addition to those for every
    // fifth packet.
    assert!(acks() - before <= 18, "{before} {}", acks());
    for end in [&pair.client, &pair.server] {
        let stats = end.quic_connection().stats();
        assert!(stats.frame_tx.ack_frequency > 0 && stats.frame_rx.ack_frequency > 0, "{stats:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn t22_connection_ids_are_short() {
    let pair = timeout(PATIENCE, Pair::new()).await.unwrap();
    let (up, down) = (Datagrams::new(&pair.client).max(), Datagrams::new(&pair.server).max());
    assert_eq!(connection_id(End::Client), 0);
    assert_eq!(down - up, connection_id(End::Server));
    assert_eq!(down, 1169);
}

#[tokio::test(flavor = "multi_thread")]
async fn t27_no_end_searches_for_larger_packets() {
    let pair = timeout(PATIENCE, Pair::new()).await.unwrap();
    let mut datagrams = Datagrams::new(&pair.client);
    // By default QUIC would send its first probe with or right after the first of these packets.
    for _ in 0..10 {
        datagrams.send(&[7; 100], Instant::now()).await.unwrap();
        timeout(PATIENCE, pair.server.receive_datagram()).await.unwrap().unwrap();
    }
    for end in [&pair.client, &pair.server] {
        let path = end.quic_connection().stats().path;
        assert_eq!((path.current_mtu, path.sent_plpmtud_probes), (1200, 0));
    }
}
