#![no_std]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![doc = include_str!("../README.md")]

#[cfg(any(test, feature = "test-util"))]
extern crate alloc;

#[cfg(feature = "test-util")]
pub mod frame;
pub mod gre;
pub mod packet;
pub mod timestamp;

use saer as _;
