//! Tickets of TLS 1.3 sessions (RFC 8446, section 4.6.1). For a client that comes back with a
//! ticket, the server neither sends the certificate nor signs, even after a restart, and it keeps
//! no state for that.
//!
//! A ticket is the session itself, encrypted by a key that is derived from the key of session
//! secrets and from the time. With stored rooms the key of session secrets is stored, too.

use std::fmt;
use std::sync::Arc;

use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use tokio_rustls::rustls::server::ProducesTickets;

use crate::durable::HmacSecrets;
use crate::tools::wall::wall;

/// A key makes tickets for one period, in seconds. They are accepted until the end of the next
/// period.
const PERIOD: u64 = 12 * 3600;

/// The bytes of the period's number, with which a ticket begins.
const NUMBER: usize = 4;

/// The longest ticket that is decrypted. The server's own have some 150 bytes. The limit stops long
/// tickets that are crafted for guessing keys (partitioning oracles,
/// <https://eprint.iacr.org/2020/1491>).
const LONGEST: usize = 1024;

/// See the [module](self).
pub(crate) struct Tickets(Arc<HmacSecrets>);

impl Tickets {
    pub(crate) fn new(secrets: Arc<HmacSecrets>) -> Self {
        Tickets(secrets)
    }

    fn seal(&self, session: &[u8], period: u32) -> Option<Vec<u8>> {
        let mut nonce = [0; NONCE_LEN];
        // The nonce is random, because a counter would tell how many sessions there are.
        getrandom::fill(&mut nonce).ok()?;
        let number = period.to_le_bytes();
        let mut ticket = [&number[..], &nonce, session].concat();
        let sealed = &mut ticket[NUMBER + NONCE_LEN..];
        let nonce = Nonce::assume_unique_for_key(nonce);
        let key = key(&self.0.ticket_key(period))?;
        let tag = key.seal_in_place_separate_tag(nonce, Aad::from(number), sealed).ok()?;
        ticket.extend_from_slice(tag.as_ref());
        Some(ticket)
    }

    fn open(&self, ticket: &[u8], now: u32) -> Option<Vec<u8>> {
        if ticket.len() > LONGEST {
            return None;
        }
        let (number, rest) = ticket.split_first_chunk::<NUMBER>()?;
        let (nonce, sealed) = rest.split_first_chunk::<NONCE_LEN>()?;
        let period = u32::from_le_bytes(*number);
        if period != now && period.checked_add(1) != Some(now) {
            return None;
        }
        self.0.accepted_ticket_keys(period).into_iter().find_map(|bytes| {
            let (mut session, nonce) = (sealed.to_vec(), Nonce::assume_unique_for_key(*nonce));
            let length =
                key(&bytes)?.open_in_place(nonce, Aad::from(number), &mut session).ok()?.len();
            session.truncate(length);
            Some(session)
        })
    }
}

impl ProducesTickets for Tickets {
    fn enabled(&self) -> bool {
        true
    }

    fn lifetime(&self) -> u32 {
        PERIOD as u32
    }

    /// Only sessions of TLS 1.3 get tickets. With tickets of TLS 1.2, an attacker with the stored
    /// key could decrypt recorded connections.
    fn encrypt(&self, session: &[u8]) -> Option<Vec<u8>> {
        is_of_tls_1_3(session).then(|| self.seal(session, period())).flatten()
    }

    fn decrypt(&self, ticket: &[u8]) -> Option<Vec<u8>> {
        self.open(ticket, period())
    }
}

impl fmt::Debug for Tickets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Tickets(..)")
    }
}

/// True if a session is of TLS 1.3. rustls writes whether the client named the server, the length
/// and bytes of that name, and the version. Tests of HTTPS notice if it begins to write something
/// else.
fn is_of_tls_1_3(session: &[u8]) -> bool {
    let version = match session {
        [0, rest @ ..] => Some(rest),
        [1, length, rest @ ..] => rest.get(usize::from(*length)..),
        _ => None,
    };
    version.is_some_and(|version| version.starts_with(&[3, 4]))
}

/// The number of the present period since 1970.
fn period() -> u32 {
    (wall().as_secs() / PERIOD) as u32
}

fn key(bytes: &[u8; 32]) -> Option<LessSafeKey> {
    UnboundKey::new(&CHACHA20_POLY1305, bytes).ok().map(LessSafeKey::new)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn tickets() -> Tickets {
        Tickets::new(Arc::new(HmacSecrets::random()))
    }

    #[test]
    fn a_ticket_opens_in_its_period_and_the_next_one_and_under_its_own_key_alone() {
        let tickets = tickets();
        let ticket = tickets.seal(b"session", 7).unwrap();
        assert!(!ticket.windows(7).any(|bytes| bytes == b"session"));
        assert_eq!(tickets.open(&ticket, 7).as_deref(), Some(&b"session"[..]));
        assert_eq!(tickets.open(&ticket, 8).as_deref(), Some(&b"session"[..]));
        assert_eq!((tickets.open(&ticket, 6), tickets.open(&ticket, 9)), (None, None));
        assert_ne!(
            tickets.seal(b"session", 7).unwrap(),
            ticket,
            "nobody sees that sessions are equal"
        );
        assert_eq!(self::tickets().open(&ticket, 7), None, "another server's");
        let mut later = ticket;
        later[0] += 1;
        assert_eq!(tickets.open(&later, 8), None, "its period is authenticated");
    }

    #[test]
    fn only_sessions_of_tls_1_3_have_tickets() {
        for session in [&[0, 3, 4, 0x13, 1][..], b"\x01\x04host\x03\x04\x13\x01"] {
            assert_eq!(
                tickets().encrypt(session).map(|ticket| ticket.len()),
                Some(32 + session.len())
            );
        }
        for other in
            [&[0, 3, 3, 0xc0, 0x2b][..], b"\x01\x04host\x03\x03\xc0\x2b", &[1, 9, 3, 4], &[2], &[]]
        {
            assert_eq!(tickets().encrypt(other), None, "{other:?}");
        }
    }

    proptest! {
        #[test]
        fn a_changed_ticket_does_not_open(at in 0..39_usize, flip in 1..=255_u8, cut in 0..39_usize) {
            let tickets = tickets();
            let ticket = tickets.seal(b"session", 7).unwrap();
            prop_assert_eq!(ticket.len(), 39);
            prop_assert_eq!(tickets.open(&ticket[..cut], 7), None);
            let mut changed = ticket;
            changed[at] ^= flip;
            prop_assert_eq!(tickets.open(&changed, 7), None);
        }

        #[test]
        fn random_bytes_are_no_ticket(bytes: Vec<u8>, now: u32) {
            prop_assert_eq!(tickets().open(&bytes, now), None);
        }
    }
}
