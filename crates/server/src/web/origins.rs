//! Which web pages may use the server, by their origin (docs/transports.md, T2).

use axum::http::uri::{Authority, Uri};

use crate::error::Error;

/// The origins whose web pages may use the server: the server's own, and those added with
/// [`Origins::and`]. Programs other than browsers send no `Origin` and are always served.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Origins {
    any: bool,
    listed: Vec<String>,
}

impl Origins {
    /// Admits only pages that the server itself served.
    pub fn own() -> Self {
        Origins::default()
    }

    /// Admits pages of every site.
    pub fn any() -> Self {
        Origins { any: true, listed: Vec::new() }
    }

    /// Admits pages of `origin` too, such as `https://example.org`; `*` admits every page.
    ///
    /// # Errors
    /// [`Error::Origin`] if `origin` is not of the form scheme, host and, unless it is the scheme's
    /// default, port.
    pub fn and(mut self, origin: &str) -> Result<Self, Error> {
        if origin == "*" {
            return Ok(Origins::any());
        }
        if !is_origin(origin) {
            return Err(Error::Origin { origin: origin.to_owned() });
        }
        self.listed.push(origin.to_ascii_lowercase());
        Ok(self)
    }

    /// True if a page of `origin` may use the server at `authority` (host, and port unless it is
    /// the scheme's default).
    pub(crate) fn admit(&self, origin: &str, authority: &str) -> bool {
        self.lists(origin) || is_same(origin, authority, |one, two| one == two)
    }

    /// Like [`Origins::admit`], but compares only the hosts, as WebTransport's port may differ from
    /// that of the page.
    pub(crate) fn admit_host(&self, origin: &str, authority: &str) -> bool {
        self.lists(origin) || is_same(origin, authority, |(one, _), (two, _)| one == two)
    }

    fn lists(&self, origin: &str) -> bool {
        self.any || self.listed.iter().any(|listed| listed.eq_ignore_ascii_case(origin))
    }
}

/// True if `origin` has the form in which browsers send origins. Such a text has no character that
/// could end a string in a script.
pub(crate) fn is_origin(origin: &str) -> bool {
    let Ok(uri) = origin.parse::<Uri>() else { return false };
    let Some((scheme, authority)) = origin.split_once("://") else { return false };
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-.:[]_".contains(c);
    uri.scheme_str().is_some_and(|parsed| parsed.eq_ignore_ascii_case(scheme))
        && uri.host().is_some_and(|host| !host.is_empty())
        && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
        && authority.chars().all(is_plain)
}

type HostAndPort = (String, u16);

fn is_same(
    origin: &str,
    authority: &str,
    compare: impl Fn(&HostAndPort, &HostAndPort) -> bool,
) -> bool {
    let Some((scheme, of_origin)) = origin.split_once("://") else { return false };
    // The page's scheme decides the default port: a server behind a proxy does not know whether it
    // is reached by TLS.
    let own = match scheme {
        "http" => 80,
        "https" => 443,
        _ => return false,
    };
    let read = |authority: &str| {
        let authority: Authority = authority.parse().ok()?;
        Some((authority.host().to_ascii_lowercase(), authority.port_u16().unwrap_or(own)))
    };
    match (read(of_origin), read(authority)) {
        (Some(one), Some(two)) => compare(&one, &two),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn only_the_servers_own_pages_are_admitted_by_default() {
        let origins = Origins::own();
        assert!(origins.admit("http://localhost:8080", "localhost:8080"));
        assert!(origins.admit("https://Example.org", "example.ORG:443"));
        assert!(origins.admit("http://[::1]:8080", "[::1]:8080"));
        for (origin, host) in [
            ("http://localhost:8081", "localhost:8080"),
            ("http://example.org", "example.org:443"),
            ("http://example.org.evil.org", "example.org"),
            ("null", "example.org"),
            ("", ""),
            ("http://", ""),
            ("file://", "example.org"),
        ] {
            assert!(!origins.admit(origin, host), "{origin} {host}");
        }
        assert!(origins.admit_host("https://example.org:8443", "example.org:9000"));
        assert!(!origins.admit_host("https://example.com", "example.org"));
    }

    #[test]
    fn listed_origins_are_admitted() {
        let origins = Origins::own().and("https://App.example:8443").unwrap();
        assert!(origins.admit("https://app.example:8443", "server.example"));
        assert!(!origins.admit("https://app.example", "server.example"));
        assert!(Origins::own().and("*").unwrap().admit("null", "server.example"));
        for wrong in ["", "app.example", "https://", "https://a.example/", "https://a\"b", "null"] {
            assert!(Origins::own().and(wrong).is_err(), "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn random_origins_never_panic(origin: String, host: String) {
            let origin = format!("http://{origin}");
            let _ = Origins::own().admit(&origin, &host);
            prop_assert!(!is_origin(&origin) || !origin.contains(['"', '<', '\\', '\'']));
        }
    }
}
