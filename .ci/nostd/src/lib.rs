//! Every library, without std: what the program links, and what a target without std compiles.
#![no_std]

use charon_hdl as _;
use charon_model as _;
use flamingo_core as _;
use flamingo_sched as _;
use saer as _;
