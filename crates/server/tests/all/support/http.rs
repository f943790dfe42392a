//! HTTP requests, each over a connection of its own.

use std::net::SocketAddr;

use axum::body::Body;
use http_body_util::BodyExt;
use hyper::body::Incoming;
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

pub(crate) async fn get(address: SocketAddr, path: &str, headers: Headers<'_>) -> Answer {
    read(send(address, "GET", path, headers, Body::empty()).await.unwrap()).await.unwrap()
}

pub(crate) async fn post(
    address: SocketAddr,
    path: &str,
    headers: Headers<'_>,
    body: Vec<u8>,
) -> Answer {
    read(send(address, "POST", path, headers, body.into()).await.unwrap()).await.unwrap()
}

/// Sends a request and reads the header of the response.
pub(crate) async fn send(
    address: SocketAddr,
    method: &str,
    path: &str,
    headers: Headers<'_>,
    body: Body,
) -> hyper::Result<Response<Incoming>> {
    let stream = TcpStream::connect(address).await.unwrap();
    let (mut sender, connection) =
        hyper::client::conn::http1::handshake(TokioIo::new(stream)).await?;
    tokio::spawn(connection);
    let host = address.to_string();
    let mut request = Request::builder().method(method).uri(path);
    if headers.iter().all(|(name, _)| *name != "host") {
        request = request.header("host", &host);
    }
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    sender.send_request(request.body(body).unwrap()).await
}

pub(crate) async fn read(response: Response<Incoming>) -> hyper::Result<Answer> {
    let (parts, body) = response.into_parts();
    let body = body.collect().await?.to_bytes().to_vec();
    Ok(Answer { status: parts.status.as_u16(), headers: parts.headers, body })
}
