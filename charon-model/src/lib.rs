#![no_std]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![doc = include_str!("../README.md")]

#[cfg(test)]
extern crate alloc;

pub mod gre;
pub mod timestamp;

use saer as _;
