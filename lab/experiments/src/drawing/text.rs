//! Plain text as GroupKit wrote it (GMC paper, Figure 6): names and values in parentheses.

use std::fmt::{Display, Formatter, Result};

use super::{Event, Kind, SESSION_ID};

pub(super) fn message(event: &Event) -> Vec<u8> {
    let Event { time_ms, sender, kind } = event;
    format!(
        "(timestamp: {time_ms} sender_id: {sender} session_id: {SESSION_ID})({})",
        Content(kind)
    )
    .into_bytes()
}

/// A text in double quotes, escaped as in JSON.
pub(super) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

struct Content<'a>(&'a Kind);

impl Display for Content<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self.0 {
            Kind::Telepointer(at) => write!(f, "telepointer x: {}.0 y: {}.0", at.x, at.y),
            Kind::Create { object, shape, colour, at } => write!(
                f,
                "createObject object_id: {object} shape: {} color: {} x: {}.0 y: {}.0",
                shape.name(),
                colour.name(),
                at.x,
                at.y
            ),
            Kind::Move { object, to } => {
                write!(f, "moveObject object_id: {object} x: {}.0 y: {}.0", to.x, to.y)
            }
            Kind::Resize { object, fixed, corner } => write!(
                f,
                "resizeObject object_id: {object} x1: {}.0 y1: {}.0 x2: {}.0 y2: {}.0",
                fixed.x, fixed.y, corner.x, corner.y
            ),
            Kind::Chat { text } => write!(f, "chat text: {}", quoted(text)),
            Kind::Edit { object, position, deleted, inserted } => write!(
                f,
                "textEdit object_id: {object} pos: {position} delete: {deleted} insert: {}",
                quoted(inserted)
            ),
            Kind::Model { objects } => {
                f.write_str("modelUpdate")?;
                objects.iter().try_for_each(|object| {
                    write!(
                        f,
                        "(object object_id: {} shape: {} color: {} x1: {}.0 y1: {}.0 x2: {}.0 y2: {}.0)",
                        object.object,
                        object.shape.name(),
                        object.colour.name(),
                        object.from.x,
                        object.from.y,
                        object.to.x,
                        object.to.y
                    )
                })
            }
        }
    }
}
