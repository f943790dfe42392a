//! How a client authenticates the server, where the transport is encrypted.

use std::path::PathBuf;
use std::str::FromStr;

use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::address::Address;
use crate::error::DialError;

/// How a client authenticates the server over `https://` and `wss://`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Trust {
    /// [`Trust::Ask`] over `https://` for servers on this machine (`localhost`, `127.0.0.0/8`,
    /// `::1`) whose HTTP is not encrypted, [`Trust::Roots`] for others.
    #[default]
    Auto,
    /// The server's certificate is checked by the root certificates of the operating system.
    Roots,
    /// By the root certificates in this PEM file, which is read whenever the client connects. They
    /// replace those of the operating system. Self-signed certificates may be among them.
    File(PathBuf),
    /// By these SHA-256 hashes of certificates that a server made for itself. The names in the
    /// certificates are not checked. The server replaces such a certificate after 10 days, and
    /// whenever it starts.
    Hashes(Vec<[u8; 32]>),
    /// By the certificate hashes in the server's answer to `GET /transports` over HTTP, or by root
    /// certificates if it has none. It also names the UDP port, so the address is that of HTTP
    /// without encryption; not for `wss://`. An attacker who can change the answer can pose as the
    /// server, so this is for trusted networks.
    Ask,
}

impl FromStr for Trust {
    type Err = &'static str;

    /// Parses `auto`, `roots`, `roots:FILE`, `ask`, or hashes of 64 hexadecimal digits each,
    /// separated by commas.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "auto" => Ok(Trust::Auto),
            "roots" => Ok(Trust::Roots),
            "ask" => Ok(Trust::Ask),
            text if text.starts_with("roots:") => Ok(Trust::File(text["roots:".len()..].into())),
            hashes => hashes
                .split(',')
                .map(bytes)
                .collect::<Option<_>>()
                .map(Trust::Hashes)
                .ok_or("write auto, roots, roots:FILE, ask, or hashes of 64 hexadecimal digits"),
        }
    }
}

/// Where to connect to, and how to authenticate the server.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) url: String,
    pub(crate) pins: Pins,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Pins {
    Roots,
    File(PathBuf),
    Hashes(Vec<[u8; 32]>),
}

impl Trust {
    /// How to authenticate the server of a WebSocket over TLS.
    pub(crate) fn of_wss(&self) -> Result<Pins, DialError> {
        match self {
            Trust::Auto | Trust::Roots => Ok(Pins::Roots),
            Trust::File(path) => Ok(Pins::File(path.clone())),
            Trust::Hashes(hashes) => Ok(Pins::Hashes(hashes.clone())),
            Trust::Ask => Err(DialError::Transports {
                why:
                    "a server is asked for its certificate over plain HTTP, which wss:// has not: \
                      choose root certificates or hashes instead"
                        .to_owned(),
            }),
        }
    }

    /// True if the server at this address may be asked for its certificate over HTTP that is not
    /// encrypted.
    pub(crate) fn asks(&self, address: &Address) -> bool {
        *self == Trust::Ask || (*self == Trust::Auto && address.is_loopback())
    }

    pub(crate) async fn find(&self, address: &Address) -> Result<Found, DialError> {
        let url = |port| format!("https://{}:{port}{}", address.bracketed_host(), address.path);
        let as_given = |pins| Found { url: url(address.port), pins };
        match self {
            Trust::Auto if !address.is_loopback() => Ok(as_given(Pins::Roots)),
            Trust::Roots => Ok(as_given(Pins::Roots)),
            Trust::File(path) => Ok(as_given(Pins::File(path.clone()))),
            Trust::Hashes(hashes) => Ok(as_given(Pins::Hashes(hashes.clone()))),
            Trust::Auto | Trust::Ask => {
                let answer = ask(address).await;
                let answer = answer.map_err(|source| DialError::Discovery { source })?;
                // A server with encrypted HTTP answers this. Its certificate is checked by root
                // certificates and not pinned.
                if *self == Trust::Auto && answer.starts_with("HTTP/1.1 400 ") {
                    return Ok(as_given(Pins::Roots));
                }
                let (port, hashes) = read(&answer).map_err(|why| DialError::Transports { why })?;
                let pins = if hashes.is_empty() { Pins::Roots } else { Pins::Hashes(hashes) };
                Ok(Found { url: url(port), pins })
            }
        }
    }
}

/// Most bytes of the answer to `GET /transports`, which has a few hundred.
const MAX_ANSWER: u64 = 64 << 10;

async fn ask(address: &Address) -> std::io::Result<String> {
    let mut stream = TcpStream::connect((address.host.as_str(), address.port)).await?;
    let (host, port) = (address.bracketed_host(), address.port);
    // With HTTP/1.0 the answer is not chunked, and ends when the server closes the connection.
    let request = format!("GET /transports HTTP/1.0\r\nHost: {host}:{port}\r\n\r\n");
    stream.write_all(request.as_bytes()).await?;
    let mut answer = String::new();
    stream.take(MAX_ANSWER).read_to_string(&mut answer).await?;
    Ok(answer)
}

/// Parses the UDP port and the certificate hashes in an answer to `GET /transports`
/// (docs/transports.md, T4).
fn read(answer: &str) -> Result<(u16, Vec<[u8; 32]>), String> {
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or_default();
    let status = head.split_whitespace().nth(1).unwrap_or_default();
    if status != "200" {
        return Err(format!("its HTTP status is {status}"));
    }
    let answer: Value = serde_json::from_str(body).map_err(|error| error.to_string())?;
    let port = answer.pointer("/webtransport/port").and_then(Value::as_u64);
    let port = port.and_then(|port| u16::try_from(port).ok()).ok_or(
        "it names no WebTransport: the server was started without it, or its certificate has expired",
    )?;
    let hashes = answer.pointer("/webtransport/hashes").and_then(Value::as_array);
    let hashes = hashes.into_iter().flatten().map(|hash| hash.as_str().and_then(bytes));
    let hashes =
        hashes.collect::<Option<Vec<_>>>().ok_or("it names a malformed certificate hash")?;
    Ok((port, hashes))
}

fn bytes(digits: &str) -> Option<[u8; 32]> {
    let mut bytes = [0; 32];
    if digits.len() != 64 || !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        return None;
    }
    for (at, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from_str_radix(digits.get(2 * at..2 * at + 2)?, 16).ok()?;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn t4_the_answer_of_a_server_is_parsed() {
        let hash = "0123456789abcdef".repeat(4);
        let answer = |body: &str| format!("HTTP/1.0 200 OK\r\ncontent-type: x\r\n\r\n{body}");
        let body =
            format!(r#"{{"transports":[],"webtransport":{{"port":1,"hashes":["{hash}"]}}}}"#);
        let (port, hashes) = read(&answer(&body)).unwrap();
        assert_eq!((port, hashes.len(), hashes[0][1]), (1, 1, 0x23));
        let body = r#"{"webtransport":{"port":443,"hashes":[]}}"#;
        assert_eq!(read(&answer(body)), Ok((443, vec![])));
        for body in [
            "",
            "{}",
            r#"{"webtransport":{"port":65536,"hashes":[]}}"#,
            r#"{"webtransport":{"port":1,"hashes":["00"]}}"#,
        ] {
            assert!(read(&answer(body)).is_err(), "{body}");
        }
        assert!(read("HTTP/1.0 404 Not Found\r\n\r\n{}").unwrap_err().contains("404"));
        assert!(read("").is_err());
    }

    #[test]
    fn trust_is_parsed_from_text() {
        assert_eq!("ask".parse(), Ok(Trust::Ask));
        assert_eq!("roots:ca.pem".parse(), Ok(Trust::File("ca.pem".into())));
        let hash = "ff".repeat(32);
        let two = format!("{hash},{hash}");
        assert_eq!(two.parse(), Ok(Trust::Hashes(vec![[255; 32]; 2])));
        for wrong in ["", "certainly", "ff,ff", &hash[1..], &"+f".repeat(32)] {
            assert!(wrong.parse::<Trust>().is_err(), "{wrong}");
        }
    }
}
