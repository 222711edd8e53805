#![no_std]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![doc = include_str!("../README.md")]

extern crate alloc;

pub mod agent;
pub mod alias;
pub mod control;
pub mod dip_reg_score;
pub mod feedback;
pub mod hash;
pub mod ip_table;
pub mod params;
pub mod score;
pub mod select;
