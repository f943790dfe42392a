//! The configuration of an agent.

use groupwire_client::Trust;

use crate::limits::Limits;
use crate::token::TokenSource;

/// The configuration of an agent, which its operator makes. A model cannot change it.
///
/// ```
/// use groupwire_agent::Config;
///
/// let config = Config::new("ws://127.0.0.1:8080", "Tidy bot", ["plan"]);
/// assert!(config.check().is_ok());
/// assert!(Config::new("ws://127.0.0.1:8080", "", ["plan"]).check().is_err());
/// ```
#[derive(Debug, Clone)]
pub struct Config {
    /// The address of the server, as for [`Room::connect`](groupwire_client::Room::connect).
    pub server: String,
    /// How the server is authenticated.
    pub trust: Trust,
    /// The name that the participants of a room see.
    pub name: String,
    /// The rooms that the agent may join.
    pub rooms: Vec<String>,
    /// True if the agent may join any room that its token permits, not only `rooms`.
    pub any_room: bool,
    /// The name of the channel of shared data (`groupwire/shared`, "shared" by default); `None` for
    /// no shared data.
    pub shared: Option<String>,
    /// Where its token comes from.
    pub token: TokenSource,
    /// Its limits.
    pub limits: Limits,
}

/// Most bytes of the name of an agent.
const MAX_NAME: usize = 100;

impl Config {
    /// A configuration without a token, with defaults for everything else.
    pub fn new<T: Into<String>>(
        server: &str,
        name: &str,
        rooms: impl IntoIterator<Item = T>,
    ) -> Self {
        Config {
            server: server.to_owned(),
            trust: Trust::default(),
            name: name.to_owned(),
            rooms: rooms.into_iter().map(Into::into).collect(),
            any_room: false,
            shared: Some("shared".to_owned()),
            token: TokenSource::None,
            limits: Limits::default(),
        }
    }

    /// Checks what can be checked without a server.
    ///
    /// # Errors
    /// A sentence that says what is wrong.
    pub fn check(&self) -> Result<(), String> {
        if !(1..=MAX_NAME).contains(&self.name.trim().len()) {
            return Err(format!("the name of the agent must have 1 to {MAX_NAME} bytes"));
        }
        if self.rooms.is_empty() && !self.any_room {
            return Err("name at least one room that the agent may join".to_owned());
        }
        if let Some(room) = self.rooms.iter().find(|room| !is_room_name(room)) {
            return Err(format!("{room:?} is no name of a room: it must have 1 to 256 bytes"));
        }
        Ok(())
    }

    /// True if the agent may try to join a room. The server decides by the token, too.
    pub(crate) fn may_join(&self, room: &str) -> bool {
        is_room_name(room) && (self.any_room || self.rooms.iter().any(|known| known == room))
    }
}

fn is_room_name(room: &str) -> bool {
    (1..=256).contains(&room.len())
}
