//! Requests to the administration listener of a server, over TCP or a Unix socket, each on a connection of its own.

use std::error::Error;
use std::time::Duration;

use groupwire_server::AdminToken;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

/// The most bytes of an answer that are read.
const MAX_ANSWER: u64 = 64 << 20;

/// The most time for a request: deleting a large room takes long.
const PATIENCE: Duration = Duration::from_secs(60);

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// The administration listener of a server.
#[derive(Debug)]
pub(super) struct Server {
    at: At,
    token: Option<AdminToken>,
}

#[derive(Debug, PartialEq)]
enum At {
    /// Host and port.
    Tcp(String),
    /// The path of a Unix socket.
    Unix(String),
}

impl Server {
    /// Reads the address, whose fragment may hold the token.
    pub(super) fn new(url: &str, token: Option<AdminToken>) -> Result<Self> {
        if let Some(path) = url.strip_prefix("unix:") {
            return Ok(Server { at: At::Unix(path.to_owned()), token });
        }
        let rest = url.strip_prefix("http://").ok_or_else(|| {
            format!("{url:?} is no address of a server: write http://HOST:PORT or unix:PATH; for TLS use a tunnel of ssh")
        })?;
        let (rest, fragment) = rest.split_once('#').unwrap_or((rest, ""));
        let authority = rest.split(['/', '?']).next().unwrap_or_default();
        let given = fragment.strip_prefix("token=").map(AdminToken::new).transpose()?;
        let token = token.or(given);
        if token.is_none() {
            return Err("the administration needs a token: name its file with --token-file, or write the whole address \
                that the server has printed"
                .into());
        }
        Ok(Server { at: At::Tcp(authority.to_owned()), token })
    }

    /// Sends a request, and returns the body of its answer.
    ///
    /// # Errors
    /// The server cannot be reached, or refuses the request; then the error is what it said.
    pub(super) async fn ask(&self, method: &str, path: &str, body: Option<&str>) -> Result<String> {
        let answer = timeout(PATIENCE, self.exchange(method, path, body)).await;
        parse(&answer.map_err(|_| "the server does not answer")??)
    }

    async fn exchange(&self, method: &str, path: &str, body: Option<&str>) -> Result<Vec<u8>> {
        let host = match &self.at {
            At::Tcp(authority) => authority,
            At::Unix(_) => "localhost",
        };
        // The older version of HTTP, so that the answer comes in one piece and the connection is closed behind it.
        let mut request = format!("{method} {path} HTTP/1.0\r\nHost: {host}\r\n");
        if let Some(token) = &self.token {
            request += &format!("Authorization: Bearer {}\r\n", token.as_str());
        }
        let body = body.unwrap_or_default();
        if !body.is_empty() {
            request += "Content-Type: application/json\r\n";
        }
        request += &format!("Content-Length: {}\r\n\r\n{body}", body.len());
        let unreachable = |error| format!("the server cannot be reached at {self}: {error}");
        match &self.at {
            At::Tcp(authority) => {
                let stream = TcpStream::connect(authority).await.map_err(unreachable)?;
                exchange(stream, &request).await
            }
            #[cfg(unix)]
            At::Unix(path) => {
                let stream = tokio::net::UnixStream::connect(path).await.map_err(unreachable)?;
                exchange(stream, &request).await
            }
            #[cfg(not(unix))]
            At::Unix(_) => Err("this system has no Unix sockets".into()),
        }
    }
}

impl std::fmt::Display for Server {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.at {
            At::Tcp(authority) => write!(f, "http://{authority}"),
            At::Unix(path) => write!(f, "unix:{path}"),
        }
    }
}

async fn exchange(
    mut stream: impl AsyncRead + AsyncWrite + Unpin,
    request: &str,
) -> Result<Vec<u8>> {
    stream.write_all(request.as_bytes()).await?;
    let mut answer = Vec::new();
    stream.take(MAX_ANSWER).read_to_end(&mut answer).await?;
    Ok(answer)
}

/// The body of an answer, or what a refusal says.
fn parse(answer: &[u8]) -> Result<String> {
    let answer = String::from_utf8_lossy(answer);
    let (head, body) = answer.split_once("\r\n\r\n").ok_or("the server's answer is not HTTP")?;
    let status = head.split(' ').nth(1).and_then(|status| status.parse::<u16>().ok());
    match status {
        Some(200..=299) => Ok(body.to_owned()),
        Some(status) => Err(format!("the server refuses: {} ({status})", body.trim()).into()),
        None => Err("the server's answer is not HTTP".into()),
    }
}

/// A text as one segment of a path.
pub(super) fn encoded(segment: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_~".contains(&byte);
    segment
        .bytes()
        .map(|byte| match is_plain(byte) {
            true => char::from(byte).to_string(),
            false => format!("%{byte:02X}"),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOKEN: &str = "0123456789abcdef0123456789abcdef";

    #[test]
    fn the_printed_address_names_listener_and_token() {
        let url = format!("http://127.0.0.1:9090/inspector/#token={TOKEN}");
        let server = Server::new(&url, None).unwrap();
        assert_eq!(server.at, At::Tcp("127.0.0.1:9090".to_owned()));
        assert_eq!(server.token, Some(AdminToken::new(TOKEN).unwrap()));
        let server = Server::new("unix:/run/admin", None).unwrap();
        assert_eq!((server.at, server.token), (At::Unix("/run/admin".to_owned()), None));
        for wrong in [
            "http://127.0.0.1:9090",
            "https://a.example",
            "127.0.0.1:9090",
            "http://a:1/#token=short",
        ] {
            assert!(Server::new(wrong, None).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_refusal_is_an_error_that_says_why() {
        assert_eq!(parse(b"HTTP/1.0 200 OK\r\nx: y\r\n\r\n{}").unwrap(), "{}");
        assert_eq!(parse(b"HTTP/1.0 204 No Content\r\n\r\n").unwrap(), "");
        let error = parse(b"HTTP/1.0 404 Not Found\r\n\r\nno such room\n").unwrap_err().to_string();
        assert!(error.contains("no such room") && error.contains("404"), "{error}");
        assert!(parse(b"\x16\x03\x01").is_err() && parse(b"HELO\r\n\r\n").is_err());
    }

    #[test]
    fn names_of_rooms_are_one_segment() {
        assert_eq!(encoded("docs/\u{e4} b?#.."), "docs%2F%C3%A4%20b%3F%23%2E%2E");
    }
}
