//! The certificates that a server announces (T4).

use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// The SHA-256 hashes of the certificates that a server may have.
pub(super) async fn certificates(port: u16) -> Result<Vec<[u8; 32]>, String> {
    let answer = ask(port).await.map_err(|error| format!("GET /transports: {error}"))?;
    hashes(&answer).ok_or_else(|| "it offers no WebTransport".to_owned())
}

async fn ask(port: u16) -> std::io::Result<String> {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).await?;
    stream.write_all(b"GET /transports HTTP/1.0\r\nHost: 127.0.0.1\r\n\r\n").await?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await?;
    Ok(answer)
}

fn hashes(answer: &str) -> Option<Vec<[u8; 32]>> {
    let body: Value = serde_json::from_str(answer.split_once("\r\n\r\n")?.1).ok()?;
    let hashes = body.pointer("/webtransport/hashes")?.as_array()?;
    hashes.iter().map(|hash| bytes(hash.as_str()?)).collect()
}

fn bytes(digits: &str) -> Option<[u8; 32]> {
    let mut bytes = [0; 32];
    for (at, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from_str_radix(digits.get(2 * at..2 * at + 2)?, 16).ok()?;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn t4_certificates_are_read() {
        let hash = "01".repeat(32);
        let answer =
            format!("HTTP/1.0 200 OK\r\n\r\n{{\"webtransport\":{{\"hashes\":[\"{hash}\"]}}}}");
        assert_eq!(hashes(&answer), Some(vec![[1; 32]]));
        assert_eq!(hashes("HTTP/1.0 200 OK\r\n\r\n{}"), None);
        assert_eq!(hashes(""), None);
    }
}
