//! The configuration of limits for each address.

use std::net::IpAddr;
use std::str::FromStr;

use ipnet::IpNet;

/// Limits for each address that clients come from; for IPv6, for all that share their first 64
/// bits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AddressLimits {
    /// The most connections of clients at the same time, over all transports together; 0: no limit.
    pub connections: usize,
    /// The most handshakes in a second, on average over ten seconds: new TCP connections, QUIC
    /// handshakes, and transports made of HTTP requests; 0: no limit.
    pub handshakes_per_second: u32,
    /// Reverse proxies that are believed what they say in the header `X-Forwarded-For` about where
    /// a request comes from. Their own connections have no limit.
    pub trusted_proxies: Vec<TrustedProxy>,
}

impl Default for AddressLimits {
    /// A large office or a school has one address of IPv4, so the limits are those of some thousand
    /// people: 5,000 connections are a quarter of what a server takes by default, and after a pause
    /// 2,000 people may come back at once, then 200 in a second.
    fn default() -> Self {
        AddressLimits { connections: 5000, handshakes_per_second: 200, trusted_proxies: Vec::new() }
    }
}

/// The addresses of trusted proxies: one address, or a network such as `10.0.0.0/8`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TrustedProxy(IpNet);

impl TrustedProxy {
    pub(super) fn contains(&self, address: IpAddr) -> bool {
        self.0.contains(&address.to_canonical())
    }
}

/// A text is neither an address nor a network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("write an address such as 192.0.2.1, or a network such as 10.0.0.0/8 or 2001:db8::/32")]
pub struct TrustedProxyError;

impl FromStr for TrustedProxy {
    type Err = TrustedProxyError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.parse::<IpAddr>() {
            Ok(address) => Ok(TrustedProxy(address.to_canonical().into())),
            Err(_) => text.parse().map(TrustedProxy).map_err(|_| TrustedProxyError),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proxy_is_an_address_or_a_network() {
        let contains = |proxy: &str, address: &str| {
            proxy.parse::<TrustedProxy>().unwrap().contains(address.parse().unwrap())
        };
        assert!(contains("10.0.0.0/8", "10.1.2.3") && contains("10.0.0.0/8", "::ffff:10.1.2.3"));
        assert!(!contains("10.0.0.0/8", "11.1.2.3") && !contains("10.0.0.0/8", "2001:db8::1"));
        assert!(contains("192.0.2.1", "192.0.2.1") && !contains("192.0.2.1", "192.0.2.2"));
        assert!(contains("2001:db8::/32", "2001:db8:1::1"));
        for wrong in ["", "proxy.example", "10.0.0.0/33", "10.0.0.0/", "*"] {
            assert_eq!(wrong.parse::<TrustedProxy>(), Err(TrustedProxyError), "{wrong}");
        }
    }
}
