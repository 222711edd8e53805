#![no_std]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![doc = include_str!("../README.md")]

extern crate alloc;

pub mod agent;
pub mod alias;
pub mod control;
pub mod dip_reg_score;
pub mod feedback;
#[cfg(feature = "test-util")]
pub mod frame;
pub mod gre;
pub mod hash;
pub mod ip_table;
pub mod packet;
pub mod params;
pub mod pipeline;
pub mod score;
pub mod select;
#[cfg(feature = "test-util")]
pub mod simulate;
pub mod timestamp;
