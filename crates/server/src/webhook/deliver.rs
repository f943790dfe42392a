//! The task that takes events out of the queue and sends them, one request at a time, so that their
//! order is kept.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use axum::body::Bytes;
use http_body_util::Full;
use hyper::header::{CONTENT_TYPE, HeaderMap, HeaderValue, USER_AGENT};
use hyper::{Method, Request, StatusCode};
use tokio::time::sleep;

use super::batch::{Batch, MOST_EVENTS};
use super::config::{WebhookConfig, WebhookPauses};
use super::pause::pause;
use super::queue::Queue;
use crate::tools::secret::random_number;
use crate::tools::wall::wall;

/// The largest answer that is read, in bytes. Its content is ignored.
const LARGEST_ANSWER: usize = 64 << 10;

/// A queue that cannot be read or changed is tried again after this time.
const QUEUE_RETRY: Duration = Duration::from_secs(1);

/// Delivers what is in the queue, without end.
pub(crate) async fn deliver(queue: Arc<Queue>) {
    let config = queue.config.clone();
    let (pauses, address) = (config.pauses, config.address.to_string());
    tracing::info!(address, "events are sent to the webhook");
    deliver_by(&queue, pauses, |batch| send(config.clone(), batch)).await;
}

/// Delivers by `send`, which returns the status of the answer, or why there is none.
async fn deliver_by<F: Future<Output = Result<StatusCode, String>> + Send>(
    queue: &Arc<Queue>,
    pauses: WebhookPauses,
    send: impl Fn(Batch) -> F,
) {
    let counts = &queue.counts;
    // A request is repeated with the same last event, so that it keeps its id.
    let (mut last, mut most, mut failures) = (u64::MAX, MOST_EVENTS, 0);
    loop {
        let batch = match queue.next(last, most).await {
            Ok(Some(batch)) => batch,
            // The events of the request that failed were dropped meanwhile.
            Ok(None) if last < u64::MAX => {
                last = u64::MAX;
                continue;
            }
            Ok(None) => {
                queue.changed().await;
                continue;
            }
            Err(error) => {
                tracing::warn!(error, "the queue of the webhook cannot be read");
                sleep(QUEUE_RETRY).await;
                continue;
            }
        };
        let (end, count, id) = (batch.last, batch.count, batch.id.clone());
        counts.requests.fetch_add(1, Ordering::Relaxed);
        counts.retried.fetch_add(u64::from(failures > 0), Ordering::Relaxed);
        let why = match send(batch).await {
            Ok(status) if status.is_success() => {
                if failures > 0 {
                    tracing::info!(failures, "the webhook takes events again");
                }
                counts.delivered.fetch_add(count as u64, Ordering::Relaxed);
                take_out(queue, end).await;
                (last, most, failures) = (u64::MAX, MOST_EVENTS, 0);
                continue;
            }
            Ok(StatusCode::PAYLOAD_TOO_LARGE) if count > 1 => {
                counts.failed.fetch_add(1, Ordering::Relaxed);
                (last, most) = (u64::MAX, count / 2);
                continue;
            }
            Ok(StatusCode::PAYLOAD_TOO_LARGE) => {
                tracing::warn!(id, "an event is too large for the webhook and is told as a gap");
                counts.failed.fetch_add(1, Ordering::Relaxed);
                queue.skip_one();
                take_out(queue, end).await;
                (last, failures) = (u64::MAX, 0);
                continue;
            }
            // The receiver does not want any more events. It is tried rarely, until the operator
            // changes the configuration.
            Ok(StatusCode::GONE) => {
                failures = u32::MAX - 1;
                "the answer is 410 Gone: remove --webhook, or mend the address".to_owned()
            }
            Ok(status) => format!("the answer is {status}"),
            Err(why) => why,
        };
        counts.failed.fetch_add(1, Ordering::Relaxed);
        failures = failures.saturating_add(1);
        last = end;
        let pause = pause(pauses, failures, random_number() as f64 / u64::MAX as f64);
        // The first failure in a row is logged as a warning, and so is each failure from 410 Gone
        // on.
        match failures {
            1 | u32::MAX => {
                tracing::warn!(
                    id,
                    why,
                    "the webhook does not take events; they wait, and requests are repeated"
                );
            }
            _ => tracing::debug!(id, why, failures, "the webhook does not take events"),
        }
        sleep(pause).await;
    }
}

/// Moves the cursor past delivered events. After a crash before that, events are delivered twice;
/// the receiver knows them by their ids.
async fn take_out(queue: &Queue, number: u64) {
    while let Err(error) = queue.told(number).await {
        tracing::warn!(error, "the queue of the webhook cannot be changed");
        sleep(QUEUE_RETRY).await;
    }
}

async fn send(config: WebhookConfig, batch: Batch) -> Result<StatusCode, String> {
    let mut post = Request::new(Full::from(Bytes::from(batch.body.clone())));
    *post.method_mut() = Method::POST;
    *post.uri_mut() = config.address.clone();
    sign(&config, &batch, post.headers_mut())?;
    config.fetcher.send(post, LARGEST_ANSWER).await.map(|(status, _)| status)
}

/// Sets the headers of Standard Webhooks. Each attempt has a timestamp of its own, as receivers
/// refuse old ones.
fn sign(config: &WebhookConfig, batch: &Batch, headers: &mut HeaderMap) -> Result<(), String> {
    let timestamp = wall().as_secs();
    let signature = config.secrets.sign(&batch.id, timestamp, &batch.body);
    let value = |text: &str| HeaderValue::try_from(text).map_err(|error| error.to_string());
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(USER_AGENT, HeaderValue::from_static("groupwire"));
    headers.insert("webhook-id", value(&batch.id)?);
    headers.insert("webhook-timestamp", timestamp.into());
    headers.insert("webhook-signature", value(&signature)?);
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use serde_json::Value;
    use tokio::task::JoinHandle;
    use tokio::time::{Instant, timeout};

    use super::super::event::Event;
    use super::*;

    /// A receiver that takes its answers from a list, and answers 2xx when the list is empty.
    #[derive(Default)]
    struct Receiver {
        answers: Mutex<Vec<Result<u16, &'static str>>>,
        /// When each request came, its id, and the types of its events, or for a gap its count.
        told: Mutex<Vec<(Instant, String, Vec<String>)>>,
    }

    impl Receiver {
        async fn answer(self: Arc<Self>, batch: Batch) -> Result<StatusCode, String> {
            let body: Value = serde_json::from_slice(&batch.body).unwrap();
            let name = |event: &Value| match event["data"]["count"].as_u64() {
                Some(count) => format!("gap of {count}"),
                None => event["data"]["room"].as_str().unwrap().to_owned(),
            };
            let names = body["data"]["events"].as_array().unwrap().iter().map(name).collect();
            self.told.lock().unwrap().push((Instant::now(), batch.id, names));
            let mut answers = self.answers.lock().unwrap();
            let answer = if answers.is_empty() { Ok(200) } else { answers.remove(0) };
            answer.map(|status| StatusCode::from_u16(status).unwrap()).map_err(str::to_owned)
        }

        fn names(&self) -> Vec<Vec<String>> {
            self.told.lock().unwrap().iter().map(|(_, _, names)| names.clone()).collect()
        }

        async fn told(&self, count: usize) {
            let told = async {
                while self.told.lock().unwrap().len() < count {
                    sleep(Duration::from_millis(100)).await;
                }
            };
            timeout(Duration::from_secs(36_000), told)
                .await
                .expect("the receiver gets all requests");
        }
    }

    fn start(answers: &[Result<u16, &'static str>]) -> (Arc<Queue>, Arc<Receiver>, JoinHandle<()>) {
        let queue = Arc::new(Queue::new(WebhookConfig::example(), None));
        let receiver = Arc::<Receiver>::default();
        *receiver.answers.lock().unwrap() = answers.to_vec();
        let (its, to) = (Arc::clone(&queue), Arc::clone(&receiver));
        let task = tokio::spawn(async move {
            deliver_by(&its, WebhookPauses::default(), |batch| Arc::clone(&to).answer(batch)).await;
        });
        (queue, receiver, task)
    }

    fn put(queue: &Arc<Queue>, rooms: &[&str]) {
        rooms.iter().for_each(|room| queue.put(room, vec![Event::opened(room)]));
    }

    #[tokio::test(start_paused = true)]
    async fn a_request_that_fails_is_repeated_with_its_id_after_growing_pauses() {
        let (queue, receiver, _task) = start(&[Err("down"), Ok(500), Ok(404), Ok(302), Ok(429)]);
        put(&queue, &["a", "b"]);
        receiver.told(2).await;
        put(&queue, &["c"]);
        receiver.told(7).await;
        let told = receiver.told.lock().unwrap().clone();
        let (first, rest) = told.split_at(6);
        for (_, id, names) in first {
            assert_eq!((id, names), (&told[0].1, &vec!["a".to_owned(), "b".to_owned()]));
        }
        assert_eq!(rest[0].2, ["c"], "what came later waits, in its order");
        assert_ne!(rest[0].1, told[0].1);
        let pauses: Vec<f64> =
            first.windows(2).map(|two| (two[1].0 - two[0].0).as_secs_f64()).collect();
        for (pause, longest) in pauses.iter().zip([1.0, 2.0, 4.0, 8.0, 16.0]) {
            assert!((longest * 0.66..longest + 0.01).contains(pause), "{pauses:?}");
        }
        let figures = queue.figures();
        assert_eq!((figures.delivered, figures.requests), (3, 7));
        assert_eq!((figures.failed, figures.retried, figures.waiting), (5, 5, 0));
    }

    #[tokio::test(start_paused = true)]
    async fn a_receiver_that_is_gone_is_asked_rarely() {
        let (queue, receiver, _task) = start(&[Ok(410), Ok(410)]);
        put(&queue, &["a"]);
        receiver.told(3).await;
        let told = receiver.told.lock().unwrap().clone();
        let longest = WebhookPauses::default().longest;
        assert!(told.windows(2).all(|two| two[1].0 - two[0].0 >= longest.mul_f64(0.66)));
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_too_large_is_sent_in_parts_and_a_single_event_becomes_a_gap() {
        let (queue, receiver, _task) = start(&[Err("down"), Ok(413), Ok(413), Ok(413)]);
        put(&queue, &["a", "b", "c", "d"]);
        receiver.told(6).await;
        let expected: [&[&str]; 6] = [
            &["a", "b", "c", "d"],
            &["a", "b", "c", "d"],
            &["a", "b"],
            &["a"],
            &["b"],
            &["c", "d", "gap of 1"],
        ];
        assert_eq!(receiver.names(), expected);
        assert_eq!(queue.figures().dropped, 1);
    }
}
