//! Asks all other servers the same, for answers about the whole cluster.

use std::time::Duration;

use axum::body::{Body, to_bytes};
use axum::http::Request;
use futures_util::future::join_all;
use serde::de::DeserializeOwned;
use tokio::time::timeout;

use super::forward::Forward;
use crate::cluster::routes::Node;

/// How long the answer of a server may take. Somebody waits for all of them.
const PATIENCE: Duration = Duration::from_secs(3);

/// Most bytes of the answer of a server. 10,000 open rooms take 4 MB if their names are as long as
/// they may be.
const MAX_ANSWER: usize = 16 << 20;

/// What the other servers answered.
pub(crate) struct Answers<T> {
    /// Answers by the names of servers.
    pub(crate) answers: Vec<(String, T)>,
    /// The names of servers that did not answer.
    pub(crate) unanswered: Vec<String>,
}

impl Forward {
    /// Asks all other servers that live for this path, whose answer is JSON.
    pub(crate) async fn ask_all<T: DeserializeOwned>(&self, path: &'static str) -> Answers<T> {
        let nodes = self.others();
        let asking = nodes.iter().map(|node| timeout(PATIENCE, self.ask(node, path)));
        let (mut answers, mut unanswered) = (Vec::new(), Vec::new());
        for (node, answer) in nodes.iter().zip(join_all(asking).await) {
            match answer.unwrap_or_else(|_| Err("it takes too long".to_owned())) {
                Ok(answer) => answers.push((node.name.clone(), answer)),
                Err(why) => {
                    tracing::warn!(server = node.name, path, why, "a server did not answer");
                    unanswered.push(node.name.clone());
                }
            }
        }
        Answers { answers, unanswered }
    }

    async fn ask<T: DeserializeOwned>(&self, node: &Node, path: &str) -> Result<T, String> {
        let request = Request::get(path).body(Body::empty()).map_err(|error| error.to_string())?;
        let answer = self.send(node, request).await.map_err(|why| why.to_string())?;
        if !answer.status().is_success() {
            return Err(format!("it answered {}", answer.status()));
        }
        let read = to_bytes(answer.into_body(), MAX_ANSWER).await;
        let bytes = read.map_err(|error| error.to_string())?;
        serde_json::from_slice(&bytes).map_err(|error| error.to_string())
    }
}
