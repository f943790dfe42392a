//! The events of a session, before they are written in any format.

/// An action of one participant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Event {
    /// The time, in milliseconds on the clock of the recording.
    pub(crate) time_ms: u64,
    /// The participant, a number.
    pub(crate) sender: u32,
    /// The action.
    pub(crate) kind: Kind,
}

/// An action of a participant: the seven types of messages of the GMC paper's Table 3.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Moved the pointer.
    Telepointer(Point),
    /// Began to draw an object.
    Create {
        /// The new object.
        object: u32,
        /// Its shape.
        shape: Shape,
        /// Its colour.
        colour: Colour,
        /// The corner at which the drag began.
        at: Point,
    },
    /// Moved an object.
    Move {
        /// The number of the object.
        object: u32,
        /// The new place of its first corner.
        to: Point,
    },
    /// Dragged a corner of an object.
    Resize {
        /// The number of the object.
        object: u32,
        /// The corner that stays.
        fixed: Point,
        /// The new place of the other corner.
        corner: Point,
    },
    /// Sent a chat message.
    Chat {
        /// The text of the chat message.
        text: String,
    },
    /// Changed the text in an object.
    Edit {
        /// The number of the object.
        object: u32,
        /// The position of the change, in characters from the start of the text.
        position: u32,
        /// The number of characters that are deleted.
        deleted: u32,
        /// The text that is inserted instead.
        inserted: String,
    },
    /// Sent the whole drawing to a participant that joined late.
    Model {
        /// All objects.
        objects: Vec<Object>,
    },
}

impl Kind {
    /// The name of the kind in a table of events.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Telepointer(_) => "tele",
            Self::Create { .. } => "create",
            Self::Move { .. } => "move",
            Self::Resize { .. } => "resize",
            Self::Chat { .. } => "chat",
            Self::Edit { .. } => "edit",
            Self::Model { .. } => "model",
        }
    }
}

/// A place on the canvas, in pixels from its upper left corner.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Point {
    /// Pixels to the right.
    pub(crate) x: u16,
    /// Pixels down.
    pub(crate) y: u16,
}

/// An object as a model update describes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Object {
    /// Its number.
    pub(crate) object: u32,
    /// Its shape.
    pub(crate) shape: Shape,
    /// Its colour.
    pub(crate) colour: Colour,
    /// The corner at which the drag began.
    pub(crate) from: Point,
    /// The opposite corner.
    pub(crate) to: Point,
}

/// The shapes that can be drawn.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub(crate) enum Shape {
    #[default]
    Rectangle,
    Oval,
    Line,
    Freehand,
    Text,
}

impl Shape {
    /// All shapes.
    pub(crate) const ALL: [Self; 5] =
        [Self::Rectangle, Self::Oval, Self::Line, Self::Freehand, Self::Text];

    /// The name of the shape in messages.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Rectangle => "rect",
            Self::Oval => "oval",
            Self::Line => "line",
            Self::Freehand => "freehand",
            Self::Text => "text",
        }
    }

    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|shape| shape.name() == name)
    }
}

/// The colours of objects.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub(crate) enum Colour {
    #[default]
    Black,
    Red,
    Blue,
    Green,
    Orange,
}

impl Colour {
    /// All colours.
    pub(crate) const ALL: [Self; 5] =
        [Self::Black, Self::Red, Self::Blue, Self::Green, Self::Orange];

    /// The name of the colour in messages.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Black => "black",
            Self::Red => "red",
            Self::Blue => "blue",
            Self::Green => "green",
            Self::Orange => "#ff8800",
        }
    }

    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|colour| colour.name() == name)
    }
}

/// A table of events with a row that is not what the format says.
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Error {
    /// A row is wrong: the table was cut off or edited, or is another table.
    #[error("line {line} of the events: {why}")]
    Row {
        /// The number of the line, from 1.
        line: usize,
        /// What was expected instead of the line's text.
        why: &'static str,
    },
}

/// Reads a table of events: a row each, its cells separated by tabs.
///
/// | kind | cells after time in ms, sender and kind |
/// | --- | --- |
/// | `tele` | x, y |
/// | `create` | object, shape, colour, x, y |
/// | `move` | object, x, y |
/// | `resize` | object, x and y of the fixed corner, x and y of the other |
/// | `chat` | text |
/// | `edit` | object, position, characters deleted, text inserted |
/// | `model` | objects separated by `|`, each number, shape, colour and two corners separated by commas |
///
/// In texts, `\n`, `\r`, `\t` and `\\` stand for the characters that would end a row or cell, and
/// for the backslash.
///
/// # Errors
/// The first row that is none of these.
pub(crate) fn read_events(text: &str) -> Result<Vec<Event>, Error> {
    let rows = text.split_terminator('\n').enumerate();
    rows.map(|(at, row)| event(row).map_err(|why| Error::Row { line: at + 1, why })).collect()
}

/// A text in the form that the table of events has.
pub(super) fn escape(text: &str) -> String {
    let mut cell = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\\' => cell.push_str("\\\\"),
            '\n' => cell.push_str("\\n"),
            '\r' => cell.push_str("\\r"),
            '\t' => cell.push_str("\\t"),
            plain => cell.push(plain),
        }
    }
    cell
}

fn event(row: &str) -> Result<Event, &'static str> {
    let mut cells = Cells(row.split('\t'));
    let time_ms = cells.number("a time in ms is due")?;
    let sender = cells.number("after the time comes the number of the sender")?;
    let kind = kind(&mut cells)?;
    match cells.0.next() {
        None => Ok(Event { time_ms, sender, kind }),
        Some(_) => Err("there are more cells than this kind of event has"),
    }
}

fn kind<'a>(cells: &mut Cells<impl Iterator<Item = &'a str>>) -> Result<Kind, &'static str> {
    Ok(match cells.next()? {
        "tele" => Kind::Telepointer(cells.point()?),
        "create" => Kind::Create {
            object: cells.object()?,
            shape: cells.shape()?,
            colour: cells.colour()?,
            at: cells.point()?,
        },
        "move" => Kind::Move { object: cells.object()?, to: cells.point()? },
        "resize" => {
            Kind::Resize { object: cells.object()?, fixed: cells.point()?, corner: cells.point()? }
        }
        "chat" => Kind::Chat { text: unescape(cells.next()?)? },
        "edit" => Kind::Edit {
            object: cells.object()?,
            position: cells.number("a position in the text is due")?,
            deleted: cells.number("a number of deleted characters is due")?,
            inserted: unescape(cells.next()?)?,
        },
        "model" => {
            let list = cells.next()?;
            let objects = list.split('|').filter(|_| !list.is_empty()).map(object);
            Kind::Model { objects: objects.collect::<Result<_, _>>()? }
        }
        _ => return Err("the third cell is tele, create, move, resize, chat, edit or model"),
    })
}

fn object(text: &str) -> Result<Object, &'static str> {
    let mut cells = Cells(text.split(','));
    let object = Object {
        object: cells.object()?,
        shape: cells.shape()?,
        colour: cells.colour()?,
        from: cells.point()?,
        to: cells.point()?,
    };
    cells.0.next().map_or(Ok(object), |_| Err("an object has seven parts"))
}

fn unescape(cell: &str) -> Result<String, &'static str> {
    let mut characters = cell.chars();
    let mut text = String::with_capacity(cell.len());
    while let Some(character) = characters.next() {
        text.push(match character {
            '\\' => match characters.next() {
                Some('\\') => '\\',
                Some('n') => '\n',
                Some('r') => '\r',
                Some('t') => '\t',
                _ => return Err("a backslash stands before a backslash, n, r or t"),
            },
            plain => plain,
        });
    }
    Ok(text)
}

struct Cells<I>(I);

impl<'a, I: Iterator<Item = &'a str>> Cells<I> {
    fn next(&mut self) -> Result<&'a str, &'static str> {
        self.0.next().ok_or("there are fewer cells than this kind of event has")
    }

    fn number<T: std::str::FromStr>(&mut self, why: &'static str) -> Result<T, &'static str> {
        self.next()?.parse().map_err(|_| why)
    }

    fn object(&mut self) -> Result<u32, &'static str> {
        self.number("the number of an object is due")
    }

    fn point(&mut self) -> Result<Point, &'static str> {
        const WHY: &str = "coordinates are whole numbers from 0 to 65535";
        Ok(Point { x: self.number(WHY)?, y: self.number(WHY)? })
    }

    fn shape(&mut self) -> Result<Shape, &'static str> {
        Shape::named(self.next()?).ok_or("a shape is rect, oval, line, freehand or text")
    }

    fn colour(&mut self) -> Result<Colour, &'static str> {
        Colour::named(self.next()?).ok_or("a colour is black, red, blue, green or #ff8800")
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn each_kind_is_read() {
        let text = "1\t7\ttele\t981\t688\n2\t7\tcreate\t41\tline\t#ff8800\t1\t2\n3\t7\tmove\t41\t3\t4\n\
                    4\t7\tresize\t41\t1\t2\t5\t6\n5\t12\tchat\tHi\n6\t12\tedit\t41\t9\t0\t\\n\n\
                    7\t12\tmodel\t41,line,red,1,2,3,4|42,oval,black,5,6,7,8\n";
        let events = read_events(text).unwrap();
        let names: Vec<_> = events.iter().map(|event| event.kind.name()).collect();
        assert_eq!(names, ["tele", "create", "move", "resize", "chat", "edit", "model"]);
        let edit = Kind::Edit { object: 41, position: 9, deleted: 0, inserted: "\n".to_owned() };
        assert_eq!(events[5], Event { time_ms: 6, sender: 12, kind: edit });
        let Kind::Model { objects } = &events[6].kind else { panic!("{:?}", events[6]) };
        assert_eq!((objects.len(), objects[1].to), (2, Point { x: 7, y: 8 }));
    }

    #[test]
    fn wrong_rows_are_named() {
        for row in [
            "",
            "x\t7\ttele\t1\t2",
            "1\t7\ttele\t1",
            "1\t7\ttele\t1\t2\t3",
            "1\t7\ttele\t1\t65536",
            "1\t7\tteleport\t1\t2",
            "1\t7\tcreate\t1\tsquare\tred\t1\t2",
            "1\t7\tedit\t1\t2\t0\t\\x",
            "1\t7\tmodel\t1,rect,red,1,2,3",
        ] {
            let error = read_events(&format!("1\t7\ttele\t1\t2\n{row}\n")).unwrap_err();
            assert!(matches!(error, Error::Row { line: 2, .. }), "{row}: {error}");
        }
    }

    proptest! {
        #[test]
        fn texts_survive_a_table(text: String) {
            let cell = escape(&text);
            prop_assert!(!cell.contains(['\n', '\t', '\r']));
            prop_assert_eq!(unescape(&cell), Ok(text));
        }

        #[test]
        fn no_text_makes_it_panic(text in "([0-9]{1,20}\t7\t(tele|model|edit|create)\t[0-9a-z,|\\\\\t]{0,30}\n?){0,4}") {
            let _ = read_events(&text);
        }
    }
}
