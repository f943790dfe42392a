//! The configurations of two ends on this machine, for connections of both kinds of tests.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use groupwire_quic::{End, settings};
use wtransport::tls::Sha256Digest;
use wtransport::{ClientConfig, Identity, ServerConfig};

/// A time limit that no test reaches, even on a loaded machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

const IDLE: Duration = Duration::from_secs(30);

const MAX_PACKET: usize = 65_536;

fn any_port() -> SocketAddr {
    SocketAddr::from(([127, 0, 0, 1], 0))
}

/// A server with a certificate of its own, and the hash by which a client trusts it.
pub(crate) fn server() -> (ServerConfig, Sha256Digest) {
    let identity = Identity::self_signed(["localhost"]).unwrap();
    let hash = identity.certificate_chain().as_slice()[0].hash();
    let mut config =
        ServerConfig::builder().with_bind_address(any_port()).with_identity(identity).build();
    let transport = settings(End::Server, MAX_PACKET, IDLE);
    config.quic_config_mut().transport_config(Arc::new(transport));
    (config, hash)
}

/// A client that trusts the certificate with this hash.
pub(crate) fn client(trusted: Sha256Digest) -> ClientConfig {
    let builder = ClientConfig::builder().with_bind_address(any_port());
    let mut config = builder.with_server_certificate_hashes([trusted]).build();
    let transport = settings(End::Client, MAX_PACKET, IDLE);
    config.quic_config_mut().transport_config(Arc::new(transport));
    config
}
