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
}

impl Part {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::AliasTable, Self::IpTable, Self::TimestampGen, Self::ServerIdExtract];

    /// The name of the top module.
    #[must_use]
    pub const fn top(self) -> &'static str {
        match self {
            Self::AliasTable => "alias_table",
            Self::IpTable => "ip_table",
            Self::TimestampGen => "timestamp_gen",
            Self::ServerIdExtract => "server_id_extract",
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
        }
    }

    /// All files in one that includes nothing, as [`Design::bundle`](crate::Design::bundle).
    #[must_use]
    pub fn bundle(self) -> String {
        joined(self.files())
    }
}
