//! Charts: lines over a number, or bars beside names, as SVG that a page colours.
//!
//! Colours, dashes and fonts are classes of the page's style sheet ([`super::page`]), so that one drawing serves light
//! and dark. Every mark carries what it says in its `title` and, for the page's script, in `data-` attributes.

mod axis;
mod bars;
mod lines;
mod numbers;
#[cfg(test)]
mod tests;

pub(super) use axis::Axis;

use super::table::Table;
use super::text;

/// Of every chart, in the units of its view box.
const WIDTH: f64 = 420.0;

/// A chart. `x` of bars are the names beside them; its label says what they name.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Chart {
    /// What is shown, in a few words.
    pub(super) title: String,
    /// What to know about it, in a sentence or two; may be empty.
    pub(super) caption: String,
    /// Lines: to the right. Bars: what their names are.
    pub(super) x: Axis,
    /// The values.
    pub(super) y: Axis,
    /// How values are drawn.
    pub(super) marks: Marks,
    /// In the order of the legend. What stands out is drawn on top, then what comes first.
    pub(super) series: Vec<Series>,
    /// A value that others are held against, such as the rate of the link.
    pub(super) level: Option<Level>,
}

/// How values are drawn.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Marks {
    /// A marker for each point, and lines between those of a series. Scales are for what is shown at first; what lies
    /// beyond them is among the numbers only.
    Lines,
    /// A marker for each point. Only what is drawn thick has lines, too: what goes through the points.
    Points,
    /// A bar for each point, to the right, beside the name that its `x` is the index of: 0 is the first.
    /// On a logarithmic scale, where lengths say nothing, a marker instead.
    Bars(Vec<Name>),
}

/// A name beside bars.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Name {
    /// As it is shown.
    pub(super) name: String,
    /// Whether its bars stand out, if there is one series only.
    pub(super) strong: bool,
}

/// Points that belong together.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Series {
    /// As the legend shows it.
    pub(super) name: String,
    /// How it looks.
    pub(super) look: Look,
    /// Whether it is shown before anybody asks for it.
    pub(super) shown: bool,
    /// `x` and `y`. What is not finite, or not positive on a logarithmic scale, is a gap.
    pub(super) points: Vec<(f64, f64)>,
}

/// How a series looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Look {
    /// Which colour.
    pub(super) colour: Colour,
    /// Which of the [`MARKERS`], and which dash.
    pub(super) variant: u8,
}

/// The colours of the page's style sheet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Colour {
    /// What the page is about: drawn thick, and named at its end.
    Accent,
    /// What everything is compared with: likewise, in the colour of the text.
    Reference,
    /// One of seven that are told apart by the colour-blind, too; higher numbers begin again.
    Number(u8),
    /// One of four steps from light to dark, for values that have an order.
    Step(u8),
}

/// A value that others are held against.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Level {
    /// What it is.
    pub(super) name: String,
    /// Where it is.
    pub(super) value: f64,
}

/// Markers around 0 0: a disc, a square, a triangle, a diamond, a triangle on its head.
const MARKERS: [&str; 5] = [
    "M-3.5 0a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0 -7 0z",
    "M-3.2 -3.2h6.4v6.4h-6.4z",
    "M0 -4.2L4 3H-4z",
    "M0 -4.6L4.6 0L0 4.6L-4.6 0z",
    "M0 4.2L4 -3H-4z",
];

impl Look {
    /// Of what the page is about.
    pub(super) const ACCENT: Look = Look { colour: Colour::Accent, variant: 0 };
    /// Of what everything is compared with.
    pub(super) const REFERENCE: Look = Look { colour: Colour::Reference, variant: 1 };

    /// The look of the n-th of many series: another colour each, then other markers.
    pub(super) fn number(number: usize) -> Look {
        let (colour, round) = ((number % 7) as u8, (number / 7) as u8);
        Look { colour: Colour::Number(colour), variant: colour.wrapping_add(round) }
    }

    /// The look of the n-th of a few values that have an order.
    pub(super) fn step(number: usize) -> Look {
        Look { colour: Colour::Step(number.min(3) as u8), variant: number as u8 }
    }

    /// Whether it is drawn thick, and named at its end.
    fn is_strong(self) -> bool {
        matches!(self.colour, Colour::Accent | Colour::Reference)
    }

    fn marker(self) -> &'static str {
        MARKERS[usize::from(self.variant) % MARKERS.len()]
    }

    /// The classes that the style sheet knows.
    fn classes(self) -> String {
        let dash = self.variant % 3;
        match self.colour {
            Colour::Accent => "accent strong".to_owned(),
            Colour::Reference => "reference strong".to_owned(),
            Colour::Number(number) => format!("c{} d{dash}", number % 7),
            Colour::Step(number) => format!("q{}", number % 4),
        }
    }
}

impl Chart {
    /// The drawing. `id` must be unique in the page.
    pub(super) fn svg(&self, id: &str) -> String {
        let drawing = match &self.marks {
            Marks::Lines | Marks::Points => lines::draw(self),
            Marks::Bars(names) => bars::draw(self, names),
        };
        let (title, caption) = (text::escape(&self.title), text::escape(&self.caption));
        let id = text::escape(id);
        format!(
            "<svg viewBox=\"0 0 {WIDTH} {}\" role=\"img\" aria-labelledby=\"{id}-t {id}-d\" \
             xmlns=\"http://www.w3.org/2000/svg\">\n<title id=\"{id}-t\">{title}</title>\n\
             <desc id=\"{id}-d\">{caption}</desc>\n{}</svg>\n",
            drawing.height, drawing.marks
        )
    }

    /// The numbers in it.
    pub(super) fn numbers(&self) -> Table {
        numbers::table(self)
    }

    /// Begins a series' group.
    fn open(&self, series: &Series) -> String {
        let hidden = if series.shown { "" } else { " off" };
        let name = text::escape(&series.name);
        format!("<g class=\"series {}{hidden}\" data-name=\"{name}\">\n", series.look.classes())
    }

    /// What a mark says when asked: attributes, and the title within it.
    fn says(
        &self,
        series: &Series,
        (at, value): (&str, f64),
        (x, y): (f64, f64),
    ) -> (String, String) {
        let value = self.y.told(value);
        let (at, said) = (text::escape(at), text::escape(&value));
        let attributes = format!("data-p=\"{x:.1} {y:.1}\" data-x=\"{at}\" data-y=\"{said}\"");
        let title = format!("<title>{}, {at}: {said}</title>", text::escape(&series.name));
        (attributes, title)
    }
}

impl Series {
    /// A small picture of how it looks, for a legend.
    pub(super) fn key(&self, marks: &Marks) -> String {
        let shape = match marks {
            Marks::Points if !self.look.is_strong() => {
                format!("<path transform=\"translate(13 6)\" d=\"{}\"/>", self.look.marker())
            }
            Marks::Lines | Marks::Points => {
                format!(
                    "<path class=\"line\" d=\"M1 6H25\"/><path transform=\"translate(13 6)\" d=\"{}\"/>",
                    self.look.marker()
                )
            }
            Marks::Bars(_) => "<rect x=\"7\" width=\"12\" height=\"12\" rx=\"2\"/>".to_owned(),
        };
        format!(
            "<svg class=\"key series {}\" viewBox=\"0 0 26 12\" aria-hidden=\"true\">{shape}</svg>",
            self.look.classes()
        )
    }
}

/// What is within an SVG, and how high it has become.
struct Drawing {
    height: f64,
    marks: String,
}

impl Drawing {
    /// Of a chart without any value.
    fn empty() -> Self {
        let marks =
            format!("<text class=\"none\" x=\"{}\" y=\"44\">no values</text>\n", WIDTH / 2.0);
        Drawing { height: 80.0, marks }
    }
}
