//! Requests to the administration listener of a server, over TCP or a Unix socket, each on a
//! connection of its own.

use std::error::Error;
use std::fs::File;
use std::io::{Read, Write};
use std::time::Duration;

use groupwire_server::AdminToken;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

/// The most bytes of an answer that are read.
const MAX_ANSWER: u64 = 64 << 20;

/// The most bytes of an answer's head, and of the reason of a refusal.
const MAX_HEAD: usize = 16 << 10;
const MAX_WHY: u64 = 64 << 10;

/// Bytes of a file that are sent or received at a time.
const CHUNK: usize = 256 << 10;

/// The most time for a request, or for a part of a file: exporting and deleting large rooms take
/// long.
const PATIENCE: Duration = Duration::from_secs(600);

/// The characters that are encoded in a segment of a path or in a value of a query. None is then
/// taken for a separator, and no segment is `.` or `..`.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'~');

pub(crate) const SILENT: &str = "the server does not answer";

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// The administration listener of a server.
#[derive(Debug)]
pub(crate) struct Server {
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
        let mut server = Self::without_token(url)?;
        server.token = token;
        if matches!(server.at, At::Unix(_)) {
            return Ok(server);
        }
        if let (None, Some((_, given))) = (&server.token, url.split_once("#token=")) {
            server.token = Some(AdminToken::new(given)?);
        }
        if server.token.is_none() {
            return Err("the administration needs a token: name its file with --token-file, or write the whole address \
                that the server has printed"
                .into());
        }
        Ok(server)
    }

    /// Reads the address for requests that need no token.
    pub(crate) fn without_token(url: &str) -> Result<Self> {
        if let Some(path) = url.strip_prefix("unix:") {
            return Ok(Server { at: At::Unix(path.to_owned()), token: None });
        }
        let rest = url.strip_prefix("http://").ok_or_else(|| {
            format!("{url:?} is no address of a server: write http://HOST:PORT or unix:PATH; for TLS use a tunnel of ssh")
        })?;
        let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
        Ok(Server { at: At::Tcp(authority.to_owned()), token: None })
    }

    /// Asks for a list.
    pub(super) async fn get(&self, path: &str) -> Result<Value> {
        Ok(serde_json::from_str(&self.ask("GET", path, Body::None).await?)?)
    }

    /// Sends a request with JSON, and reads its answer as JSON.
    pub(super) async fn post(&self, path: &str, body: &Value) -> Result<Value> {
        let answer = self.ask("POST", path, Body::Json(body.to_string())).await?;
        Ok(serde_json::from_str(&answer)?)
    }

    /// Sends a request, and returns the body of its answer.
    ///
    /// # Errors
    /// The server cannot be reached, or refuses the request; then the error is the server's answer.
    pub(crate) async fn ask(&self, method: &str, path: &str, body: Body) -> Result<String> {
        let Answer { stream, mut begun, .. } = self.send(method, path, body).await?;
        let mut rest = stream.take(MAX_ANSWER);
        timeout(PATIENCE, rest.read_to_end(&mut begun)).await.map_err(|_| SILENT)??;
        Ok(String::from_utf8_lossy(&begun).into_owned())
    }

    /// Sends a request, and writes the body of its answer to a file. Returns its length.
    ///
    /// # Errors
    /// As [`Server::ask`], and if the answer is not complete.
    pub(super) async fn download(&self, path: &str, to: &mut File) -> Result<u64> {
        let mut answer = self.send("GET", path, Body::None).await?;
        let mut chunk = std::mem::take(&mut answer.begun);
        let mut length = 0;
        loop {
            to.write_all(&chunk)?;
            length += chunk.len() as u64;
            chunk.resize(CHUNK, 0);
            let read = timeout(PATIENCE, answer.stream.read(&mut chunk));
            let count = read.await.map_err(|_| SILENT)??;
            chunk.truncate(count);
            if count == 0 {
                break;
            }
        }
        match answer.length {
            Some(expected) if expected != length => {
                Err(format!("the server broke off after {length} of {expected} bytes").into())
            }
            _ => Ok(length),
        }
    }

    /// Sends a request, and reads the head of its answer.
    async fn send(&self, method: &str, path: &str, body: Body) -> Result<Answer> {
        let host = match &self.at {
            At::Tcp(authority) => authority,
            At::Unix(_) => "localhost",
        };
        // HTTP/1.0, so that the answer comes in one piece and the server closes the connection
        // after it.
        let mut head = format!("{method} {path} HTTP/1.0\r\nHost: {host}\r\n");
        if let Some(token) = &self.token {
            head += &format!("Authorization: Bearer {}\r\n", token.as_str());
        }
        if let Body::Message { name, .. } = &body {
            if !name.bytes().all(|byte| byte.is_ascii_graphic()) {
                return Err("--idempotency-key: write visible ASCII characters".into());
            }
            head += &format!("Idempotency-Key: {name}\r\n");
        }
        let (length, content_type) = body.head()?;
        head += &format!("{content_type}Content-Length: {length}\r\n\r\n");
        let mut stream = self.connect().await?;
        stream.write_all(head.as_bytes()).await?;
        // The server may refuse a request before it has read all of it.
        let sent = send_body(&mut stream, body).await;
        let answer = Answer::read(stream).await;
        match (sent, answer) {
            (Err(error), Err(_)) => Err(error),
            (_, answer) => answer,
        }
    }

    async fn connect(&self) -> Result<Box<dyn ByteStream>> {
        let unreachable = |error| format!("the server cannot be reached at {self}: {error}");
        match &self.at {
            At::Tcp(authority) => {
                Ok(Box::new(TcpStream::connect(authority).await.map_err(unreachable)?))
            }
            #[cfg(unix)]
            At::Unix(path) => {
                let stream = tokio::net::UnixStream::connect(path).await.map_err(unreachable)?;
                Ok(Box::new(stream))
            }
            #[cfg(not(unix))]
            At::Unix(_) => Err("this system has no Unix sockets".into()),
        }
    }
}

async fn send_body(stream: &mut Box<dyn ByteStream>, body: Body) -> Result<()> {
    match body {
        Body::None => {}
        Body::Json(json) | Body::Message { json, .. } => stream.write_all(json.as_bytes()).await?,
        Body::File(mut file) => {
            let mut chunk = vec![0; CHUNK];
            loop {
                let count = file.read(&mut chunk)?;
                if count == 0 {
                    break;
                }
                let sent = timeout(PATIENCE, stream.write_all(&chunk[..count])).await;
                sent.map_err(|_| "the server takes nothing more")??;
            }
        }
    }
    Ok(())
}

/// The body of a request.
pub(crate) enum Body {
    None,
    Json(String),
    /// A message to be published, and the name of the request.
    Message {
        name: String,
        json: String,
    },
    /// An export.
    File(File),
}

impl Body {
    /// The length, and the header that tells the type.
    fn head(&self) -> Result<(u64, &'static str)> {
        match self {
            Body::None => Ok((0, "")),
            Body::Json(json) | Body::Message { json, .. } => {
                Ok((json.len() as u64, "Content-Type: application/json\r\n"))
            }
            Body::File(file) => {
                Ok((file.metadata()?.len(), "Content-Type: application/vnd.sqlite3\r\n"))
            }
        }
    }
}

trait ByteStream: AsyncRead + AsyncWrite + Unpin + Send {}

impl<S: AsyncRead + AsyncWrite + Unpin + Send> ByteStream for S {}

/// The answer to a successful request, whose head was read.
struct Answer {
    stream: Box<dyn ByteStream>,
    length: Option<u64>,
    /// The beginning of the body.
    begun: Vec<u8>,
}

impl Answer {
    async fn read(mut stream: Box<dyn ByteStream>) -> Result<Self> {
        let mut begun = Vec::new();
        let (end, head) = loop {
            if let Some(end) = begun.windows(4).position(|four| four == b"\r\n\r\n") {
                break (end + 4, String::from_utf8_lossy(&begun[..end]).into_owned());
            }
            let mut chunk = [0; 4096];
            let count = timeout(PATIENCE, stream.read(&mut chunk)).await.map_err(|_| SILENT)??;
            if count == 0 || begun.len() > MAX_HEAD {
                return Err("the server's answer is not HTTP".into());
            }
            begun.extend_from_slice(&chunk[..count]);
        };
        begun.drain(..end);
        let (status, length) = parse(&head)?;
        if (200..300).contains(&status) {
            return Ok(Answer { stream, length, begun });
        }
        let _ = timeout(PATIENCE, stream.take(MAX_WHY).read_to_end(&mut begun)).await;
        let why = String::from_utf8_lossy(&begun);
        Err(format!("the server refuses: {} ({status})", why.trim()).into())
    }
}

/// The status of an answer, and the length of its body if it tells that.
fn parse(head: &str) -> Result<(u16, Option<u64>)> {
    let mut lines = head.split("\r\n");
    let first = lines.next().filter(|line| line.starts_with("HTTP/"));
    let status = first.and_then(|line| line.split(' ').nth(1)?.parse().ok());
    let status = status.ok_or("the server's answer is not HTTP")?;
    let mut headers = lines.filter_map(|line| line.split_once(':'));
    let length = headers.find(|(name, _)| name.eq_ignore_ascii_case("content-length"));
    Ok((status, length.and_then(|(_, length)| length.trim().parse().ok())))
}

impl std::fmt::Display for Server {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.at {
            At::Tcp(authority) => write!(f, "http://{authority}"),
            At::Unix(path) => write!(f, "unix:{path}"),
        }
    }
}

/// A text as one segment of a path.
pub(super) fn encoded(segment: &str) -> String {
    utf8_percent_encode(segment, ENCODED).to_string()
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
    fn heads_of_answers_are_read() {
        let head = "HTTP/1.0 200 OK\r\nx: y\r\ncontent-LENGTH: 7";
        assert_eq!(parse(head).unwrap(), (200, Some(7)));
        assert_eq!(parse("HTTP/1.0 404 Not Found").unwrap(), (404, None));
        assert!(parse("\x16\x03\x01").is_err() && parse("HELO 200").is_err());
    }

    #[test]
    fn names_of_rooms_are_one_segment() {
        assert_eq!(encoded("docs/\u{e4} b?#.."), "docs%2F%C3%A4%20b%3F%23%2E%2E");
    }
}
