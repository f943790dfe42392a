//! A rule of the listening end that permits targets.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::ops::RangeInclusive;
use std::str::FromStr;

use ipnet::IpNet;

use super::{Host, Target};
use crate::RouteError;

/// The form of a rule, for messages.
const FORM: RouteError = RouteError::Form("HOST:PORTS, such as example.org:443 or 10.0.0.0/8:*");

/// Targets that the listening end connects to if a program asks for them. Written `HOST:PORTS`, or
/// `HOST:PORTS,never` to forbid compression.
///
/// The host is a name, `*.NAME` for every name below it, an address, a network such as `10.0.0.0/8`
/// or `[fd00::/8]`, or `*`. The ports are one, a range such as `8000-8999`, or `*`.
///
/// `*` and `*.NAME` do not reach addresses of the machine itself (loopback), link-local and
/// multicast ones, whatever a name resolves to: others may control what a name means. A rule with
/// such an address or network, or with the whole name, does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Allow {
    hosts: Hosts,
    ports: RangeInclusive<u16>,
    /// Whether compression is forbidden. The lengths of compressed bytes can reveal a secret among
    /// them.
    pub never: bool,
}

/// The hosts of a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Hosts {
    Any,
    Name(String),
    /// All names that end with a dot and this one.
    Below(String),
    Network(IpNet),
}

impl Allow {
    /// A rule for one target.
    pub(crate) fn only(target: &Target, never: bool) -> Self {
        let hosts = match target.host() {
            Host::Address(address) => Hosts::Network(IpNet::from(*address)),
            Host::Name(name) => Hosts::Name(name.clone()),
        };
        Allow { hosts, ports: target.port()..=target.port(), never }
    }

    /// Whether the rule may permit the target, before its name is resolved.
    pub(super) fn may_permit(&self, target: &Target) -> bool {
        let is_host = match (&self.hosts, target.host()) {
            (Hosts::Any, _) => true,
            // The addresses of a name may belong to the network.
            (Hosts::Network(_), Host::Name(_)) => true,
            (Hosts::Network(network), Host::Address(address)) => network.contains(address),
            (Hosts::Name(_) | Hosts::Below(_), Host::Address(_)) => false,
            (Hosts::Name(one), Host::Name(name)) => one == name,
            (Hosts::Below(parent), Host::Name(name)) => is_below(name, parent),
        };
        is_host && self.ports.contains(&target.port())
    }

    /// Whether the rule permits the target at this address, to which its host resolves.
    pub(super) fn permits(&self, target: &Target, address: IpAddr) -> bool {
        let is_there = match &self.hosts {
            Hosts::Name(_) => true,
            Hosts::Network(network) => network.contains(&address),
            Hosts::Any | Hosts::Below(_) => !is_special(address),
        };
        is_there && self.may_permit(target)
    }
}

fn is_below(name: &str, parent: &str) -> bool {
    name.strip_suffix(parent).is_some_and(|rest| rest.len() > 1 && rest.ends_with('.'))
}

/// Whether the address belongs to this machine alone, to the cable that it is connected to, or to
/// no host. Services on such addresses trust whoever reaches them, such as those of a cloud that
/// give a machine its credentials (169.254.169.254).
fn is_special(address: IpAddr) -> bool {
    /// The host bits of fe80::/10, the link-local addresses.
    const LINK_LOCAL: u16 = 0xfe80;
    const LINK_LOCAL_MASK: u16 = 0xffc0;
    /// The IPv4 address in the last 32 bits of an IPv6 one, for 64:ff9b::/96 (RFC 6052) and ::/96.
    fn embedded(address: Ipv6Addr) -> Option<Ipv4Addr> {
        let [first, second, third, fourth, fifth, sixth, high, low] = address.segments();
        let is_translated =
            [first, second, third, fourth, fifth, sixth] == [0x64, 0xff9b, 0, 0, 0, 0];
        let is_compatible = [first, second, third, fourth, fifth, sixth] == [0; 6];
        let [[a, b], [c, d]] = [high.to_be_bytes(), low.to_be_bytes()];
        (is_translated || is_compatible).then(|| Ipv4Addr::new(a, b, c, d))
    }
    match address.to_canonical() {
        // 0.0.0.0/8 is this host (RFC 1122, section 3.2.1.3).
        IpAddr::V4(address) => {
            address.is_loopback()
                || address.octets()[0] == 0
                || address.is_link_local()
                || address.is_multicast()
                || address.is_broadcast()
        }
        IpAddr::V6(address) => {
            let is_link_local = address.segments()[0] & LINK_LOCAL_MASK == LINK_LOCAL;
            is_link_local
                || address.is_loopback()
                || address.is_multicast()
                || embedded(address).is_some_and(|inner| is_special(inner.into()))
        }
    }
}

impl FromStr for Allow {
    type Err = RouteError;

    fn from_str(text: &str) -> Result<Self, RouteError> {
        let (rule, never) = crate::routes::options(text)?;
        let (host, ports) = rule.rsplit_once(':').ok_or(FORM)?;
        Ok(Allow { hosts: host.parse()?, ports: ports_of(ports)?, never })
    }
}

impl FromStr for Hosts {
    type Err = RouteError;

    fn from_str(text: &str) -> Result<Self, RouteError> {
        if text == "*" {
            return Ok(Hosts::Any);
        }
        let inner = text.strip_prefix('[').and_then(|text| text.strip_suffix(']'));
        if inner.is_none() && text.contains(':') {
            return Err(FORM);
        }
        let text = inner.unwrap_or(text);
        if let Ok(network) = text.parse::<IpNet>() {
            return Ok(Hosts::Network(network.trunc()));
        }
        let (is_below, name) = match text.strip_prefix("*.") {
            Some(parent) => (true, parent),
            None => (false, text),
        };
        match (Host::parse(name).ok_or(FORM)?, is_below) {
            (Host::Name(name), true) => Ok(Hosts::Below(name)),
            (Host::Name(name), false) => Ok(Hosts::Name(name)),
            (Host::Address(address), false) => Ok(Hosts::Network(address.into())),
            (Host::Address(_), true) => Err(FORM),
        }
    }
}

fn ports_of(text: &str) -> Result<RangeInclusive<u16>, RouteError> {
    let port = |text: &str| text.parse::<u16>().ok().filter(|port| *port != 0).ok_or(FORM);
    if text == "*" {
        return Ok(1..=u16::MAX);
    }
    let ports = match text.split_once('-') {
        Some((first, last)) => port(first)?..=port(last)?,
        None => port(text)?..=port(text)?,
    };
    if ports.is_empty() { Err(FORM) } else { Ok(ports) }
}

impl fmt::Display for Allow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.hosts {
            Hosts::Any => f.write_str("*")?,
            Hosts::Name(name) => f.write_str(name)?,
            Hosts::Below(parent) => write!(f, "*.{parent}")?,
            Hosts::Network(network) => {
                let is_one = network.prefix_len() == network.max_prefix_len();
                let text = if is_one { network.addr().to_string() } else { network.to_string() };
                match network {
                    IpNet::V4(_) => f.write_str(&text)?,
                    IpNet::V6(_) => write!(f, "[{text}]")?,
                }
            }
        }
        let (first, last) = (self.ports.start(), self.ports.end());
        match (*first, *last) {
            (1, u16::MAX) => f.write_str(":*")?,
            (one, other) if one == other => write!(f, ":{one}")?,
            (first, last) => write!(f, ":{first}-{last}")?,
        }
        f.write_str(if self.never { ",never" } else { "" })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn permits(rule: &str, target: &str, address: &str) -> bool {
        let (rule, target): (Allow, Target) = (rule.parse().unwrap(), target.parse().unwrap());
        rule.permits(&target, address.parse().unwrap())
    }

    #[test]
    fn rules_are_read_as_they_are_written() {
        for text in [
            "example.org:443",
            "*.example.org:*",
            "*:80,never",
            "10.0.0.0/8:8000-8999",
            "10.0.0.7:22",
            "[fd00::/8]:*",
            "[::1]:80",
        ] {
            assert_eq!(text.parse::<Allow>().unwrap().to_string(), text);
        }
        let host_bits: Allow = "10.1.2.3/8:80".parse().unwrap();
        assert_eq!(host_bits.to_string(), "10.0.0.0/8:80");
        for wrong in [
            "",
            "*",
            "example.org",
            "example.org:0",
            "example.org:9-8",
            "example.org:http",
            "a b:80",
            "*.10.0.0.1:80",
            "::1:80",
            "10.0.0.0/33:80",
            "*x:80",
            "x:80,always",
            "[::1:80",
        ] {
            assert!(wrong.parse::<Allow>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_rule_permits_its_hosts_and_ports_and_no_others() {
        assert!(permits("example.org:443", "EXAMPLE.ORG.:443", "127.0.0.1"));
        assert!(!permits("example.org:443", "example.org:80", "192.0.2.1"));
        assert!(!permits("example.org:443", "www.example.org:443", "192.0.2.1"));
        assert!(permits("*.example.org:443", "www.example.org:443", "192.0.2.1"));
        for outside in ["example.org:443", "badexample.org:443", "example.org.evil.net:443"] {
            assert!(!permits("*.example.org:443", outside, "192.0.2.1"), "{outside}");
        }
        assert!(permits("10.0.0.0/8:*", "10.1.2.3:9", "10.1.2.3"));
        assert!(!permits("10.0.0.0/8:*", "11.1.2.3:9", "11.1.2.3"));
        // A name counts by what it resolves to.
        assert!(permits("10.0.0.0/8:*", "intern.example.org:9", "10.1.2.3"));
        assert!(!permits("10.0.0.0/8:*", "intern.example.org:9", "192.0.2.1"));
        assert!(!permits("example.org:*", "192.0.2.1:80", "192.0.2.1"));
    }

    #[test]
    fn a_star_does_not_reach_the_machine_itself_nor_its_cable() {
        for address in [
            "127.0.0.1",
            "127.9.9.9",
            "0.0.0.0",
            "0.1.2.3",
            "169.254.169.254",
            "224.0.0.1",
            "255.255.255.255",
            "::1",
            "::",
            "fe80::1",
            "febf::1",
            "ff02::1",
            "::ffff:127.0.0.1",
            "::127.0.0.1",
            "64:ff9b::127.0.0.1",
        ] {
            assert!(!permits("*:*", "rebound.example.org:80", address), "{address}");
            assert!(!permits("*.example.org:*", "rebound.example.org:80", address), "{address}");
        }
        for address in ["192.0.2.1", "10.0.0.1", "2001:db8::1", "64:ff9b::192.0.2.1"] {
            assert!(permits("*:*", "www.example.org:80", address), "{address}");
        }
        assert!(permits("127.0.0.0/8:*", "rebound.example.org:80", "127.0.0.1"));
        assert!(permits("localhost:80", "localhost:80", "127.0.0.1"));
    }

    proptest! {
        #[test]
        fn arbitrary_text_is_a_rule_or_an_error(text in ".{0,40}") {
            if let Ok(rule) = text.parse::<Allow>() {
                prop_assert_eq!(rule.to_string().parse::<Allow>(), Ok(rule));
            }
        }

        #[test]
        fn text_that_looks_like_a_rule_is_a_rule_or_an_error(
            text in r"\*?[.]?[a-f0-9.:/\[\]-]{0,12}:[0-9*-]{0,6}(,never)?",
        ) {
            if let Ok(rule) = text.parse::<Allow>() {
                prop_assert_eq!(rule.to_string().parse::<Allow>(), Ok(rule));
            }
        }
    }
}
