//! The modules that can stand alone, with the files each needs.

use alloc::string::String;

use charon_model::params::Params;

use crate::file::file;
use crate::{File, macros};

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
const FSM: File = file!("rtl/dip_reg_score_fsm.v");
const COLUMNS: File = file!("rtl/crc32_columns.v");
const HASH: File = file!("rtl/flow_hash.v");
const ALIAS: File = file!("rtl/alias_table.v");
const IP: File = file!("rtl/ip_table.v");
const TIME: File = file!("rtl/timestamp_gen.v");
const ID: File = file!("rtl/server_id_extract.v");
const BUS: File = file!("rtl/axi_lite_slave.v");
const WORDS: File = file!("rtl/strobed_words.v");
const CONTROL: File = file!("rtl/control_port.v");

/// A module with all it needs.
///
/// ```
/// use charon_hdl::Design;
/// for design in Design::ALL {
///     for file in design.files().iter().chain(design.netlists()) {
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
    /// `alias_table`: from a flow to its two candidates, five clocks.
    AliasTable,
    /// `ip_table`: from a server's id to where it is, and the fallback, of one address family; a clock each.
    IpTable,
    /// `timestamp_gen`: the time in ticks.
    TimestampGen,
    /// `server_id_extract`: the server's id in a TCP timestamp; combinational.
    ServerIdExtract,
    /// `control_port`: the registers of all of these, on AXI4-Lite.
    ControlPort,
    /// `charon_top`: the balancer from parsed fields to a decision, 18 clocks; with either Score Table.
    Top,
}

impl Design {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::Fsm,
        Self::Pipe,
        Self::AliasTable,
        Self::IpTable,
        Self::TimestampGen,
        Self::ServerIdExtract,
        Self::ControlPort,
        Self::Top,
    ];

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
            Self::ControlPort => "control_port",
            Self::Top => "charon_top",
        }
    }

    /// The files, the macros first, and every module after those it uses.
    #[must_use]
    pub const fn files(self) -> &'static [File] {
        match self {
            Self::Fsm => &[PARAMETERS, FIFO, BRAM, FSM],
            Self::Pipe => &[PARAMETERS, BRAM, ROWS, TIMES, DRAIN, TRY, LOOP, PIPE],
            Self::AliasTable => &[PARAMETERS, BRAM, COLUMNS, HASH, ALIAS],
            Self::IpTable => &[PARAMETERS, BRAM, IP],
            Self::TimestampGen => &[PARAMETERS, TIME],
            Self::ServerIdExtract => &[PARAMETERS, ID],
            Self::ControlPort => &[PARAMETERS, BUS, WORDS, CONTROL],
            Self::Top => &[
                PARAMETERS,
                BRAM,
                FIFO,
                ROWS,
                TIMES,
                DRAIN,
                TRY,
                LOOP,
                PIPE,
                FSM,
                COLUMNS,
                HASH,
                ALIAS,
                IP,
                TIME,
                ID,
                BUS,
                WORDS,
                CONTROL,
                file!("rtl/charon_top.v"),
            ],
        }
    }

    /// The netlists that Yosys made of it, in BTOR2, the one of the default parameters (16 servers) first; each says its
    /// parameters in its first line.
    #[must_use]
    pub const fn netlists(self) -> &'static [File] {
        match self {
            Self::Fsm => &[file!("netlist/dip_reg_score_fsm_16.btor2"), file!("netlist/dip_reg_score_fsm_256.btor2")],
            Self::Pipe => {
                &[file!("netlist/dip_reg_score_pipe_16.btor2"), file!("netlist/dip_reg_score_pipe_256.btor2")]
            }
            Self::AliasTable => &[file!("netlist/alias_table_16.btor2"), file!("netlist/alias_table_100.btor2")],
            Self::IpTable => &[
                file!("netlist/ip_table_v4_16.btor2"),
                file!("netlist/ip_table_v6_16.btor2"),
                file!("netlist/ip_table_v4_2.btor2"),
                file!("netlist/ip_table_v4_3.btor2"),
                file!("netlist/ip_table_v6_256.btor2"),
            ],
            Self::TimestampGen => &[file!("netlist/timestamp_gen.btor2")],
            Self::ServerIdExtract => {
                &[file!("netlist/server_id_extract_4.btor2"), file!("netlist/server_id_extract_8.btor2")]
            }
            Self::ControlPort => &[
                file!("netlist/control_port_16.btor2"),
                file!("netlist/control_port_2.btor2"),
                file!("netlist/control_port_3.btor2"),
                file!("netlist/control_port_256.btor2"),
            ],
            Self::Top => &[
                file!("netlist/charon_top_16.btor2"),
                file!("netlist/charon_top_fsm_16.btor2"),
                file!("netlist/charon_top_2.btor2"),
                file!("netlist/charon_top_3.btor2"),
                file!("netlist/charon_top_256.btor2"),
            ],
        }
    }

    /// The first of [`netlists`](Self::netlists): that of the default parameters.
    #[must_use]
    pub const fn netlist(self) -> File {
        self.netlists()[0]
    }

    /// All files in one that includes nothing: some flows, P4-NetFPGA's among them, do not find what an extern's file
    /// needs beside itself.
    #[must_use]
    pub fn bundle(self) -> String {
        self.bundle_under(PARAMETERS.text)
    }

    /// The same with the defaults of other parameters, for flows that instantiate a module without setting any. Parameters
    /// that the module is not made for stop its elaboration; see [`macros`].
    ///
    /// ```
    /// use charon_hdl::Design;
    /// use charon_model::params::{Params, RawParams};
    /// let params = Params::new(RawParams::largest()).unwrap();
    /// assert!(Design::Pipe.bundle_for(&params).contains("`define CHARON_SERVERS 256"));
    /// ```
    #[must_use]
    pub fn bundle_for(self, params: &Params) -> String {
        self.bundle_under(&macros(params))
    }

    /// All files in one, the first of them, which holds the macros, replaced.
    fn bundle_under(self, header: &str) -> String {
        let modules = self.files()[1..].iter().map(|file| file.text);
        let lines = core::iter::once(header).chain(modules).flat_map(str::lines);
        lines.filter(|line| !line.starts_with("`include")).flat_map(|line| [line, "\n"]).collect()
    }
}
