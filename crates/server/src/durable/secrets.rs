//! The secrets of sessions: HMAC-SHA-256 under a key of the server (wire W13).

use groupwire_session::{Secret, Secrets, SessionName, is_same};
use groupwire_store::{Key, Keys};
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use crate::tools::secret::random_secret;
use crate::tools::wall::wall_ms;

/// Makes the secrets of all sessions of a server.
#[derive(Debug)]
pub(crate) struct HmacSecrets(Source);

enum Source {
    /// A key that ends with the server: nothing is stored.
    Volatile(Key),
    Stored(Keys),
    /// The keys of a cluster. The first one is in use, the others are accepted.
    Shared(Vec<Key>),
}

impl std::fmt::Debug for Source {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("..")
    }
}

impl HmacSecrets {
    /// Secrets under a fresh key that ends with this server.
    pub(crate) fn random() -> Self {
        HmacSecrets(Source::Volatile(random_secret()))
    }

    /// Secrets under the keys of a store, which outlive this server.
    pub(crate) fn stored(keys: Keys) -> Self {
        HmacSecrets(Source::Stored(keys))
    }

    /// Secrets under keys that all servers of a cluster have, of which there is one at least. The
    /// first one is in use.
    pub(crate) fn shared(keys: Vec<Key>) -> Self {
        HmacSecrets(Source::Shared(keys))
    }

    /// The key of tickets of TLS sessions in a period ([`Tickets`](crate::tls::tickets::Tickets)).
    pub(crate) fn ticket_key(&self, period: u32) -> Key {
        match &self.0 {
            Source::Volatile(key) => ticket_key(key, period),
            Source::Stored(keys) => ticket_key(keys.current(), period),
            Source::Shared(keys) => ticket_key(&keys[0], period),
        }
    }

    /// The keys that a ticket of a period may be encrypted with.
    pub(crate) fn accepted_ticket_keys(&self, period: u32) -> Vec<Key> {
        match &self.0 {
            Source::Volatile(key) => vec![ticket_key(key, period)],
            Source::Stored(keys) => {
                let now = wall_ms();
                keys.accepted(now).map(|key| ticket_key(key, period)).collect()
            }
            Source::Shared(keys) => keys.iter().map(|key| ticket_key(key, period)).collect(),
        }
    }
}

impl Secrets for HmacSecrets {
    fn secret(&self, session: &SessionName<'_>) -> Secret {
        match &self.0 {
            Source::Volatile(key) => secret(key, session),
            Source::Stored(keys) => secret(keys.current(), session),
            Source::Shared(keys) => secret(&keys[0], session),
        }
    }

    fn permits(&self, session: &SessionName<'_>, given: &Secret) -> bool {
        match &self.0 {
            Source::Volatile(key) => is_same(&secret(key, session), given),
            Source::Stored(keys) => {
                let now = wall_ms();
                keys.accepted(now).any(|key| is_same(&secret(key, session), given))
            }
            Source::Shared(keys) => keys.iter().any(|key| is_same(&secret(key, session), given)),
        }
    }
}

/// The first 16 bytes of the HMAC over all fields. Each field of variable length comes after its
/// length, so that no two sessions have the same input.
fn secret(key: &Key, session: &SessionName<'_>) -> Secret {
    let SessionName { room, incarnation, participant, identity, .. } = *session;
    let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("HMAC takes keys of any size");
    mac.update(&(room.len() as u64).to_le_bytes());
    mac.update(room.as_bytes());
    mac.update(&incarnation.to_le_bytes());
    mac.update(&participant.get().to_le_bytes());
    mac.update(&(identity.len() as u64).to_le_bytes());
    mac.update(identity);
    let code = mac.finalize().into_bytes();
    let mut secret = Secret::default();
    secret.copy_from_slice(&code[..16]);
    secret
}

/// Derives a key that reveals nothing of `key` (RFC 5869, section 3.3). The input of the HMAC
/// begins with other bytes than that of session secrets, which begins with the length of a room's
/// name.
fn ticket_key(key: &Key, period: u32) -> Key {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("HMAC takes keys of any size");
    mac.update(b"groupwire TLS tickets 1");
    mac.update(&period.to_le_bytes());
    mac.finalize().into_bytes().into()
}

#[cfg(test)]
mod tests {
    use groupwire_session::ParticipantId;

    use super::*;

    #[test]
    fn every_field_of_a_session_changes_its_secret() {
        let secrets = HmacSecrets::random();
        let sessions = [
            SessionName::new("room", 1, ParticipantId(2), b"ada"),
            SessionName::new("rooms", 1, ParticipantId(2), b"ada"),
            SessionName::new("room", 3, ParticipantId(2), b"ada"),
            SessionName::new("room", 1, ParticipantId(3), b"ada"),
            SessionName::new("room", 1, ParticipantId(2), b"adb"),
        ];
        for (at, one) in sessions.iter().enumerate() {
            assert!(secrets.permits(one, &secrets.secret(one)));
            for other in &sessions[at + 1..] {
                assert!(!secrets.permits(other, &secrets.secret(one)), "{one:?} {other:?}");
            }
        }
    }

    /// Test case 2 of RFC 4231 shows that this is HMAC-SHA-256.
    #[test]
    fn the_code_is_that_of_rfc_4231() {
        let mut mac = Hmac::<Sha256>::new_from_slice(b"Jefe").unwrap();
        mac.update(b"what do ya want for nothing?");
        let code = mac.finalize().into_bytes();
        assert_eq!(code[..8], [0x5b, 0xdc, 0xc1, 0x46, 0xbf, 0x60, 0x75, 0x4e]);
    }
}
