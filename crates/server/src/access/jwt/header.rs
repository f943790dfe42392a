//! Checks of a token that `jsonwebtoken` leaves to its callers.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Map, Value};

/// Refuses a token whose header demands what this server does not do, or says that the token is for
/// something else.
///
/// # Errors
/// What is wrong, for the person who made the token.
pub(super) fn check(token: &[u8]) -> Result<(), &'static str> {
    let mut parts = token.split(|byte| *byte == b'.').map(|part| URL_SAFE_NO_PAD.decode(part));
    let mut part = || parts.next()?.ok();
    let header: Option<Map<String, Value>> =
        part().and_then(|header| serde_json::from_slice(&header).ok());
    let header = header.ok_or("the token's header cannot be read")?;
    // Serde would take a list for a struct.
    if !part().is_some_and(|claims| claims.trim_ascii_start().starts_with(b"{")) {
        return Err("the token's claims are no JSON object");
    }
    // RFC 7515, section 4.1.11: a recipient that does not understand an extension that `crit` names
    // refuses the token. This one understands none, and an empty `crit` is not permitted.
    if header.contains_key("crit") {
        return Err("the token's header has crit: this server knows no extensions of tokens");
    }
    // RFC 7797: another way to encode what is signed. `true` is the usual one.
    if header.get("b64").is_some_and(|b64| *b64 != Value::Bool(true)) {
        return Err("the token's header has b64: its content has to be in base64url");
    }
    match header.get("typ").and_then(Value::as_str).is_some_and(is_of_another_kind) {
        true => Err("the token's typ says that it is for something else"),
        false => Ok(()),
    }
}

/// True for the type of a kind of tokens that are not for access, such as `logout+jwt` (RFC 8725,
/// section 3.11).
fn is_of_another_kind(typ: &str) -> bool {
    let typ = typ.to_ascii_lowercase();
    let typ = typ.strip_prefix("application/").unwrap_or(&typ);
    // RFC 9068: an access token.
    typ.ends_with("+jwt") && typ != "at+jwt"
}
