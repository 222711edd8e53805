//! The modules that can stand alone, with the files each needs.

use alloc::string::String;

use crate::File;
use crate::file::file;

/// The parameters, as Verilog macros: written from [`charon_model::params`], and compared with them by a test.
const PARAMETERS: File = file!("rtl/charon_params.vh");

const FIFO: File = file!("rtl/sync_fifo.v");
const BRAM: File = file!("rtl/charon_bram.v");
const ROWS: File = file!("rtl/row_memory.v");
const TIMES: File = file!("rtl/score_times.v");
const DRAIN: File = file!("rtl/score_drain.v");
const TRY: File = file!("rtl/score_try.v");
const LOOP: File = file!("rtl/score_loop.v");
const PIPE: File = file!("rtl/dip_reg_score_pipe.v");
const ALIAS: File = file!("rtl/alias_table.v");
const IP: File = file!("rtl/ip_table.v");
const EXTRACT: File = file!("rtl/server_id_extract.v");

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
    /// Two candidates for two hashes, in proportion to weights; three clocks.
    AliasTable,
    /// From an id to where its packets go; one clock.
    IpTable,
    /// The tick.
    TimestampGen,
    /// The id in an echoed timestamp; wires.
    ServerIdExtract,
    /// All tables of one address family: a packet's header in, its server out; one packet per clock, 14 clocks.
    Top,
}

impl Design {
    /// All of them.
    pub const ALL: [Self; 7] =
        [Self::Fsm, Self::Pipe, Self::AliasTable, Self::IpTable, Self::TimestampGen, Self::ServerIdExtract, Self::Top];

    /// The implementations of `dip_reg_score`.
    pub const SCORE: [Self; 2] = [Self::Fsm, Self::Pipe];

    /// The name of the top module.
    #[must_use]
    pub const fn top(self) -> &'static str {
        match self {
            Self::Fsm => "dip_reg_score_fsm",
            Self::Pipe => "dip_reg_score_pipe",
            Self::AliasTable => "alias_table",
            Self::IpTable => "ip_table",
            Self::TimestampGen => "timestamp_gen",
            Self::ServerIdExtract => "server_id_extract",
            Self::Top => "charon_top",
        }
    }

    /// The files, the macros first, and every module after those it uses.
    #[must_use]
    pub const fn files(self) -> &'static [File] {
        match self {
            Self::Fsm => &[PARAMETERS, FIFO, BRAM, file!("rtl/dip_reg_score_fsm.v")],
            Self::Pipe => &[PARAMETERS, BRAM, ROWS, TIMES, DRAIN, TRY, LOOP, PIPE],
            Self::AliasTable => &[PARAMETERS, BRAM, ALIAS],
            Self::IpTable => &[PARAMETERS, BRAM, IP],
            Self::Top => &[
                PARAMETERS,
                BRAM,
                ROWS,
                TIMES,
                DRAIN,
                TRY,
                LOOP,
                PIPE,
                ALIAS,
                IP,
                EXTRACT,
                file!("rtl/delay_line.v"),
                file!("rtl/charon_top.v"),
            ],
            Self::TimestampGen => &[PARAMETERS, file!("rtl/timestamp_gen.v")],
            Self::ServerIdExtract => &[PARAMETERS, EXTRACT],
        }
    }

    /// The netlist that Yosys made of the module with the paper's parameters (16 servers), in BTOR2.
    #[must_use]
    pub const fn netlist(self) -> File {
        match self {
            Self::Fsm => file!("netlist/dip_reg_score_fsm_16.btor2"),
            Self::Pipe => file!("netlist/dip_reg_score_pipe_16.btor2"),
            Self::AliasTable => file!("netlist/alias_table.btor2"),
            Self::IpTable => file!("netlist/ip_table.btor2"),
            Self::TimestampGen => file!("netlist/timestamp_gen.btor2"),
            Self::ServerIdExtract => file!("netlist/server_id_extract.btor2"),
            Self::Top => file!("netlist/charon_top.btor2"),
        }
    }

    /// The same with 256 servers, where there is one.
    #[must_use]
    pub const fn netlist_256(self) -> Option<File> {
        match self {
            Self::Fsm => Some(file!("netlist/dip_reg_score_fsm_256.btor2")),
            Self::Pipe => Some(file!("netlist/dip_reg_score_pipe_256.btor2")),
            _ => None,
        }
    }

    /// All files in one that includes nothing: some flows, P4-NetFPGA's among them, do not find what an extern's file
    /// needs beside itself.
    #[must_use]
    pub fn bundle(self) -> String {
        let lines = self.files().iter().flat_map(|file| file.text.lines());
        lines.filter(|line| !line.starts_with("`include")).flat_map(|line| [line, "\n"]).collect()
    }
}
