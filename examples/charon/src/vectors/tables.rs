//! The balancer of the vectors, and its tables as they are loaded.

use std::fmt::Write;
use std::net::IpAddr;

use charon_model::ip_table::IpTable;
use charon_model::pipeline::Pipeline;

/// Fourteen of sixteen servers: the others' ids are vacant. One is drained, one has IPv4 only, one IPv6 only.
pub const VACANT: [u8; 2] = [7, 13];
const DRAINED: u8 = 4;
const V4_ONLY: u8 = 2;
const V6_ONLY: u8 = 9;

/// The configuration file.
pub fn config() -> String {
    let mut text = String::from(HEAD);
    for id in (0..16u8).filter(|id| !VACANT.contains(id)) {
        let weight = if id == DRAINED { 0 } else { 1 + u32::from(id) % 5 };
        let _ = write!(text, "\n[[server]]\nid = {id}\nweight = {weight}\nport = {}\n", 1 + id % 3);
        let _ = writeln!(text, "mac = \"02:00:00:00:01:{id:02x}\"");
        if id != V6_ONLY {
            let _ = writeln!(text, "v4 = \"10.0.0.{}\"", 10 + id);
        }
        if id != V4_ONLY {
            let _ = writeln!(text, "v6 = \"fd00::{:x}\"", 16 + id);
        }
    }
    text
}

const HEAD: &str = r#"# Written with the vectors; do not edit.
servers = 16
id-bits = 4
mac = "02:00:00:00:00:fe"

[service]
v4 = "203.0.113.1"
v6 = "2001:db8::1"

[tunnel]
v4 = "203.0.113.2"
v6 = "2001:db8::2"

[uplink]
port = 0
mac = "02:00:00:00:00:01"
"#;

/// Every row of every table.
pub fn text(balancer: &Pipeline) -> String {
    let tables = balancer.tables();
    let mut text = String::from(
        "// alias CELL THRESHOLD ALIAS: below the threshold the cell's own server, else the alias\n\
         // ip4, ip6 ID ADDRESS MAC PORT: vacant ids are left out\n\
         // fallback4, fallback6 BUCKET ID: the bucket is the top of a flow's CRC-32\n",
    );
    for (at, cell) in tables.alias.current().map_or(&[][..], |table| table.cells()).iter().enumerate() {
        let _ = writeln!(text, "alias {at:02x} {:05x} {:02x}", cell.threshold, cell.alias);
    }
    for (name, family) in [("4", IpAddr::from([0u8; 4])), ("6", IpAddr::from([0u16; 8]))] {
        let table = tables.ip(family);
        for id in table.ids() {
            let Some(row) = table.get(id) else { continue };
            let _ = writeln!(text, "ip{name} {id:02x} {} {} {:04x}", bits(row.address), mac(row.mac), row.port);
        }
        for bucket in 0..IpTable::BUCKETS {
            let hash = bucket << (32 - IpTable::BUCKETS.ilog2());
            let _ = writeln!(text, "fallback{name} {bucket:03x} {:02x}", table.by_hash(hash).unwrap_or_default());
        }
    }
    text
}

/// 32 or 8 digits.
pub fn bits(address: IpAddr) -> String {
    match address {
        IpAddr::V4(address) => format!("{:08x}", address.to_bits()),
        IpAddr::V6(address) => format!("{:032x}", address.to_bits()),
    }
}

pub fn mac(mac: [u8; 6]) -> String {
    mac.iter().map(|byte| format!("{byte:02x}")).collect()
}
