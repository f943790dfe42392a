//! The address of a server, which also selects the transport.

use std::net::IpAddr;

use groupwire_session::Owner;
use tokio_tungstenite::tungstenite::http::Uri;

use crate::error::Error;
use crate::trust::Trust;

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

    /// The address of the server that has the room, for the transport of this address. `None`:
    /// that server has no such transport, or is not reached as safely as the one at this address.
    pub(crate) fn of_owner(&self, owner: &Owner, trust: &Trust) -> Option<Address> {
        let (is_encrypted, rest) = match owner.address.split_once("://")? {
            ("https", rest) => (true, rest),
            ("http", rest) => (false, rest),
            _ => return None,
        };
        let scheme = match (self.scheme, is_encrypted) {
            (Scheme::Ws | Scheme::Wss, true) => "wss",
            (Scheme::Ws, false) => "ws",
            (Scheme::Https, _) if is_encrypted || trust.asks(self) => "https",
            _ => return None,
        };
        let entry = if self.scheme == Scheme::Https { "wt" } else { "ws" };
        let url = format!("{scheme}://{}/{entry}", rest.trim_end_matches('/'));
        let mut address = Address::parse(&url).ok()?;
        match self.scheme {
            Scheme::Https if owner.port == 0 => return None,
            // The server is asked for its UDP port at the port of its HTTP.
            Scheme::Https if !is_encrypted => {}
            Scheme::Https => address.port = owner.port,
            _ => {}
        }
        Some(address)
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
    fn w117_the_owner_is_reached_by_the_same_transport_and_as_safely() {
        let owner_of = |url: &str, owner: &str, port, trust: &Trust| {
            let owner = Owner { after: Default::default(), address: owner.to_owned(), port };
            let address = Address::parse(url).unwrap().of_owner(&owner, trust)?;
            Some(format!("{} {}", address.url, address.port))
        };
        let auto = |url, owner, port| owner_of(url, owner, port, &Trust::Auto);
        let (secure, plain) = ("https://gw-1:8443/base/", "http://gw-1:8080");
        assert_eq!(auto("ws://any", plain, 0).unwrap(), "ws://gw-1:8080/ws 8080");
        assert_eq!(auto("ws://any", secure, 0).unwrap(), "wss://gw-1:8443/base/ws 8443");
        assert_eq!(auto("wss://any/own", secure, 0).unwrap(), "wss://gw-1:8443/base/ws 8443");
        assert_eq!(auto("wss://any", plain, 0), None);
        assert_eq!(auto("tcp://any:1", plain, 0), None);
        assert_eq!(auto("https://any", secure, 0), None);
        assert_eq!(auto("https://any", plain, 7), None);
        assert!(auto("https://any", secure, 7).unwrap().ends_with("/base/wt 7"));
        assert!(auto("https://localhost:1", plain, 7).unwrap().ends_with("/wt 8080"));
        for wrong in ["gw-1", "ftp://gw-1", "http://", "http:// "] {
            assert_eq!(auto("ws://any", wrong, 7), None, "{wrong}");
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
