#![no_std]
//! Deterministic, order-preserving execution scheduling with data fusion.

extern crate alloc;
