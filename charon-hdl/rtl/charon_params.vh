// The parameters of charon-model; written by `cargo run -p charon-hdl --example params`, do not edit.
`ifndef CHARON_PARAMS
`define CHARON_PARAMS
// N: servers, ids 0 to N - 1
`define CHARON_SERVERS 16
// bits of a server id in the TCP timestamp
`define CHARON_ID_BITS 4
// bits of g, the remaining tasks
`define CHARON_G_BITS 40
// fraction bits of g and of v
`define CHARON_FRACTION_BITS 28
// whole-task bits of g: the port g
`define CHARON_TASK_BITS 12
// bits of v, tasks per tick
`define CHARON_V_BITS 24
// bits of t, in ticks
`define CHARON_T_BITS 32
// a score 2^STALE_BITS ticks old counts as idle
`define CHARON_STALE_BITS 24
// a tick is 2^PRESCALER_BITS clock cycles
`define CHARON_PRESCALER_BITS 11
// bits of the random number of an Alias Table entry
`define CHARON_RANDOM_BITS 16
// bits of a threshold: one more
`define CHARON_THRESHOLD_BITS 17
// dip_reg_score: the width of a request
`define CHARON_DATA_IN_BITS 93
// dip_reg_score: the width of an answer
`define CHARON_DATA_OUT_BITS 48
// dip_reg_score: opcodes
`define CHARON_OP_READ 0
`define CHARON_OP_UPDATE 1
`define CHARON_OP_COPY 2
`define CHARON_OP_GET_INDEX 3
`endif
