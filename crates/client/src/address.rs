//! The address of a server, which also selects the transport.

use std::net::IpAddr;

use tokio_tungstenite::tungstenite::http::Uri;

use crate::error::Error;

/// The transport that an address asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scheme {
    /// WebSocket.
    Ws,
    /// WebSocket over TLS.
    Wss,
    /// Length-prefixed packets over TCP.
    Tcp,
    /// WebTransport.
    Https,
}

/// A parsed address.
#[derive(Debug, Clone)]
pub(crate) struct Address {
    /// The full URL, for the WebSocket request and for messages to people.
    pub(crate) url: String,
    pub(crate) scheme: Scheme,
    pub(crate) host: String,
    pub(crate) port: u16,
    /// The path with its query; empty for TCP.
    pub(crate) path: String,
}

impl Address {
    /// Parses an address. An address without a path gets the default path of its transport: `/ws`
    /// or `/wt`.
    pub(crate) fn parse(url: &str) -> Result<Self, Error> {
        let wrong = |why| Error::Address { url: url.to_owned(), why };
        let form =
            "write it as wss://host:port, ws://host:port, https://host:port or tcp://host:port";
        let uri: Uri = url.parse().map_err(|_| wrong(form))?;
        let (scheme, default_path, default_port) = match uri.scheme_str() {
            Some("ws") => (Scheme::Ws, "/ws", Some(80)),
            Some("wss") => (Scheme::Wss, "/ws", Some(443)),
            Some("tcp") => (Scheme::Tcp, "", None),
            Some("https") => (Scheme::Https, "/wt", Some(443)),
            _ => return Err(wrong(form)),
        };
        // An IPv6 address is in brackets in a URL, but not in a socket address.
        let host = uri.host().unwrap_or_default().trim_matches(['[', ']']).to_owned();
        if host.is_empty() {
            return Err(wrong(form));
        }
        let port = uri.port_u16().or(default_port).ok_or_else(|| wrong("the port is missing"))?;
        let query = uri.query().map_or(String::new(), |query| format!("?{query}"));
        let path = match uri.path() {
            path if scheme == Scheme::Tcp && (path.len() > 1 || !query.is_empty()) => {
                return Err(wrong("a TCP address has no path"));
            }
            "" | "/" => format!("{default_path}{query}"),
            path => format!("{path}{query}"),
        };
        let authority = uri.authority().map_or("", |authority| authority.as_str());
        let name = uri.scheme_str().unwrap_or_default();
        let url = format!("{name}://{authority}{path}");
        Ok(Address { url, scheme, host, port, path })
    }

    /// The reason why the client uses this transport, which the inspector shows.
    pub(crate) fn reason(&self) -> &'static str {
        match self.scheme {
            Scheme::Ws | Scheme::Wss => {
                "The address that the program was given asks for WebSocket."
            }
            Scheme::Tcp => "The address that the program was given asks for plain TCP.",
            Scheme::Https => "The address that the program was given asks for WebTransport.",
        }
    }

    /// The host as it is written in a URL.
    pub(crate) fn bracketed_host(&self) -> String {
        if self.host.contains(':') { format!("[{}]", self.host) } else { self.host.clone() }
    }

    /// True if the server is certainly on this machine.
    pub(crate) fn is_loopback(&self) -> bool {
        let is_loopback_ip = self.host.parse().is_ok_and(|ip: IpAddr| ip.is_loopback());
        is_loopback_ip || self.host.eq_ignore_ascii_case("localhost")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_path_the_default_one_is_meant() {
        for url in ["ws://127.0.0.1:8080", "ws://127.0.0.1:8080/", "ws://127.0.0.1:8080/ws"] {
            let address = Address::parse(url).unwrap();
            assert_eq!(address.url, "ws://127.0.0.1:8080/ws");
            assert_eq!((address.host.as_str(), address.port), ("127.0.0.1", 8080));
        }
        let address = Address::parse("ws://[::1]/rooms?x=1").unwrap();
        assert_eq!((address.host.as_str(), address.port), ("::1", 80));
        assert_eq!(address.url, "ws://[::1]/rooms?x=1");
        let address = Address::parse("wss://host?x=1").unwrap();
        assert_eq!(address.url, "wss://host/ws?x=1");
        let address = Address::parse("https://[::1]:8080").unwrap();
        assert_eq!(
            (address.scheme, address.url.as_str()),
            (Scheme::Https, "https://[::1]:8080/wt")
        );
        assert_eq!(address.bracketed_host(), "[::1]");
        let address = Address::parse("wss://host").unwrap();
        assert_eq!((address.scheme, address.port), (Scheme::Wss, 443));
        assert_eq!(address.url, "wss://host/ws");
        let address = Address::parse("tcp://host:8081").unwrap();
        assert_eq!((address.scheme, address.url.as_str()), (Scheme::Tcp, "tcp://host:8081"));
    }

    #[test]
    fn malformed_addresses_are_refused() {
        for url in [
            "",
            "127.0.0.1:8080",
            "http://host",
            "wss://",
            "ws://",
            "ws://a b",
            "tcp://host",
            "tcp://host:1/path",
            "tcp://host:1?x=1",
        ] {
            assert!(matches!(Address::parse(url), Err(Error::Address { .. })), "{url}");
        }
    }

    #[test]
    fn names_of_this_machine_are_recognized() {
        for (host, is_loopback) in [
            ("localhost", true),
            ("127.9.9.9", true),
            ("[::1]", true),
            ("localhost.example", false),
            ("192.0.2.1", false),
        ] {
            let address = Address::parse(&format!("https://{host}")).unwrap();
            assert_eq!(address.is_loopback(), is_loopback, "{host}");
        }
    }
}
