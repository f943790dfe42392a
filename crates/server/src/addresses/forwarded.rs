//! The header `X-Forwarded-For`, to which each proxy adds the address that a request came from.

use std::net::{IpAddr, SocketAddr};

use axum::http::{HeaderMap, HeaderName};

const HEADER: HeaderName = HeaderName::from_static("x-forwarded-for");

/// The address of the client whose request came from `peer`. The header is read from its end, as
/// long as the address before belongs to a trusted proxy: the client itself may have written what
/// stands before the first other address. A text that is no address ends the search, too.
pub(super) fn client(
    peer: IpAddr,
    headers: &HeaderMap,
    is_proxy: impl Fn(IpAddr) -> bool,
) -> IpAddr {
    let lines: Vec<_> = headers.get_all(HEADER).iter().collect();
    let lines = lines.into_iter().rev().map(|line| line.to_str().unwrap_or_default());
    let mut client = peer.to_canonical();
    for hop in lines.flat_map(|line| line.rsplit(',')) {
        if !is_proxy(client) {
            break;
        }
        match read(hop.trim()) {
            Some(address) => client = address.to_canonical(),
            None => break,
        }
    }
    client
}

/// An address, which some proxies write with a port or in brackets.
fn read(hop: &str) -> Option<IpAddr> {
    let bare = hop.strip_prefix('[').and_then(|hop| hop.strip_suffix(']')).unwrap_or(hop);
    let with_port = || hop.parse::<SocketAddr>().ok().map(|address| address.ip());
    bare.parse().ok().or_else(with_port)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(peer: &str, lines: &[&str]) -> String {
        let mut headers = HeaderMap::new();
        for line in lines {
            headers.append(HEADER, line.parse().unwrap());
        }
        let is_proxy = |address: IpAddr| address.to_string().starts_with("10.");
        client(peer.parse().unwrap(), &headers, is_proxy).to_string()
    }

    #[test]
    fn only_what_trusted_proxies_added_is_believed() {
        assert_eq!(of("192.0.2.1", &["203.0.113.9"]), "192.0.2.1");
        assert_eq!(of("10.0.0.1", &["203.0.113.9"]), "203.0.113.9");
        assert_eq!(of("::ffff:10.0.0.1", &["203.0.113.9"]), "203.0.113.9");
        // The client wrote the first address itself.
        assert_eq!(of("10.0.0.1", &["198.51.100.7, 203.0.113.9"]), "203.0.113.9");
        assert_eq!(of("10.0.0.1", &["198.51.100.7, 203.0.113.9", "10.0.0.2"]), "203.0.113.9");
        // If all addresses belong to proxies, or the header is missing, the farthest known address
        // counts.
        assert_eq!(of("10.0.0.1", &["10.0.0.3, 10.0.0.2"]), "10.0.0.3");
        assert_eq!(of("10.0.0.1", &[]), "10.0.0.1");
        for unknown in ["unknown", "", "203.0.113.9, ", "203.0.113.9 10.0.0.2", "\u{e9}"] {
            assert_eq!(of("10.0.0.1", &[unknown]), "10.0.0.1", "{unknown}");
        }
    }

    #[test]
    fn ports_and_brackets_are_left_out() {
        for hop in ["[2001:db8::1]:443", "[2001:db8::1]", "2001:db8::1", " 2001:db8::1 "] {
            assert_eq!(of("10.0.0.1", &[hop]), "2001:db8::1", "{hop}");
        }
        assert_eq!(of("10.0.0.1", &["203.0.113.9:8080"]), "203.0.113.9");
    }
}
