//! The bytes that `java.io.ObjectOutputStream` writes for an event, each with a stream of its own
//! (Java Object Serialization Specification, chapter 6; GMC paper, Figure 6 for the classes).

use super::events::escape;
use super::{Event, Kind, Object, SESSION_ID};

pub(super) fn message(event: &Event) -> Vec<u8> {
    let mut stream = JavaStream::new();
    let class = match event.kind {
        Kind::Telepointer(_) => &TELEPOINTER,
        Kind::Create { .. } => &CREATE,
        Kind::Move { .. } => &MOVE,
        Kind::Resize { .. } => &RESIZE,
        Kind::Chat { .. } => &CHAT,
        Kind::Edit { .. } => &EDIT,
        Kind::Model { .. } => &MODEL,
    };
    stream.object(class);
    stream.integer(event.sender);
    stream.integer(SESSION_ID);
    stream.object(&LONG);
    stream.bytes.extend(event.time_ms.to_be_bytes());
    stream.content(&event.kind);
    stream.bytes
}

struct Class {
    name: &'static str,
    /// The serialVersionUID.
    version: u64,
    flags: u8,
    /// Fields with numbers, by name, then fields with objects, by name, each with its type.
    fields: &'static [(&'static str, &'static str)],
    parent: Option<&'static Class>,
}

const STRING: &str = "Ljava/lang/String;";
const SERIALIZABLE: u8 = 2;
const WRITES_ITSELF: u8 = 1;

const fn event_class(
    name: &'static str,
    version: u64,
    fields: &'static [(&'static str, &'static str)],
) -> Class {
    Class { name, version, flags: SERIALIZABLE, fields, parent: Some(&EVENT) }
}

static EVENT: Class = Class {
    name: "ca.usask.hci.events.AbstractGroupEvent",
    version: 0xb5b7_0ae5_a5a4_1715,
    flags: SERIALIZABLE,
    fields: &[("senderID", "I"), ("sessionID", "I"), ("timestamp", "Ljava/lang/Long;")],
    parent: None,
};
static TELEPOINTER: Class = event_class(
    "ca.usask.hci.events.TelepointerEvent",
    0xfba7_bf58_7be4_3a23,
    &[("x", "I"), ("y", "I")],
);
static CREATE: Class = event_class(
    "ca.usask.hci.events.CreateEvent",
    0x003e_8e41_c7f5_464e,
    &[("objectID", "I"), ("x", "I"), ("y", "I"), ("color", STRING), ("shape", STRING)],
);
static MOVE: Class = event_class(
    "ca.usask.hci.events.MoveEvent",
    0x1bd8_d4e6_09e8_6370,
    &[("objectID", "I"), ("x", "I"), ("y", "I")],
);
static RESIZE: Class = event_class(
    "ca.usask.hci.events.ResizeEvent",
    0x62a6_b408_e678_005d,
    &[("objectID", "I"), ("x1", "I"), ("x2", "I"), ("y1", "I"), ("y2", "I")],
);
static CHAT: Class =
    event_class("ca.usask.hci.events.ChatEvent", 0xe630_bab3_99c9_423a, &[("text", STRING)]);
static EDIT: Class = event_class(
    "ca.usask.hci.events.TextEditEvent",
    0x9e61_0bbc_9135_9d9b,
    &[("delete", "I"), ("objectID", "I"), ("pos", "I"), ("insert", STRING)],
);
static MODEL: Class = event_class(
    "ca.usask.hci.events.ModelUpdateEvent",
    0x17a6_b565_4aba_eeda,
    &[("objects", "Ljava/util/ArrayList;")],
);
static MODEL_OBJECT: Class = Class {
    name: "ca.usask.hci.events.ModelObject",
    version: 0xa351_3a8d_fcf5_e8d6,
    flags: SERIALIZABLE,
    fields: &[
        ("objectID", "I"),
        ("x1", "I"),
        ("x2", "I"),
        ("y1", "I"),
        ("y2", "I"),
        ("color", STRING),
        ("shape", STRING),
    ],
    parent: None,
};
static NUMBER: Class = Class {
    name: "java.lang.Number",
    version: 0x86ac_951d_0b94_e08b,
    flags: SERIALIZABLE,
    fields: &[],
    parent: None,
};
static LONG: Class = Class {
    name: "java.lang.Long",
    version: 0x3b8b_e490_cc8f_23df,
    flags: SERIALIZABLE,
    fields: &[("value", "J")],
    parent: Some(&NUMBER),
};
static LIST: Class = Class {
    name: "java.util.ArrayList",
    version: 0x7881_d21d_99c7_619d,
    flags: SERIALIZABLE | WRITES_ITSELF,
    fields: &[("size", "I")],
    parent: None,
};

const NULL: u8 = b'p';
const REFERENCE: u8 = b'q';
const CLASS: u8 = b'r';
const OBJECT: u8 = b's';
const TEXT: u8 = b't';
const BLOCK: u8 = b'w';
const END: u8 = b'x';
const LONG_TEXT: u8 = b'|';
const FIRST_HANDLE: u32 = 0x7e_0000;

struct JavaStream {
    bytes: Vec<u8>,
    /// The names of classes and types that later back references name; `None` for handles to which
    /// nothing refers.
    handles: Vec<Option<&'static str>>,
}

impl JavaStream {
    fn new() -> Self {
        Self { bytes: vec![0xac, 0xed, 0, 5], handles: Vec::new() }
    }

    fn content(&mut self, kind: &Kind) {
        match kind {
            Kind::Telepointer(at) => self.integers([at.x.into(), at.y.into()]),
            Kind::Create { object, shape, colour, at } => {
                self.integers([*object, at.x.into(), at.y.into()]);
                self.text(colour.name());
                self.text(shape.name());
            }
            Kind::Move { object, to } => self.integers([*object, to.x.into(), to.y.into()]),
            Kind::Resize { object, fixed, corner } => {
                let (xs, ys) = ([fixed.x, corner.x], [fixed.y, corner.y]);
                self.integer(*object);
                self.integers([xs, ys].concat().into_iter().map(u32::from));
            }
            // The recorded trace has texts as the table of events has them.
            Kind::Chat { text } => self.text(&escape(text)),
            Kind::Edit { object, position, deleted, inserted } => {
                self.integers([*deleted, *object, *position]);
                self.text(&escape(inserted));
            }
            Kind::Model { objects } => self.list(objects),
        }
    }

    fn list(&mut self, objects: &[Object]) {
        self.object(&LIST);
        let count = objects.len() as u32;
        self.integer(count);
        self.bytes.extend([BLOCK, 4]);
        self.integer(count);
        for object in objects {
            self.object(&MODEL_OBJECT);
            let (from, to) = (object.from, object.to);
            self.integer(object.object);
            self.integers([from.x, to.x, from.y, to.y].map(u32::from));
            self.text(object.colour.name());
            self.text(object.shape.name());
        }
        self.bytes.push(END);
    }

    /// Writes an object without the values of its fields.
    fn object(&mut self, class: &'static Class) {
        self.bytes.push(OBJECT);
        self.class(Some(class));
        self.handles.push(None);
    }

    fn class(&mut self, class: Option<&'static Class>) {
        let Some(class) = class else { return self.bytes.push(NULL) };
        if self.refers_to(class.name) {
            return;
        }
        self.bytes.push(CLASS);
        self.characters(class.name);
        self.bytes.extend(class.version.to_be_bytes());
        self.handles.push(Some(class.name));
        self.bytes.push(class.flags);
        self.bytes.extend((class.fields.len() as u16).to_be_bytes());
        for (name, kind) in class.fields {
            self.bytes.push(kind.as_bytes()[0]);
            self.characters(name);
            if kind.len() > 1 && !self.refers_to(kind) {
                self.bytes.push(TEXT);
                self.characters(kind);
                self.handles.push(Some(kind));
            }
        }
        self.bytes.push(END);
        self.class(class.parent);
    }

    fn refers_to(&mut self, name: &'static str) -> bool {
        let Some(at) = self.handles.iter().position(|handle| *handle == Some(name)) else {
            return false;
        };
        self.bytes.push(REFERENCE);
        self.integer(FIRST_HANDLE + at as u32);
        true
    }

    fn integers(&mut self, values: impl IntoIterator<Item = u32>) {
        values.into_iter().for_each(|value| self.integer(value));
    }

    fn integer(&mut self, value: u32) {
        self.bytes.extend(value.to_be_bytes());
    }

    fn text(&mut self, text: &str) {
        let encoded = modified_utf8(text);
        match u16::try_from(encoded.len()) {
            Ok(length) => {
                self.bytes.push(TEXT);
                self.bytes.extend(length.to_be_bytes());
            }
            Err(_) => {
                self.bytes.push(LONG_TEXT);
                self.bytes.extend((encoded.len() as u64).to_be_bytes());
            }
        }
        self.bytes.extend(encoded);
        self.handles.push(None);
    }

    /// Writes a name, which is short and in ASCII.
    fn characters(&mut self, name: &str) {
        self.bytes.extend((name.len() as u16).to_be_bytes());
        self.bytes.extend(name.as_bytes());
    }
}

/// Java's modified UTF-8: each UTF-16 unit on its own, and two bytes for the zero.
fn modified_utf8(text: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len());
    for unit in text.encode_utf16() {
        let last = 0x80 | (unit & 0x3f) as u8;
        match unit {
            1..0x80 => bytes.push(unit as u8),
            0 | 0x80..0x800 => bytes.extend([0xc0 | (unit >> 6) as u8, last]),
            _ => bytes.extend([0xe0 | (unit >> 12) as u8, 0x80 | (unit >> 6 & 0x3f) as u8, last]),
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_in_javas_utf8() {
        assert_eq!(modified_utf8("a\0é€"), b"a\xc0\x80\xc3\xa9\xe2\x82\xac");
        assert_eq!(modified_utf8("😀"), b"\xed\xa0\xbd\xed\xb8\x80");
    }

    #[test]
    fn long_texts_have_a_long_length() {
        let kind = Kind::Chat { text: "x".repeat(70_000) };
        let bytes = message(&Event { time_ms: 1, sender: 1, kind });
        let end = &bytes[bytes.len() - 70_009..];
        assert_eq!(end[..9], [LONG_TEXT, 0, 0, 0, 0, 0, 1, 0x11, 0x70]);
    }
}
