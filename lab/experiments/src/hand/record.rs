//! An event as fields that are numbers or text, so that a format lists the fields once for writing
//! and reading.

use super::Error;
use crate::drawing::{Colour, Event, Kind, Object, Point, SESSION_ID, Shape};

/// The fields of all kinds of messages; a message has those of its kind.
#[derive(Debug, Default)]
pub(super) struct Record {
    pub(super) time: u64,
    pub(super) sender: u64,
    pub(super) session: u64,
    pub(super) kind: u64,
    pub(super) thing: Thing,
    pub(super) position: u64,
    pub(super) deleted: u64,
    pub(super) text: String,
    pub(super) things: Vec<Thing>,
}

/// An object, with the fields that its kind of message has.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Thing {
    pub(super) object: u64,
    pub(super) shape: u64,
    pub(super) colour: u64,
    /// The corner that stays, if there are two.
    pub(super) from: Coordinates,
    /// The other corner, or the only place of the message.
    pub(super) to: Coordinates,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) struct Coordinates {
    pub(super) x: u64,
    pub(super) y: u64,
}

/// The names of the fields that are numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Field {
    Kind,
    Sender,
    Session,
    Time,
    Object,
    Coordinate,
    Shape,
    Colour,
    Position,
    Deleted,
}

/// The values of [`Record::kind`].
pub(super) mod kinds {
    pub(in crate::hand) const TELEPOINTER: u64 = 0;
    pub(in crate::hand) const CREATE: u64 = 1;
    pub(in crate::hand) const MOVE: u64 = 2;
    pub(in crate::hand) const RESIZE: u64 = 3;
    pub(in crate::hand) const CHAT: u64 = 4;
    pub(in crate::hand) const EDIT: u64 = 5;
    pub(in crate::hand) const MODEL: u64 = 6;
    pub(in crate::hand) const COUNT: usize = 7;
}

/// Writes fields or reads them: a writer takes the value, a reader replaces it.
pub(super) trait Fields: Sized {
    fn number(&mut self, field: Field, value: &mut u64) -> Result<(), Error>;
    fn text(&mut self, text: &mut String) -> Result<(), Error>;
    /// Codes a list of objects, each by [`thing`].
    fn things(&mut self, things: &mut Vec<Thing>) -> Result<(), Error>;
}

/// Codes the fields after a message's header, by its kind.
pub(super) fn content(record: &mut Record, to: &mut impl Fields) -> Result<(), Error> {
    let part = &mut record.thing;
    match record.kind {
        kinds::TELEPOINTER => place(&mut part.to, to),
        kinds::CREATE => {
            to.number(Field::Object, &mut part.object)?;
            to.number(Field::Shape, &mut part.shape)?;
            to.number(Field::Colour, &mut part.colour)?;
            place(&mut part.to, to)
        }
        kinds::MOVE => {
            to.number(Field::Object, &mut part.object)?;
            place(&mut part.to, to)
        }
        kinds::RESIZE => {
            to.number(Field::Object, &mut part.object)?;
            place(&mut part.from, to)?;
            place(&mut part.to, to)
        }
        kinds::CHAT => to.text(&mut record.text),
        kinds::EDIT => {
            to.number(Field::Object, &mut part.object)?;
            to.number(Field::Position, &mut record.position)?;
            to.number(Field::Deleted, &mut record.deleted)?;
            to.text(&mut record.text)
        }
        kinds::MODEL => to.things(&mut record.things),
        _ => Err(Error::Value { field: "kind" }),
    }
}

/// Codes all fields of an object.
pub(super) fn thing(thing: &mut Thing, to: &mut impl Fields) -> Result<(), Error> {
    to.number(Field::Object, &mut thing.object)?;
    to.number(Field::Shape, &mut thing.shape)?;
    to.number(Field::Colour, &mut thing.colour)?;
    place(&mut thing.from, to)?;
    place(&mut thing.to, to)
}

fn place(place: &mut Coordinates, to: &mut impl Fields) -> Result<(), Error> {
    to.number(Field::Coordinate, &mut place.x)?;
    to.number(Field::Coordinate, &mut place.y)
}

impl From<&Event> for Record {
    fn from(event: &Event) -> Self {
        let mut record = Self {
            time: event.time_ms,
            sender: event.sender.into(),
            session: SESSION_ID.into(),
            ..Self::default()
        };
        let part = &mut record.thing;
        record.kind = match &event.kind {
            Kind::Telepointer(at) => {
                part.to = (*at).into();
                kinds::TELEPOINTER
            }
            Kind::Create { object, shape, colour, at } => {
                part.object = (*object).into();
                (part.shape, part.colour) = (*shape as u64, *colour as u64);
                part.to = (*at).into();
                kinds::CREATE
            }
            Kind::Move { object, to } => {
                part.object = (*object).into();
                part.to = (*to).into();
                kinds::MOVE
            }
            Kind::Resize { object, fixed, corner } => {
                part.object = (*object).into();
                (part.from, part.to) = ((*fixed).into(), (*corner).into());
                kinds::RESIZE
            }
            Kind::Chat { text } => {
                record.text.clone_from(text);
                kinds::CHAT
            }
            Kind::Edit { object, position, deleted, inserted } => {
                part.object = (*object).into();
                record.position = (*position).into();
                record.deleted = (*deleted).into();
                record.text.clone_from(inserted);
                kinds::EDIT
            }
            Kind::Model { objects } => {
                record.things = objects.iter().map(Thing::from).collect();
                kinds::MODEL
            }
        };
        record
    }
}

impl TryFrom<Record> for Event {
    type Error = Error;

    fn try_from(record: Record) -> Result<Self, Error> {
        if record.session != u64::from(SESSION_ID) {
            return Err(Error::Value { field: "session" });
        }
        let part = record.thing;
        let object = || number(part.object, "object");
        let kind = match record.kind {
            kinds::TELEPOINTER => Kind::Telepointer(part.to.try_into()?),
            kinds::CREATE => Kind::Create {
                object: object()?,
                shape: shape(part.shape)?,
                colour: colour(part.colour)?,
                at: part.to.try_into()?,
            },
            kinds::MOVE => Kind::Move { object: object()?, to: part.to.try_into()? },
            kinds::RESIZE => Kind::Resize {
                object: object()?,
                fixed: part.from.try_into()?,
                corner: part.to.try_into()?,
            },
            kinds::CHAT => Kind::Chat { text: record.text },
            kinds::EDIT => Kind::Edit {
                object: object()?,
                position: number(record.position, "position")?,
                deleted: number(record.deleted, "number of deleted characters")?,
                inserted: record.text,
            },
            kinds::MODEL => {
                let objects = record.things.into_iter().map(Object::try_from);
                Kind::Model { objects: objects.collect::<Result<_, _>>()? }
            }
            _ => return Err(Error::Value { field: "kind" }),
        };
        Ok(Self { time_ms: record.time, sender: number(record.sender, "sender")?, kind })
    }
}

impl From<&Object> for Thing {
    fn from(object: &Object) -> Self {
        Self {
            object: object.object.into(),
            shape: object.shape as u64,
            colour: object.colour as u64,
            from: object.from.into(),
            to: object.to.into(),
        }
    }
}

impl TryFrom<Thing> for Object {
    type Error = Error;

    fn try_from(thing: Thing) -> Result<Self, Error> {
        Ok(Self {
            object: number(thing.object, "object")?,
            shape: shape(thing.shape)?,
            colour: colour(thing.colour)?,
            from: thing.from.try_into()?,
            to: thing.to.try_into()?,
        })
    }
}

impl From<Point> for Coordinates {
    fn from(point: Point) -> Self {
        Self { x: point.x.into(), y: point.y.into() }
    }
}

impl TryFrom<Coordinates> for Point {
    type Error = Error;

    fn try_from(place: Coordinates) -> Result<Self, Error> {
        Ok(Self { x: number(place.x, "coordinate")?, y: number(place.y, "coordinate")? })
    }
}

/// The shape with this index in [`Shape::ALL`].
pub(super) fn shape(index: u64) -> Result<Shape, Error> {
    at(&Shape::ALL, index).ok_or(Error::Value { field: "shape" })
}

/// The colour with this index in [`Colour::ALL`].
pub(super) fn colour(index: u64) -> Result<Colour, Error> {
    at(&Colour::ALL, index).ok_or(Error::Value { field: "colour" })
}

fn at<T: Copy>(all: &[T], index: u64) -> Option<T> {
    all.get(usize::try_from(index).ok()?).copied()
}

fn number<T: TryFrom<u64>>(value: u64, field: &'static str) -> Result<T, Error> {
    value.try_into().map_err(|_| Error::Value { field })
}
