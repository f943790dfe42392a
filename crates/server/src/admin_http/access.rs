//! Admits requests to the administration listener that name it as their host, come from its own
//! page or from no page, and have its token.

use std::net::IpAddr;
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::uri::Authority;
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::token::AdminToken;
use crate::web::host;
use crate::web::origins::Origins;

/// The token and the hosts that requests are checked against.
pub(crate) struct Access {
    /// `None`: the listener is a Unix socket, whose mode says who may use it.
    pub(crate) token: Option<AdminToken>,
    /// The names by which the listener may be addressed, besides its own address and `localhost`.
    pub(crate) hosts: Vec<String>,
}

/// The listener's own address, as a connection reached it; `None` for a Unix socket. An extension
/// of each request.
#[derive(Clone, Copy)]
pub(crate) struct ReachedAt(pub(crate) Option<IpAddr>);

/// Refuses requests that were sent to another name, or that come from pages of other origins. The
/// name may be one that a foreign page has rebound to this address.
pub(crate) async fn check_address(
    State(access): State<Arc<Access>>,
    request: Request,
    next: Next,
) -> Response {
    let reached_at = request.extensions().get().copied().unwrap_or(ReachedAt(None));
    let headers = request.headers();
    let Some(host) = host::of(headers).filter(|host| access.admits_host(host, reached_at)) else {
        const WHY: &str =
            "the administration listener has another name: --admin-host admits further ones\n";
        return (StatusCode::MISDIRECTED_REQUEST, WHY).into_response();
    };
    if !is_own_page(headers, &host) {
        const WHY: &str = "pages of this origin may not use the administration listener\n";
        return (StatusCode::FORBIDDEN, WHY).into_response();
    }
    next.run(request).await
}

/// Refuses requests without the token.
pub(crate) async fn check_token(
    State(access): State<Arc<Access>>,
    request: Request,
    next: Next,
) -> Response {
    let borne = request.headers().get(header::AUTHORIZATION).map(|value| value.as_bytes());
    let is_permitted = match &access.token {
        Some(token) => borne.is_some_and(|borne| token.is_borne_by(borne)),
        None => true,
    };
    if is_permitted {
        return next.run(request).await;
    }
    const WHY: &str = "the token of the administration listener is missing or wrong: send it as `Authorization: Bearer TOKEN`\n";
    (StatusCode::UNAUTHORIZED, [(header::WWW_AUTHENTICATE, "Bearer")], WHY).into_response()
}

/// True if a request comes from the listener's own page, or from a program that is no browser.
fn is_own_page(headers: &HeaderMap, host: &Authority) -> bool {
    headers.get_all(header::ORIGIN).iter().all(|origin| {
        origin.to_str().is_ok_and(|origin| Origins::own().admit(origin, host.as_str()))
    })
}

impl Access {
    /// True if the listener may be addressed by this host. Ports are not compared: a foreign page
    /// can rebind a name, but not a port, and tunnels and containers change ports.
    fn admits_host(&self, host: &Authority, ReachedAt(own): ReachedAt) -> bool {
        let host = host.host().trim_start_matches('[').trim_end_matches(']');
        let is_own = host.parse::<IpAddr>().is_ok_and(|address| {
            own.is_some_and(|own| own.to_canonical() == address.to_canonical())
        });
        is_own
            || ["localhost"]
                .into_iter()
                .chain(self.hosts.iter().map(String::as_str))
                .any(|name| name.eq_ignore_ascii_case(host))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn admits(host: &str, own: Option<&str>) -> bool {
        let access = Access { token: None, hosts: vec!["admin.example".to_owned()] };
        let own = ReachedAt(own.map(|own| own.parse().unwrap()));
        host.parse().is_ok_and(|host| access.admits_host(&host, own))
    }

    #[test]
    fn a_listener_is_addressed_by_its_own_names_only() {
        for host in ["127.0.0.1", "127.0.0.1:9090", "localhost:1", "LocalHost", "admin.example:443"]
        {
            assert!(admits(host, Some("127.0.0.1")), "{host}");
        }
        assert!(admits("[::1]:9090", Some("::1")));
        assert!(admits("10.0.0.7:9090", Some("::ffff:10.0.0.7")));
        for host in [
            "127.0.0.2",
            "10.0.0.1:9090",
            "evil.example",
            "localhost.evil.example",
            "127.0.0.1.nip.io",
            "admin.example.evil",
            "",
        ] {
            assert!(!admits(host, Some("127.0.0.1")), "{host}");
        }
        assert!(admits("localhost", None) && !admits("127.0.0.1", None));
    }

    #[test]
    fn only_the_listeners_own_page_is_admitted() {
        let host: Authority = "localhost:9090".parse().unwrap();
        let asks = |origin: &'static str| {
            is_own_page(&HeaderMap::from_iter([(header::ORIGIN, origin.parse().unwrap())]), &host)
        };
        assert!(asks("http://localhost:9090"));
        assert!(is_own_page(&HeaderMap::new(), &host));
        for foreign in ["http://localhost:8080", "https://evil.example", "null", ""] {
            assert!(!asks(foreign), "{foreign}");
        }
    }
}
