//! `ip_table` against the model's.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use charon_hdl::Design;
use charon_hdl::btor2::Netlist;
use charon_model::ip_table::{IpTable, Row};
use charon_model::params::{Params, RawParams};

use super::dut::{Draw, Dut, Verdict, netlist, same};

fn bits(address: IpAddr) -> u128 {
    match address {
        IpAddr::V4(address) => address.to_bits().into(),
        IpAddr::V6(address) => address.to_bits(),
    }
}

/// Brings a bank from one table to another: the rows and the buckets that differ; all of them if there was none.
fn write(dut: &mut Dut<'_>, bank: bool, servers: u16, before: Option<&IpTable>, after: &IpTable) {
    for id in (0..servers).map(|id| id as u8) {
        if before.is_none_or(|before| before.get(id) != after.get(id)) {
            let row = after.get(id).copied();
            let Row { address, mac, port } =
                row.unwrap_or_else(|| Row { address: Ipv4Addr::UNSPECIFIED.into(), mac: [0; 6], port: 0 });
            let mac = mac.iter().fold(0, |bits, byte| bits << 8 | u128::from(*byte));
            dut.write(&[
                ("we_row_i", 1),
                ("wbank_i", bank.into()),
                ("wid_i", id.into()),
                ("wpresent_i", row.is_some().into()),
                ("waddress_i", bits(address)),
                ("wmac_i", mac),
                ("wport_i", port.into()),
                ("wbucket_i", id.into()),
                ("wbucket_id_i", 99),
            ]);
        }
    }
    for bucket in 0..IpTable::BUCKETS {
        let id = |table: &IpTable| table.by_hash(bucket << 20);
        if before.is_none_or(|before| id(before) != id(after)) {
            dut.write(&[
                ("we_bucket_i", 1),
                ("wbank_i", bank.into()),
                ("wbucket_i", bucket.into()),
                ("wbucket_id_i", id(after).unwrap_or(0).into()),
                // What belongs to rows, which are not written.
                ("wid_i", (bucket % u32::from(servers)).into()),
                ("wpresent_i", (bucket / u32::from(servers) % 2).into()),
            ]);
        }
    }
}

/// All five look-ups at once, each of a bank of its own.
fn look_up(dut: &mut Dut<'_>, draw: &mut Draw, servers: u16, tables: [&IpTable; 2]) -> Verdict {
    let bank = |draw: &mut Draw| draw.below(2) as usize;
    let known = |draw: &mut Draw| draw.below(servers.into()) as u8;
    let id = |draw: &mut Draw| if draw.one_in(4) { draw.bits() as u8 } else { known(draw) };
    let (fallback, check, flags, row) = (bank(draw), bank(draw), bank(draw), bank(draw));
    let (hash, check_id, id0, id1, row_id) = (draw.bits() as u32, id(draw), id(draw), id(draw), known(draw));
    dut.set(&[
        ("fallback_bank_i", fallback as u128),
        ("fallback_hash_i", hash.into()),
        ("check_bank_i", check as u128),
        ("check_id_i", check_id.into()),
        ("flags_bank_i", flags as u128),
        ("flags_id0_i", id0.into()),
        ("flags_id1_i", id1.into()),
        ("row_bank_i", row as u128),
        ("row_id_i", row_id.into()),
    ]);
    dut.settle();
    same("flags 0", dut.get("flags_known0_o"), tables[flags].get(id0).is_some().into())?;
    same("flags 1", dut.get("flags_known1_o"), tables[flags].get(id1).is_some().into())?;
    let used = tables.map(|table| u128::from(!table.is_empty()));
    same("used", dut.get("used_o"), used[1] << 1 | used[0])?;
    dut.clock();
    dut.settle();
    if let Some(id) = tables[fallback].by_hash(hash) {
        same("fallback", dut.get("fallback_id_o"), id.into())?;
    }
    let checked = tables[check].get(check_id);
    same("check", dut.get("check_known_o"), checked.is_some().into())?;
    if let Some(checked) = checked {
        same("check's address", dut.get("check_address_o"), bits(checked.address))?;
    }
    if let Some(Row { address, mac, port }) = tables[row].get(row_id).copied() {
        let got = (dut.get("row_address_o"), dut.get("row_mac_o"), dut.get("row_port_o"));
        let mac = mac.iter().fold(0, |bits, byte| bits << 8 | u128::from(*byte));
        same("row", got, (bits(address), mac, port.into()))?;
    }
    Ok(())
}

/// Servers come and go, in one bank and then in the other, a reset now and then; after each edit both banks are what they
/// should be.
pub(crate) fn edits(netlist: &Netlist, fault: u8, v6: bool, servers: u16, edits: usize) -> Verdict {
    let mut raw = RawParams::largest();
    raw.servers = servers;
    let params = Params::new(raw).unwrap();
    let mut draw = Draw::new();
    let mut dut = Dut::new(netlist, fault);
    dut.write(&[("rst_i", 1)]);
    let empty = IpTable::new(&params);
    let mut tables = [empty.clone(), empty.clone()];
    for bank in [false, true] {
        write(&mut dut, bank, servers, None, &empty);
    }
    for edit in 0..edits {
        let bank = edit % 2;
        let mut table = tables[1 - bank].clone();
        for _ in 0..=draw.below(4) {
            let id = draw.below(servers.into()) as u8;
            if draw.one_in(3) {
                let _ = table.remove(id);
            } else {
                let low = u128::from(draw.bits());
                let address = if v6 {
                    IpAddr::V6(Ipv6Addr::from_bits(low << 64 | u128::from(draw.bits())))
                } else {
                    IpAddr::V4(Ipv4Addr::from_bits(low as u32))
                };
                let mac = draw.bits().to_be_bytes();
                let mac = [mac[0], mac[1], mac[2], mac[3], mac[4], mac[5]];
                let _ = table.add(id, Row { address, mac, port: draw.bits() as u16 });
            }
        }
        write(&mut dut, bank == 1, servers, Some(&tables[bank]), &table);
        tables[bank] = table;
        for _ in 0..60 {
            look_up(&mut dut, &mut draw, servers, [&tables[0], &tables[1]])?;
        }
        if edit % 9 == 8 {
            dut.write(&[("rst_i", 1)]);
            for table in &mut tables {
                // What the buckets hold stays; they are written again with the next rows.
                *table = empty.clone();
            }
            look_up(&mut dut, &mut draw, servers, [&tables[0], &tables[1]])?;
            for bank in [false, true] {
                write(&mut dut, bank, servers, None, &empty);
            }
        }
    }
    Ok(())
}

/// Rows, buckets, checks and flags are the model's, over both families and banks, for 2, 3, 16 and 256 servers.
#[test]
fn look_ups_are_the_models() {
    let sizes = [(false, 16, 60), (true, 16, 60), (false, 2, 30), (false, 3, 30), (true, 256, 60)];
    for ((v6, servers, count), file) in sizes.into_iter().zip(Design::IpTable.netlists()) {
        edits(&netlist(*file), 0, v6, servers, count).unwrap_or_else(|error| panic!("{servers} servers: {error}"));
    }
}
