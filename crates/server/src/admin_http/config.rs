//! The configuration of the administration listener.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::str::FromStr;

use super::token::AdminToken;
use crate::error::Error;

/// The administration listener: where it listens, and who may use it
/// (docs/operations/administration.md).
#[derive(Debug, Clone)]
pub struct AdminConfig {
    /// Where it listens.
    pub listen: AdminListen,
    /// The token that requests have to bear.
    ///
    /// `None`: on a loopback address the server makes a random token when it starts, which
    /// [`Server::admin_url`](crate::Server::admin_url) has. A Unix socket needs no token, because
    /// only the server's user may open it. On another address the server does not start.
    pub token: Option<AdminToken>,
    /// The names of hosts, without ports, by which the listener may be addressed, besides its own
    /// address and `localhost`.
    pub hosts: Vec<String>,
}

impl Default for AdminConfig {
    /// Any free port of a loopback address, with a random token.
    fn default() -> Self {
        let listen = AdminListen::Tcp(SocketAddr::from(([127, 0, 0, 1], 0)));
        AdminConfig { listen, token: None, hosts: Vec::new() }
    }
}

/// Where the administration listener listens. As text: `127.0.0.1:9090`, or
/// `unix:/run/groupwire/admin`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AdminListen {
    /// A TCP address; port 0 takes any free port.
    Tcp(SocketAddr),
    /// The path of a Unix socket, which the server makes with mode 0600 and removes at its end.
    Unix(PathBuf),
}

impl FromStr for AdminListen {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        match text.strip_prefix("unix:") {
            Some(path) if !path.is_empty() => Ok(AdminListen::Unix(path.into())),
            _ => text
                .parse()
                .map(AdminListen::Tcp)
                .map_err(|_| Error::AdminListen { text: text.to_owned() }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_and_paths_are_told_apart() {
        let tcp = |text: &str| AdminListen::Tcp(text.parse().unwrap());
        assert_eq!("[::1]:0".parse::<AdminListen>().unwrap(), tcp("[::1]:0"));
        let unix = AdminListen::Unix("/run/admin".into());
        assert_eq!("unix:/run/admin".parse::<AdminListen>().unwrap(), unix);
        for wrong in ["", "unix:", "9090", "localhost:9090", "/run/admin"] {
            let error = wrong.parse::<AdminListen>().unwrap_err().to_string();
            assert!(error.contains("unix:"), "{error}");
        }
    }
}
