/// Why bytes are not an update or a state vector that Yjs would write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The input ends within a value.
    #[error("it ends too early, at byte {at}")]
    TooShort {
        /// Where more bytes were expected.
        at: usize,
    },
    /// Bytes follow after its end.
    #[error("bytes follow after its end, at byte {at}")]
    TooLong {
        /// The offset of the first byte that is left over.
        at: usize,
    },
    /// It has more bytes than this crate takes.
    #[error("it has {bytes} bytes, at most {limit} are allowed")]
    TooLarge {
        /// Its size.
        bytes: usize,
        /// [`MAX_UPDATE`](crate::MAX_UPDATE).
        limit: usize,
    },
    /// A number has more than 53 bits.
    #[error("a number has more than 53 bits, at byte {at}")]
    TooBig {
        /// Where the number begins.
        at: usize,
    },
    /// A value is nested too deeply.
    #[error("a value is nested more than {limit} deep, at byte {at}")]
    TooDeep {
        /// Where the value begins.
        at: usize,
        /// [`MAX_DEPTH`](crate::MAX_DEPTH).
        limit: usize,
    },
    /// A part has a form that Yjs does not write.
    #[error("{what} is malformed, at byte {at}")]
    Malformed {
        /// The name of the part.
        what: &'static str,
        /// The offset at which it begins.
        at: usize,
    },
}
