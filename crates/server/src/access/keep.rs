//! A participant's access over the time of its connection: its token expires, and is renewed (wire W98).

use std::future::pending;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use groupwire_session::{Error, Identity, LinkId};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until, timeout};

use super::{Admission, Authenticator, JoinRequest, Refusal};
use crate::room::Message;

/// How long an authenticator may take.
const DEADLINE: Duration = Duration::from_secs(5);

/// A client is asked for another token this long before its own expires, or after half of the time that is left, whichever is
/// later.
const ASK_BEFORE: Duration = Duration::from_secs(60);

/// A connection is closed this long after its token has expired: clocks differ a little.
const GRACE: Duration = Duration::from_secs(10);

/// What is known of a client that was let in.
pub(crate) struct Admitted {
    pub(crate) identity: Identity,
    pub(crate) expires: Option<Expiry>,
}

/// When a token expires.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Expiry {
    /// When the client is asked for another one; `None` once it was.
    ask: Option<Instant>,
    /// When the connection is closed.
    close: Instant,
}

impl Admitted {
    /// Asks the authenticator about a client.
    ///
    /// # Errors
    /// Why the client may not join.
    pub(crate) async fn ask(
        authenticator: &dyn Authenticator,
        room: &str,
        token: &[u8],
    ) -> Result<Self, Refusal> {
        let answer = authenticator.authenticate(JoinRequest { room, token });
        let late = Refusal::NotNow("who may join takes too long to find out");
        let Admission { identity, expires } =
            timeout(DEADLINE, answer).await.unwrap_or(Err(late))?;
        let expires = match expires {
            Some(at) => Some(Expiry::new(at).ok_or(Refusal::Expired)?),
            None => None,
        };
        Ok(Admitted { identity, expires })
    }
}

impl Expiry {
    /// `None` if it is over.
    fn new(at: SystemTime) -> Option<Self> {
        let left = at.duration_since(SystemTime::now()).ok()?;
        // Further ahead than any connection lasts, and not beyond what the clock can count.
        let left = left.min(Duration::from_secs(365 * 24 * 3600));
        let now = Instant::now();
        let ask = now + left - ASK_BEFORE.min(left / 2);
        Some(Expiry { ask: Some(ask), close: now + left + GRACE })
    }
}

/// Asks for another token in time, lets further tokens be checked, and closes the connection whose token has expired. Never ends.
/// `room`: the name of the room, and where its messages go.
pub(crate) async fn keep_access(
    authenticator: Arc<dyn Authenticator>,
    room: (&str, &mpsc::UnboundedSender<Message>),
    link: LinkId,
    mut expires: Option<Expiry>,
    mut tokens: mpsc::Receiver<Vec<u8>>,
) {
    let (name, room) = room;
    loop {
        let due = expires.map(|expires| expires.ask.unwrap_or(expires.close));
        let alarm = async {
            match due {
                Some(at) => sleep_until(at).await,
                None => pending().await,
            }
        };
        let message = tokio::select! {
            Some(token) = tokens.recv() => {
                match Admitted::ask(&*authenticator, name, &token).await {
                    Ok(renewed) => {
                        expires = renewed.expires;
                        Message::Renewed { link, identity: renewed.identity }
                    }
                    // The present token holds until it expires.
                    Err(Refusal::NotNow(why)) => {
                        tracing::warn!(room = name, %link, why, "token not renewed");
                        continue;
                    }
                    Err(refusal) => {
                        tracing::info!(room = name, %link, ?refusal, "token refused");
                        Message::Fail { link, error: refusal.into() }
                    }
                }
            }
            () = alarm => match &mut expires {
                Some(Expiry { ask: ask @ Some(_), .. }) => {
                    *ask = None;
                    Message::TokenWanted { link }
                }
                _ => {
                    expires = None;
                    tracing::info!(room = name, %link, "connection closed: its token has expired");
                    Message::Fail { link, error: Error::Expired }
                }
            }
        };
        let _ = room.send(message);
    }
}
