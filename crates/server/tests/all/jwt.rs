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
    RSA_PUBLIC, claims, in_seconds, set, signed, signed_as, signed_by_secret, signed_text,
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

/// What the standards demand beside a right signature: RFC 7515, 7519, 7797 and 8725.
#[tokio::test]
async fn a_header_that_demands_or_says_something_else_is_refused() {
    let (_folder, all) = all().await;
    let plain = json!({ "alg": "EdDSA", "kid": "ed" });
    let header = |name: &str, value: Value| {
        let mut header = plain.clone();
        header[name] = value;
        header
    };
    let refused = [
        (header("crit", json!(["exp"])), "crit"),
        (header("crit", json!(["b64"])), "crit"),
        (header("crit", json!([])), "crit"),
        (header("crit", Value::Null), "crit"),
        (header("crit", json!("exp")), "no JSON web token"),
        (header("b64", json!(false)), "b64"),
        (header("b64", json!("true")), "b64"),
        (header("typ", json!("logout+jwt")), "typ"),
        (header("typ", json!("application/SecEvent+JWT")), "typ"),
        (header("typ", json!(1)), "no JSON web token"),
        (header("alg", json!("EdDSA ")), "known algorithm"),
        (header("alg", json!("eddsa")), "known algorithm"),
        (header("alg", json!(["EdDSA"])), "known algorithm"),
        (header("kid", json!(1)), "no JSON web token"),
        (header("kid", json!({ "kid": "ed" })), "no JSON web token"),
        (header("kid", json!("../ed")), "not known"),
        (header("kid", json!("")), "not known"),
        (json!([]), "no JSON web token"),
        (json!(["JWT", "EdDSA"]), "no JSON web token"),
    ];
    for (header, why) in refused {
        match ask(&all, "docs/plan", &signed_as("ed", &header, &claims())).await {
            Err(Refusal::Refused(said)) => assert!(said.contains(why), "{header}: {said}"),
            other => panic!("{header}: {other:?}"),
        }
    }
    for fine in [
        header("typ", json!("JWT")),
        header("typ", json!("at+jwt")),
        header("typ", json!("anything")),
        header("b64", json!(true)),
        header("custom", json!({ "crit": [] })),
        // Keys that a token brings along are not looked at.
        header("jku", json!("https://evil.example/keys")),
        header("x5u", json!("https://evil.example/chain")),
    ] {
        let answer = ask(&all, "docs/plan", &signed_as("ed", &fine, &claims())).await;
        assert!(answer.is_ok(), "{fine}: {answer:?}");
    }
    // A key in the header, by which the token is signed, does not make the token one of a known
    // key.
    let own: Value = serde_json::from_str(&set(&["ed"])).unwrap();
    let header = json!({ "alg": "EdDSA", "kid": "ec", "jwk": own["keys"][0] });
    let answer = ask(&all, "docs/plan", &signed_as("ed", &header, &claims())).await;
    assert!(matches!(answer, Err(Refusal::Refused(_))), "{answer:?}");
}

#[tokio::test]
async fn members_that_appear_twice_are_refused() {
    let (_folder, all) = all().await;
    let (header, body) = (r#"{"alg":"EdDSA","kid":"ed"}"#, claims().to_string());
    let twice = |text: &str, more: &str| format!("{},{more}}}", &text[..text.len() - 1]);
    assert!(ask(&all, "docs/plan", &signed_text("ed", header, &body)).await.is_ok());
    for more in [r#""alg":"EdDSA""#, r#""kid":"ed""#] {
        let token = signed_text("ed", &twice(header, more), &body);
        let answer = ask(&all, "docs/plan", &token).await;
        assert!(matches!(answer, Err(Refusal::Refused(_))), "{more}: {answer:?}");
    }
    for more in [
        r#""sub":"root""#,
        r#""exp":9999999999"#,
        r#""iss":"https://login.example""#,
        r#""aud":"groupwire""#,
        r#""groupwire":{"rooms":["*"]}"#,
    ] {
        let answer = ask(&all, "docs/plan", &signed_text("ed", header, &twice(&body, more))).await;
        assert!(matches!(answer, Err(Refusal::Refused(_))), "{more}: {answer:?}");
    }
}

#[tokio::test]
async fn times_and_names_of_the_wrong_kind_are_refused_and_named() {
    let (_folder, all) = all().await;
    for (name, value, why) in [
        ("exp", json!("9999999999"), "expected f64"),
        ("exp", json!(-1), "exp"),
        ("exp", json!(-1.5), "exp"),
        ("exp", json!(1e300), "exp"),
        ("exp", Value::Null, "expected f64"),
        ("exp", json!([9_999_999_999_u64]), "expected f64"),
        ("nbf", json!("0"), "nbf"),
        ("nbf", json!(9e15), "not valid yet"),
        ("iat", json!("0"), "expected f64"),
        ("iat", json!(in_seconds(90)), "iat is more than 60 s in the future"),
        ("iat", json!(1e300), "iat is more than 60 s in the future"),
        ("iat", json!(u64::MAX), "iat is more than 60 s in the future"),
        ("iss", json!(["https://evil.example", "https://login.example"]), "expected a string"),
        ("iss", json!(1), "expected a string"),
        ("aud", json!(1), "aud"),
        ("aud", json!([]), "aud"),
        ("aud", json!(["other", "Groupwire"]), "aud"),
        ("sub", json!(1), "expected a string"),
        ("sub", Value::Null, "expected a string"),
        ("jti", json!(1), "expected a string"),
        ("jti", json!("x".repeat(257)), "jti"),
        ("groupwire", json!("*"), "groupwire"),
        ("groupwire", json!([["*"]]), "groupwire"),
    ] {
        match ask(&all, "docs/plan", &signed("ed", &with(name, value.clone()))).await {
            Err(Refusal::Refused(said)) => assert!(said.contains(why), "{name} {value}: {said}"),
            other => panic!("{name} {value}: {other:?}"),
        }
    }
    for (name, value) in [
        ("exp", json!(in_seconds(600) as f64 + 0.5)),
        ("exp", json!(u64::MAX - 10_000)),
        ("exp", json!(9e15)),
        ("nbf", json!(in_seconds(-1) as f64 + 0.5)),
        ("iat", json!(in_seconds(30))),
        ("iat", json!(in_seconds(-600) as f64 + 0.5)),
        ("iat", json!(-1)),
        ("aud", json!(["other", "groupwire"])),
    ] {
        let answer = ask(&all, "docs/plan", &signed("ed", &with(name, value.clone()))).await;
        assert!(answer.is_ok(), "{name} {value}: {answer:?}");
    }
    for long_ago in [json!(0), json!(0.5)] {
        let token = signed("ed", &with("exp", long_ago));
        assert_eq!(ask(&all, "docs/plan", &token).await, Err(Refusal::Expired));
    }
}

#[tokio::test]
async fn claims_that_are_no_object_are_refused() {
    let (_folder, all) = all().await;
    let header = r#"{"alg":"EdDSA","kid":"ed"}"#;
    let list = format!(
        r#"["ann",{0},"https://login.example","t",{0},{{"rooms":["*"]}}]"#,
        in_seconds(600)
    );
    // The last one is another token: RFC 7519, section 5.2.
    for content in [&*list, "[]", "null", "\"text\"", "", "{", &signed("ed", &claims())] {
        let answer = ask(&all, "docs/plan", &signed_text("ed", header, content)).await;
        assert!(matches!(answer, Err(Refusal::Refused(_))), "{content}: {answer:?}");
    }
}

#[tokio::test]
async fn a_signature_has_one_form() {
    let (_folder, all) = all().await;
    let good = signed("ed", &claims());
    for (what, token) in [
        ("another last character, whose low bits are not used", {
            let last = good.chars().next_back().unwrap();
            let next = char::from_u32(last as u32 + 1).unwrap();
            format!("{}{next}", &good[..good.len() - 1])
        }),
        ("padding", format!("{good}==")),
        ("a space", format!("{good} ")),
        ("a line break", format!("{good}\n")),
        ("a fourth part", format!("{good}.")),
        ("a part in front", format!(".{good}")),
        ("no signature", format!("{}.", good.rsplit_once('.').unwrap().0)),
    ] {
        let answer = ask(&all, "docs/plan", &token).await;
        assert!(matches!(answer, Err(Refusal::Refused(_))), "{what}: {answer:?}");
    }
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
