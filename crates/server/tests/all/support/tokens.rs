//! JSON web tokens and the keys that sign them.

use std::time::{SystemTime, UNIX_EPOCH};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::hmac;
use ring::rand::SystemRandom;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, RSA_PKCS1_SHA256, RsaKeyPair,
};
use serde_json::{Value, json};
use tokio_rustls::rustls::pki_types::PrivateKeyDer;
use tokio_rustls::rustls::pki_types::pem::PemObject;

const ED25519: &[u8] = include_bytes!("../keys/ed25519.pem");
const P256: &[u8] = include_bytes!("../keys/p256.pem");
const RSA: &[u8] = include_bytes!("../keys/rsa.pem");
pub(crate) const RSA_PUBLIC: &[u8] = include_bytes!("../keys/rsa.public.pem");
/// The public keys of these three as JSON web keys.
const PUBLIC: &str = include_str!("../keys/public.json");
const SECRET: &[u8] = b"a secret of thirty-two bytes, and of a few more";

/// The algorithm of a key, by the name that the key has in the set.
fn algorithm(id: &str) -> &'static str {
    match id {
        "ed" => "EdDSA",
        "ec" => "ES256",
        "rsa" => "RS256",
        _ => "HS256",
    }
}

/// The set of the public keys, and of the secret.
pub(crate) fn set(ids: &[&str]) -> String {
    let public: Value = serde_json::from_str(PUBLIC).unwrap();
    let secret = json!({ "kty": "oct", "k": URL_SAFE_NO_PAD.encode(SECRET) });
    let keys = ids.iter().map(|&id| {
        let mut key = public.get(id).unwrap_or(&secret).clone();
        key["kid"] = json!(id);
        key["alg"] = json!(algorithm(id));
        key
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

/// A token whose header names the key that signs it.
pub(crate) fn signed(id: &str, claims: &Value) -> String {
    signed_as(id, &json!({ "typ": "JWT", "alg": algorithm(id), "kid": id }), claims)
}

/// A token with any header, signed by this key.
pub(crate) fn signed_as(id: &str, header: &Value, claims: &Value) -> String {
    signed_text(id, &header.to_string(), &claims.to_string())
}

/// A token whose header and claims are these texts.
pub(crate) fn signed_text(id: &str, header: &str, claims: &str) -> String {
    let random = SystemRandom::new();
    token(header, claims, |text| match id {
        "ed" => Ed25519KeyPair::from_pkcs8_maybe_unchecked(&der(ED25519))
            .unwrap()
            .sign(text)
            .as_ref()
            .to_vec(),
        "ec" => EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &der(P256), &random)
            .unwrap()
            .sign(&random, text)
            .unwrap()
            .as_ref()
            .to_vec(),
        "rsa" => {
            let pair = RsaKeyPair::from_pkcs8(&der(RSA)).unwrap();
            let mut signature = vec![0; pair.public().modulus_len()];
            pair.sign(&RSA_PKCS1_SHA256, &random, text, &mut signature).unwrap();
            signature
        }
        _ => hs256(SECRET, text),
    })
}

/// A token with any header, signed by anything as a secret.
pub(crate) fn signed_by_secret(secret: &[u8], header: &Value, claims: &Value) -> String {
    token(&header.to_string(), &claims.to_string(), |text| hs256(secret, text))
}

fn token(header: &str, claims: &str, sign: impl FnOnce(&[u8]) -> Vec<u8>) -> String {
    let [header, claims] = [header, claims].map(|part| URL_SAFE_NO_PAD.encode(part));
    let text = format!("{header}.{claims}");
    let signature = URL_SAFE_NO_PAD.encode(sign(text.as_bytes()));
    format!("{text}.{signature}")
}

fn hs256(secret: &[u8], text: &[u8]) -> Vec<u8> {
    hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, secret), text).as_ref().to_vec()
}

/// A private key in PKCS #8.
fn der(pem: &[u8]) -> Vec<u8> {
    PrivateKeyDer::from_pem_slice(pem).unwrap().secret_der().to_vec()
}
