//! The format of the packets of [`Endpoint::transmit`](crate::Endpoint::transmit), whose messages
//! the caller does not code.
//!
//! ```text
//! packet   = flags number(2) sent(2) [held] [report] message*
//! flags    = version(2 bits, 01) report(1) ask(1) held(1) echo(3)
//! message  = channel*4+repeated*2+keyed index(2) age [key back] length bytes
//! report   = number*16+sections(1) highest(2) hold [losses(6)] [rate] [count channel*]
//! channel  = channel*4+kind  kind 0, request: first(2) more    1, balance: quarters(1)    2, ignored: (1)
//! ```
//!
//! A number in brackets is a size in bytes, big-endian; a field without one is a variable-length
//! integer (LEB128, at most five bytes). All times are in ms.
//!
//! - *number*: of the packet. *sent*: the sender's clock when it sent the packet.
//! - *echo*: the number of the newest report that the sender of this packet has received. *held*:
//!   how long ago that report came; only the first packets after the report have it.
//! - *age*: of the message. *back*: how many messages earlier in its channel the message's key was
//!   last used, 0 for never.
//! - *highest*: the highest packet number that came. *hold*: how long ago that packet came.
//! - *first*: a missing message. *more*: one bit for each of the messages after it that is missing,
//!   too.
//! - *quarters*: how many messages more were missed than the target permits, times four.

mod packet;
mod reader;
mod report;
mod short_header;

pub(crate) use packet::{
    Header, MessageHead, Messages, mark_report, message_len, write_header, write_message,
};
pub use reader::PacketError;
pub(crate) use reader::{Reader, varint_len, write_varint};
pub(crate) use report::{ChannelReport, Report, ReportReader};
pub(crate) use short_header::{read_short_header, write_short_header};

/// The bytes of a header without *held*.
pub(crate) const HEADER: usize = 5;
