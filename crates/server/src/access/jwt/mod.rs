//! JSON web tokens (RFC 7519): who a client is and what it may do, signed by a key that the server
//! knows.

mod header;
mod keys;
mod rights;
mod signatures;
mod source;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use groupwire_session::Identity;
use groupwire_session::limits::MAX_USER;
use jsonwebtoken::errors::ErrorKind;
use jsonwebtoken::{Validation, decode, decode_header};
use serde::Deserialize;

use super::{Admission, Answer, Authenticator, JoinRequest, Refusal};
pub use rights::{ByRights, Rights, UserLimits};
pub use source::KeySource;
use source::Source;

/// The largest `sub`, in bytes.
pub(super) const LARGEST_SUBJECT: usize = MAX_USER;

/// The largest `jti`, in bytes.
const LARGEST_TOKEN_ID: usize = 256;

/// The permitted difference between the clocks of issuer and server, in seconds.
const LEEWAY: u64 = 10;

/// How far in the future a token may have been issued (`iat`), in seconds. Such a token escapes a
/// ban of the tokens that were issued before now, so more than what badly kept clocks differ by is
/// refused.
const ISSUED_LEEWAY: f64 = 60.0;

/// The requirements that a token has to meet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JwtConfig {
    /// Where the keys come from.
    pub keys: KeySource,
    /// The `iss` of all tokens.
    pub issuer: String,
    /// The `aud` of all tokens: this server's name.
    pub audience: String,
    /// A PEM file with a certificate that is trusted when keys are fetched, beside those that the
    /// system trusts.
    pub root: Option<PathBuf>,
}

/// Lets in clients with a JSON web token. EdDSA, ES256, RS256 and HS256 are known; each key has one
/// algorithm. The claims `iss`, `aud`, `exp`, `sub` and `groupwire` ([`Rights`]) are required. Use
/// [`ByRights`] as the authority.
///
/// Signatures are checked by ring: [`JwtAuthenticator::open`] installs it as the process's
/// `CryptoProvider` of `jsonwebtoken`. It does not sign; a program that makes tokens by
/// `jsonwebtoken` in the same process installs another provider before.
#[derive(Debug)]
pub struct JwtAuthenticator {
    source: Arc<Source>,
    issuer: String,
    audience: String,
}

#[derive(Deserialize)]
struct Claims {
    // `sub` and `exp` are required. They have defaults here, because a later check reports a
    // missing one in clearer words than Serde.
    #[serde(default)]
    sub: String,
    /// As all times seconds since 1970, which may have a fraction.
    #[serde(default)]
    exp: f64,
    // The library would also take a list of issuers, one of which is right. It reports a missing
    // one.
    #[expect(dead_code, reason = "it has to be a text")]
    iss: Option<String>,
    jti: Option<String>,
    iat: Option<f64>,
    groupwire: Option<serde_json::Value>,
}

impl JwtAuthenticator {
    /// Reads the keys. An address that does not answer yet is asked again when a client joins.
    ///
    /// # Errors
    /// What is wrong with the keys, for the operator.
    pub async fn open(config: JwtConfig) -> Result<Self, String> {
        signatures::install();
        let JwtConfig { keys, issuer, audience, root } = config;
        Ok(JwtAuthenticator { source: Source::open(keys, root).await?, issuer, audience })
    }

    async fn check(&self, request: JoinRequest<'_>) -> Result<Admission, Refusal> {
        let refused = |why: &str| Refusal::Refused(why.to_owned());
        if request.token.is_empty() {
            return Err(refused("this server wants a token"));
        }
        let header = decode_header(request.token)
            .map_err(|_| refused("this is no JSON web token of a known algorithm"))?;
        header::check(request.token).map_err(refused)?;
        let key = self.source.find(header.kid.as_deref()).await.map_err(Refusal::NotNow)?;
        let key = key.ok_or_else(|| refused("the token is signed by a key that is not known"))?;
        if header.alg != key.algorithm {
            return Err(refused("the token's algorithm is not that of its key"));
        }
        let mut validation = Validation::new(key.algorithm);
        validation.set_required_spec_claims(&["exp", "iss", "aud", "sub"]);
        validation.set_issuer(&[&self.issuer]);
        validation.set_audience(&[&self.audience]);
        validation.validate_nbf = true;
        validation.leeway = LEEWAY;
        let token = decode::<Claims>(request.token, &key.key, &validation).map_err(refusal)?;
        let Claims { sub, exp, jti, iat, groupwire, .. } = token.claims;
        if sub.is_empty() || sub.len() > LARGEST_SUBJECT {
            return Err(refused("the token's sub has no or too many bytes"));
        }
        if jti.as_ref().is_some_and(|jti| jti.len() > LARGEST_TOKEN_ID) {
            return Err(refused("the token's jti has too many bytes"));
        }
        if iat.is_some_and(|iat| iat > jsonwebtoken::get_current_timestamp() as f64 + ISSUED_LEEWAY)
        {
            return Err(refused(
                "the token's iat is more than 60 s in the future: look at the issuer's clock",
            ));
        }
        let rights = groupwire.ok_or_else(|| refused("the token has no claim groupwire"))?;
        if !rights.is_object() {
            return Err(refused("the token's claim groupwire is no JSON object"));
        }
        let rights: Rights = serde_json::from_value(rights)
            .map_err(|error| Refusal::Refused(format!("the token's claim groupwire: {error}")))?;
        if !rights.may_join(request.room) {
            return Err(refused("the token is not for this room"));
        }
        let identity = Identity { subject: sub.into_bytes(), rights: rights.to_bytes() };
        let issued = iat.and_then(unix_time);
        Ok(Admission { identity, token_id: jti, issued, expires: unix_time(exp) })
    }
}

impl Authenticator for JwtAuthenticator {
    fn authenticate<'a>(&'a self, request: JoinRequest<'a>) -> Answer<'a> {
        Box::pin(self.check(request))
    }
}

/// `None` for a time that no clock will show. The cast drops a fraction, and turns a time before
/// 1970 into 1970.
fn unix_time(seconds: f64) -> Option<SystemTime> {
    SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(seconds as u64))
}

/// What is wrong with a token, in words for the person who made it.
fn refusal(error: jsonwebtoken::errors::Error) -> Refusal {
    let why = match error.kind() {
        ErrorKind::ExpiredSignature => return Refusal::Expired,
        ErrorKind::InvalidSignature => "the token's signature is wrong",
        ErrorKind::InvalidIssuer => "the token's iss is not the one that this server trusts",
        ErrorKind::InvalidAudience => "the token's aud is not this server",
        ErrorKind::ImmatureSignature => "the token is not valid yet",
        ErrorKind::MissingRequiredClaim(claim) => {
            return Refusal::Refused(format!("the token has no claim {claim}, or a wrong one"));
        }
        ErrorKind::InvalidClaimFormat(claim) => {
            return Refusal::Refused(format!("the token's {claim} is of the wrong kind"));
        }
        ErrorKind::Json(error) => {
            return Refusal::Refused(format!("the token's claims cannot be read: {error}"));
        }
        ErrorKind::InvalidAlgorithm => "the token's algorithm is not that of its key",
        _ => "the token cannot be read",
    };
    Refusal::Refused(why.to_owned())
}
