//! Checks of requests that HTTP demands of a server and hyper leaves to it (RFC 9112), and the host
//! that a request names.

use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderValue, Method, Request, StatusCode, Version, header};
use axum::response::{IntoResponse, Response};

/// Why a request is refused before anything else looks at it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Malformed {
    /// A request for a tunnel (CONNECT). A status of 200 would tell the client that it has one.
    Tunnel,
    /// A coding of the body that is not known.
    Coding,
    /// No host, several, or one that is none.
    Host,
}

impl IntoResponse for Malformed {
    fn into_response(self) -> Response {
        match self {
            Malformed::Tunnel => {
                let allowed = [(header::ALLOW, "GET, HEAD, POST")];
                let why = "this server is no proxy and makes no tunnels\n";
                (StatusCode::METHOD_NOT_ALLOWED, allowed, why).into_response()
            }
            Malformed::Coding => {
                let why = "the only transfer coding that is known here is chunked\n";
                (StatusCode::NOT_IMPLEMENTED, why).into_response()
            }
            Malformed::Host => {
                let why =
                    "a request needs one Host: a name or an address, and a port if it has one\n";
                (StatusCode::BAD_REQUEST, why).into_response()
            }
        }
    }
}

/// Checks a request, and writes the host of its target into the header `Host`, where handlers look
/// for it: that of HTTP/2, and of a target that is a whole address, stands there (RFC 9112, section
/// 3.2.2: the header is then ignored).
///
/// # Errors
/// Why the request is refused.
pub(crate) fn settle<B>(request: &mut Request<B>) -> Result<(), Malformed> {
    if request.method() == Method::CONNECT {
        return Err(Malformed::Tunnel);
    }
    let coding = request.headers().get(header::TRANSFER_ENCODING);
    if coding.is_some_and(|coding| !coding.as_bytes().eq_ignore_ascii_case(b"chunked")) {
        return Err(Malformed::Coding);
    }
    let named = request.headers().get_all(header::HOST).iter().count();
    if named > 1 {
        return Err(Malformed::Host);
    }
    if let Some(authority) = request.uri().authority() {
        let host = HeaderValue::from_str(authority.as_str()).map_err(|_| Malformed::Host)?;
        request.headers_mut().insert(header::HOST, host);
    } else if named == 0 && request.version() <= Version::HTTP_10 {
        return Ok(());
    }
    of(request.headers()).map(drop).ok_or(Malformed::Host)
}

/// The one host that a request names; `None` if there is none, or if there are several.
pub(crate) fn of(headers: &HeaderMap) -> Option<Authority> {
    let mut all = headers.get_all(header::HOST).iter();
    let text = all.next()?.to_str().ok()?;
    let host: Authority = text.parse().ok()?;
    let after = text.rsplit_once([':', ']']).map_or("", |(_, after)| after);
    let has_wrong_port = text.contains(':') && !after.is_empty() && host.port_u16().is_none();
    // Names of users before the host are a way to deceive (RFC 9110, section 4.2.4).
    let is_host = !text.contains('@') && !host.host().is_empty() && !has_wrong_port;
    (is_host && all.next().is_none()).then_some(host)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(hosts: &[&'static str]) -> HeaderMap {
        hosts.iter().map(|host| (header::HOST, host.parse().unwrap())).collect()
    }

    #[test]
    fn a_request_names_exactly_one_host() {
        for host in ["localhost", "a.example:443", "a_b:1", "127.0.0.1", "[::1]", "[::1]:80", "a:"]
        {
            assert!(of(&headers(&[host])).is_some(), "{host}");
        }
        for hosts in [
            &[][..],
            &["localhost", "evil.example"],
            &["localhost", "localhost"],
            &[""],
            &["evil.example@localhost"],
            &["localhost@evil.example"],
            &["a b"],
            &["a/b"],
            &["a.example:99999"],
            &["a.example:x"],
            &["[::1]:99999"],
            &["::1"],
            &[":80"],
        ] {
            assert!(of(&headers(hosts)).is_none(), "{hosts:?}");
        }
    }

    #[test]
    fn the_host_of_the_target_replaces_that_of_the_header() {
        let ask = |version, target: &str, hosts: &[&'static str]| {
            let mut request = Request::builder().version(version).uri(target).body(()).unwrap();
            request.headers_mut().extend(
                headers(hosts).into_iter().map(|(name, host)| (name.unwrap_or(header::HOST), host)),
            );
            let settled = settle(&mut request);
            settled.map(|()| request.headers().get(header::HOST).cloned())
        };
        let host = |name: &str| Ok(Some(name.parse().unwrap()));
        assert_eq!(ask(Version::HTTP_11, "/a", &["localhost"]), host("localhost"));
        let evil = "http://evil.example/a";
        assert_eq!(ask(Version::HTTP_11, evil, &["localhost"]), host("evil.example"));
        assert_eq!(ask(Version::HTTP_2, evil, &[]), host("evil.example"));
        assert_eq!(ask(Version::HTTP_11, evil, &["a", "b"]), Err(Malformed::Host));
        assert_eq!(ask(Version::HTTP_11, "http://a@b/", &["b"]), Err(Malformed::Host));
        assert_eq!(ask(Version::HTTP_11, "/a", &[]), Err(Malformed::Host));
        assert_eq!(ask(Version::HTTP_10, "/a", &[]), Ok(None));
        assert_eq!(ask(Version::HTTP_10, "/a", &["a", "b"]), Err(Malformed::Host));
    }
}
