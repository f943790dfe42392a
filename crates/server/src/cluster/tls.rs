//! TLS between the servers of a cluster. Both ends prove that they have the cluster's secret: the
//! key of their certificates is derived from it, so that there are no certificates to hand out or
//! to renew.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use rcgen::{CertificateParams, KeyPair, PKCS_ED25519};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer, ServerName, UnixTime};
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::version::TLS13;
use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, DistinguishedName, Error, ServerConfig,
    SignatureScheme,
};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpStream, lookup_host};
use tokio_rustls::{TlsAcceptor, TlsConnector, client, server};
use x509_parser::certificate::X509Certificate;
use x509_parser::prelude::FromDer;

use super::secret::ClusterSecrets;

/// The purpose of the key of certificates.
const PURPOSE: &[u8] = b"groupwire cluster TLS 1";

/// The name in certificates. Nobody looks at it, because the key alone counts.
const NAME: &str = "groupwire-cluster";

/// An Ed25519 key in PKCS #8 is its 32 bytes after these (RFC 8410, section 7).
const PKCS8_HEAD: [u8; 16] =
    [0x30, 0x2e, 2, 1, 0, 0x30, 5, 6, 3, 0x2b, 0x65, 0x70, 4, 0x22, 4, 0x20];

/// What a connection between two servers carries. They agree on it in the handshake (RFC 7301).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Protocol {
    /// Packets of clients.
    Relay,
    /// HTTP requests, by HTTP/2.
    Http,
}

impl Protocol {
    fn name(self) -> &'static [u8] {
        match self {
            Protocol::Relay => b"groupwire-cluster",
            Protocol::Http => b"h2",
        }
    }

    /// The protocol of a connection that this server has accepted.
    pub(crate) fn of<S>(stream: &server::TlsStream<S>) -> Self {
        match stream.get_ref().1.alpn_protocol() {
            Some(name) if name == Protocol::Http.name() => Protocol::Http,
            _ => Protocol::Relay,
        }
    }
}

/// Makes encrypted connections between servers of the same secret.
#[derive(Clone)]
pub(crate) struct ClusterTls {
    relay: TlsConnector,
    http: TlsConnector,
    acceptor: TlsAcceptor,
}

impl ClusterTls {
    pub(crate) fn new(secrets: &ClusterSecrets) -> Self {
        let keys: Vec<_> = secrets.keys(PURPOSE).iter().map(key_pair).collect();
        let provider = Arc::new(ring::default_provider());
        let known = keys.iter().map(|key| key.public_key_raw().to_vec()).collect();
        let verifier = Arc::new(SameSecret { known, provider: Arc::clone(&provider) });
        let (certificate, key) = certificate(&keys[0]);
        let client = ClientConfig::builder_with_provider(Arc::clone(&provider))
            .with_protocol_versions(&[&TLS13])
            .expect("the provider has TLS 1.3")
            .dangerous()
            .with_custom_certificate_verifier(verifier.clone())
            .with_client_auth_cert(vec![certificate.clone()], key.clone_key());
        let server = ServerConfig::builder_with_provider(provider)
            .with_protocol_versions(&[&TLS13])
            .expect("the provider has TLS 1.3")
            .with_client_cert_verifier(verifier)
            .with_single_cert(vec![certificate], key);
        let mut client = client.expect("the key is that of the certificate");
        let mut server = server.expect("the key is that of the certificate");
        // A replaced secret holds from the next connection on.
        client.resumption = rustls::client::Resumption::disabled();
        server.send_tls13_tickets = 0;
        server.alpn_protocols =
            [Protocol::Relay, Protocol::Http].map(|protocol| protocol.name().to_vec()).into();
        let connector = |protocol: Protocol| {
            let mut client = client.clone();
            client.alpn_protocols = vec![protocol.name().to_vec()];
            TlsConnector::from(Arc::new(client))
        };
        ClusterTls {
            relay: connector(Protocol::Relay),
            http: connector(Protocol::Http),
            acceptor: TlsAcceptor::from(Arc::new(server)),
        }
    }

    /// Connects to another server, whose address is a host and a port.
    pub(crate) async fn connect(
        &self,
        address: &str,
        protocol: Protocol,
    ) -> io::Result<client::TlsStream<TcpStream>> {
        let addresses: Vec<SocketAddr> = lookup_host(address).await?.collect();
        let socket = TcpStream::connect(&addresses[..]).await?;
        socket.set_nodelay(true)?;
        self.secure(socket, protocol).await
    }

    async fn secure<S: AsyncRead + AsyncWrite + Unpin>(
        &self,
        socket: S,
        protocol: Protocol,
    ) -> io::Result<client::TlsStream<S>> {
        let name = ServerName::try_from(NAME).expect("it is a name");
        let connector = match protocol {
            Protocol::Relay => &self.relay,
            Protocol::Http => &self.http,
        };
        connector.connect(name, socket).await
    }

    /// Accepts the connection of another server.
    pub(crate) async fn accept<S: AsyncRead + AsyncWrite + Unpin>(
        &self,
        socket: S,
    ) -> io::Result<server::TlsStream<S>> {
        self.acceptor.accept(socket).await
    }
}

fn key_pair(key: &[u8; 32]) -> KeyPair {
    let der = PrivatePkcs8KeyDer::from([&PKCS8_HEAD[..], key].concat());
    KeyPair::from_pkcs8_der_and_sign_algo(&der, &PKCS_ED25519).expect("any 32 bytes are a key")
}

fn certificate(key: &KeyPair) -> (CertificateDer<'static>, PrivateKeyDer<'static>) {
    let params = CertificateParams::new([NAME.to_owned()]).expect("it is a name");
    let made = params.self_signed(key).expect("the key signs");
    let key = PrivatePkcs8KeyDer::from(key.serialize_der());
    (made.der().clone(), PrivateKeyDer::from(key))
}

/// Accepts certificates whose key is derived from a secret of the cluster.
#[derive(Debug)]
struct SameSecret {
    known: Vec<Vec<u8>>,
    provider: Arc<CryptoProvider>,
}

impl SameSecret {
    fn check(&self, certificate: &CertificateDer<'_>) -> Result<(), Error> {
        let parsed = X509Certificate::from_der(certificate);
        let (_, parsed) = parsed.map_err(|_| CertificateError::BadEncoding)?;
        let key = &parsed.public_key().subject_public_key.data;
        match self.known.iter().any(|known| known[..] == key[..]) {
            true => Ok(()),
            false => Err(CertificateError::UnknownIssuer.into()),
        }
    }

    /// Checks that the other end has the key of its certificate.
    fn check_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signature, algorithms)
    }
}

/// TLS 1.2 is not spoken between servers.
const NO_TLS12: Error = Error::PeerIncompatible(rustls::PeerIncompatible::Tls12NotOffered);

impl ServerCertVerifier for SameSecret {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        self.check(certificate).map(|()| ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Err(NO_TLS12)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.check_signature(message, certificate, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        vec![SignatureScheme::ED25519]
    }
}

impl ClientCertVerifier for SameSecret {
    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        &[]
    }

    fn verify_client_cert(
        &self,
        certificate: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: UnixTime,
    ) -> Result<ClientCertVerified, Error> {
        self.check(certificate).map(|()| ClientCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Err(NO_TLS12)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.check_signature(message, certificate, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        vec![SignatureScheme::ED25519]
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};

    use super::*;

    fn tls(secrets: &[&str]) -> ClusterTls {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("secret");
        let lines = secrets.iter().map(|secret| secret.repeat(32));
        fs::write(&file, lines.collect::<Vec<_>>().join("\n")).unwrap();
        ClusterTls::new(&ClusterSecrets::read(&file).unwrap())
    }

    /// True if the first server's connection to the second one carries bytes both ways.
    async fn is_connected(from: &[&str], to: &[&str]) -> bool {
        let (from, to) = (tls(from), tls(to));
        let (here, there) = duplex(1 << 16);
        let calls = async {
            let mut stream = from.secure(here, Protocol::Relay).await?;
            stream.write_all(b"hello").await?;
            stream.flush().await?;
            let mut read = [0; 5];
            stream.read_exact(&mut read).await.map(|_| read)
        };
        let answers = async {
            let mut stream = to.accept(there).await?;
            let mut read = [0; 5];
            stream.read_exact(&mut read).await?;
            stream.write_all(&read).await?;
            stream.flush().await
        };
        let (called, answered): (io::Result<_>, io::Result<()>) = tokio::join!(calls, answers);
        assert_eq!(called.is_ok(), answered.is_ok());
        called.is_ok_and(|read| &read == b"hello")
    }

    #[tokio::test]
    async fn only_servers_of_the_same_secret_connect() {
        assert!(is_connected(&["a"], &["a"]).await);
        assert!(!is_connected(&["a"], &["b"]).await);
    }

    #[tokio::test]
    async fn a_secret_is_replaced_step_by_step() {
        // All servers accept the new one, then all use it, then the old one goes.
        let steps = [&["a"][..], &["a", "b"], &["b", "a"], &["b"]];
        for pair in steps.windows(2) {
            assert!(is_connected(pair[0], pair[1]).await && is_connected(pair[1], pair[0]).await);
        }
    }

    #[tokio::test]
    async fn both_ends_agree_on_what_a_connection_carries() {
        for protocol in [Protocol::Relay, Protocol::Http] {
            let (here, there) = duplex(1 << 16);
            let server = tls(&["a"]);
            let (_, accepted) = tokio::join!(server.secure(here, protocol), server.accept(there));
            assert_eq!(Protocol::of(&accepted.unwrap()), protocol);
        }
    }

    #[tokio::test]
    async fn a_client_without_a_certificate_is_refused() {
        let plain = tls(&["a"]);
        let provider = Arc::new(ring::default_provider());
        let known = plain_keys(&["a"]);
        let verifier = Arc::new(SameSecret { known, provider: Arc::clone(&provider) });
        let config = ClientConfig::builder_with_provider(provider)
            .with_protocol_versions(&[&TLS13])
            .unwrap()
            .dangerous()
            .with_custom_certificate_verifier(verifier)
            .with_no_client_auth();
        let (here, there) = duplex(1 << 16);
        let connector = TlsConnector::from(Arc::new(config));
        let name = ServerName::try_from(NAME).unwrap();
        let (_, accepted) = tokio::join!(connector.connect(name, here), plain.accept(there));
        assert!(accepted.is_err());
    }

    fn plain_keys(secrets: &[&str]) -> Vec<Vec<u8>> {
        let text = secrets.iter().map(|secret| secret.repeat(32)).collect::<Vec<_>>().join("\n");
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("secret");
        fs::write(&file, text).unwrap();
        let keys = ClusterSecrets::read(&file).unwrap().keys(PURPOSE);
        keys.iter().map(|key| key_pair(key).public_key_raw().to_vec()).collect()
    }
}
