//! The experiment `afec`: what schemes against loss achieve and cost.

pub mod real;
