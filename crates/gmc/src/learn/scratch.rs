//! The result of learning, and its buffers.

use alloc::vec::Vec;
use core::ops::Range;

use super::align;
use super::grammar;
use crate::binary::shape::Shape;
use crate::template::Template;
use crate::token::Token;

/// A new template.
pub(crate) struct Learned {
    pub(crate) template: Template,
    /// Whether the template replaces the one that it was made from.
    pub(crate) replaces_base: bool,
}

/// Buffers that are used again for each message.
#[derive(Default)]
pub(crate) struct Scratch {
    pub(crate) spans: Vec<Range<usize>>,
    pub(crate) tokens: Vec<Token>,
    pub(crate) base: Vec<align::Item>,
    pub(crate) binary_tokens: Vec<grammar::Token>,
    pub(crate) binary_base: Vec<grammar::Token>,
    /// Index and new shape of each hole whose shape the present message changes.
    pub(crate) shapes: Vec<(usize, Shape)>,
}
