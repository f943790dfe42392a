//! Our flow: datagrams over a WebTransport connection with the product's settings.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use groupwire_quic::wtransport::endpoint::endpoint_side::Server;
use groupwire_quic::wtransport::{ClientConfig, Endpoint, Identity, ServerConfig};
use groupwire_quic::{Datagrams, End, endpoint_settings, settings};
use tokio::time::{Instant, MissedTickBehavior, interval, sleep};

use super::meter::Meter;
use super::{OFFERED, STEP};
use crate::Result;
use crate::emulator::Host;

/// The size of a datagram in bytes.
const DATAGRAM: usize = 1000;
const MAX_PACKET: usize = 65_536;
const IDLE: Duration = Duration::from_secs(30);

/// Offers [`OFFERED`] kbit/s for `length`, from the client to the server, and notes at each
/// [`STEP`] what has arrived.
///
/// # Errors
/// The connection cannot be made.
pub(super) fn offer(client: Host, length: Duration, meter: &Meter) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let outcome = runtime.block_on(converse(client, length, meter));
    runtime.shutdown_background();
    outcome
}

async fn converse(client: Host, length: Duration, meter: &Meter) -> Result<()> {
    let identity = Identity::self_signed(["localhost"])?;
    let hash = identity.certificate_chain().as_slice()[0].hash();
    let address = SocketAddr::from((Host::SERVER.local(), 0));
    let mut config =
        ServerConfig::builder().with_bind_address(address).with_identity(identity).build();
    config.quic_config_mut().transport_config(Arc::new(settings(End::Server, MAX_PACKET, IDLE)));
    *config.quic_endpoint_config_mut() = endpoint_settings(End::Server);
    let listening = Endpoint::server(config)?;

    let address = SocketAddr::from((client.local(), 0));
    let mut config = ClientConfig::builder()
        .with_bind_address(address)
        .with_server_certificate_hashes([hash])
        .build();
    config.quic_config_mut().transport_config(Arc::new(settings(End::Client, MAX_PACKET, IDLE)));
    *config.quic_endpoint_config_mut() = endpoint_settings(End::Client);
    let dialling = Endpoint::client(config)?;

    let port = listening.local_addr()?.port();
    let receiving = tokio::spawn(receive(listening, meter.clone()));
    let url = format!("https://{}:{port}/wt", Host::SERVER.remote());
    let connection = dialling.connect(url).await?;
    let mut datagrams = Datagrams::new(&connection);
    let sampling = tokio::spawn({
        let meter = meter.clone();
        async move {
            loop {
                meter.step();
                sleep(STEP).await;
            }
        }
    });
    // A datagram that cannot be sent at its time is dropped, because a session has newer values by
    // then.
    let mut ticks = interval(Duration::from_secs_f64(DATAGRAM as f64 / (OFFERED * 125.0)));
    ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
    let end = Instant::now() + length;
    let mut packet = vec![0; DATAGRAM];
    while Instant::now() < end {
        ticks.tick().await;
        let made = meter.now().as_nanos() as u64;
        packet[..8].copy_from_slice(&made.to_le_bytes());
        let sent = datagrams.send(&packet, Instant::now()).await;
        sent.map_err(|_| "our connection broke")?;
    }
    meter.step();
    sampling.abort();
    receiving.abort();
    Ok(())
}

async fn receive(listening: Endpoint<Server>, meter: Meter) {
    let Ok(request) = listening.accept().await.await else { return };
    let Ok(connection) = request.accept().await else { return };
    while let Ok(datagram) = connection.receive_datagram().await {
        let payload = datagram.payload();
        if let Some(made) = payload.first_chunk() {
            meter.ours(Duration::from_nanos(u64::from_le_bytes(*made)), payload.len());
        }
    }
}
