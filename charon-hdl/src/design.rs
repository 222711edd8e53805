//! The modules that can stand alone, with the files each needs.

use alloc::string::String;

use crate::File;
use crate::file::file;

/// The parameters, as Verilog macros: written from [`charon_model::params`], and compared with them by a test.
const PARAMETERS: File = file!("rtl/charon_params.vh");

const FIFO: File = file!("rtl/sync_fifo.v");
const BRAM: File = file!("rtl/charon_bram.v");
const ROWS: File = file!("rtl/row_memory.v");

/// A module with all it needs.
///
/// ```
/// use charon_hdl::Design;
/// for design in Design::ALL {
///     for file in design.files() {
///         // Hand `file.text` to the build under the name `file.name()`.
///         assert_ne!(file.digest(), [0; 32]);
///     }
///     assert!(design.bundle().contains(design.top()));
/// }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Design {
    /// `dip_reg_score` as the paper has it: a FIFO and a state machine; drops requests above its rate.
    Fsm,
    /// `dip_reg_score`, one operation per clock, nine clocks of latency.
    Pipe,
}

impl Design {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Fsm, Self::Pipe];

    /// The name of the top module.
    #[must_use]
    pub const fn top(self) -> &'static str {
        match self {
            Self::Fsm => "dip_reg_score_fsm",
            Self::Pipe => "dip_reg_score_pipe",
        }
    }

    /// The files, the macros first, and every module after those it uses.
    #[must_use]
    pub const fn files(self) -> &'static [File] {
        match self {
            Self::Fsm => &[PARAMETERS, FIFO, BRAM, file!("rtl/dip_reg_score_fsm.v")],
            Self::Pipe => &[
                PARAMETERS,
                BRAM,
                ROWS,
                file!("rtl/score_times.v"),
                file!("rtl/score_drain.v"),
                file!("rtl/score_try.v"),
                file!("rtl/score_loop.v"),
                file!("rtl/dip_reg_score_pipe.v"),
            ],
        }
    }

    /// The netlist that Yosys made of the module with 16 servers, in BTOR2.
    #[must_use]
    pub const fn netlist(self) -> File {
        match self {
            Self::Fsm => file!("netlist/dip_reg_score_fsm_16.btor2"),
            Self::Pipe => file!("netlist/dip_reg_score_pipe_16.btor2"),
        }
    }

    /// The same with 256 servers.
    #[must_use]
    pub const fn netlist_256(self) -> File {
        match self {
            Self::Fsm => file!("netlist/dip_reg_score_fsm_256.btor2"),
            Self::Pipe => file!("netlist/dip_reg_score_pipe_256.btor2"),
        }
    }

    /// All files in one that includes nothing: some flows, P4-NetFPGA's among them, do not find what an extern's file
    /// needs beside itself.
    #[must_use]
    pub fn bundle(self) -> String {
        joined(self.files())
    }
}

/// Files in one, without what they include.
pub(crate) fn joined(files: &[File]) -> String {
    let lines = files.iter().flat_map(|file| file.text.lines());
    lines.filter(|line| !line.starts_with("`include")).flat_map(|line| [line, "\n"]).collect()
}
