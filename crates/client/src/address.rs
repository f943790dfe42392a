//! Where a server is.

use tokio_tungstenite::tungstenite::http::Uri;

use crate::Error;

/// A parsed `ws://host:port/path`.
#[derive(Debug, Clone)]
pub(crate) struct Address {
    /// For the WebSocket request and for messages.
    pub(crate) url: String,
    pub(crate) host: String,
    pub(crate) port: u16,
}

impl Address {
    /// Reads an address. Without a path it means the server's own, `/ws`.
    pub(crate) fn parse(url: &str) -> Result<Self, Error> {
        let wrong = |why| Error::Address { url: url.to_owned(), why };
        let form = "write it as ws://host:port";
        let uri: Uri = url.parse().map_err(|_| wrong(form))?;
        match uri.scheme_str() {
            Some("ws") => {}
            Some("wss") => return Err(wrong("TLS is not built in: use ws:// or a TLS proxy")),
            _ => return Err(wrong(form)),
        }
        // An IPv6 host stands in brackets in a URL, but not in a socket address.
        let host = uri.host().unwrap_or_default().trim_matches(['[', ']']).to_owned();
        if host.is_empty() {
            return Err(wrong(form));
        }
        let authority = uri.authority().map_or("", |authority| authority.as_str());
        let path = match uri.path_and_query().map_or("", |path| path.as_str()) {
            "" | "/" => "/ws",
            path => path,
        };
        let url = format!("ws://{authority}{path}");
        Ok(Address { url, host, port: uri.port_u16().unwrap_or(80) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bare_server_means_its_websocket() {
        for url in ["ws://127.0.0.1:8080", "ws://127.0.0.1:8080/", "ws://127.0.0.1:8080/ws"] {
            let address = Address::parse(url).unwrap();
            assert_eq!(address.url, "ws://127.0.0.1:8080/ws");
            assert_eq!((address.host.as_str(), address.port), ("127.0.0.1", 8080));
        }
        let address = Address::parse("ws://[::1]/rooms?x=1").unwrap();
        assert_eq!((address.host.as_str(), address.port), ("::1", 80));
        assert_eq!(address.url, "ws://[::1]/rooms?x=1");
    }

    #[test]
    fn other_addresses_say_what_to_write() {
        for url in ["", "127.0.0.1:8080", "http://host", "wss://host", "ws://", "ws://a b"] {
            assert!(matches!(Address::parse(url), Err(Error::Address { .. })), "{url}");
        }
    }
}
