//! The secrets of simulated sessions: a hash of the session's name without a key. They make tests
//! repeatable, and protect nothing.

use groupwire_session::{Secret, Secrets, SessionName};

/// FNV-1a over the session's name, in two halves.
#[derive(Debug)]
pub(crate) struct Hashed;

impl Secrets for Hashed {
    fn secret(&self, session: &SessionName<'_>) -> Secret {
        let mut secret = Secret::default();
        for (half, bytes) in secret.chunks_mut(8).enumerate() {
            let mut hash = Fnv::default();
            hash.take(&[half as u8]);
            hash.take(&session.incarnation.to_le_bytes());
            hash.take(&session.participant.get().to_le_bytes());
            hash.take(session.room.as_bytes());
            hash.take(&[0xff]);
            hash.take(session.identity);
            bytes.copy_from_slice(&hash.0.to_le_bytes());
        }
        secret
    }
}

struct Fnv(u64);

impl Default for Fnv {
    fn default() -> Self {
        Fnv(0xcbf2_9ce4_8422_2325)
    }
}

impl Fnv {
    fn take(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
}

#[cfg(test)]
mod tests {
    use groupwire_session::ParticipantId;

    use super::*;

    #[test]
    fn each_session_has_a_secret_of_its_own() {
        let of = |incarnation, participant, user: &[u8]| {
            Hashed.secret(&SessionName::new("room", incarnation, ParticipantId(participant), user))
        };
        let one = of(1, 1, b"ada");
        assert_eq!(one, of(1, 1, b"ada"));
        assert!(
            [of(2, 1, b"ada"), of(1, 2, b"ada"), of(1, 1, b"bo")].iter().all(|two| *two != one)
        );
    }
}
