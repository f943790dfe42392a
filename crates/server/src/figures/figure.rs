//! Figures of the server: each is declared once, and is in the answers to both `GET /status` and
//! `GET /metrics`.

/// One figure.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Figure {
    pub(crate) kind: Kind,
    /// The name in `/status`.
    pub(crate) name: &'static str,
    /// The family of figures in `/metrics` that this one is part of, and its label there; `None`:
    /// it is a family of its own.
    pub(crate) part: Option<Part>,
    /// One sentence that says what it is.
    pub(crate) help: &'static str,
    /// `None` if the system does not report it.
    pub(crate) value: Option<f64>,
}

/// How a figure changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Counts from the start of the server on.
    Counter,
    /// Goes up and down.
    Gauge,
}

/// The place of a figure in a family whose figures differ by a label.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Part {
    pub(crate) family: &'static str,
    pub(crate) label: (&'static str, &'static str),
}

/// A number that a figure can be.
pub(crate) trait Number: Copy {
    fn number(self) -> Option<f64>;
}

impl Number for f64 {
    fn number(self) -> Option<f64> {
        Some(self)
    }
}

impl Number for i64 {
    fn number(self) -> Option<f64> {
        Some(self as f64)
    }
}

impl Number for u64 {
    fn number(self) -> Option<f64> {
        Some(self as f64)
    }
}

impl Number for usize {
    fn number(self) -> Option<f64> {
        Some(self as f64)
    }
}

impl<N: Number> Number for Option<N> {
    fn number(self) -> Option<f64> {
        self.and_then(N::number)
    }
}

/// Declares a struct of figures, which `/status` serializes and `/metrics` reads with the method
/// `figures`. For each: its comment, its kind, the field, the name in `/status`, the type and, for
/// a part of a family, family and label.
macro_rules! figures {
    (
        $(#[$attribute:meta])*
        struct $Name:ident {
            $(
                $(#[doc = $help:literal])+
                $kind:ident $field:ident as $name:literal: $type:ty
                $(, part of $family:literal with $label:ident = $value:literal)?;
            )*
        }
    ) => {
        $(#[$attribute])*
        #[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
        pub(crate) struct $Name {
            $($(#[doc = $help])+ #[serde(rename = $name)] pub(crate) $field: $type,)*
        }

        impl $Name {
            pub(crate) fn figures(&self) -> Vec<$crate::figures::figure::Figure> {
                use $crate::figures::figure::{Figure, Kind, Number};
                vec![$(Figure {
                    kind: Kind::$kind,
                    name: $name,
                    part: figures!(@part $($family, $label, $value)?),
                    help: concat!($($help),+),
                    value: self.$field.number(),
                }),*]
            }
        }
    };
    (@part) => { None };
    (@part $family:literal, $label:ident, $value:literal) => {
        Some($crate::figures::figure::Part { family: $family, label: (stringify!($label), $value) })
    };
}

pub(crate) use figures;
