//! HTTP requests over HTTP/1.1, each over a connection of its own, and over HTTP/2.

use std::net::SocketAddr;

use axum::body::Body;
use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper::client::conn::http2;
use hyper::{HeaderMap, Request, Response};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

/// A response that was read to its end.
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }
}

/// The token of the administration listener in tests.
pub(crate) const TOKEN: &str = "0123456789abcdef0123456789abcdef";

/// The header that bears [`TOKEN`].
pub(crate) const BEARER: (&str, &str) =
    ("authorization", "Bearer 0123456789abcdef0123456789abcdef");

pub(crate) type Headers<'a> = &'a [(&'a str, &'a str)];

/// A server as its clients reach it.
#[derive(Clone)]
pub(crate) enum Target {
    /// HTTP/1.1, a connection for each request.
    Plain(SocketAddr),
    /// HTTP/2 over TLS, one connection for all requests.
    Http2 { authority: String, connection: http2::SendRequest<Body> },
}

impl Target {
    /// The origin of the pages that the server serves.
    pub(crate) fn origin(&self) -> String {
        match self {
            Target::Plain(address) => format!("http://{address}"),
            Target::Http2 { authority, .. } => format!("https://{authority}"),
        }
    }
}

impl From<SocketAddr> for Target {
    fn from(address: SocketAddr) -> Self {
        Target::Plain(address)
    }
}

pub(crate) async fn get(to: impl Into<Target>, path: &str, headers: Headers<'_>) -> Answer {
    read(send(to, "GET", path, headers, Body::empty()).await.unwrap()).await.unwrap()
}

pub(crate) async fn post(
    to: impl Into<Target>,
    path: &str,
    headers: Headers<'_>,
    body: Vec<u8>,
) -> Answer {
    read(send(to, "POST", path, headers, body.into()).await.unwrap()).await.unwrap()
}

/// Sends a request and reads the header of the response.
pub(crate) async fn send(
    to: impl Into<Target>,
    method: &str,
    path: &str,
    headers: Headers<'_>,
    body: Body,
) -> hyper::Result<Response<Incoming>> {
    let mut request = Request::builder().method(method);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    match to.into() {
        Target::Plain(address) => {
            let stream = TcpStream::connect(address).await.unwrap();
            let (mut sender, connection) =
                hyper::client::conn::http1::handshake(TokioIo::new(stream)).await?;
            tokio::spawn(connection);
            let mut request = request.uri(path);
            if headers.iter().all(|(name, _)| *name != "host") {
                request = request.header("host", address.to_string());
            }
            sender.send_request(request.body(body).unwrap()).await
        }
        Target::Http2 { authority, mut connection } => {
            let request = request.uri(format!("https://{authority}{path}"));
            connection.send_request(request.body(body).unwrap()).await
        }
    }
}

pub(crate) async fn read(response: Response<Incoming>) -> hyper::Result<Answer> {
    let (parts, body) = response.into_parts();
    let body = body.collect().await?.to_bytes().to_vec();
    Ok(Answer { status: parts.status.as_u16(), headers: parts.headers, body })
}
