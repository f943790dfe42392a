//! Where a client reaches the server that has its room (wire W117).

use groupwire_session::Owner;

use crate::address::{Address, Scheme};
use crate::trust::Trust;

/// The address of the server that has the room, for the same transport as that of `own`. `None`:
/// that server has no such transport, or the connection to it would be less safe.
pub(crate) fn address_of(owner: &Owner, own: &Address, trust: &Trust) -> Option<Address> {
    let (is_encrypted, rest) = match owner.address.split_once("://")? {
        ("https", rest) => (true, rest),
        ("http", rest) => (false, rest),
        _ => return None,
    };
    let scheme = match (own.scheme, is_encrypted) {
        (Scheme::Ws | Scheme::Wss, true) => "wss",
        (Scheme::Ws, false) => "ws",
        (Scheme::Https, _) if is_encrypted || trust.asks(own) => "https",
        _ => return None,
    };
    let entry = if own.scheme == Scheme::Https { "wt" } else { "ws" };
    let url = format!("{scheme}://{}/{entry}", rest.trim_end_matches('/'));
    let mut address = Address::parse(&url).ok()?;
    match own.scheme {
        Scheme::Https if owner.port == 0 => return None,
        // The server is asked for its UDP port at the port of its HTTP.
        Scheme::Https if !is_encrypted => {}
        Scheme::Https => address.port = owner.port,
        _ => {}
    }
    Some(address)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn w117_the_owner_is_reached_by_the_same_transport_and_as_safely() {
        let owner_of = |url: &str, owner: &str, port, trust: &Trust| {
            let owner = Owner { after: Default::default(), address: owner.to_owned(), port };
            let address = address_of(&owner, &Address::parse(url).unwrap(), trust)?;
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
}
