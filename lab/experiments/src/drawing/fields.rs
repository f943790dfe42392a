//! An event as a web application would hold it: an object with named values.

use serde::{Serialize, Serializer};

use super::participant::Participant;
use super::{Event, Kind, Point, SESSION_ID};

/// The difference between the recording's clock and milliseconds since 1970: the recorded session
/// began on 10 June 2024.
const EPOCH_MS: u64 = 1_717_283_373_616;

/// The fields of an event: names and values, in their order.
pub(super) struct Fields(Vec<(&'static str, Value)>);

#[derive(Serialize)]
#[serde(untagged)]
enum Value {
    Integer(u64),
    Float(f64),
    Text(String),
    Objects(Vec<Fields>),
}

/// The coordinates that messages have.
#[derive(Clone, Copy)]
pub(super) enum Coordinates {
    /// Pixels of the screen.
    Screen,
    /// Units of the canvas as the sender has zoomed and scrolled it. Model updates, which the
    /// server makes, have no view and keep pixels.
    Canvas,
}

impl Fields {
    pub(super) fn new(event: &Event, coordinates: Coordinates) -> Self {
        let participant = Participant::of(event.sender);
        let name = match event.kind {
            Kind::Telepointer(_) => "pointer",
            Kind::Model { .. } => "sync",
            ref kind => kind.name(),
        };
        let mut fields = Self(Vec::with_capacity(9));
        fields.text("type", name);
        fields.text("userId", &participant.user_id);
        fields.integer("sessionId", SESSION_ID.into());
        fields.integer("ts", event.time_ms.saturating_add(EPOCH_MS));
        fields.content(&event.kind, coordinates, &participant);
        fields
    }

    fn content(&mut self, kind: &Kind, coordinates: Coordinates, who: &Participant) {
        let point = |fields: &mut Self, [x, y]: [&'static str; 2], at: Point| match coordinates {
            Coordinates::Screen => fields.pixels([x, y], at),
            Coordinates::Canvas => {
                fields.0.push((x, Value::Float(who.canvas_x(at.x))));
                fields.0.push((y, Value::Float(who.canvas_y(at.y))));
            }
        };
        match kind {
            Kind::Telepointer(at) => point(self, ["x", "y"], *at),
            Kind::Create { object, shape, colour, at } => {
                self.integer("object_id", (*object).into());
                self.text("shape", shape.name());
                self.text("color", colour.name());
                point(self, ["x", "y"], *at);
            }
            Kind::Move { object, to } => {
                self.integer("object_id", (*object).into());
                point(self, ["x", "y"], *to);
            }
            Kind::Resize { object, fixed, corner } => {
                self.integer("object_id", (*object).into());
                point(self, ["x1", "y1"], *fixed);
                point(self, ["x2", "y2"], *corner);
            }
            Kind::Chat { text } => self.text("text", text),
            Kind::Edit { object, position, deleted, inserted } => {
                self.integer("object_id", (*object).into());
                self.integer("pos", (*position).into());
                self.integer("delete", (*deleted).into());
                self.text("insert", inserted);
            }
            Kind::Model { objects } => {
                let objects = objects.iter().map(|object| {
                    let mut fields = Self(Vec::with_capacity(7));
                    fields.integer("object_id", object.object.into());
                    fields.text("shape", object.shape.name());
                    fields.text("color", object.colour.name());
                    fields.pixels(["x1", "y1"], object.from);
                    fields.pixels(["x2", "y2"], object.to);
                    fields
                });
                self.0.push(("objects", Value::Objects(objects.collect())));
            }
        }
    }

    fn integer(&mut self, name: &'static str, value: u64) {
        self.0.push((name, Value::Integer(value)));
    }

    fn text(&mut self, name: &'static str, value: &str) {
        self.0.push((name, Value::Text(value.to_owned())));
    }

    fn pixels(&mut self, [x, y]: [&'static str; 2], at: Point) {
        self.integer(x, at.x.into());
        self.integer(y, at.y.into());
    }
}

impl Serialize for Fields {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}
