//! Series of values: what one sender puts into one hole.

/// Where a value is: the hole's name and the sender of the message.
#[derive(Clone, Copy)]
pub(crate) struct Whose {
    pub(crate) label: u32,
    pub(crate) sender: u32,
}
