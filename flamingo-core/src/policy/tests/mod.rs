//! What every policy promises, and each rule of Algorithm 1 and each of its options, on and off.

mod contract;
mod reference;
mod roles;
mod shrinkage;
mod target;
