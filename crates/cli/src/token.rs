//! `groupwire token`: makes a JSON web token for trying a server, and a key for it.

use std::error::Error;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use clap::Args as ClapArgs;
use groupwire_server::Rights;
use groupwire_server::store::create_private;
use ring::hmac;
use serde_json::{Value, json};

use crate::process::TEN_YEARS;

/// The options of `groupwire token`.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Example:
  groupwire token --keys keys.json --sub ann --room 'docs/*'
  groupwire serve --jwt-keys keys.json --jwt-issuer groupwire-token --jwt-audience groupwire")]
pub(crate) struct Args {
    /// The file with the secret that signs the token, which `groupwire serve --jwt-keys` reads,
    /// too. It is created if it is missing.
    #[arg(long, value_name = "FILE")]
    keys: PathBuf,

    /// The user that the token is for.
    #[arg(long, value_name = "NAME")]
    sub: String,

    /// A room that the user may join; a star stands for any text. May be given several times.
    #[arg(long = "room", value_name = "PATTERN", required = true)]
    rooms: Vec<String>,

    /// A channel that the user may publish on; a star stands for any text. May be given several
    /// times. Default: all.
    #[arg(long, value_name = "PATTERN")]
    publish: Option<Vec<String>>,

    /// The user may only receive.
    #[arg(long, conflicts_with = "publish")]
    read_only: bool,

    /// How long the token lasts, in seconds.
    #[arg(long = "for", value_name = "SECONDS", default_value_t = 3600, value_parser = clap::value_parser!(u64).range(1..=TEN_YEARS))]
    lasts: u64,

    /// The issuer.
    #[arg(long, value_name = "NAME", default_value = "groupwire-token")]
    issuer: String,

    /// The audience: the server's name.
    #[arg(long, value_name = "NAME", default_value = "groupwire")]
    audience: String,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode, Box<dyn Error>> {
    if !args.keys.exists() {
        make_keys(&args.keys)?;
        eprintln!("{} holds a new secret: whoever has it can make tokens", args.keys.display());
    }
    let (id, secret) = read_secret(&args.keys)?;
    let mut rights = Rights::of_rooms(args.rooms.clone());
    match &args.publish {
        Some(channels) => rights.publish.clone_from(channels),
        None if args.read_only => rights.publish.clear(),
        None => {}
    }
    let expires = SystemTime::now() + Duration::from_secs(args.lasts);
    let claims = json!({
        "iss": args.issuer,
        "aud": args.audience,
        "sub": args.sub,
        "exp": expires.duration_since(UNIX_EPOCH)?.as_secs(),
        "groupwire": rights,
    });
    println!("{}", token(&id, &secret, &claims));
    Ok(ExitCode::SUCCESS)
}

/// A token with these claims, signed by a secret (RFC 7515, section 3.1). `id` names the secret
/// among the server's keys.
fn token(id: &str, secret: &[u8], claims: &Value) -> String {
    let header = json!({ "typ": "JWT", "alg": "HS256", "kid": id });
    let [header, claims] = [&header, claims].map(|part| URL_SAFE_NO_PAD.encode(part.to_string()));
    let signed = format!("{header}.{claims}");
    let signature = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, secret), signed.as_bytes());
    format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature))
}

/// Makes a file with a random secret, which only this user can read.
fn make_keys(file: &Path) -> Result<(), Box<dyn Error>> {
    let bytes: [u8; 40] = groupwire_server::random_secret();
    let (id, secret) = bytes.split_at(8);
    let [id, secret] = [id, secret].map(|bytes| URL_SAFE_NO_PAD.encode(bytes));
    let set = json!({ "keys": [{ "kty": "oct", "kid": id, "alg": "HS256", "k": secret }] });
    let out = create_private(file);
    let mut out = out.map_err(|error| format!("{}: {error}", file.display()))?;
    writeln!(out, "{set:#}")?;
    Ok(())
}

/// The first secret of a set of keys, with its name.
fn read_secret(file: &Path) -> Result<(String, Vec<u8>), Box<dyn Error>> {
    let cannot = |why: String| format!("{}: {why}", file.display());
    let bytes = std::fs::read(file).map_err(|error| cannot(error.to_string()))?;
    let set: Value = serde_json::from_slice(&bytes).map_err(|error| cannot(error.to_string()))?;
    let secret = set["keys"].as_array().into_iter().flatten().find_map(|key| {
        let secret = URL_SAFE_NO_PAD.decode(key["k"].as_str()?).ok()?;
        Some((key["kid"].as_str()?.to_owned(), secret))
    });
    let why = "it holds no secret (\"kty\": \"oct\" with \"kid\"); name a file that does not exist, and one is made";
    secret.ok_or_else(|| cannot(why.into()).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_what_the_standard_says() {
        // Made by Node's crypto module.
        let made = token("k", b"a secret of thirty-two bytes, and more", &json!({ "sub": "ann" }));
        assert_eq!(
            made,
            "eyJhbGciOiJIUzI1NiIsImtpZCI6ImsiLCJ0eXAiOiJKV1QifQ.eyJzdWIiOiJhbm4ifQ.3IXNX1Wz7EbPkc51g1q7KLMT_761Bjpm60Ma7S4PXwM"
        );
    }
}
