//! Who sends a request, and what of the request all handlers need.

use std::sync::Arc;

use axum::extract::rejection::PathRejection;
use axum::http::{HeaderMap, HeaderName, header};
use groupwire_session::limits::{MAX_CHANNEL_NAME, MAX_ROOM_NAME, MAX_TOKEN};
use groupwire_session::room::{MAX_VISITOR_NAME, Visit};
use groupwire_session::{Error, Identity, LinkId, ParticipantId};
use tokio::sync::mpsc;

use super::context::UserContext;
use super::refusal::Refusal;
use crate::access::{Access, AccessChange, Admitted, keep_access};
use crate::rooms::refused::NotJoined;
use crate::rooms::task::Driver;
use crate::tools::outbox::outbox;
use crate::traces::Span;

/// Tells programs of one user apart.
const CLIENT: HeaderName = HeaderName::from_static("groupwire-client");

/// A user, as one of its programs asks for it.
#[derive(Clone)]
pub(super) struct User {
    pub(super) room: String,
    identity: Identity,
    /// The name of the program.
    name: String,
}

impl User {
    /// Makes the user a participant of its room, or keeps it one.
    pub(super) fn visit(
        &self,
        driver: &mut Driver,
        now: std::time::Duration,
    ) -> Result<ParticipantId, Refusal> {
        let visit = Visit { identity: &self.identity, name: &self.name };
        Ok(driver.visit(now, &visit)?)
    }

    /// What names the user among others, for the keys of its requests.
    pub(super) fn subject(&self) -> &[u8] {
        &self.identity.subject
    }
}

/// Finds out who sends a request, and how long its answer may take.
pub(super) async fn ask(
    context: &UserContext,
    room: String,
    headers: &HeaderMap,
) -> Result<(User, Access), Refusal> {
    if !(1..=MAX_ROOM_NAME).contains(&room.len()) {
        return Err(Refusal::bad(format!("the name of a room has 1 to {MAX_ROOM_NAME} bytes")));
    }
    let name = client_name(headers)?;
    let token = token(headers)?;
    let drain = &context.transports.rooms.context().drain;
    if drain.is_due() {
        return Err(NotJoined::stopping(drain).into());
    }
    let asked = context.transports.gate.ask(&room, token, &Span::NONE);
    let admitted = tokio::select! {
        admitted = asked => admitted.map_err(Error::from),
        _ = drain.due() => return Err(NotJoined::stopping(drain).into()),
    };
    let Admitted { identity, access } =
        admitted.inspect_err(|error| context.transports.events.refusals.count(error))?;
    Ok((User { room, identity, name }, access))
}

/// Returns why an answer may not go on, once its user's token has expired or was revoked, or the
/// user was banned.
pub(super) async fn over(context: Arc<UserContext>, room: String, access: Access) -> Error {
    let (sender, mut changes) = mpsc::unbounded_channel();
    // No further token comes with a request.
    let (_tokens, more) = outbox(1);
    let transports = &context.transports;
    let tell = move |change| drop(sender.send(change));
    let (gate, traces) = (Arc::clone(&transports.gate), transports.traces.clone());
    let keeping = keep_access(gate, traces, (&room, tell), LinkId(0), access, more);
    let ended = async {
        while let Some(change) = changes.recv().await {
            if let AccessChange::Over(error) = change {
                return error;
            }
        }
        std::future::pending().await
    };
    tokio::select! {
        () = keeping => std::future::pending().await,
        error = ended => error,
    }
}

/// The room of a path.
pub(super) fn room<T>(target: Result<axum::extract::Path<T>, PathRejection>) -> Result<T, Refusal> {
    let path = target.map_err(|rejection| Refusal::bad(rejection.body_text()))?;
    Ok(path.0)
}

/// Checks the name of a channel.
pub(super) fn check_channel(name: &str) -> Result<(), Refusal> {
    match (1..=MAX_CHANNEL_NAME).contains(&name.len()) {
        true => Ok(()),
        false => {
            let why = format!("the name of a channel has 1 to {MAX_CHANNEL_NAME} bytes");
            Err(Refusal::bad(why))
        }
    }
}

fn token(headers: &HeaderMap) -> Result<&[u8], Refusal> {
    let mut all = headers.get_all(header::AUTHORIZATION).iter();
    let (Some(value), None) = (all.next(), all.next()) else {
        return match headers.contains_key(header::AUTHORIZATION) {
            true => Err(Refusal::scheme()),
            // A server without tokens lets everybody in.
            false => Ok(&[]),
        };
    };
    let (scheme, token) = value.as_bytes().split_at_checked(7).ok_or_else(Refusal::scheme)?;
    let token = token.trim_ascii();
    let is_fine = scheme.eq_ignore_ascii_case(b"bearer ") && token.len() <= MAX_TOKEN;
    if is_fine { Ok(token) } else { Err(Refusal::scheme()) }
}

fn client_name(headers: &HeaderMap) -> Result<String, Refusal> {
    let Some(value) = headers.get(CLIENT) else { return Ok(String::new()) };
    let name = value.to_str().ok().filter(|name| {
        (1..=MAX_VISITOR_NAME).contains(&name.len())
            && name.bytes().all(|one| one.is_ascii_graphic())
    });
    let why = || {
        let why =
            format!("Groupwire-Client: write 1 to {MAX_VISITOR_NAME} visible ASCII characters");
        Refusal::bad(why)
    };
    name.map(str::to_owned).ok_or_else(why)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(all: &[(HeaderName, &str)]) -> HeaderMap {
        let mut map = HeaderMap::new();
        all.iter().for_each(|(name, value)| _ = map.append(name, value.parse().unwrap()));
        map
    }

    #[test]
    fn a_token_is_that_of_the_one_header_with_the_scheme_bearer() {
        let of = |values: &[&str]| {
            let all: Vec<_> = values.iter().map(|one| (header::AUTHORIZATION, *one)).collect();
            token(&headers(&all)).map(<[u8]>::to_vec).map_err(|refusal| refusal.code)
        };
        assert_eq!(of(&[]), Ok(vec![]));
        assert_eq!(of(&["bearer  abc "]), Ok(b"abc".to_vec()));
        let long = format!("Bearer {}", "a".repeat(MAX_TOKEN + 1));
        for wrong in
            [&["Basic abc"][..], &["Bearer"], &["abc"], &[&long], &["Bearer a", "Bearer b"]]
        {
            assert_eq!(of(wrong), Err("token_refused"), "{wrong:?}");
        }
    }

    #[test]
    fn a_name_of_a_program_is_short_and_visible() {
        let of = |name: &str| client_name(&headers(&[(CLIENT, name)])).is_ok();
        assert!(of("build-bot/7") && of(&"a".repeat(64)));
        assert!(!of("") && !of("a b") && !of(&"a".repeat(65)));
    }
}
