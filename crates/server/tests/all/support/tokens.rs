//! JSON web tokens and the keys that sign them.

use std::time::{SystemTime, UNIX_EPOCH};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jsonwebtoken::jwk::Jwk;
use jsonwebtoken::{Algorithm, EncodingKey, Header, encode};
use serde_json::{Value, json};

const ED25519: &[u8] = include_bytes!("../keys/ed25519.pem");
const P256: &[u8] = include_bytes!("../keys/p256.pem");
const RSA: &[u8] = include_bytes!("../keys/rsa.pem");
pub(crate) const RSA_PUBLIC: &[u8] = include_bytes!("../keys/rsa.public.pem");
const SECRET: &[u8] = b"a secret of thirty-two bytes, and of a few more";

/// A key for signing, by the name that it has in the set.
pub(crate) fn key(id: &str) -> (Algorithm, EncodingKey) {
    match id {
        "ed" => (Algorithm::EdDSA, EncodingKey::from_ed_pem(ED25519).unwrap()),
        "ec" => (Algorithm::ES256, EncodingKey::from_ec_pem(P256).unwrap()),
        "rsa" => (Algorithm::RS256, EncodingKey::from_rsa_pem(RSA).unwrap()),
        _ => (Algorithm::HS256, EncodingKey::from_secret(SECRET)),
    }
}

/// The set of the public keys, and of the secret.
pub(crate) fn set(ids: &[&str]) -> String {
    let keys = ids.iter().map(|&id| {
        if id == "secret" {
            return json!({ "kty": "oct", "kid": id, "alg": "HS256", "k": URL_SAFE_NO_PAD.encode(SECRET) });
        }
        let (algorithm, private) = key(id);
        let mut public = serde_json::to_value(Jwk::from_encoding_key(&private, algorithm).unwrap()).unwrap();
        public["kid"] = json!(id);
        public
    });
    json!({ "keys": keys.collect::<Vec<_>>() }).to_string()
}

pub(crate) fn in_seconds(seconds: i64) -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs() as i64 + seconds
}

pub(crate) fn claims() -> Value {
    json!({
        "iss": "https://login.example", "aud": "groupwire", "sub": "ann", "exp": in_seconds(600),
        "groupwire": { "rooms": ["docs/*"], "publish": ["draw"] },
    })
}

pub(crate) fn signed(id: &str, claims: &Value) -> String {
    let (algorithm, key) = key(id);
    let header = Header { kid: Some(id.to_owned()), ..Header::new(algorithm) };
    encode(&header, claims, &key).unwrap()
}
