//! The addresses that connections are accepted on, and the targets that they are connected to.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::str::FromStr;

use crate::preface::MAX_TEXT;

/// The name of the route that is used if no name is given.
pub const DEFAULT_ROUTE: &str = "default";

/// A route: a name, and the target to which the listening end connects for it. Written
/// `NAME=HOST:PORT`, or `NAME=HOST:PORT,never` to forbid compression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Route {
    /// The name in requests of the connecting end.
    pub name: String,
    /// The host and port of the target.
    pub target: String,
    /// Whether compression is forbidden. The lengths of compressed bytes can reveal a secret among
    /// them.
    pub never: bool,
}

/// An address on which the connecting end accepts connections, and where they go. With a route it
/// is written `PORT=NAME` or `ADDRESS:PORT=NAME`, followed by `,never` to forbid compression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Forward {
    /// The address that programs connect to. A port alone is opened on the loopback address.
    pub listen: SocketAddr,
    /// Where the connections go.
    pub to: Destination,
    /// Whether compression is forbidden.
    pub never: bool,
}

/// Where the connections of a [`Forward`] go.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Destination {
    /// To the target of the route with this name.
    Route(String),
    /// To the target that the program names by SOCKS 5.
    Socks,
    /// To where the program meant to connect before the firewall redirected its connection. On
    /// Linux only.
    Redirect,
}

/// Why a route or a forward cannot be parsed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RouteError {
    /// The text does not have the form that the field shows.
    #[error("write {0}, and ,never behind it for what must not be compressed")]
    Form(&'static str),
    /// The text after the comma is not `never`.
    #[error("{0:?} is no option of a route: there is only never")]
    Option(String),
    /// The name is not valid.
    #[error("a route's name has 1 to 255 bytes, and no control characters, spaces, = or commas")]
    Name,
    /// The address is not valid.
    #[error("{0:?} is no address with a port, such as 127.0.0.1:8080, nor a port")]
    Address(String),
    /// The target is not valid.
    #[error("{0:?} is no host with a port, such as localhost:8080")]
    Target(String),
}

impl FromStr for Route {
    type Err = RouteError;

    fn from_str(text: &str) -> Result<Self, RouteError> {
        let form = RouteError::Form("NAME=HOST:PORT");
        let (name, rest) = text.split_once('=').ok_or(form)?;
        let (target, never) = options(rest)?;
        Ok(Route { name: name_of(name)?, target: target_of(target)?, never })
    }
}

impl FromStr for Forward {
    type Err = RouteError;

    fn from_str(text: &str) -> Result<Self, RouteError> {
        let form = RouteError::Form("[ADDRESS:]PORT=NAME");
        let (listen, rest) = text.split_once('=').ok_or(form)?;
        let (name, never) = options(rest)?;
        let to = Destination::Route(name_of(name)?);
        Ok(Forward { listen: address_of(listen)?, to, never })
    }
}

impl Forward {
    /// Parses an address for programs that choose their targets themselves, written `PORT` or
    /// `ADDRESS:PORT`, followed by `,never` to forbid compression.
    ///
    /// # Errors
    /// If the text is neither.
    pub fn choosing(text: &str, to: Destination) -> Result<Self, RouteError> {
        let (listen, never) = options(text)?;
        Ok(Forward { listen: address_of(listen)?, to, never })
    }
}

/// Parses an address with a port. A port alone means the loopback address.
///
/// # Errors
/// If the text is neither.
pub fn address_of(text: &str) -> Result<SocketAddr, RouteError> {
    let on_loopback = |port| SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port);
    let port = text.parse().ok().map(on_loopback);
    port.or_else(|| text.parse().ok()).ok_or_else(|| RouteError::Address(text.to_owned()))
}

/// Checks that the text is a host, by name or address, with a port.
///
/// # Errors
/// If it is not.
pub fn target_of(text: &str) -> Result<String, RouteError> {
    let wrong = || RouteError::Target(text.to_owned());
    let (host, port) = text.rsplit_once(':').ok_or_else(wrong)?;
    let is_host = !host.is_empty() && !host.contains(|char: char| char.is_whitespace());
    let is_bracketed = host.starts_with('[') && host.ends_with(']');
    let is_port = port.parse::<u16>().is_ok_and(|port| port != 0);
    let is_target = is_host && is_port && (is_bracketed || !host.contains(':'));
    if is_target { Ok(text.to_owned()) } else { Err(wrong()) }
}

pub(crate) fn options(text: &str) -> Result<(&str, bool), RouteError> {
    match text.split_once(',') {
        None => Ok((text, false)),
        Some((text, "never")) => Ok((text, true)),
        Some((_, other)) => Err(RouteError::Option(other.to_owned())),
    }
}

fn name_of(text: &str) -> Result<String, RouteError> {
    let is_wrong = |char: char| char.is_control() || char.is_whitespace() || "=,".contains(char);
    let is_name = (1..=MAX_TEXT).contains(&text.len()) && !text.contains(is_wrong);
    if is_name { Ok(text.to_owned()) } else { Err(RouteError::Name) }
}

impl fmt::Display for Route {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}{}", self.name, self.target, if self.never { ",never" } else { "" })
    }
}

impl fmt::Display for Forward {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}{}", self.listen, self.to, if self.never { ",never" } else { "" })
    }
}

impl fmt::Display for Destination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Destination::Route(name) => name,
            Destination::Socks => "SOCKS",
            Destination::Redirect => "REDIRECT",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn routes_are_read_as_they_are_written() {
        for text in ["web=localhost:80", "db=10.0.0.7:5432,never", "six=[::1]:8080"] {
            assert_eq!(text.parse::<Route>().unwrap().to_string(), text);
        }
        for text in ["127.0.0.1:8080=web", "[::]:5432=db,never"] {
            assert_eq!(text.parse::<Forward>().unwrap().to_string(), text);
        }
        let short: Forward = "8080=web".parse().unwrap();
        assert_eq!(short.to_string(), "127.0.0.1:8080=web");
        let socks = Forward::choosing("1080,never", Destination::Socks).unwrap();
        assert_eq!(socks.to_string(), "127.0.0.1:1080=SOCKS,never");
        assert!(Forward::choosing("1080=web", Destination::Socks).is_err());
    }

    #[test]
    fn each_mistake_in_a_route_has_its_own_error() {
        let route = |text: &str| text.parse::<Route>().unwrap_err();
        assert!(matches!(route("localhost:80"), RouteError::Form(_)));
        assert!(matches!(route("web=localhost:80,always"), RouteError::Option(_)));
        assert!(matches!(route("=localhost:80"), RouteError::Name));
        assert!(matches!(route("a b=localhost:80"), RouteError::Name));
        assert!(matches!(route(&format!("{}=x:1", "x".repeat(256))), RouteError::Name));
        for target in ["localhost", ":80", "localhost:0", "localhost:99999", "::1:80", "a b:1"] {
            assert!(matches!(route(&format!("web={target}")), RouteError::Target(_)), "{target}");
        }
        let forward = |text: &str| text.parse::<Forward>().unwrap_err();
        assert!(matches!(forward("8080"), RouteError::Form(_)));
        assert!(matches!(forward("localhost:8080=web"), RouteError::Address(_)));
    }
}
