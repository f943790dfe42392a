//! Epochs: versions of the model that both ends are known to have, for links that lose packets.
//!
//! Packets are numbered from 1. The decoder acknowledges which packets it has. Each acknowledged
//! packet is an *epoch*: the model that has learned this packet and the acknowledged ones before
//! it, in the order of their numbers. An acknowledgement is a promise to learn these packets and no
//! others. The encoder learns what is acknowledged, codes its next packets under the newest epoch,
//! and names the epoch in each packet. The decoder learns up to an epoch when the epoch is named
//! for the first time, and can go back a few epochs for packets that come late. The empty model is
//! an epoch too, named after the packet before the first.
//!
//! ```text
//! packet          = coded [check] | plain [check]
//! coded           = the bytes of a range coder, the first of which is 16 or more:
//!                   name, reserved, distance, usual [learns, control], messages
//! name            = the low five bits of the acknowledgement's index, to a single decoder
//!                 | the low sixteen bits of the epoch's packet number, to many decoders
//!                 | for the empty model, the low sixteen bits of the number before its first packet
//! reserved        = only after the name of the empty model: a bit that is not set
//! distance        = the packet's number minus the epoch's, minus one
//! usual           = whether the packet is learned and there is no control part
//! learns          = whether the packet will be learned when it is acknowledged
//! control         = whether the model, having learned the packet, is compacted; and two reserved bits,
//!                   which are not set
//! plain           = form number [base] [codec] bytes
//! form            = one byte: an even number, one more if there are several messages
//!                   0, 2, 4: codec 0, 1, 2; 6, 8, 10: the same, under the first, empty model;
//!                   12: under an empty model that learns the packets after base, the codec follows;
//!                   14: the packet is not learned, the codec follows
//! base            = the low sixteen bits of a packet's number
//! codec           = the codec's number
//! number          = the low eight bits of the packet's number
//!
//! acknowledgement = 0                                    the decoder knows nothing: start anew
//!                 | index top seal distance run*
//! index           = the low eight bits of the acknowledgement's index: acknowledgements are counted
//! top             = the low sixteen bits of the newest packet that is promised
//! seal            = sixteen bits of a hash of index, top and everything that is learned up to the top
//! distance        = the number of packets from the newest named epoch to the top, a varint
//! run             = how many packets after that epoch arrived, were lost, arrived, ..., a varint each;
//!                   the last run ends at the top and is left out
//! ```

pub(crate) mod acknowledgement;
pub(crate) mod chain;
pub(crate) mod header;
pub(crate) mod position;
pub(crate) mod received;
mod seen;
pub(crate) mod sent;
