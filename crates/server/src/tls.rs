//! TLS over TCP: its configuration, and its handshakes, each of which has a deadline.

use std::collections::VecDeque;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::AbortHandle;
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::version::{TLS12, TLS13};
use tokio_rustls::rustls::{ServerConfig, SupportedProtocolVersion};
use tokio_rustls::server::TlsStream;

use crate::certificate::acme::challenge::ACME_TLS;
use crate::certificate::error::CertificateError;
use crate::certificate::keeper::Certificates;
use crate::durable::HmacSecrets;
use crate::tickets::Tickets;

/// The protocol names of HTTP in TLS (RFC 7301).
pub(crate) const HTTP2: &[u8] = b"h2";
const HTTP1: &[u8] = b"http/1.1";

/// How long a handshake may take. It takes two round trips at most, and a second more if a packet is lost.
const HANDSHAKE: Duration = Duration::from_secs(5);

/// Most handshakes under way. Each holds up to some 64 KiB, the largest message of a handshake that TLS permits.
const MAX_HANDSHAKES: usize = 512;

/// Encrypted bytes of HTTP that may wait for the kernel: one record. More of them would be out of date when they are sent.
const BUFFER: usize = 16 << 10;

/// The first byte of a TLS connection: that of a record with a part of the handshake (RFC 8446, section 5.1).
const HANDSHAKE_RECORD: u8 = 0x16;

/// The answer to a browser that was given an address with http instead of https.
const NOT_TLS: &str = "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain\r\nConnection: close\r\n\
    Content-Length: 69\r\n\r\nThis port speaks HTTPS: write https:// instead of http:// before it.\n";

/// The configuration of TLS for a listener, with the certificate that is in use when a handshake begins.
pub(crate) fn config(
    certificates: Arc<Certificates>,
    versions: &[&'static SupportedProtocolVersion],
    protocols: &[&[u8]],
) -> Result<ServerConfig, CertificateError> {
    let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_protocol_versions(versions)
        .map_err(|error| CertificateError::Unusable { why: error.to_string() })?
        .with_no_client_auth()
        .with_cert_resolver(certificates);
    config.alpn_protocols = protocols.iter().map(|name| name.to_vec()).collect();
    Ok(config)
}

/// Carries out the handshakes of one listener.
pub(crate) struct Handshakes {
    config: Arc<ServerConfig>,
    /// Handshakes in the order in which they began; some have ended.
    pending: VecDeque<AbortHandle>,
}

impl Handshakes {
    pub(crate) fn new(certificates: Arc<Certificates>) -> Result<Self, CertificateError> {
        let question = certificates.question();
        let protocols: Vec<_> = [HTTP2, HTTP1].into_iter().chain(question).collect();
        let config = Arc::new(config(certificates, &[&TLS13, &TLS12], &protocols)?);
        Ok(Handshakes { config, pending: VecDeque::new() })
    }

    /// Lets clients resume sessions of TLS 1.3 by tickets, in place of the server's memory of a few recent sessions.
    pub(crate) fn issue_tickets(&mut self, secrets: Arc<HmacSecrets>) {
        Arc::make_mut(&mut self.config).ticketer = Arc::new(Tickets::new(secrets));
    }

    /// Begins a handshake in a task of its own; calls `done` when it is complete. With [`MAX_HANDSHAKES`] under way, the
    /// oldest one is given up: clients that want to be served need a few round trips, attackers wait.
    pub(crate) fn begin(
        &mut self,
        socket: TcpStream,
        peer: SocketAddr,
        done: impl FnOnce(TlsStream<TcpStream>) + Send + 'static,
    ) {
        if self.pending.len() >= MAX_HANDSHAKES {
            self.pending.retain(|handshake| !handshake.is_finished());
        }
        if self.pending.len() >= MAX_HANDSHAKES {
            tracing::debug!("the oldest TLS handshake was given up: too many are under way");
            self.pending.pop_front().inspect(AbortHandle::abort);
        }
        let handshake = shake_hands(TlsAcceptor::from(Arc::clone(&self.config)), socket);
        let task = tokio::spawn(async move {
            match timeout(HANDSHAKE, handshake).await {
                Ok(Ok(stream)) if stream.get_ref().1.alpn_protocol() == Some(ACME_TLS) => {
                    answered(stream, peer).await;
                }
                Ok(Ok(stream)) => done(stream),
                Ok(Err(error)) => tracing::debug!(%peer, %error, "TLS handshake failed"),
                Err(_) => tracing::debug!(%peer, "the TLS handshake took too long"),
            }
        });
        self.pending.push_back(task.abort_handle());
    }
}

/// Closes the connection of an authority that has seen the proof in the handshake (RFC 8737, section 3).
async fn answered(mut stream: TlsStream<TcpStream>, peer: SocketAddr) {
    tracing::info!(%peer, "a proof for an ACME authority was asked for and given");
    // The authority may have closed the connection before.
    let _ = timeout(HANDSHAKE, stream.shutdown()).await;
}

async fn shake_hands(
    acceptor: TlsAcceptor,
    mut socket: TcpStream,
) -> io::Result<TlsStream<TcpStream>> {
    let mut first = [0];
    if socket.peek(&mut first).await? > 0 && first != [HANDSHAKE_RECORD] {
        socket.write_all(NOT_TLS.as_bytes()).await?;
        socket.shutdown().await?;
        // Closing a socket with unread bytes resets the connection, and the client would lose the answer.
        let mut dropped = [0; 1024];
        while socket.read(&mut dropped).await? > 0 {}
        return Err(io::Error::new(io::ErrorKind::InvalidData, "it is not TLS"));
    }
    acceptor.accept_with(socket, |connection| connection.set_buffer_limit(Some(BUFFER))).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_answer_without_tls_states_its_length() {
        let (head, body) = NOT_TLS.split_once("\r\n\r\n").unwrap();
        assert!(head.ends_with(&format!("Content-Length: {}", body.len())), "{}", body.len());
    }
}
