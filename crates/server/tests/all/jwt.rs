//! JSON web tokens: what lets a client in, and attacks that do not.

use std::path::Path;
use std::time::UNIX_EPOCH;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use groupwire_server::{
    Admission, Authenticator, JoinRequest, JwtAuthenticator, JwtConfig, KeySource, Refusal, Rights,
};
use serde_json::{Value, json};

use crate::support::tokens::{
    RSA_PUBLIC, claims, in_seconds, set, signed, signed_as, signed_by_secret,
};

fn with(name: &str, value: Value) -> Value {
    let mut claims = claims();
    claims[name] = value;
    claims
}

fn without(name: &str) -> Value {
    let mut claims = claims();
    claims.as_object_mut().unwrap().remove(name);
    claims
}

async fn authenticator(file: &Path) -> Result<JwtAuthenticator, String> {
    let keys = KeySource::File(file.to_owned());
    let (issuer, audience) = ("https://login.example".into(), "groupwire".into());
    JwtAuthenticator::open(JwtConfig { keys, issuer, audience, root: None }).await
}

async fn ask(by: &JwtAuthenticator, room: &str, token: &str) -> Result<Admission, Refusal> {
    by.authenticate(JoinRequest::new(room, token.as_bytes())).await
}

/// An authenticator with all keys of [`key`].
async fn all() -> (tempfile::TempDir, JwtAuthenticator) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("keys.json");
    std::fs::write(&file, set(&["ed", "ec", "rsa", "secret"])).unwrap();
    let authenticator = authenticator(&file).await.unwrap();
    (folder, authenticator)
}

#[tokio::test]
async fn a_token_of_each_algorithm_lets_in_with_its_subject_and_rights() {
    let (_folder, all) = all().await;
    for id in ["ed", "ec", "rsa", "secret"] {
        let admission = ask(&all, "docs/plan", &signed(id, &claims())).await.unwrap();
        assert_eq!(admission.identity.subject, b"ann");
        let rights: Rights = serde_json::from_slice(&admission.identity.rights).unwrap();
        assert_eq!(
            (rights.publish, rights.subscribe),
            (vec!["draw".to_owned()], vec!["*".to_owned()])
        );
        let expires = admission.expires.unwrap().duration_since(UNIX_EPOCH).unwrap().as_secs();
        assert!((in_seconds(590)..=in_seconds(600)).contains(&(expires as i64)));
    }
}

#[tokio::test]
async fn no_other_token_lets_in() {
    let (_folder, all) = all().await;
    let good = signed("rsa", &claims());
    let [head, body, signature] = good.split('.').collect::<Vec<_>>()[..] else { unreachable!() };
    let part = |value: Value| URL_SAFE_NO_PAD.encode(value.to_string());
    // Signed with the public key as if it were a secret, under the name of the public key.
    let confused =
        signed_by_secret(RSA_PUBLIC, &json!({ "alg": "HS256", "kid": "rsa" }), &claims());
    let of_another_key = signed_as("ed", &json!({ "alg": "EdDSA", "kid": "ec" }), &claims());
    let nameless = signed_as("ed", &json!({ "alg": "EdDSA" }), &claims());
    let unknown = signed_as("ed", &json!({ "alg": "EdDSA", "kid": "new" }), &claims());
    let none = part(json!({ "alg": "none", "typ": "JWT", "kid": "rsa" }));
    let more = part(with("groupwire", json!({ "rooms": ["*"] })));
    let refused = [
        ("none", format!("{none}.{body}."), "known algorithm"),
        ("none, with a signature", format!("{none}.{body}.{signature}"), "known algorithm"),
        ("more rights than signed", format!("{head}.{more}.{signature}"), "signature is wrong"),
        ("HS256 with a public key", confused, "algorithm is not that of its key"),
        ("the algorithm of another key", of_another_key, "algorithm is not that of its key"),
        ("no name of a key, of which there are several", nameless, "not known"),
        ("an unknown key", unknown, "not known"),
        ("no token", String::new(), "wants a token"),
        ("no JSON web token", "a password".into(), "no JSON web token"),
        ("not valid yet", signed("ed", &with("nbf", json!(in_seconds(600)))), "not valid yet"),
        ("another issuer", signed("ed", &with("iss", json!("https://evil.example"))), "iss"),
        ("another server", signed("ed", &with("aud", json!("other"))), "aud"),
        ("no issuer", signed("ed", &without("iss")), "no claim iss"),
        ("no audience", signed("ed", &without("aud")), "no claim aud"),
        ("no end", signed("ed", &without("exp")), "no claim exp"),
        ("nobody", signed("ed", &without("sub")), "no claim sub"),
        ("an empty name", signed("ed", &with("sub", json!(""))), "sub"),
        ("a long name", signed("ed", &with("sub", json!("x".repeat(257)))), "sub"),
        ("no rights", signed("ed", &without("groupwire")), "no claim groupwire"),
        (
            "rights of a later version",
            signed("ed", &with("groupwire", json!({ "rooms": [], "x": 1 }))),
            "groupwire",
        ),
        (
            "another room",
            signed("ed", &with("groupwire", json!({ "rooms": ["game"] }))),
            "not for this room",
        ),
    ];
    for (what, token, why) in refused {
        match ask(&all, "docs/plan", &token).await {
            Err(Refusal::Refused(said)) => assert!(said.contains(why), "{what}: {said}"),
            other => panic!("{what}: {other:?}"),
        }
    }
    let expired = signed("ed", &with("exp", json!(in_seconds(-60))));
    assert_eq!(ask(&all, "docs/plan", &expired).await, Err(Refusal::Expired));
}

#[tokio::test]
async fn a_pem_file_is_one_key_and_a_wrong_file_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("key.pem");
    std::fs::write(&file, RSA_PUBLIC).unwrap();
    let one = authenticator(&file).await.unwrap();
    // The only key needs no name.
    let token = signed_as("rsa", &json!({ "alg": "RS256" }), &claims());
    assert!(ask(&one, "docs/plan", &token).await.is_ok());
    let missing = authenticator(&folder.path().join("missing")).await.unwrap_err();
    assert!(missing.contains("missing"), "{missing}");
    std::fs::write(&file, "-----BEGIN CERTIFICATE-----").unwrap();
    assert!(authenticator(&file).await.unwrap_err().contains("no public key"));
}

#[tokio::test]
async fn keys_are_fetched_over_https_only() {
    let config = |address: &str| JwtConfig {
        keys: KeySource::Address(address.to_owned()),
        issuer: "i".into(),
        audience: "a".into(),
        root: None,
    };
    let error = JwtAuthenticator::open(config("http://127.0.0.1:1/keys")).await.unwrap_err();
    assert!(error.contains("https:// only"), "{error}");
    // A server that does not answer yet keeps nobody from starting, and lets nobody in.
    let later = JwtAuthenticator::open(config("https://127.0.0.1:1/keys")).await.unwrap();
    let answer = ask(&later, "docs/plan", &signed("ed", &claims())).await;
    assert!(matches!(answer, Err(Refusal::NotNow(_))), "{answer:?}");
}
