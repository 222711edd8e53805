// The externs of Charon for the P4-NetFPGA (SUME) switch: declarations that the modules of rtl/ answer to. Fields become the
// bits of tuple_in_* and tuple_out_* in this order, the first on top, below a bit that says whether the branch was taken.
#ifndef CHARON_EXTERNS_P4
#define CHARON_EXTERNS_P4

// The Score Table: dip_reg_score_pipe.v; or dip_reg_score_fsm.v, which answers within nine clocks only while it is idle.
//   READ 0         the score of id0 at now
//   UPDATE 1       id0 reports g and v
//   COPY 2         nothing
//   GET_INDEX 3    the one of id0 and id1 with the lower score, which gets one task more
@Xilinx_MaxLatency(9)
@Xilinx_ControlWidth(8)
extern void charon_dip_reg_score(in bit<8> opCode,
                                 in bit<8> id0,
                                 in bit<8> id1,
                                 in bit<12> g,
                                 in bit<24> v,
                                 in bit<32> now,
                                 out bit<8> id,
                                 out bit<40> score);

// The whole decision: charon_top.v, with tables behind its control port. What the fields mean stands at the module's head.
@Xilinx_MaxLatency(18)
@Xilinx_ControlWidth(16)
extern void charon(in bit<2> kind,
                   in bit<4> reason,
                   in bit<1> v6,
                   in bit<1> inner_v6,
                   in bit<128> source,
                   in bit<128> destination,
                   in bit<128> inner_source,
                   in bit<16> source_port,
                   in bit<16> destination_port,
                   in bit<8> flags,
                   in bit<8> ttl,
                   in bit<1> stamped,
                   in bit<32> word,
                   out bit<2> action,
                   out bit<4> detail,
                   out bit<8> id,
                   out bit<1> out_v6,
                   out bit<16> port,
                   out bit<48> mac,
                   out bit<128> address);

#endif
