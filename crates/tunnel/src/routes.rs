//! Where connections come in and where they go.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::str::FromStr;

use crate::preface::MAX_TEXT;

/// The route that is meant when no name is given.
pub const DEFAULT_ROUTE: &str = "default";

/// What the listening end connects to when a route is asked for. Written `NAME=HOST:PORT`, or `NAME=HOST:PORT,never`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Route {
    /// By which the connecting end asks for it.
    pub name: String,
    /// The program's host and port.
    pub target: String,
    /// Nothing that goes this way is ever packed, since what is secret in it could be told from lengths.
    pub never: bool,
}

/// Where the connecting end takes connections, and by which route they go. Written `PORT=NAME` or `ADDRESS:PORT=NAME`,
/// and `,never` behind it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Forward {
    /// Where programs connect to. With a port alone: on this machine only.
    pub listen: SocketAddr,
    /// The name of the route.
    pub route: String,
    /// Nothing that goes this way is ever packed.
    pub never: bool,
}

/// Why a route cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RouteError {
    /// It has another form.
    #[error("write {0}, and ,never behind it for what must not be compressed")]
    Form(&'static str),
    /// What follows the comma is not `never`.
    #[error("{0:?} is no option of a route: there is only never")]
    Option(String),
    /// A name that cannot be one.
    #[error("a route's name has 1 to 255 bytes, and no control characters, spaces, = or commas")]
    Name,
    /// The address is none.
    #[error("{0:?} is no address with a port, such as 127.0.0.1:8080, nor a port")]
    Address(String),
    /// The target is none.
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
        Ok(Forward { listen: address_of(listen)?, route: name_of(name)?, never })
    }
}

/// An address with a port, or a port on this machine alone.
///
/// # Errors
/// If it is neither.
pub fn address_of(text: &str) -> Result<SocketAddr, RouteError> {
    let on_this_machine = |port| SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port);
    let port = text.parse().ok().map(on_this_machine);
    port.or_else(|| text.parse().ok()).ok_or_else(|| RouteError::Address(text.to_owned()))
}

/// A host, by name or address, with a port.
///
/// # Errors
/// If it is not.
pub fn target_of(text: &str) -> Result<String, RouteError> {
    let wrong = || RouteError::Target(text.to_owned());
    let (host, port) = text.rsplit_once(':').ok_or_else(wrong)?;
    let is_host = !host.is_empty() && !host.contains(|letter: char| letter.is_whitespace());
    let is_bracketed = host.starts_with('[') && host.ends_with(']');
    let is_port = port.parse::<u16>().is_ok_and(|port| port != 0);
    let is_target = is_host && is_port && (is_bracketed || !host.contains(':'));
    if is_target { Ok(text.to_owned()) } else { Err(wrong()) }
}

fn options(text: &str) -> Result<(&str, bool), RouteError> {
    match text.split_once(',') {
        None => Ok((text, false)),
        Some((text, "never")) => Ok((text, true)),
        Some((_, other)) => Err(RouteError::Option(other.to_owned())),
    }
}

fn name_of(text: &str) -> Result<String, RouteError> {
    let is_wrong =
        |letter: char| letter.is_control() || letter.is_whitespace() || "=,".contains(letter);
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
        write!(f, "{}={}{}", self.listen, self.route, if self.never { ",never" } else { "" })
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
    }

    #[test]
    fn what_is_no_route_is_told_in_words() {
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
