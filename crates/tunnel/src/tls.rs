//! TLS between the two ends, with a self-signed certificate that the connecting end pins, or one of
//! a certificate authority.

use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;
use tokio_rustls::rustls::client::Resumption;
use tokio_rustls::rustls::client::danger::{
    HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier,
};
use tokio_rustls::rustls::crypto::{CryptoProvider, ring, verify_tls13_signature};
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use tokio_rustls::rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, Error, RootCertStore, ServerConfig,
    SignatureScheme, version,
};

use crate::StartError;

/// The protocol name of the tunnel in TLS (ALPN). A handshake with another TLS server, such as a
/// web server, fails.
const ALPN: &[u8] = b"groupwire-tunnel/1";

/// The most encrypted bytes that may wait for the socket: two TLS records of 16 KiB. Bytes that
/// wait here were compressed by a choice that may be out of date.
pub(crate) const BUFFER: usize = 32 << 10;

/// The SHA-256 hash of a certificate, by which the connecting end authenticates the listening end.
/// Written as 64 hexadecimal digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fingerprint(pub [u8; 32]);

/// How the connecting end authenticates the listening end.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Trust {
    /// By the fingerprint of its certificate. The name in the certificate is ignored.
    Pinned(Fingerprint),
    /// By a certificate for this name that was issued by one of the authorities in a file.
    Authority {
        /// The certificates of the authorities, PEM.
        file: PathBuf,
        /// The name or IP address in the certificate.
        name: String,
    },
}

/// The certificate of the listening end.
pub(crate) struct Identity {
    pub(crate) config: Arc<ServerConfig>,
    pub(crate) fingerprint: Fingerprint,
}

impl Identity {
    /// Reads the certificates and the key of a PEM file. If the file does not exist, creates a
    /// self-signed certificate and writes the file, which only this user can read.
    ///
    /// # Errors
    /// A file that cannot be read, written or used.
    pub(crate) fn load_or_make(path: &Path) -> Result<Self, StartError> {
        let pem = match fs::read(path) {
            Ok(pem) => pem,
            Err(error) if error.kind() == io::ErrorKind::NotFound => make(path)?,
            Err(cause) => return Err(StartError::Read { path: path.to_owned(), cause }),
        };
        let wrong = |why: &str| StartError::File { path: path.to_owned(), why: why.to_owned() };
        let chain: Vec<_> = CertificateDer::pem_slice_iter(&pem)
            .collect::<Result<_, _>>()
            .map_err(|error| wrong(&format!("holds no certificates in PEM: {error}")))?;
        let leaf = chain.first().ok_or_else(|| wrong("holds no certificate in PEM"))?;
        let fingerprint = Fingerprint::of(leaf);
        let key = PrivateKeyDer::from_pem_slice(&pem)
            .map_err(|error| wrong(&format!("holds no private key in PEM: {error}")))?;
        let mut config = ServerConfig::builder_with_provider(provider())
            .with_protocol_versions(&[&version::TLS13])
            .map_err(|error| StartError::Tls(error.to_string()))?
            .with_no_client_auth()
            .with_single_cert(chain, key)
            .map_err(|error| wrong(&format!("holds what cannot be used together: {error}")))?;
        config.alpn_protocols = vec![ALPN.to_vec()];
        // Resumption would save nothing: a full handshake takes one round trip too.
        config.send_tls13_tickets = 0;
        Ok(Identity { config: Arc::new(config), fingerprint })
    }
}

/// The TLS configuration of the connecting end, and the server name that it requests.
///
/// # Errors
/// An authority's file or name that is not valid.
pub(crate) fn client(
    trust: &Trust,
) -> Result<(Arc<ClientConfig>, ServerName<'static>), StartError> {
    let tls = |error: Error| StartError::Tls(error.to_string());
    let builder = ClientConfig::builder_with_provider(provider())
        .with_protocol_versions(&[&version::TLS13])
        .map_err(tls)?;
    let (mut config, name) = match trust {
        Trust::Pinned(fingerprint) => {
            let pinned = Pinned { fingerprint: *fingerprint, provider: provider() };
            let builder = builder.dangerous().with_custom_certificate_verifier(Arc::new(pinned));
            (builder.with_no_client_auth(), "tunnel.invalid".to_owned())
        }
        Trust::Authority { file, name } => {
            let roots = authorities(file)?;
            (builder.with_root_certificates(roots).with_no_client_auth(), name.clone())
        }
    };
    config.alpn_protocols = vec![ALPN.to_vec()];
    config.resumption = Resumption::disabled();
    let name = ServerName::try_from(name.clone())
        .map_err(|_| StartError::Tls(format!("{name:?} is no name that a certificate can have")))?;
    Ok((Arc::new(config), name))
}

fn authorities(file: &Path) -> Result<RootCertStore, StartError> {
    let wrong = |why: String| StartError::File { path: file.to_owned(), why };
    let pem = fs::read(file).map_err(|cause| StartError::Read { path: file.to_owned(), cause })?;
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(&pem) {
        let certificate =
            certificate.map_err(|error| wrong(format!("holds no certificates in PEM: {error}")))?;
        roots.add(certificate).map_err(|error| {
            wrong(format!("holds a certificate that is no authority's: {error}"))
        })?;
    }
    if roots.is_empty() {
        return Err(wrong("holds no certificate in PEM".to_owned()));
    }
    Ok(roots)
}

fn provider() -> Arc<CryptoProvider> {
    Arc::new(ring::default_provider())
}

/// Creates a self-signed certificate and writes it with its key. Returns the content of the file.
fn make(path: &Path) -> Result<Vec<u8>, StartError> {
    let made = rcgen::generate_simple_self_signed(["groupwire-tunnel".to_owned()])
        .map_err(|error| StartError::Tls(error.to_string()))?;
    let mut pem = String::new();
    push_pem("PRIVATE KEY", &made.signing_key.serialize_der(), &mut pem);
    push_pem("CERTIFICATE", made.cert.der(), &mut pem);
    write_secret(path, pem.as_bytes())
        .map_err(|cause| StartError::Write { path: path.to_owned(), cause })?;
    Ok(pem.into_bytes())
}

fn push_pem(what: &str, der: &[u8], pem: &mut String) {
    let text = BASE64_STANDARD.encode(der);
    let (lines, rest) = text.as_bytes().as_chunks::<64>();
    let lines = lines.iter().map(|line| &line[..]).chain([rest]).filter(|line| !line.is_empty());
    *pem += &format!("-----BEGIN {what}-----\n");
    lines.for_each(|line| *pem += &(String::from_utf8_lossy(line) + "\n"));
    *pem += &format!("-----END {what}-----\n");
}

/// Writes a file that only this user can read, as a whole or not at all.
fn write_secret(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if let Some(directory) = path.parent() {
        fs::create_dir_all(directory)?;
    }
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.new", std::process::id()));
    let new = path.with_file_name(name);
    let outcome = create_secret(&new)
        .and_then(|mut file| file.write_all(bytes).and_then(|()| file.sync_all()))
        .and_then(|()| fs::rename(&new, path));
    if outcome.is_err() {
        let _ = fs::remove_file(&new);
    }
    outcome
}

fn create_secret(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options.open(path)?;
    // A umask may have taken rights from this user, too.
    #[cfg(unix)]
    let _ = file.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(0o600));
    Ok(file)
}

/// A verifier that accepts only the certificate with this fingerprint.
#[derive(Debug)]
struct Pinned {
    fingerprint: Fingerprint,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for Pinned {
    fn verify_server_cert(
        &self,
        leaf: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let is_it: bool = Fingerprint::of(leaf).0.ct_eq(&self.fingerprint.0).into();
        match is_it {
            true => Ok(ServerCertVerified::assertion()),
            false => Err(CertificateError::ApplicationVerificationFailure.into()),
        }
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Err(Error::General("TLS 1.2 is not offered".to_owned()))
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        leaf: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, leaf, signed, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

/// Explains a failed handshake to a person.
pub(crate) fn why(error: &io::Error) -> String {
    let tls = error.get_ref().and_then(|error| error.downcast_ref::<Error>());
    match tls {
        Some(Error::InvalidMessage(_)) => "what it sends is no TLS".to_owned(),
        Some(Error::InvalidCertificate(CertificateError::ApplicationVerificationFailure)) => {
            "its certificate does not have the pinned fingerprint".to_owned()
        }
        Some(Error::NoApplicationProtocol) => "it speaks TLS but is no groupwire tunnel".to_owned(),
        Some(Error::AlertReceived(alert)) => format!("it refused: {alert:?}"),
        Some(error) => error.to_string(),
        None if error.kind() == io::ErrorKind::UnexpectedEof => {
            "it closed the connection in the middle of the handshake".to_owned()
        }
        None => error.to_string(),
    }
}

impl Fingerprint {
    fn of(leaf: &CertificateDer<'_>) -> Self {
        Fingerprint(Sha256::digest(leaf).into())
    }
}

/// Parses hexadecimal digits; colons between them are ignored.
impl FromStr for Fingerprint {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let digits: Option<Vec<u8>> = text
            .chars()
            .filter(|&char| char != ':')
            .map(|char| char.to_digit(16).map(|digit| digit as u8))
            .collect();
        let digits = digits.filter(|digits| digits.len() == 64);
        let digits = digits.ok_or("a fingerprint has 64 hexadecimal digits")?;
        let mut bytes = [0; 32];
        let (pairs, _) = digits.as_chunks::<2>();
        bytes.iter_mut().zip(pairs).for_each(|(byte, [high, low])| *byte = high << 4 | low);
        Ok(Fingerprint(bytes))
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_certificate_is_created_once_and_only_this_user_can_read_it() {
        let directory = std::env::temp_dir().join(format!("groupwire-tls-{}", std::process::id()));
        let path = directory.join("deeper").join("tunnel.pem");
        let made = Identity::load_or_make(&path).unwrap().fingerprint;
        let read = Identity::load_or_make(&path).unwrap().fingerprint;
        assert_eq!(made, read);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        }
        fs::write(&path, "-----BEGIN CERTIFICATE-----\nAA==\n").unwrap();
        assert!(matches!(Identity::load_or_make(&path), Err(StartError::File { .. })));
        fs::write(&path, "").unwrap();
        assert!(matches!(Identity::load_or_make(&path), Err(StartError::File { .. })));
        assert!(matches!(authorities(&path), Err(StartError::File { .. })));
        fs::remove_dir_all(directory).unwrap();
    }

    #[test]
    fn a_fingerprint_is_parsed_as_it_is_displayed() {
        let fingerprint = Fingerprint(std::array::from_fn(|at| at as u8 * 7));
        assert_eq!(fingerprint.to_string().parse(), Ok(fingerprint));
        assert_eq!(fingerprint.to_string().to_uppercase().parse(), Ok(fingerprint));
        let colons: Vec<_> = fingerprint.0.iter().map(|byte| format!("{byte:02X}")).collect();
        assert_eq!(colons.join(":").parse(), Ok(fingerprint));
        for wrong in ["", "ff", "+f", &"g".repeat(64), &"f".repeat(63), &"f".repeat(65)] {
            assert!(wrong.parse::<Fingerprint>().is_err(), "{wrong}");
        }
    }
}
