//! Tells clients that another server has connected where they reach this one (wire W117).

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use groupwire_session::Owner;
use tokio::time::Instant;

/// A client has joined over the other server, and has caught up, before it connects again.
const SOONEST: Duration = Duration::from_secs(1);

/// See the [module](self).
pub(crate) struct Direct {
    address: String,
    port: u16,
    /// The time between two clients that connect.
    step: Duration,
    /// When the next client may connect.
    next: Mutex<Instant>,
}

impl Direct {
    /// `address`: that of this server's HTTP, for clients. `port`: the UDP port of its
    /// WebTransport; 0 if it has none.
    pub(crate) fn new(address: String, port: u16, step: Duration) -> Self {
        Direct { address, port, step, next: Mutex::new(Instant::now()) }
    }

    /// What the next client is told.
    pub(super) fn owner(&self) -> Owner {
        let now = Instant::now();
        let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        let at = (*next).max(now + SOONEST);
        *next = at + self.step;
        Owner { after: at - now, address: self.address.clone(), port: self.port }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn clients_connect_one_after_the_other() {
        let ms = Duration::from_millis;
        let direct = Direct::new("https://gw-1".to_owned(), 443, ms(2));
        let owner = |ms| Owner { after: ms, address: "https://gw-1".to_owned(), port: 443 };
        assert_eq!([direct.owner(), direct.owner()], [owner(ms(1000)), owner(ms(1002))]);
        tokio::time::advance(ms(5000)).await;
        assert_eq!(direct.owner(), owner(ms(1000)));
    }
}
