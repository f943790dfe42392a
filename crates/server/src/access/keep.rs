//! A participant's access over the time of its connection: its token expires, is renewed or revoked (wire W98).

use std::future::pending;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use groupwire_session::{Error, Identity, LinkId};
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, sleep_until, timeout};

use super::bans::{Bans, Pass};
use super::{Admission, Authenticator, JoinRequest, Refusal};
use crate::room::Message;
use crate::traces::{Span, Traces};
use crate::transport::outbox::Outgoing;

/// How long an authenticator may take.
const DEADLINE: Duration = Duration::from_secs(5);

/// A client is asked for another token this long before its own expires, or after half of the time that is left, whichever is
/// later.
const ASK_BEFORE: Duration = Duration::from_secs(60);

/// A client whose other token could not be checked is asked again after this time: by then keys may be fetched again.
const ASK_AGAIN: Duration = Duration::from_secs(10);

/// A connection is closed this long after its token has expired: clocks differ a little.
const GRACE: Duration = Duration::from_secs(10);

/// Decides which clients may be in a room: asks the authenticator, and checks the bans.
pub(crate) struct Gate {
    authenticator: Arc<dyn Authenticator>,
    pub(crate) bans: Bans,
}

/// The identity of an admitted client, and how long it may stay.
pub(crate) struct Admitted {
    pub(crate) identity: Identity,
    pub(crate) access: Access,
}

/// How long a participant may be in its room.
pub(crate) struct Access {
    /// The pass that bans are checked against; `None` if no ban can name the participant.
    pass: Option<Box<Pass>>,
    /// Notified of each change of the bans, including those during the authenticator's decision.
    bans: watch::Receiver<()>,
    expires: Option<Expiry>,
}

/// When a token expires.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Expiry {
    /// When the client is asked for another token; `None` after it was asked.
    ask: Option<Instant>,
    /// When the connection is closed.
    close: Instant,
}

impl Gate {
    pub(crate) fn new(authenticator: Arc<dyn Authenticator>, bans: Bans) -> Self {
        Gate { authenticator, bans }
    }

    /// Asks whether a client may join.
    ///
    /// # Errors
    /// Why the client may not join.
    pub(crate) async fn ask(
        &self,
        room: &str,
        token: &[u8],
        span: &Span,
    ) -> Result<Admitted, Refusal> {
        let bans = self.bans.changes();
        let answer = self.authenticator.authenticate(JoinRequest { room, token, span });
        let late = Refusal::NotNow("who may join takes too long to find out");
        let admission = timeout(DEADLINE, answer).await.unwrap_or(Err(late))?;
        let pass = Pass::of(&admission).map(Box::new);
        self.bans.check(room, pass.as_deref())?;
        let Admission { identity, expires, .. } = admission;
        let expires = match expires {
            Some(at) => Some(Expiry::new(at).ok_or(Refusal::Expired)?),
            None => None,
        };
        Ok(Admitted { identity, access: Access { pass, bans, expires } })
    }
}

impl Expiry {
    /// `None` if the time `at` is over.
    fn new(at: SystemTime) -> Option<Self> {
        let left = at.duration_since(SystemTime::now()).ok()?;
        // A year is longer than any connection lasts, and short enough for `Instant` not to overflow.
        let left = left.min(Duration::from_secs(365 * 24 * 3600));
        let now = Instant::now();
        let ask = now + left - ASK_BEFORE.min(left / 2);
        Some(Expiry { ask: Some(ask), close: now + left + GRACE })
    }
}

/// Asks the client for another token in time, checks the tokens that it sends, and closes the connection when the token has expired
/// or a ban names the participant. Never returns. `room`: the name of the room, and the sender of messages to its task.
pub(crate) async fn keep_access(
    gate: Arc<Gate>,
    traces: Traces,
    room: (&str, &mpsc::UnboundedSender<Message>),
    link: LinkId,
    mut access: Access,
    mut tokens: Outgoing<Vec<u8>>,
) {
    let (name, room) = room;
    loop {
        let due = access.expires.map(|expires| expires.ask.unwrap_or(expires.close));
        let alarm = async {
            match due {
                Some(at) => sleep_until(at).await,
                None => pending().await,
            }
        };
        let banned = async {
            match &access.pass {
                // This cannot fail: the sender is in `gate`.
                Some(_) => drop(access.bans.changed().await),
                None => pending().await,
            }
        };
        let message = tokio::select! {
            () = banned => match gate.bans.check(name, access.pass.as_deref()) {
                Ok(()) => continue,
                Err(refusal) => {
                    tracing::info!(room = name, %link, ?refusal, "connection closed by a ban");
                    Message::Fail { link, error: refusal.into() }
                }
            },
            Some(token) = tokens.next() => {
                let span = traces.begin("renew");
                traces.name_room(&span, name);
                // Boxed, so that an idle connection does not hold memory for it.
                let answer = Box::pin(gate.ask(name, &token, &span)).await;
                if let Err(refusal) = &answer {
                    span.fail(Error::from(refusal.clone()).name());
                }
                drop(span);
                match answer {
                    Ok(renewed) => {
                        access = renewed.access;
                        Message::Renewed { link, identity: renewed.identity }
                    }
                    // The present token stays valid until it expires, and the client is asked again before that.
                    Err(Refusal::NotNow(why)) => {
                        tracing::warn!(room = name, %link, why, "token not renewed");
                        if let Some(expires) = &mut access.expires {
                            let again = Instant::now() + ASK_AGAIN;
                            expires.ask = (again < expires.close).then_some(again);
                        }
                        continue;
                    }
                    Err(refusal) => {
                        tracing::info!(room = name, %link, ?refusal, "token refused");
                        Message::Fail { link, error: refusal.into() }
                    }
                }
            }
            () = alarm => match &mut access.expires {
                Some(Expiry { ask: ask @ Some(_), .. }) => {
                    *ask = None;
                    Message::TokenWanted { link }
                }
                _ => {
                    access.expires = None;
                    tracing::info!(room = name, %link, "connection closed: its token has expired");
                    Message::Fail { link, error: Error::Expired }
                }
            }
        };
        let _ = room.send(message);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use tokio::time::{advance, pause};

    use super::super::Answer;
    use super::*;
    use crate::transport::outbox::{Outbox, outbox};

    /// Renews tokens. A token is a number of seconds, for which it is valid.
    struct Seconds(AtomicUsize);

    impl Authenticator for Seconds {
        fn authenticate<'a>(&'a self, request: JoinRequest<'a>) -> Answer<'a> {
            Box::pin(async move {
                self.0.fetch_add(1, Ordering::Relaxed);
                let seconds = std::str::from_utf8(request.token).unwrap_or_default().parse();
                let Ok(seconds) = seconds else { return Err(Refusal::Refused("no".into())) };
                if seconds == 0 {
                    return Err(Refusal::NotNow("no answer"));
                }
                let expires = Some(SystemTime::now() + Duration::from_secs(seconds));
                Ok(Admission { expires, ..Admission::default() })
            })
        }
    }

    struct Kept {
        tokens: Outbox<Vec<u8>>,
        room: mpsc::UnboundedReceiver<Message>,
    }

    impl Kept {
        /// A participant whose token lasts this many seconds. Tokio's clock is paused.
        async fn new(seconds: &str) -> Self {
            pause();
            let bans = Bans::open(None).unwrap();
            let gate = Arc::new(Gate::new(Arc::new(Seconds(AtomicUsize::new(0))), bans));
            let access = gate.ask("demo", seconds.as_bytes(), &Span::NONE).await.unwrap().access;
            let (tokens, more) = outbox(1);
            let (sender, room) = mpsc::unbounded_channel();
            tokio::spawn(async move {
                let traces = Traces::default();
                keep_access(gate, traces, ("demo", &sender), LinkId(1), access, more).await;
            });
            tokio::task::yield_now().await;
            Kept { tokens, room }
        }

        async fn after(&mut self, seconds: u64) -> Vec<&'static str> {
            advance(Duration::from_secs(seconds)).await;
            for _ in 0..10 {
                tokio::task::yield_now().await;
            }
            let mut said = Vec::new();
            while let Ok(message) = self.room.try_recv() {
                said.push(match message {
                    Message::TokenWanted { .. } => "wanted",
                    Message::Renewed { .. } => "renewed",
                    Message::Fail { error: Error::Expired, .. } => "expired",
                    Message::Fail { .. } => "refused",
                    _ => "something else",
                });
            }
            said
        }
    }

    #[tokio::test]
    async fn w98_a_token_is_asked_for_before_and_the_connection_closed_after_it_expires() {
        let mut kept = Kept::new("300").await;
        assert!(kept.after(238).await.is_empty());
        assert_eq!(kept.after(3).await, ["wanted"]);
        assert!(kept.after(60).await.is_empty(), "clocks differ a little");
        assert_eq!(kept.after(15).await, ["expired"]);
        assert!(kept.after(1000).await.is_empty());
    }

    #[tokio::test]
    async fn w98_a_renewed_token_holds_and_one_that_lasts_shortly_is_asked_for_at_half_of_it() {
        let mut kept = Kept::new("20").await;
        assert_eq!(kept.after(11).await, ["wanted"]);
        assert!(kept.tokens.put(b"600".to_vec()));
        assert_eq!(kept.after(1).await, ["renewed"]);
        assert!(kept.after(500).await.is_empty());
        assert_eq!(kept.after(60).await, ["wanted"]);
        assert!(kept.tokens.put(b"0".to_vec()));
        assert!(kept.after(1).await.is_empty(), "the token before holds");
        assert_eq!(kept.after(11).await, ["wanted"], "it is asked for again");
        assert!(kept.tokens.put(b"forged".to_vec()));
        assert_eq!(kept.after(1).await, ["refused"]);
    }
}
