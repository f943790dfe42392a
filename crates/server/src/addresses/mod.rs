//! Limits for each address that clients come from: its connections, and its handshakes in a second.
//!
//! IPv6 addresses are limited by their first 64 bits, because one subscriber has all addresses that
//! share them. The table holds the addresses that have connections, whose number is limited, and
//! those that came lately.

mod config;
mod forwarded;

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::http::HeaderMap;
use tokio::time::Instant;

pub use config::{AddressLimits, TrustedProxy, TrustedProxyError};

use crate::figures::figure::figures;

/// Unused handshakes of an address are saved for this time: all people of an office or school
/// reconnect at once when their network returns.
const BURST: Duration = Duration::from_secs(10);

/// An address may have this many HTTP connections for each permitted connection, and
/// `SPARE_SOCKETS` more: a browser holds two for a transport made of HTTP requests, and up to six
/// while it loads a page.
const SOCKETS_PER_CONNECTION: usize = 2;
const SPARE_SOCKETS: usize = 256;

/// The table is searched for addresses to forget once it has at least this many.
const LEAST_SWEPT: usize = 4096;

/// The most addresses without a connection that are remembered, some 100 bytes each. Only owners of
/// large IPv6 networks can come from more; then all of them are forgotten.
const MAX_IDLE: usize = 65_536;

/// See the [module](self).
pub(crate) struct Addresses {
    limits: AddressLimits,
    /// The time between two handshakes of an address at the permitted rate; zero if there is no
    /// limit.
    interval: Duration,
    table: Mutex<Table>,
    refused: Refused,
}

/// The addresses that have connections or came lately, by their network.
struct Table {
    entries: HashMap<IpAddr, Entry>,
    /// The number of addresses at which the table is searched again for addresses to forget.
    sweep_at: usize,
}

/// The counters of one network.
struct Entry {
    counts: [usize; 2],
    /// When the handshakes so far would have ended at the permitted rate (the theoretical arrival
    /// time of GCRA).
    handshakes_until: Instant,
}

/// The kinds of connections that are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// TCP connections that carry HTTP.
    Socket,
    /// Connections of clients, over any transport.
    Connection,
}

/// Why an address is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refusal {
    Connections,
    Handshakes,
}

#[derive(Default)]
struct Refused {
    connections: AtomicU64,
    handshakes: AtomicU64,
}

figures! {
    /// What limits for each address refused.
    #[derive(Eq)]
    struct AddressRefusals {
        /// Connections and handshakes refused by a limit for one address.
        Counter connections as "refused_connections": u64, part of "address_refusals" with limit = "connections";
        /// Handshakes refused because too many came from one address in a second.
        Counter handshakes as "refused_handshakes": u64, part of "address_refusals" with limit = "handshakes";
    }
}

/// A connection that counts for its address until this is dropped.
pub(crate) struct Counted {
    addresses: Arc<Addresses>,
    network: IpAddr,
    kind: Kind,
}

impl Addresses {
    pub(crate) fn new(limits: AddressLimits) -> Self {
        let interval = match limits.handshakes_per_second {
            0 => Duration::ZERO,
            rate => Duration::from_secs(1) / rate,
        };
        let table = Table { entries: HashMap::new(), sweep_at: LEAST_SWEPT };
        Addresses { limits, interval, table: Mutex::new(table), refused: Refused::default() }
    }

    /// The address of the client whose request came from `peer`, as trusted proxies tell it in the
    /// header `X-Forwarded-For`.
    pub(crate) fn client(&self, peer: IpAddr, headers: &HeaderMap) -> IpAddr {
        forwarded::client(peer, headers, |address| self.is_proxy(address))
    }

    /// True if this is the address of a proxy that tells its clients' addresses, so that its own
    /// connections have no limit.
    pub(crate) fn is_proxy(&self, address: IpAddr) -> bool {
        self.limits.trusted_proxies.iter().any(|proxy| proxy.contains(address))
    }

    /// Counts a handshake of an address.
    ///
    /// # Errors
    /// The address had too many handshakes lately. This one is not counted then.
    pub(crate) fn handshake(&self, address: IpAddr) -> Result<(), Refusal> {
        if self.is_proxy(address) || self.interval.is_zero() {
            return Ok(());
        }
        let now = Instant::now();
        let mut table = self.table();
        let entry = table.entry(now, network(address));
        match entry.is_over(now) {
            true => Err(self.refuse(Refusal::Handshakes)),
            false => {
                entry.handshakes_until = entry.handshakes_until.max(now) + self.interval;
                Ok(())
            }
        }
    }

    /// True if a handshake of this address would be refused now.
    pub(crate) fn is_over(&self, address: IpAddr) -> bool {
        let now = Instant::now();
        self.table().entries.get(&network(address)).is_some_and(|entry| entry.is_over(now))
    }

    /// Counts a TCP connection that carries HTTP, and its handshake; `None` for a proxy, which has
    /// no limit.
    ///
    /// # Errors
    /// The address has too many, or had too many handshakes lately.
    pub(crate) fn accept(self: &Arc<Self>, address: IpAddr) -> Result<Option<Counted>, Refusal> {
        if self.is_proxy(address) {
            return Ok(None);
        }
        self.handshake(address)?;
        let most = self.limits.connections.saturating_mul(SOCKETS_PER_CONNECTION);
        self.count(address, Kind::Socket, most.saturating_add(SPARE_SOCKETS)).map(Some)
    }

    /// Counts a connection of a client; `None` for a proxy that does not tell its clients'
    /// addresses.
    ///
    /// # Errors
    /// The address has too many.
    pub(crate) fn open(self: &Arc<Self>, address: IpAddr) -> Result<Option<Counted>, Refusal> {
        match self.is_proxy(address) {
            true => Ok(None),
            false => self.count(address, Kind::Connection, self.limits.connections).map(Some),
        }
    }

    /// What was refused since the start of the server.
    pub(crate) fn refusals(&self) -> AddressRefusals {
        AddressRefusals {
            connections: self.refused.connections.load(Ordering::Relaxed),
            handshakes: self.refused.handshakes.load(Ordering::Relaxed),
        }
    }

    fn count(
        self: &Arc<Self>,
        address: IpAddr,
        kind: Kind,
        limit: usize,
    ) -> Result<Counted, Refusal> {
        let network = network(address);
        let mut table = self.table();
        let count = &mut table.entry(Instant::now(), network).counts[kind as usize];
        if self.limits.connections > 0 && *count >= limit {
            return Err(self.refuse(Refusal::Connections));
        }
        *count += 1;
        Ok(Counted { addresses: Arc::clone(self), network, kind })
    }

    fn refuse(&self, refusal: Refusal) -> Refusal {
        let counter = match refusal {
            Refusal::Connections => &self.refused.connections,
            Refusal::Handshakes => &self.refused.handshakes,
        };
        counter.fetch_add(1, Ordering::Relaxed);
        refusal
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        let mut table = self.addresses.table();
        let entry = table.entries.get_mut(&self.network);
        debug_assert!(
            entry.as_ref().is_some_and(|entry| entry.counts[self.kind as usize] > 0),
            "an address with connections is remembered, and counts each of them"
        );
        if let Some(entry) = entry {
            entry.counts[self.kind as usize] -= 1;
        }
    }
}

impl Table {
    /// The entry of a network, which is made if it is missing. Once the table has grown to
    /// `sweep_at` entries, networks without a connection or a recent handshake are forgotten first.
    fn entry(&mut self, now: Instant, network: IpAddr) -> &mut Entry {
        if self.entries.len() >= self.sweep_at && !self.entries.contains_key(&network) {
            self.entries.retain(|_, entry| entry.has_any() || entry.handshakes_until > now);
            let idle = self.entries.values().filter(|entry| !entry.has_any()).count();
            if idle >= MAX_IDLE {
                self.entries.retain(|_, entry| entry.has_any());
            }
            self.sweep_at = (2 * self.entries.len()).max(LEAST_SWEPT);
        }
        let entry = || Entry { counts: [0; 2], handshakes_until: now };
        self.entries.entry(network).or_insert_with(entry)
    }
}

impl Entry {
    fn has_any(&self) -> bool {
        self.counts != [0; 2]
    }

    fn is_over(&self, now: Instant) -> bool {
        self.handshakes_until > now + BURST
    }
}

impl Refusal {
    /// The reason, for people.
    pub(crate) fn why(self) -> &'static str {
        match self {
            Refusal::Connections => "too many connections from this address",
            Refusal::Handshakes => "too many handshakes from this address in a short time",
        }
    }
}

/// The part of an address by which it is limited.
fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V4(address) => IpAddr::V4(address),
        IpAddr::V6(address) => IpAddr::V6((address.to_bits() >> 64 << 64).into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn addresses(
        connections: usize,
        handshakes_per_second: u32,
        proxies: &[&str],
    ) -> Arc<Addresses> {
        let trusted_proxies = proxies.iter().map(|proxy| proxy.parse().unwrap()).collect();
        Arc::new(Addresses::new(AddressLimits {
            connections,
            handshakes_per_second,
            trusted_proxies,
        }))
    }

    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[test]
    fn connections_count_while_they_last_and_for_their_network_alone() {
        let addresses = addresses(2, 0, &["10.0.0.0/8"]);
        let one = addresses.open(ip("192.0.2.1")).unwrap();
        let _two = addresses.open(ip("::ffff:192.0.2.1")).unwrap();
        assert_eq!(addresses.open(ip("192.0.2.1")).err(), Some(Refusal::Connections));
        let _other = addresses.open(ip("192.0.2.2")).unwrap();
        drop(one);
        let _three = addresses.open(ip("192.0.2.1")).unwrap();
        let _six = [1, 2].map(|host| addresses.open(ip(&format!("2001:db8::{host}"))).unwrap());
        assert!(
            addresses.open(ip("2001:db8::ffff:1:2:3")).is_err(),
            "the first 64 bits are the same"
        );
        let _seven = addresses.open(ip("2001:db8:0:1::1")).unwrap();
        for _ in 0..5 {
            assert!(addresses.open(ip("10.1.2.3")).unwrap().is_none(), "a proxy has no limit");
        }
        assert_eq!(addresses.refusals(), AddressRefusals { connections: 2, handshakes: 0 });
    }

    #[tokio::test(start_paused = true)]
    async fn handshakes_have_a_rate_and_a_burst_and_those_refused_do_not_count() {
        let addresses = addresses(0, 5, &[]);
        let (one, other) = (ip("192.0.2.1"), ip("192.0.2.2"));
        let taken = |count| (0..count).filter(|_| addresses.handshake(one).is_ok()).count();
        assert_eq!(taken(1000), 51);
        assert!(addresses.is_over(one) && !addresses.is_over(other));
        tokio::time::advance(Duration::from_secs(2)).await;
        assert_eq!(taken(1000), 10);
        assert_eq!(addresses.handshake(other), Ok(()));
        let proxy = super::tests::addresses(1, 1, &["192.0.2.1"]);
        assert!((0..100).all(|_| proxy.accept(one).is_ok_and(|counted| counted.is_none())));
    }

    #[tokio::test(start_paused = true)]
    async fn idle_addresses_are_forgotten_and_the_table_is_bounded() {
        let addresses = addresses(10, 1, &[]);
        let kept = addresses.open(ip("192.0.2.1")).unwrap();
        for number in 0..300_000_u128 {
            let network = IpAddr::V6((number << 64).into());
            assert_eq!(addresses.handshake(network), Ok(()));
            assert!(addresses.table().entries.len() <= 2 * MAX_IDLE + 2);
        }
        tokio::time::advance(BURST * 2).await;
        let at = addresses.table().sweep_at as u128;
        for number in 0..at {
            let _ = addresses.handshake(IpAddr::V6(((number + 1_000_000) << 64).into()));
        }
        assert!(addresses.table().entries.contains_key(&ip("192.0.2.1")));
        drop(kept);
    }
}
