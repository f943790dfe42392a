//! The address of the server that has a room, for clients that another server has connected.

use alloc::string::String;
use core::time::Duration;

/// Where a client reaches the server that has its room. A server that passes a client's packets on
/// to that one tells the client, which may connect there instead (wire W117).
///
/// ```
/// use core::time::Duration;
/// use groupwire_session::Owner;
///
/// let address = "https://gw-2.example.com".to_owned();
/// let owner = Owner { after: Duration::from_millis(300), address, port: 443 };
/// assert!(owner.address.len() <= groupwire_session::limits::MAX_OWNER_ADDRESS);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Owner {
    /// The client waits for this time before it connects, so that not all do at once.
    pub after: Duration,
    /// The address of the server's HTTP, with `http` or `https`, of 1 to 256 bytes.
    pub address: String,
    /// The UDP port of the server's WebTransport; 0 if it has none.
    pub port: u16,
}
