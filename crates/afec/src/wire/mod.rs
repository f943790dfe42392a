//! The packets of an [`Endpoint`](crate::Endpoint) that stands alone.
//!
//! ```text
//! packet   = flags number(2) sent(2) [held] [report] message*
//! flags    = version(2 bits, 01) report(1) ask(1) held(1) echo(3)
//! message  = channel*4+repeated*2+keyed index(2) age [key back] length bytes
//! report   = number*16+sections(1) highest(2) hold [losses(6)] [rate] [count channel*]
//! channel  = channel*4+kind  kind 0, asks: first(2) more    1, standing: debt(1)    2, step: steps(1)
//! ```
//!
//! Numbers in brackets are bytes, big-endian; what has none is a variable-length integer (LEB128, at most five bytes).
//! *number*: of the packet; *sent*: the sender's clock; *age* and *hold*: how old a message is, how long ago the packet
//! *highest* came; times in ms. *echo*: the number of the newest report that the sender of this packet knows; *held*: how
//! long ago it came, in the first packets after it. *back*:
//! how many messages of the channel ago the previous one of this key was, 0 if there was none. *more*: a bit for each
//! of the next messages after *first*.

mod front;
mod packet;
mod reader;
mod report;

pub(crate) use front::{read_front, write_front};
pub(crate) use packet::{
    ECHO, Header, MessageHead, Messages, mark_report, message_len, write_header, write_message,
};
pub use reader::PacketError;
pub(crate) use reader::{Reader, varint_len, write_varint};
pub(crate) use report::{ChannelReport, Report, ReportReader};

/// The bytes before reports and messages, as a rule.
pub(crate) const HEADER: usize = 5;
