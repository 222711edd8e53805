// A score after an operation, for one guess at what it was before: once without, once with one more task.
//
// What it is   lose = max(0, g - D): the row of a candidate that loses.
//              win = lose + one task, or lose if its whole tasks are as many as fit: the row of one that wins.
// Method       D = 2^G_BITS empties any g, and E = D - one task (see score_drain). Both subtractions run side by side:
//              the sign of g - D says whether nothing is left, the top bit of g - E whether one more task would not fit.
// Timing       combinational: a carry chain and a multiplexer of four inputs.
`default_nettype none

module score_try #(
    parameter G_BITS        = 40, // bits of g
    parameter FRACTION_BITS = 28  // one task is 2^FRACTION_BITS
) (
    input  wire [G_BITS-1:0] g_i,    // the row before
    input  wire [G_BITS:0]   d_i,    // D, at most 2^G_BITS
    input  wire [G_BITS:0]   e_i,    // E = D - one task, modulo 2^(G_BITS + 1)
    output wire [G_BITS-1:0] lose_o, // the row after, if another candidate wins
    output wire [G_BITS-1:0] win_o   // the row after, if this one wins
);
    localparam [G_BITS-1:0] TASK = {{(G_BITS - 1) {1'b0}}, 1'b1} << FRACTION_BITS;

    wire [G_BITS:0] less_d = {1'b0, g_i} - d_i;
    wire [G_BITS:0] less_e = {1'b0, g_i} - e_i;
    wire empty = less_d[G_BITS];
    wire full  = less_e[G_BITS];

    assign lose_o = empty ? {G_BITS{1'b0}} : less_d[G_BITS-1:0];
    assign win_o  = empty ? TASK : full ? less_d[G_BITS-1:0] : less_e[G_BITS-1:0];
endmodule

`default_nettype wire
