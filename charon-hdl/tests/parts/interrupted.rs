//! `control_port` and its bus, reset in the middle of an access.

use charon_hdl::Design;
use charon_hdl::btor2::Netlist;
use charon_hdl::control::registers::*;
use charon_hdl::sim::{Access, Bus, BusPorts, Master, Stalls};

use super::control::{OKAY, ports};
use super::dut::{Dut, Verdict, netlist, same};

/// A reset in any clock of any access, with every channel stalled in turn: the clock behind it the port takes everything and
/// answers nothing, no operation on a score waits, and the next accesses take the clocks that they take alone.
pub(crate) fn interrupted(netlist: &Netlist, fault: u8) -> Verdict {
    let ports = ports(netlist);
    let mut dut = Dut::new(netlist, fault);
    let stalls = [
        Stalls::default(),
        Stalls { write_address: true, ..Stalls::default() },
        Stalls { write_data: true, ..Stalls::default() },
        Stalls { write_answer: true, read_answer: true, ..Stalls::default() },
    ];
    let write = |word| Access::write(word, 3);
    for access in [write(ROW_PORT), write(COMMIT), write(TICK), write(SCORE), Access::Read { address: ID }] {
        for (stalls, moment) in stalls.iter().flat_map(|stalls| (0..32).map(move |moment| (*stalls, moment))) {
            dut.write(&[("rst_i", 1), ("score_busy_i", 0), ("score_done_i", 0)]);
            let mut master = Master::default();
            master.push(access);
            for _ in 0..moment {
                ports.drive(dut.machine(), &master.drive(stalls));
                dut.settle();
                let _ = master.see(&ports.see(dut.machine()));
                dut.clock();
            }
            ports.drive(dut.machine(), &Bus::default());
            dut.write(&[("rst_i", 1)]);
            dut.settle();
            let what = format!("{access:x?}, {stalls:?}, reset in clock {moment}");
            let seen = ports.see(dut.machine());
            let takes = (seen.takes_address, seen.takes_data, seen.takes_read);
            same(&what, (takes, seen.written, seen.read), ((true, true, true), None, None))?;
            same(&what, (dut.get("score_valid_o"), dut.get("bank_o")), (0, 0))?;
            same(&what, alone(&mut dut, &ports), (3, 2))?;
        }
    }
    Ok(())
}

/// The clocks after which a write and a read beside it are answered that begin now.
fn alone(dut: &mut Dut<'_>, ports: &BusPorts) -> (usize, usize) {
    let mut master = Master::default();
    [Access::write(ROW_PORT, 7), Access::Read { address: ROW_PORT }].into_iter().for_each(|access| master.push(access));
    let mut clocks = [usize::MAX; 2];
    for clock in 0..6 {
        ports.drive(dut.machine(), &master.drive(Stalls::default()));
        dut.settle();
        for (at, answered) in master.see(&ports.see(dut.machine())).into_iter().enumerate() {
            if answered.is_some_and(|answered| answered.response == OKAY) {
                clocks[at] = clock;
            }
        }
        dut.clock();
    }
    clocks.into()
}

/// Reset ends everything, whatever is under way.
#[test]
fn resets_end_every_access() {
    interrupted(&netlist(Design::ControlPort.netlist()), 0).unwrap();
}
