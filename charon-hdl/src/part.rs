//! What stands around the Score Table, with the files each module needs.

use alloc::string::String;

use crate::File;
use crate::design::joined;
use crate::file::file;

const PARAMETERS: File = file!("rtl/charon_params.vh");
const BRAM: File = file!("rtl/charon_bram.v");
const COLUMNS: File = file!("rtl/crc32_columns.v");
const HASH: File = file!("rtl/flow_hash.v");
const ALIAS: File = file!("rtl/alias_table.v");
const IP: File = file!("rtl/ip_table.v");
const TIME: File = file!("rtl/timestamp_gen.v");
const ID: File = file!("rtl/server_id_extract.v");
const BUS: File = file!("rtl/axi_lite_slave.v");
const WORDS: File = file!("rtl/strobed_words.v");
const CONTROL: File = file!("rtl/control_port.v");

/// A module around the Score Table with all it needs. The Score Table itself is a [`Design`](crate::Design).
///
/// ```
/// use charon_hdl::Part;
/// for part in Part::ALL {
///     for file in part.files().iter().chain(part.netlists()) {
///         println!("{} {:02x?}", file.path, file.digest());
///     }
///     assert!(part.bundle().contains(part.top()));
/// }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Part {
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

impl Part {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::AliasTable, Self::IpTable, Self::TimestampGen, Self::ServerIdExtract, Self::ControlPort, Self::Top];

    /// The name of the top module.
    #[must_use]
    pub const fn top(self) -> &'static str {
        match self {
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
            Self::AliasTable => &[PARAMETERS, BRAM, COLUMNS, HASH, ALIAS],
            Self::IpTable => &[PARAMETERS, BRAM, IP],
            Self::TimestampGen => &[PARAMETERS, TIME],
            Self::ServerIdExtract => &[PARAMETERS, ID],
            Self::ControlPort => &[PARAMETERS, BUS, WORDS, CONTROL],
            Self::Top => &[
                PARAMETERS,
                BRAM,
                file!("rtl/sync_fifo.v"),
                file!("rtl/row_memory.v"),
                file!("rtl/score_times.v"),
                file!("rtl/score_drain.v"),
                file!("rtl/score_try.v"),
                file!("rtl/score_loop.v"),
                file!("rtl/dip_reg_score_pipe.v"),
                file!("rtl/dip_reg_score_fsm.v"),
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

    /// The netlists that Yosys made of it, in BTOR2, the one of the default parameters first; each says its parameters in
    /// its first line.
    #[must_use]
    pub const fn netlists(self) -> &'static [File] {
        match self {
            Self::AliasTable => &[file!("netlist/alias_table_16.btor2"), file!("netlist/alias_table_100.btor2")],
            Self::IpTable => &[file!("netlist/ip_table_v4_16.btor2"), file!("netlist/ip_table_v6_16.btor2")],
            Self::TimestampGen => &[file!("netlist/timestamp_gen.btor2")],
            Self::ServerIdExtract => {
                &[file!("netlist/server_id_extract_4.btor2"), file!("netlist/server_id_extract_8.btor2")]
            }
            Self::ControlPort => &[file!("netlist/control_port_16.btor2")],
            Self::Top => &[file!("netlist/charon_top_16.btor2"), file!("netlist/charon_top_fsm_16.btor2")],
        }
    }

    /// All files in one that includes nothing, as [`Design::bundle`](crate::Design::bundle).
    #[must_use]
    pub fn bundle(self) -> String {
        joined(self.files())
    }
}
