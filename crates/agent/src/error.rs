//! Why a tool did not do what the agent asked for.

use groupwire_client::{DialError, Error as ClientError, SessionError};
use serde::Serialize;

/// The error of a tool: a code for programs, and words that say what to do.
///
/// ```
/// use groupwire_agent::ToolError;
///
/// let error = ToolError::new("not-joined", "call join_room first");
/// assert_eq!(error.to_string(), "not-joined: call join_room first");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, thiserror::Error)]
#[error("{code}: {message}")]
pub struct ToolError {
    /// A short name, such as `not-allowed`. Errors of a room have the names of the wire format.
    pub code: String,
    /// A sentence about the failure and about the next step.
    pub message: String,
}

impl ToolError {
    /// An error with this code.
    pub fn new(code: &str, message: impl Into<String>) -> Self {
        ToolError { code: code.to_owned(), message: message.into() }
    }

    pub(crate) fn argument(message: impl Into<String>) -> Self {
        ToolError::new("invalid-argument", message)
    }
}

impl From<SessionError> for ToolError {
    fn from(error: SessionError) -> Self {
        ToolError::new(error.name(), format!("{error}. {}", advice(error.name())))
    }
}

impl From<ClientError> for ToolError {
    fn from(error: ClientError) -> Self {
        match error {
            ClientError::Session(error) => error.into(),
            ClientError::Over => ToolError::new(
                "room-closed",
                "the session in this room is over: call leave_room, then join_room",
            ),
            ClientError::Unreachable { ref source, .. } => {
                let what = match **source {
                    DialError::Tls { .. } | DialError::Roots { .. } => {
                        "the server's certificate cannot be checked: tell the operator of this agent (--trust)"
                    }
                    _ => "wait some seconds and try again; if it lasts, tell the operator",
                };
                ToolError::new("unreachable", format!("{error}. {what}."))
            }
            error => ToolError::new("invalid-argument", error.to_string()),
        }
    }
}

/// What an agent can do about an error of a session with this name.
fn advice(name: &str) -> &'static str {
    match name {
        "not-allowed" | "refused" => {
            "The token of this agent does not permit it. Do not try again; ask a person who may, or the operator for a token with more rights."
        }
        "expired" | "revoked" => {
            "The agent reads its token again every few seconds. If the error lasts, tell the operator to put a new token into the token file."
        }
        "banned" => "Do not try again.",
        "too-large" => "Send less at once.",
        "too-many" => "Leave rooms or use fewer channels.",
        "not-now" | "over-quota" => "Wait some seconds, then try again.",
        "replaced" => "Another program has taken this session over. Call join_room again.",
        _ => "If it happens again, tell the operator of this agent.",
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn errors_of_a_room_keep_their_names_and_say_what_to_do() {
        let error = ToolError::from(SessionError::Expired);
        assert_eq!(error.code, "expired");
        assert!(error.message.contains("token file"), "{error}");
        let error = ToolError::from(SessionError::NotAllowed { what: "publish" });
        assert_eq!(error.code, "not-allowed");
        let source = Arc::new(DialError::NoUdp);
        let error = ToolError::from(ClientError::Unreachable { url: "ws://a".into(), source });
        assert_eq!(error.code, "unreachable");
        assert_eq!(ToolError::from(ClientError::Over).code, "room-closed");
    }
}
