//! The secrets that sign requests. There can be two, so that a secret can be replaced while
//! receivers still know only the previous one.

use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

/// The bytes of a secret, as Standard Webhooks demand.
const BYTES: std::ops::RangeInclusive<usize> = 24..=64;

/// The most secrets that are in use at a time.
const MOST: usize = 2;

/// The prefix of secrets.
const PREFIX: &str = "whsec_";

/// The secrets that sign requests: one, or two while they are replaced. Requests have a signature
/// of each.
#[derive(Clone, PartialEq, Eq)]
pub struct WebhookSecrets(Vec<Vec<u8>>);

/// Why a text is not one or two secrets.
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SecretsError {
    /// There is none, or more than two.
    #[error(
        "there are {0} secrets; write one, or two while one is being replaced, each on a line of its own"
    )]
    Count(usize),
    /// A line is no secret.
    #[error(
        "line {0} is no secret: write whsec_ and base64 of 24 to 64 bytes, as `echo whsec_$(openssl rand -base64 32)` does"
    )]
    Form(usize),
}

impl WebhookSecrets {
    /// Reads secrets such as `whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw`, one on each line. Empty
    /// lines are left out.
    ///
    /// # Errors
    /// [`SecretsError`] says what is wrong with the text. It has no part of a secret.
    pub fn parse(text: &str) -> Result<Self, SecretsError> {
        let lines = text.lines().map(str::trim).zip(1..).filter(|(line, _)| !line.is_empty());
        let secrets: Vec<_> = lines
            .map(|(line, number)| secret(line).ok_or(SecretsError::Form(number)))
            .collect::<Result<_, _>>()?;
        match (1..=MOST).contains(&secrets.len()) {
            true => Ok(WebhookSecrets(secrets)),
            false => Err(SecretsError::Count(secrets.len())),
        }
    }

    /// The header `webhook-signature` of a request: a signature of each secret, with blanks
    /// between.
    pub(super) fn sign(&self, id: &str, timestamp: u64, body: &[u8]) -> String {
        let sign = |secret: &Vec<u8>| {
            let mut mac =
                Hmac::<Sha256>::new_from_slice(secret).expect("HMAC takes keys of any size");
            mac.update(format!("{id}.{timestamp}.").as_bytes());
            mac.update(body);
            format!("v1,{}", STANDARD.encode(mac.finalize().into_bytes()))
        };
        self.0.iter().map(sign).collect::<Vec<_>>().join(" ")
    }
}

impl fmt::Debug for WebhookSecrets {
    /// Does not tell the secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("WebhookSecrets")
    }
}

fn secret(line: &str) -> Option<Vec<u8>> {
    let bytes = STANDARD.decode(line.strip_prefix(PREFIX)?).ok()?;
    BYTES.contains(&bytes.len()).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
    const OTHER: &str = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD";

    /// The example of the specification, whose signature all its libraries have in their tests.
    #[test]
    fn the_signature_is_that_of_the_specification() {
        let secrets = WebhookSecrets::parse(ONE).unwrap();
        let id = "msg_p5jXN8AQM9LWM0D4loKWxJek";
        let signature = secrets.sign(id, 1_614_265_330, br#"{"test": 2432232314}"#);
        assert_eq!(signature, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
    }

    #[test]
    fn two_secrets_give_two_signatures() {
        let both = WebhookSecrets::parse(&format!("{ONE}\n\n  {OTHER}\n")).unwrap();
        let [one, other] = [ONE, OTHER].map(|text| WebhookSecrets::parse(text).unwrap());
        let sign = |secrets: &WebhookSecrets| secrets.sign("id", 7, b"body");
        assert_eq!(sign(&both), format!("{} {}", sign(&one), sign(&other)));
        assert_ne!(sign(&one), sign(&other));
        assert_eq!(format!("{both:?}"), "WebhookSecrets");
    }

    #[test]
    fn every_part_of_a_request_changes_its_signature() {
        let secrets = WebhookSecrets::parse(ONE).unwrap();
        let sign = |id, timestamp, body: &[u8]| secrets.sign(id, timestamp, body);
        let all = [sign("a", 1, b"x"), sign("b", 1, b"x"), sign("a", 2, b"x"), sign("a", 1, b"y")];
        for (at, one) in all.iter().enumerate() {
            assert!(!all[at + 1..].contains(one));
        }
    }

    #[test]
    fn what_is_no_secret_is_said_with_its_line_and_without_its_content() {
        let short = format!("whsec_{}", STANDARD.encode([1; 23]));
        let long = format!("whsec_{}", STANDARD.encode([1; 65]));
        for wrong in ["MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_%", &short, &long] {
            let error = WebhookSecrets::parse(&format!("{ONE}\n{wrong}")).unwrap_err();
            assert_eq!(error, SecretsError::Form(2));
            assert!(!error.to_string().contains(wrong));
        }
        assert_eq!(WebhookSecrets::parse("\n"), Err(SecretsError::Count(0)));
        let three = [ONE, OTHER, ONE].join("\n");
        assert_eq!(WebhookSecrets::parse(&three), Err(SecretsError::Count(3)));
    }
}
