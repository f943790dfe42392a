//! A server with TLS, and its clients.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::body::Body;
use groupwire_server::{Config, Server};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::{
    ClientConfig, DEFAULT_VERSIONS, RootCertStore, SupportedProtocolVersion,
};
use wtransport::Identity;

use super::certificate::{DAY, Files, identity};
use super::http::Target;

/// A running server with a certificate from files.
pub(crate) struct Secure {
    pub(crate) files: Files,
    pub(crate) identity: Identity,
    pub(crate) address: SocketAddr,
    /// The address without TLS.
    pub(crate) plain: SocketAddr,
}

impl Secure {
    /// Starts a server. `test` is the name of the folder of its files.
    pub(crate) async fn start(test: &str, config: Config) -> Self {
        let any = SocketAddr::from(([127, 0, 0, 1], 0));
        let (files, identity) = (Files::new(test), identity(DAY));
        files.write(&identity);
        let certificate = files.config();
        let config = Config { listen: any, plain_listen: Some(any), certificate, ..config };
        let server = Server::bind(config).await.unwrap();
        assert!(server.is_encrypted());
        let (address, plain) = (server.local_addr(), server.plain_addr().unwrap());
        tokio::spawn(server.run(std::future::pending()));
        Secure { files, identity, address, plain }
    }

    /// The host and port in addresses of pages.
    pub(crate) fn authority(&self) -> String {
        format!("localhost:{}", self.address.port())
    }

    /// A connection whose client accepts only the certificate that the server had first, and offers
    /// these protocols.
    pub(crate) async fn connect(
        &self,
        protocols: &[&str],
    ) -> std::io::Result<TlsStream<TcpStream>> {
        connect(self.address, &self.identity, protocols).await
    }

    /// An HTTP/2 connection.
    pub(crate) async fn http2(&self) -> Target {
        let stream = TokioIo::new(self.connect(&["h2"]).await.unwrap());
        let (connection, driving) =
            hyper::client::conn::http2::handshake::<_, _, Body>(TokioExecutor::new(), stream)
                .await
                .unwrap();
        tokio::spawn(driving);
        Target::Http2 { authority: self.authority(), connection }
    }
}

pub(crate) async fn connect(
    address: SocketAddr,
    accepted: &Identity,
    protocols: &[&str],
) -> std::io::Result<TlsStream<TcpStream>> {
    connect_with(address, client(accepted, protocols, DEFAULT_VERSIONS)).await
}

/// A client that accepts one certificate, and offers these protocols and versions of TLS.
pub(crate) fn client(
    accepted: &Identity,
    protocols: &[&str],
    versions: &[&'static SupportedProtocolVersion],
) -> Arc<ClientConfig> {
    let mut roots = RootCertStore::empty();
    let certificate = accepted.certificate_chain().as_slice()[0].der().to_vec();
    roots.add(CertificateDer::from(certificate)).unwrap();
    let mut config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_protocol_versions(versions)
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = protocols.iter().map(|name| name.as_bytes().to_vec()).collect();
    Arc::new(config)
}

pub(crate) async fn connect_with(
    address: SocketAddr,
    client: Arc<ClientConfig>,
) -> std::io::Result<TlsStream<TcpStream>> {
    let stream = TcpStream::connect(address).await?;
    stream.set_nodelay(true)?;
    let name = ServerName::try_from("localhost").unwrap();
    TlsConnector::from(client).connect(name, stream).await
}
