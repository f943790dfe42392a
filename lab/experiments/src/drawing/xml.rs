//! XML elements for the text format's names and values (GMC paper, Figure 6), with a space around
//! each.

use super::text::quoted;
use super::{Event, Kind, Point, SESSION_ID};

pub(super) fn message(event: &Event) -> Vec<u8> {
    let mut xml = Xml(String::with_capacity(256));
    xml.element("group_event", |xml| {
        xml.value("timestamp", event.time_ms);
        xml.value("sender_id", event.sender);
        xml.value("session_id", SESSION_ID);
        xml.element("event_content", |xml| content(xml, &event.kind));
    });
    xml.0.pop(); // the space after the last element
    xml.0.into_bytes()
}

fn content(xml: &mut Xml, kind: &Kind) {
    match kind {
        Kind::Telepointer(at) => xml.element("telepointer_event", |xml| {
            xml.point(["x", "y"], *at);
        }),
        Kind::Create { object, shape, colour, at } => xml.element("createObject_event", |xml| {
            xml.value("object_id", object);
            xml.value("shape", shape.name());
            xml.value("color", colour.name());
            xml.point(["x", "y"], *at);
        }),
        Kind::Move { object, to } => xml.element("moveObject_event", |xml| {
            xml.value("object_id", object);
            xml.point(["x", "y"], *to);
        }),
        Kind::Resize { object, fixed, corner } => xml.element("resizeObject_event", |xml| {
            xml.value("object_id", object);
            xml.point(["x1", "y1"], *fixed);
            xml.point(["x2", "y2"], *corner);
        }),
        Kind::Chat { text } => xml.element("chat_event", |xml| xml.value("text", escaped(text))),
        Kind::Edit { object, position, deleted, inserted } => {
            xml.element("textEdit_event", |xml| {
                xml.value("object_id", object);
                xml.value("pos", position);
                xml.value("delete", deleted);
                xml.value("insert", escaped(inserted));
            });
        }
        Kind::Model { objects } => xml.element("modelUpdate_event", |xml| {
            for object in objects {
                xml.element("object", |xml| {
                    xml.value("object_id", object.object);
                    xml.value("shape", object.shape.name());
                    xml.value("color", object.colour.name());
                    xml.point(["x1", "y1"], object.from);
                    xml.point(["x2", "y2"], object.to);
                });
            }
        }),
    }
}

/// A text as the recorded trace has it: escaped as in the text format, without the quotes at its
/// ends, those that belong to the text included.
fn escaped(text: &str) -> String {
    let quoted = quoted(text);
    quoted.trim_matches('"').replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

struct Xml(String);

impl Xml {
    fn element(&mut self, name: &str, content: impl FnOnce(&mut Self)) {
        self.0.push_str(&format!("<{name}> "));
        content(self);
        self.0.push_str(&format!("</{name}> "));
    }

    fn value(&mut self, name: &str, value: impl std::fmt::Display) {
        self.element(name, |xml| xml.0.push_str(&format!("{value} ")));
    }

    fn point(&mut self, [x, y]: [&str; 2], at: Point) {
        self.value(x, format_args!("{}.0", at.x));
        self.value(y, format_args!("{}.0", at.y));
    }
}
