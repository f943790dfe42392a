//! Why a server does not start: each cause has an error of its own, so that a program can give the
//! right advice.

use std::net::SocketAddr;

use groupwire_server::{Certificate, CertificateConfig, CertificateError, Config, Error, Server};

fn config() -> Config {
    Config {
        listen: SocketAddr::from(([127, 0, 0, 1], 0)),
        webtransport: None,
        ..Config::default()
    }
}

async fn refusal(config: Config) -> Error {
    Server::bind(config).await.err().expect("the server starts")
}

#[tokio::test]
async fn an_address_in_use_is_told_apart_from_other_errors() {
    let first = Server::bind(config()).await.unwrap();
    let taken = first.local_addr();
    let error = refusal(Config { listen: taken, ..config() }).await;
    assert!(matches!(error, Error::AddressInUse { listen, .. } if listen == taken), "{error:?}");
    let error = refusal(Config { socket: Some(taken), ..config() }).await;
    assert!(matches!(error, Error::AddressInUse { listen, .. } if listen == taken), "{error:?}");
}

/// 192.0.2.0/24 is for documentation (RFC 5737): no machine has an address of it.
#[tokio::test]
async fn an_address_of_another_machine_cannot_be_listened_on() {
    let foreign = SocketAddr::from(([192, 0, 2, 1], 0));
    let error = refusal(Config { listen: foreign, ..config() }).await;
    assert!(matches!(error, Error::Listen { listen, .. } if listen == foreign), "{error:?}");
}

#[tokio::test]
async fn a_certificate_that_cannot_be_read_is_no_error_of_an_address() {
    let missing = || "/nonexistent/certificate.pem".into();
    let source = Certificate::Files { cert: missing(), key: missing() };
    let certificate = CertificateConfig { source, ..CertificateConfig::default() };
    let error = refusal(Config { certificate, ..config() }).await;
    assert!(matches!(&error, Error::Certificate(CertificateError::Read { .. })), "{error:?}");
    let source = std::error::Error::source(&error).and_then(|source| source.downcast_ref());
    let kind = source.map(std::io::Error::kind);
    assert_eq!(kind, Some(std::io::ErrorKind::NotFound), "the system's error is kept");
}
