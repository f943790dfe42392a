//! A participant's access over the time of its connection: its token expires, is renewed or revoked
//! (wire W98).

use std::future::pending;
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use groupwire_session::{Error, Identity, LinkId};
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until, timeout};

use super::bans::{Bans, Pass};
use super::{Admission, Authenticator, JoinRequest, Refusal};
use crate::tools::outbox::Outgoing;
use crate::traces::{Span, Traces};

/// How long an authenticator may take.
const DEADLINE: Duration = Duration::from_secs(5);

/// A client is asked for another token this long before its own expires, or after half of the time
/// that is left, whichever is later.
const ASK_BEFORE: Duration = Duration::from_secs(60);

/// A client whose other token could not be checked is asked again after this time: by then keys may
/// be fetched again.
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
        // A year is longer than any connection lasts, and short enough for `Instant` not to
        // overflow.
        let left = left.min(Duration::from_secs(365 * 24 * 3600));
        let now = Instant::now();
        let ask = now + left - ASK_BEFORE.min(left / 2);
        Some(Expiry { ask: Some(ask), close: now + left + GRACE })
    }
}

/// A change of a participant's access.
#[derive(Debug)]
pub(crate) enum AccessChange {
    /// The client has to be asked for another token, because the present one expires soon.
    TokenWanted,
    /// The client has renewed its token.
    Renewed(Identity),
    /// The participant may not stay. No other change follows.
    Over(Error),
}

/// Asks the client for another token in time, checks the tokens that it sends, and closes the
/// connection when the token has expired or a ban names the participant. Never returns. `room`: the
/// name of the room, and the function that takes the changes.
pub(crate) async fn keep_access(
    gate: Arc<Gate>,
    traces: Traces,
    room: (&str, impl Fn(AccessChange)),
    link: LinkId,
    mut access: Access,
    mut tokens: Outgoing<Vec<u8>>,
) {
    let (name, tell) = room;
    // The check of the client's newest token. Bans and the present token's expiry do not wait for
    // it, because an authenticator may take seconds.
    let mut renewal: Option<Renewal<'_>> = None;
    let error = loop {
        tokio::select! {
            due = access.due(&gate, name, renewal.is_none()) => match due {
                Due::Token => tell(AccessChange::TokenWanted),
                Due::End(error) => break error,
            },
            Some(token) = tokens.next(), if renewal.is_none() => {
                // Boxed, so that an idle connection does not hold memory for it.
                renewal = Some(Box::pin(renew(&gate, &traces, name, token)));
            }
            answer = answer(&mut renewal) => match answer {
                Ok(Admitted { identity, access: renewed }) => {
                    access = renewed;
                    tell(AccessChange::Renewed(identity));
                }
                // The present token stays valid until it expires, and the client is asked again
                // before that.
                Err(Refusal::NotNow(why)) => {
                    tracing::warn!(room = name, %link, why, "token not renewed");
                    access.ask_again();
                }
                Err(refusal) => break refusal.into(),
            },
        }
    };
    tracing::info!(room = name, %link, %error, "participant may not stay");
    tell(AccessChange::Over(error));
    pending().await
}

/// The check of a token that a connected client sent.
type Renewal<'a> = Pin<Box<dyn Future<Output = Result<Admitted, Refusal>> + Send + 'a>>;

async fn renew(
    gate: &Gate,
    traces: &Traces,
    room: &str,
    token: Vec<u8>,
) -> Result<Admitted, Refusal> {
    let span = traces.begin("renew");
    traces.name_room(&span, room);
    let answer = gate.ask(room, &token, &span).await;
    answer.inspect_err(|refusal| span.fail(Error::from(refusal.clone()).name()))
}

/// The answer to a token that is being checked. Waits for ever if there is none.
async fn answer(renewal: &mut Option<Renewal<'_>>) -> Result<Admitted, Refusal> {
    let Some(checked) = renewal else { return pending().await };
    let answer = checked.await;
    *renewal = None;
    answer
}

/// What is due for a connection.
enum Due {
    /// To ask the client for another token.
    Token,
    /// To end the connection.
    End(Error),
}

impl Access {
    /// Returns once the participant may not stay any more, or, if `asks`, has to be asked for
    /// another token. The future may be dropped without losing anything.
    async fn due(&mut self, gate: &Gate, room: &str, asks: bool) -> Due {
        let Access { pass, bans, expires } = self;
        let (asked, closed) = (expires.and_then(|it| it.ask), expires.map(|it| it.close));
        tokio::select! {
            refusal = banned(gate, room, pass.as_deref(), bans) => Due::End(refusal.into()),
            () = until(closed) => Due::End(Error::Expired),
            () = until(asked), if asks => {
                if let Some(expires) = expires {
                    expires.ask = None;
                }
                Due::Token
            }
        }
    }

    /// Lets the client be asked for another token later, because the last one could not be checked.
    fn ask_again(&mut self) {
        if let Some(expires) = &mut self.expires {
            let again = Instant::now() + ASK_AGAIN;
            expires.ask = (again < expires.close).then_some(again);
        }
    }
}

/// Returns once a ban names the participant. `changes` is notified of each change of the bans.
async fn banned(
    gate: &Gate,
    room: &str,
    pass: Option<&Pass>,
    changes: &mut watch::Receiver<()>,
) -> Refusal {
    loop {
        // The sender of changes is in `gate`, so that waiting for them does not fail.
        if pass.is_none() || changes.changed().await.is_err() {
            pending::<()>().await;
        }
        if let Err(refusal) = gate.bans.check(room, pass) {
            return refusal;
        }
    }
}

/// Returns at this time; never for `None`.
async fn until(at: Option<Instant>) {
    match at {
        Some(at) => sleep_until(at).await,
        None => pending().await,
    }
}

#[cfg(test)]
mod tests {
    use groupwire_session::Identity;
    use tokio::sync::mpsc;
    use tokio::time::advance;

    use super::super::{Answer, NewBan};
    use super::*;
    use crate::tools::outbox::{Outbox, outbox};

    /// Renews tokens of the user ann. A token is a number of seconds, for which it is valid. For
    /// any token that begins with `slow` there is no answer, as from a hook that hangs.
    struct Seconds;

    impl Authenticator for Seconds {
        fn authenticate<'a>(&'a self, request: JoinRequest<'a>) -> Answer<'a> {
            Box::pin(async move {
                if request.token.starts_with(b"slow") {
                    return pending().await;
                }
                let seconds = std::str::from_utf8(request.token).unwrap_or_default().parse();
                let Ok(seconds) = seconds else { return Err(Refusal::Refused("no".into())) };
                if seconds == 0 {
                    return Err(Refusal::NotNow("no answer"));
                }
                let expires = Some(SystemTime::now() + Duration::from_secs(seconds));
                let identity = Identity { subject: b"ann".to_vec(), rights: Vec::new() };
                let token_id = Some("first".to_owned());
                Ok(Admission { identity, token_id, expires, ..Admission::default() })
            })
        }
    }

    struct Kept {
        gate: Arc<Gate>,
        tokens: Outbox<Vec<u8>>,
        changes: mpsc::UnboundedReceiver<AccessChange>,
    }

    impl Kept {
        /// A participant whose token lasts this many seconds. Tokio's clock is paused.
        async fn new(seconds: &str) -> Self {
            let bans = Bans::open(None).unwrap();
            let gate = Arc::new(Gate::new(Arc::new(Seconds), bans));
            let access = gate.ask("demo", seconds.as_bytes(), &Span::NONE).await.unwrap().access;
            let (tokens, more) = outbox(1);
            let (sender, changes) = mpsc::unbounded_channel();
            let tell = move |change| drop(sender.send(change));
            let asked = Arc::clone(&gate);
            tokio::spawn(async move {
                let traces = Traces::default();
                keep_access(asked, traces, ("demo", tell), LinkId(1), access, more).await;
            });
            tokio::task::yield_now().await;
            Kept { gate, tokens, changes }
        }

        async fn after(&mut self, seconds: u64) -> Vec<&'static str> {
            advance(Duration::from_secs(seconds)).await;
            for _ in 0..10 {
                tokio::task::yield_now().await;
            }
            let mut said = Vec::new();
            while let Ok(change) = self.changes.try_recv() {
                said.push(match change {
                    AccessChange::TokenWanted => "wanted",
                    AccessChange::Renewed(_) => "renewed",
                    AccessChange::Over(Error::Expired) => "expired",
                    AccessChange::Over(Error::Banned { .. }) => "banned",
                    AccessChange::Over(Error::Revoked) => "revoked",
                    AccessChange::Over(_) => "refused",
                });
            }
            said
        }
    }

    #[tokio::test(start_paused = true)]
    async fn w98_a_token_is_asked_for_before_and_the_connection_closed_after_it_expires() {
        let mut kept = Kept::new("300").await;
        assert!(kept.after(238).await.is_empty());
        assert_eq!(kept.after(3).await, ["wanted"]);
        assert!(kept.after(60).await.is_empty(), "clocks differ a little");
        assert_eq!(kept.after(15).await, ["expired"]);
        assert!(kept.after(1000).await.is_empty());
    }

    #[tokio::test(start_paused = true)]
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

    #[tokio::test(start_paused = true)]
    async fn w98_a_ban_a_revocation_and_an_expiry_do_not_wait_for_a_slow_check_of_another_token() {
        let everywhere = NewBan { room: "*".to_owned(), ..NewBan::default() };
        let of_user = NewBan { user: Some("ann".to_owned()), ..everywhere.clone() };
        let of_token = NewBan { token: Some("first".to_owned()), ..everywhere };
        for (ban, said) in [(of_user, "banned"), (of_token, "revoked")] {
            let mut kept = Kept::new("300").await;
            assert!(kept.tokens.put(b"slow".to_vec()));
            assert!(kept.after(0).await.is_empty(), "the token is being checked");
            kept.gate.bans.add(ban).unwrap();
            assert_eq!(kept.after(0).await, [said]);
            assert!(kept.after(1000).await.is_empty(), "nothing follows");
        }
        let mut kept = Kept::new("20").await;
        assert_eq!(kept.after(12).await, ["wanted"]);
        // The token holds until it has expired and the grace is over: for 30 s.
        assert!(kept.after(16).await.is_empty());
        assert!(kept.tokens.put(b"slow".to_vec()));
        assert_eq!(kept.after(3).await, ["expired"]);
        assert!(kept.after(1000).await.is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn w98_tokens_that_cannot_be_checked_in_time_are_checked_one_after_the_other() {
        let mut kept = Kept::new("600").await;
        assert!(kept.tokens.put(b"slow".to_vec()));
        assert!(kept.after(0).await.is_empty());
        assert!(kept.tokens.put(b"700".to_vec()));
        assert!(!kept.tokens.put(b"800".to_vec()), "one token waits");
        assert!(kept.after(4).await.is_empty());
        assert_eq!(kept.after(2).await, ["renewed"]);
    }
}
