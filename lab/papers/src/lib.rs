//! The algorithms of the papers that Groupwire is based on, as they were published: baselines for
//! experiments, which no product uses.

extern crate alloc;

pub mod ace2005;
pub mod afec2012;
pub mod gmc2006;
pub mod lmc2013;
