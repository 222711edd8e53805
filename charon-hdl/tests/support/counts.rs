//! The counts at the ports of `dip_reg_score`.

use charon_hdl::Design;
use charon_hdl::btor2::Netlist;
use charon_model::dip_reg_score::Request;

use super::{Lockstep, Mismatch};

impl Lockstep<'_> {
    /// Faults are counted up to 2³² − 1 and stay there; a reset clears what was counted, of drops too.
    pub fn counts(&mut self, netlist: &Netlist) -> Result<(), Mismatch> {
        let faults = netlist.output("faults_o").expect("an output");
        self.hardware.machine().set(faults, (u32::MAX - 2).into());
        for _ in 0..6 {
            let _ = self.hardware.clock(Some(Request { op_code: 9, ..Request::read(0, 0) }));
        }
        // More than the FIFO holds.
        for _ in 0..200 {
            let _ = self.hardware.clock(Some(Request::get_index(1, 2, 5)));
        }
        let seen = self.hardware.reset();
        self.check(seen.faults == u32::MAX, || format!("{} faults counted, expected 2^32 - 1", seen.faults))?;
        self.check((seen.drops > 0) == (self.design == Design::Fsm), || format!("{} requests dropped", seen.drops))?;
        let seen = self.hardware.clock(None);
        self.check((seen.faults, seen.drops) == (0, 0), || format!("{seen:?} after a reset"))
    }
}
