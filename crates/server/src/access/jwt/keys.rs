//! The keys that sign tokens: JSON web keys (RFC 7517), or one key in a PEM file.

use jsonwebtoken::jwk::{
    AlgorithmParameters, EllipticCurve, Jwk, KeyAlgorithm, KeyOperations, PublicKeyUse,
};
use jsonwebtoken::{Algorithm, DecodingKey, DecodingKeyKind};
use serde::Deserialize;
use serde_json::Value;

/// The most keys of a set. Rotation needs two or three.
const MOST_KEYS: usize = 100;

/// The fewest bytes of a key for HS256 (RFC 7518, section 3.2).
const LEAST_SECRET: usize = 32;

/// The fewest bytes of the modulus of an RSA key (RFC 7518, section 3.3).
const LEAST_MODULUS: usize = 256;

/// A key with the one algorithm that it is for.
#[derive(Debug, Clone)]
pub(super) struct Key {
    pub(super) id: Option<String>,
    pub(super) algorithm: Algorithm,
    pub(super) key: DecodingKey,
}

/// Where keys come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Origin {
    File,
    /// A set that an address publishes has public keys only, because nobody publishes a secret.
    Address,
}

/// The keys of one source.
#[derive(Debug, Clone, Default)]
pub(super) struct Keys(pub(super) Vec<Key>);

impl Keys {
    /// The key that a token's header names. Without a name, the only key of the set.
    pub(super) fn find(&self, id: Option<&str>) -> Option<&Key> {
        match id {
            Some(id) => self.0.iter().find(|key| key.id.as_deref() == Some(id)),
            // A token that names no key is checked with the only key, if there is just one.
            None => self.0.first().filter(|_| self.0.len() == 1),
        }
    }

    /// Reads a set of JSON web keys, or one public key in PEM. Keys of other kinds are skipped; the
    /// second value has the reasons.
    ///
    /// # Errors
    /// What is wrong with all of it.
    pub(super) fn parse(bytes: &[u8], origin: Origin) -> Result<(Self, Vec<String>), String> {
        if bytes.trim_ascii_start().starts_with(b"-----BEGIN") {
            let key = pem(bytes).ok_or(
                "it is no public key in PEM: RSA of 2,048 bits or more, P-256 or Ed25519 (-----BEGIN PUBLIC KEY-----)",
            )?;
            return Ok((Keys(vec![key]), Vec::new()));
        }
        #[derive(Deserialize)]
        struct Set {
            keys: Vec<Value>,
        }
        let set: Set = serde_json::from_slice(bytes)
            .map_err(|error| format!("it is neither a set of JSON web keys nor PEM: {error}"))?;
        if set.keys.len() > MOST_KEYS {
            return Err(format!(
                "it has {} keys, and at most {MOST_KEYS} are read",
                set.keys.len()
            ));
        }
        let (mut keys, mut left_out) = (Vec::new(), Vec::new());
        for (at, value) in set.keys.into_iter().enumerate() {
            match jwk(value, origin) {
                Ok(key) => keys.push(key),
                Err(why) => left_out.push(format!("key number {}: {why}", at + 1)),
            }
        }
        match keys.is_empty() {
            true => Err(format!("it has no usable key: {}", left_out.join("; "))),
            false => Ok((Keys(keys), left_out)),
        }
    }
}

/// The public key of a PEM file.
fn pem(bytes: &[u8]) -> Option<Key> {
    let kinds = [
        (Algorithm::EdDSA, DecodingKey::from_ed_pem(bytes)),
        (Algorithm::ES256, DecodingKey::from_ec_pem(bytes)),
        (Algorithm::RS256, DecodingKey::from_rsa_pem(bytes)),
    ];
    let (algorithm, key) = kinds.into_iter().find_map(|(of, key)| Some((of, key.ok()?)))?;
    (!is_short(&key, algorithm)).then_some(Key { id: None, algorithm, key })
}

fn jwk(value: Value, origin: Origin) -> Result<Key, &'static str> {
    let jwk: Jwk = serde_json::from_value(value).map_err(|_| "it is no JSON web key")?;
    let (algorithm, name) = match &jwk.algorithm {
        AlgorithmParameters::RSA(_) => (Algorithm::RS256, KeyAlgorithm::RS256),
        AlgorithmParameters::EllipticCurve(curve) if curve.curve == EllipticCurve::P256 => {
            (Algorithm::ES256, KeyAlgorithm::ES256)
        }
        AlgorithmParameters::OctetKeyPair(pair) if pair.curve == EllipticCurve::Ed25519 => {
            (Algorithm::EdDSA, KeyAlgorithm::EdDSA)
        }
        AlgorithmParameters::OctetKey(_) if origin == Origin::Address => {
            return Err("it is a secret, which no address may publish");
        }
        AlgorithmParameters::OctetKey(_) => (Algorithm::HS256, KeyAlgorithm::HS256),
        _ => return Err("only RS256, ES256, EdDSA and HS256 are known"),
    };
    if jwk.common.key_algorithm.is_some_and(|stated| stated != name) {
        return Err("its algorithm is not RS256, ES256, EdDSA or HS256, or does not fit the key");
    }
    if jwk.common.public_key_use.as_ref().is_some_and(|of| *of != PublicKeyUse::Signature) {
        return Err("it is not for signatures");
    }
    let operations = jwk.common.key_operations.as_ref();
    if operations.is_some_and(|known| !known.contains(&KeyOperations::Verify)) {
        return Err("its key_ops do not permit to verify signatures");
    }
    let key = DecodingKey::from_jwk(&jwk).map_err(|_| "its numbers cannot be read")?;
    if algorithm == Algorithm::HS256
        && key.try_get_as_bytes().is_ok_and(|secret| secret.len() < LEAST_SECRET)
    {
        return Err("a secret for HS256 needs at least 32 bytes");
    }
    if is_short(&key, algorithm) {
        return Err("an RSA key needs at least 2,048 bits");
    }
    Ok(Key { id: jwk.common.key_id, algorithm, key })
}

/// True for an RSA key with which no signature would be taken.
fn is_short(key: &DecodingKey, algorithm: Algorithm) -> bool {
    let size = match key.kind() {
        DecodingKeyKind::RsaModulusExponent { n, .. } => n.strip_prefix(&[0]).unwrap_or(n).len(),
        // In DER, the modulus and some 14 bytes.
        DecodingKeyKind::SecretOrDer(der) => der.len(),
    };
    algorithm == Algorithm::RS256 && size < LEAST_MODULUS
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const OCT: &str = r#"{"keys":[{"kty":"oct","kid":"s","alg":"HS256","k":"AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8"}]}"#;

    #[test]
    fn a_secret_comes_from_a_file_only_and_is_long_enough() {
        let (keys, left_out) = Keys::parse(OCT.as_bytes(), Origin::File).unwrap();
        assert_eq!((keys.0[0].algorithm, left_out.len()), (Algorithm::HS256, 0));
        assert!(keys.find(Some("s")).is_some() && keys.find(None).is_some());
        assert!(keys.find(Some("other")).is_none());
        let why = Keys::parse(OCT.as_bytes(), Origin::Address).unwrap_err();
        assert!(why.contains("no address may publish"), "{why}");
        let short = OCT.replace("AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8", "AAEC");
        assert!(Keys::parse(short.as_bytes(), Origin::File).unwrap_err().contains("32 bytes"));
    }

    #[test]
    fn a_key_has_the_algorithm_of_its_kind_and_no_other() {
        for alg in ["RS256", "none", "HS512"] {
            let other = OCT.replace("HS256", alg);
            assert!(Keys::parse(other.as_bytes(), Origin::File).is_err(), "{alg}");
        }
        let signing = OCT.replace(r#""alg":"HS256""#, r#""key_ops":["sign"]"#);
        assert!(Keys::parse(signing.as_bytes(), Origin::File).unwrap_err().contains("key_ops"));
        let both = OCT.replace(r#""alg":"HS256""#, r#""key_ops":["sign","verify"]"#);
        assert!(Keys::parse(both.as_bytes(), Origin::File).is_ok());
        let encryption = OCT.replace(r#""alg":"HS256""#, r#""use":"enc""#);
        assert!(Keys::parse(encryption.as_bytes(), Origin::File).is_err());
    }

    #[test]
    fn an_rsa_key_has_a_least_size() {
        use base64::Engine;
        use base64::engine::general_purpose::URL_SAFE_NO_PAD;
        let set = |bytes: usize| {
            let modulus = URL_SAFE_NO_PAD.encode(vec![0xc5; bytes]);
            format!(r#"{{"keys":[{{"kty":"RSA","n":"{modulus}","e":"AQAB"}}]}}"#)
        };
        assert!(Keys::parse(set(256).as_bytes(), Origin::Address).is_ok());
        let why = Keys::parse(set(128).as_bytes(), Origin::Address).unwrap_err();
        assert!(why.contains("at least 2,048 bits"), "{why}");
        // 1,024 bits.
        const SHORT: &str = "-----BEGIN PUBLIC KEY-----
MIGfMA0GCSqGSIb3DQEBAQUAA4GNADCBiQKBgQCiElH86cszS+UC9VXVg2OsWxxX
MHQGtlmukZ15M8tmHhrS7Zh+WlQrO7aqfXeDhPmAOpycG692tQJWZVN9cJcCkDwq
CkDgWTsSXeEYRWipNhgQ2o1zc+d+1rAtyoLMIsFkUiKM2E/dhvt83IbclEnlR6fs
F/mTebdg5pa9KeEseQIDAQAB
-----END PUBLIC KEY-----";
        assert!(Keys::parse(SHORT.as_bytes(), Origin::File).unwrap_err().contains("2,048 bits"));
    }

    #[test]
    fn what_is_no_set_of_keys_is_said() {
        for wrong in ["", "[]", "-----BEGIN PUBLIC KEY-----", r#"{"keys":[]}"#] {
            assert!(Keys::parse(wrong.as_bytes(), Origin::File).is_err(), "{wrong}");
        }
        let many = format!(r#"{{"keys":[{}]}}"#, vec!["{}"; MOST_KEYS + 1].join(","));
        assert!(Keys::parse(many.as_bytes(), Origin::File).unwrap_err().contains("at most 100"));
    }

    proptest! {
        #[test]
        fn random_bytes_never_panic(bytes: Vec<u8>) {
            let _ = Keys::parse(&bytes, Origin::Address);
        }
    }
}
