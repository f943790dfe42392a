//! Targets that programs choose themselves, by SOCKS or by a redirected connection, and the rules
//! that say which of them the listening end connects to.

mod allow;
mod reach;

use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::str::FromStr;

use crate::RouteError;
use crate::preface::MAX_TEXT;

pub use allow::Allow;
pub(crate) use reach::{Permitted, TARGET_WITHIN, explanation};

/// A host and a port that a program wants to be connected to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    host: Host,
    port: u16,
}

/// A host by address or by name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Host {
    Address(IpAddr),
    /// A name in lower case without a dot at its end.
    Name(String),
}

impl Target {
    /// The target with this host, an address or a name, and this port. `None` if the text is
    /// neither, or if the port is 0.
    ///
    /// A name consists of letters, digits, hyphens, underscores and dots: programs send names of
    /// other alphabets as punycode (RFC 5891). It has at most 255 bytes.
    pub fn new(host: &str, port: u16) -> Option<Self> {
        let host = Host::parse(host)?;
        (port != 0).then_some(Target { host, port })
    }

    pub(crate) fn host(&self) -> &Host {
        &self.host
    }

    /// The port.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The host as text: an address without brackets, or a name.
    pub fn host_text(&self) -> String {
        match &self.host {
            Host::Address(address) => address.to_string(),
            Host::Name(name) => name.clone(),
        }
    }
}

impl Host {
    pub(crate) fn parse(text: &str) -> Option<Self> {
        if let Ok(address) = text.parse::<IpAddr>() {
            return Some(Host::Address(address.to_canonical()));
        }
        let is_label = |label: &str| {
            let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
            !label.is_empty() && label.bytes().all(is_letter)
        };
        let name = text.strip_suffix('.').unwrap_or(text);
        let is_name = name.len() <= MAX_TEXT && name.split('.').all(is_label);
        is_name.then(|| Host::Name(name.to_ascii_lowercase()))
    }
}

impl From<SocketAddr> for Target {
    fn from(address: SocketAddr) -> Self {
        Target { host: Host::Address(address.ip().to_canonical()), port: address.port() }
    }
}

/// Parses `HOST:PORT`, where an IPv6 address stands in brackets.
impl FromStr for Target {
    type Err = RouteError;

    fn from_str(text: &str) -> Result<Self, RouteError> {
        let target = || {
            let (host, port) = text.rsplit_once(':')?;
            let inner = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
            if inner.is_none() && host.contains(':') {
                return None;
            }
            Target::new(inner.unwrap_or(host), port.parse().ok()?)
        };
        target().ok_or_else(|| RouteError::Target(text.to_owned()))
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.host {
            Host::Address(address) => SocketAddr::new(*address, self.port).fmt(f),
            Host::Name(name) => write!(f, "{name}:{}", self.port),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_are_read_as_they_are_written() {
        for text in ["example.org:443", "10.0.0.7:80", "[::1]:8080", "my_host-1:1"] {
            assert_eq!(text.parse::<Target>().unwrap().to_string(), text);
        }
        for wrong in ["", "example.org", "example.org:0", "a b:1", "::1:80", "a..b:1", ".:1", "é:1"]
        {
            assert!(wrong.parse::<Target>().is_err(), "{wrong}");
        }
        assert_eq!(Target::new(&"x".repeat(256), 80), None);
    }

    #[test]
    fn one_host_has_one_form() {
        assert_eq!(Target::new("EXAMPLE.org.", 80), Target::new("example.org", 80));
        assert_eq!(Target::new("::ffff:127.0.0.1", 80), Target::new("127.0.0.1", 80));
    }
}
