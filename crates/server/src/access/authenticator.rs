//! The question whether a client may join, and its answer. The server asks its [`Authenticator`].

use std::future::Future;
use std::pin::Pin;
use std::time::SystemTime;

use groupwire_session::{AllowAll, Error, Identity};

use crate::traces::Span;

/// A client asks to join a room, or a participant sends another token.
#[non_exhaustive]
#[derive(Debug, Clone, Copy)]
pub struct JoinRequest<'a> {
    /// The name of the room.
    pub room: &'a str,
    /// The token, of at most 4,096 bytes. Only the [`Authenticator`] knows what it means.
    pub token: &'a [u8],
    /// The span of the trace in which the authenticator is asked.
    pub(crate) span: &'a Span,
}

impl<'a> JoinRequest<'a> {
    /// A request to join this room with this token. The server makes requests itself; an
    /// [`Authenticator`] needs this for its tests.
    pub fn new(room: &'a str, token: &'a [u8]) -> Self {
        JoinRequest { room, token, span: &Span::NONE }
    }

    /// The value of the header `traceparent` (W3C Trace Context) for requests that the
    /// authenticator sends, so that they are part of the join's trace. `None`: the server makes no
    /// traces.
    pub fn traceparent(&self) -> Option<String> {
        self.span.traceparent()
    }
}

/// The answer to a client that may join.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Admission {
    /// Who the client is.
    pub identity: Identity,
    /// The name of the token (`jti`), by which it can be revoked. `None`: it has none.
    pub token_id: Option<String>,
    /// When the token was issued (`iat`), for revoking all tokens of a user that were issued before
    /// a time. `None`: that is not known, and the token counts as an old one.
    pub issued: Option<SystemTime>,
    /// When the token expires. The client is asked for another one before, and its connection is
    /// closed soon after. `None`: never.
    pub expires: Option<SystemTime>,
}

/// Why a client may not join.
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// The client may not join, and trying again does not help. It is shown this reason.
    Refused(String),
    /// The token has expired: the client may try again with another one.
    Expired,
    /// The token was revoked: the client may try again with another one.
    Revoked,
    /// The user may not be in the room, with whatever token. The text says for how long, and may
    /// say why.
    Banned(String),
    /// The authenticator cannot decide at present: the client may try again later.
    NotNow(&'static str),
}

impl From<Refusal> for Error {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::Refused(why) => Error::Refused { why },
            Refusal::Expired => Error::Expired,
            Refusal::Revoked => Error::Revoked,
            Refusal::Banned(why) => Error::Banned { why },
            Refusal::NotNow(what) => Error::NotNow { what },
        }
    }
}

/// What an [`Authenticator`] returns: the answer, which may take a while.
pub type Answer<'a> = Pin<Box<dyn Future<Output = Result<Admission, Refusal>> + Send + 'a>>;

/// Finds out who a client is, and whether it may join.
///
/// ```
/// use groupwire_server::session::Identity;
/// use groupwire_server::{Admission, Answer, Authenticator, JoinRequest, Refusal, is_same_secret};
///
/// /// Everybody who knows a word may join, under no name.
/// struct Word(&'static str);
///
/// impl Authenticator for Word {
///     fn authenticate<'a>(&'a self, request: JoinRequest<'a>) -> Answer<'a> {
///         Box::pin(async move {
///             match is_same_secret(request.token, self.0.as_bytes()) {
///                 true => Ok(Admission::default()),
///                 false => Err(Refusal::Refused("this is not the word".into())),
///             }
///         })
///     }
/// }
/// ```
pub trait Authenticator: Send + Sync {
    /// Decides about one client. It is dropped, and the client asked to try again, if it takes
    /// longer than 5 s.
    ///
    /// # Errors
    /// Why the client may not join.
    fn authenticate<'a>(&'a self, request: JoinRequest<'a>) -> Answer<'a>;
}

impl Authenticator for AllowAll {
    fn authenticate<'a>(&'a self, _request: JoinRequest<'a>) -> Answer<'a> {
        Box::pin(async { Ok(Admission::default()) })
    }
}
