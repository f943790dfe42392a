//! Requests to JetStream, and their answers.
//!
//! `async-nats` has an interface to JetStream, but not the requests for several messages. What is
//! sent here is described in the ADRs 31 (direct get) and 8, and in the reference of the API.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_nats::connection::State;
use async_nats::{Client, HeaderMap, Message, Request, RequestError, RequestErrorKind, Subscriber};
use bytes::Bytes;
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use serde_json::Value;
use tokio::time::{Instant, sleep, timeout, timeout_at};

use crate::Unavailable;

/// The last error of the connection.
pub(super) type Trouble = Arc<Mutex<String>>;

/// Codes of errors that end by themselves: the group of servers has no leader at the moment, or,
/// shortly after its start, the leader does not know of enough servers for the replicas yet.
const PASSING: [u64; 3] = [10_005, 10_008, 10_009];
/// The time that one attempt may take: a server answers within milliseconds, also under load.
const ATTEMPT: Duration = Duration::from_secs(2);
/// The time after which another replica is asked, too. A replica that hangs is chosen for a third
/// of the requests until its neighbours notice after minutes: with ten attempts in five seconds,
/// one read in 60,000 meets nobody else.
const HEDGE: Duration = Duration::from_millis(500);
/// The pause before a request is sent again.
pub(super) const PAUSE: Duration = Duration::from_millis(100);

pub(super) struct JetStream {
    client: Client,
    pub(super) patience: Duration,
    trouble: Trouble,
    /// The servers of the URL, for errors.
    pub(super) address: String,
}

/// Why a request has no result.
#[derive(Debug)]
pub(super) enum Fault {
    /// JetStream refused it, with one of its codes.
    Refused(u64, String),
    /// No server received the request.
    Nobody,
    /// There is no answer, so that it may have been carried out.
    Silent(String),
}

/// A stored message.
pub(super) struct Stored {
    pub(super) subject: String,
    pub(super) sequence: u64,
    /// In an answer with several messages, the sequence of the message before.
    pub(super) before: u64,
    pub(super) headers: HeaderMap,
    pub(super) bytes: Bytes,
}

impl JetStream {
    pub(super) fn new(
        client: Client,
        patience: Duration,
        trouble: Trouble,
        address: String,
    ) -> Self {
        Self { client, patience, trouble, address }
    }

    pub(super) fn server(&self) -> async_nats::ServerInfo {
        self.client.server_info()
    }

    /// Sends a request to the leader, again while there is none, it does not answer, or its answer
    /// is about to change: each may be carried out twice.
    pub(super) async fn api(&self, request: &str, body: &Value) -> Result<Value, Fault> {
        let deadline = Instant::now() + self.patience;
        loop {
            let subject = format!("$JS.API.{request}");
            let until = deadline.min(Instant::now() + ATTEMPT);
            let answer = self.request(subject, None, body.to_string().into(), until).await;
            let fault = match answer.and_then(|message| parse(&message)) {
                Ok(answer) => return Ok(answer),
                Err(Fault::Refused(code, why)) if !PASSING.contains(&code) => {
                    return Err(Fault::Refused(code, why));
                }
                Err(fault) => fault,
            };
            if Instant::now() + PAUSE > deadline {
                return Err(fault);
            }
            sleep(PAUSE).await;
        }
    }

    /// Stores a message; returns its sequence.
    pub(super) async fn publish(
        &self,
        subject: String,
        headers: Option<HeaderMap>,
        bytes: Bytes,
    ) -> Result<u64, Fault> {
        let deadline = Instant::now() + self.patience;
        let answer = parse(&self.request(subject, headers, bytes, deadline).await?)?;
        answer["seq"].as_u64().ok_or_else(|| Fault::Silent(format!("not understood: {answer}")))
    }

    /// Messages of a stream, from any replica that has it: others are asked, too, while one does
    /// not answer, and the first one that does is heard. With `batch` in the request the answer
    /// ends with an empty message; otherwise it is one message.
    pub(super) async fn direct(
        &self,
        stream: &str,
        request: &Value,
    ) -> Result<Vec<Stored>, Unavailable> {
        let deadline = Instant::now() + self.patience;
        let mut asked = FuturesUnordered::new();
        loop {
            self.connected(deadline).await?;
            asked.push(self.ask(stream, request).await?.into_future());
            let until = deadline.min(Instant::now() + HEDGE);
            match timeout_at(until, asked.next()).await {
                Ok(Some((first, answers))) => return self.collect(first, answers, request).await,
                _ if Instant::now() >= deadline => return Err(self.silent()),
                _ => {}
            }
        }
    }

    /// Asks a replica that NATS chooses.
    async fn ask(&self, stream: &str, request: &Value) -> Result<Subscriber, Unavailable> {
        let inbox = self.client.new_inbox();
        let answers = self.listen(inbox.clone()).await?;
        let subject = format!("$JS.API.DIRECT.GET.{stream}");
        self.client
            .publish_with_reply(subject, inbox, request.to_string().into())
            .await
            .map_err(|error| Unavailable(error.to_string()))?;
        Ok(answers)
    }

    /// The messages of an answer that has begun.
    async fn collect(
        &self,
        mut next: Option<Message>,
        mut answers: Subscriber,
        request: &Value,
    ) -> Result<Vec<Stored>, Unavailable> {
        let mut messages = Vec::new();
        loop {
            let message = next.ok_or_else(|| Unavailable("the connection is closed".into()))?;
            match message.status.map(|status| status.as_u16()) {
                None => messages.extend(stored(message)),
                // 204 ends an answer, and 404 says that there is nothing.
                Some(204 | 404) => return Ok(messages),
                Some(503) => return Err(Fault::Nobody.into()),
                Some(code) => {
                    let why = message.description.unwrap_or_default();
                    return Err(Unavailable(format!("JetStream answers {code} {why}")));
                }
            }
            if request.get("batch").is_none() {
                return Ok(messages);
            }
            next = timeout(self.patience, answers.next()).await.map_err(|_| self.silent())?;
        }
    }

    /// Sends a message that is not stored.
    pub(super) async fn hint(&self, subject: String, text: String) -> Result<(), Unavailable> {
        self.client
            .publish(subject, text.into())
            .await
            .map_err(|error| Unavailable(error.to_string()))
    }

    /// Receives messages while they are sent.
    pub(super) async fn listen(&self, subject: String) -> Result<Subscriber, Unavailable> {
        self.client.subscribe(subject).await.map_err(|error| Unavailable(error.to_string()))
    }

    async fn request(
        &self,
        subject: String,
        headers: Option<HeaderMap>,
        bytes: Bytes,
        deadline: Instant,
    ) -> Result<Message, Fault> {
        self.connected(deadline).await.map_err(|error| Fault::Silent(error.0))?;
        let rest = deadline.saturating_duration_since(Instant::now());
        let mut request = Request::new().payload(bytes).timeout(Some(rest));
        if let Some(headers) = headers {
            request = request.headers(headers);
        }
        self.client.send_request(subject, request).await.map_err(|error| self.fault(&error))
    }

    /// Waits for a connection: the client would keep messages in memory and send them late.
    async fn connected(&self, deadline: Instant) -> Result<(), Unavailable> {
        while self.client.connection_state() != State::Connected {
            if Instant::now() + PAUSE > deadline {
                return Err(self.silent());
            }
            sleep(PAUSE).await;
        }
        Ok(())
    }

    fn fault(&self, error: &RequestError) -> Fault {
        match error.kind() {
            RequestErrorKind::NoResponders => Fault::Nobody,
            RequestErrorKind::TimedOut => Fault::Silent(self.silent().0),
            _ => Fault::Silent(error.to_string()),
        }
    }

    fn silent(&self) -> Unavailable {
        let trouble = self.trouble.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let text = format!("no answer from NATS within {} s", self.patience.as_secs_f32());
        Unavailable(if trouble.is_empty() { text } else { format!("{text}: {trouble}") })
    }
}

impl From<Fault> for Unavailable {
    fn from(fault: Fault) -> Self {
        Self(match fault {
            Fault::Refused(code, why) => format!("JetStream refuses: {why} ({code})"),
            Fault::Nobody => "no server of NATS leads the stream".into(),
            Fault::Silent(why) => why,
        })
    }
}

fn parse(message: &Message) -> Result<Value, Fault> {
    let answer: Value = serde_json::from_slice(&message.payload)
        .map_err(|error| Fault::Silent(format!("the answer is no JSON: {error}")))?;
    let error = &answer["error"];
    if error.is_null() {
        return Ok(answer);
    }
    let why = error["description"].as_str().unwrap_or_default().to_owned();
    Err(Fault::Refused(error["err_code"].as_u64().unwrap_or(0), why))
}

fn stored(message: Message) -> Option<Stored> {
    let headers = message.headers?;
    let text = |name: &str| headers.get(name).map(|value| value.as_str());
    Some(Stored {
        subject: text("Nats-Subject")?.to_owned(),
        sequence: text("Nats-Sequence")?.parse().ok()?,
        before: text("Nats-Last-Sequence").and_then(|value| value.parse().ok()).unwrap_or(0),
        bytes: message.payload,
        headers,
    })
}
