//! The result of learning a template (a message with holes, the places where other messages
//! differ), and buffers for it.

use alloc::vec::Vec;
use core::ops::Range;

use super::align;
use super::grammar;
use super::parts::Token;
use crate::template::Template;

/// A template that was made of a message.
pub(crate) struct Learned {
    pub(crate) template: Template,
    /// Whether the template replaces the base, the known template with which the message was
    /// compared.
    pub(crate) replaces_base: bool,
}

/// Buffers that are reused for each message.
#[derive(Default)]
pub(crate) struct Scratch {
    pub(crate) spans: Vec<Range<usize>>,
    pub(crate) tokens: Vec<Token>,
    pub(crate) base: Vec<align::Item>,
    pub(crate) binary_tokens: Vec<grammar::Token>,
    pub(crate) binary_base: Vec<grammar::Token>,
}
