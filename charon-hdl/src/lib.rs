#![no_std]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![doc = include_str!("../README.md")]

extern crate alloc;

#[cfg(feature = "sim")]
pub mod btor2;
pub mod control;
mod design;
mod file;
mod macros;
#[cfg(feature = "sim")]
pub mod sim;
pub mod tuple;

pub use design::Design;
pub use file::File;
pub use macros::macros;

/// The version of the hardware: the crate's.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
