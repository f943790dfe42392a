//! What both ends of a connection negotiate: acknowledgements and connection ids.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use groupwire_quic::{Datagrams, End, connection_id, endpoint_settings, settings};
use tokio::time::{Instant, timeout};
use wtransport::endpoint::endpoint_side::{Client, Server};
use wtransport::{ClientConfig, Connection, Endpoint, Identity, ServerConfig};

/// A time limit that no test reaches, even on a loaded machine.
const PATIENCE: Duration = Duration::from_secs(30);

const IDLE: Duration = Duration::from_secs(30);

const MAX_PACKET: usize = 65_536;

struct Pair {
    client: Connection,
    server: Connection,
    _ends: (Endpoint<Client>, Endpoint<Server>),
}

impl Pair {
    /// Connects with a QUIC Retry: the client's second packet goes to a connection id of the server.
    async fn new() -> Self {
        let identity = Identity::self_signed(["localhost"]).unwrap();
        let hash = identity.certificate_chain().as_slice()[0].hash();
        let any = SocketAddr::from(([127, 0, 0, 1], 0));
        let mut config =
            ServerConfig::builder().with_bind_address(any).with_identity(identity).build();
        let transport = settings(End::Server, MAX_PACKET, IDLE);
        config.quic_config_mut().transport_config(Arc::new(transport));
        *config.quic_endpoint_config_mut() = endpoint_settings(End::Server);
        let listening = Endpoint::server(config).unwrap();
        let address = listening.local_addr().unwrap();

        let builder = ClientConfig::builder().with_bind_address(any);
        let mut config = builder.with_server_certificate_hashes([hash]).build();
        let transport = settings(End::Client, MAX_PACKET, IDLE);
        config.quic_config_mut().transport_config(Arc::new(transport));
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
    // Each datagram fills a packet. They are sent in fives, so that the congestion window has space for them.
    for _ in 0..10 {
        for _ in 0..5 {
            datagrams.send(&[7; 1100], Instant::now()).await.unwrap();
        }
        for _ in 0..5 {
            timeout(PATIENCE, pair.server.receive_datagram()).await.unwrap().unwrap();
        }
    }
    // By default there would be 25. The delay limit may cause a few besides those for every fifth packet.
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
