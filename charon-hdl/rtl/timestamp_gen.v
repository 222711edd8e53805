// The time in ticks: a counter behind a prescaler.
//
// What it is   one tick is 2^PRESCALER_BITS clocks: 10.24 us with 11 bits at 200 MHz. The tick comes round after
//              2^T_BITS; scores are compared modulo that.
// Setting      a new time begins with a whole tick: for balancers that are to agree, and for tests of long times.
// Reset        tick 0, at its beginning.
`default_nettype none
`include "charon_params.vh"

module timestamp_gen #(
    parameter T_BITS         = `CHARON_T_BITS,        // bits of a tick, 1 to 32
    parameter PRESCALER_BITS = `CHARON_PRESCALER_BITS // log2 of the clocks in a tick, 1 to 31
) (
    input  wire              clk_i,  // every edge that counts is rising
    input  wire              rst_i,  // synchronous, active high
    input  wire              set_i,  // the time is to be time_i from the next clock on
    input  wire [T_BITS-1:0] time_i, // the tick to be set
    output reg  [T_BITS-1:0] now_o   // the tick
);
    // Parameters that the module is not made for: elaboration stops at a module that there is not, whose name says why.
    generate
        if (T_BITS < 1 || T_BITS > 32) begin : no_t
            timestamp_gen_needs_T_BITS_1_to_32 refused ();
        end
        if (PRESCALER_BITS < 1 || PRESCALER_BITS > 31) begin : no_prescaler
            timestamp_gen_needs_PRESCALER_BITS_1_to_31 refused ();
        end
    endgenerate

    localparam [PRESCALER_BITS-1:0] ONE = {{(PRESCALER_BITS - 1) {1'b0}}, 1'b1};

    reg [PRESCALER_BITS-1:0] clocks;
    always @(posedge clk_i) begin
        if (rst_i | set_i) clocks <= {PRESCALER_BITS{1'b0}};
        else clocks <= clocks + ONE;
        if (rst_i) now_o <= {T_BITS{1'b0}};
        else if (set_i) now_o <= time_i;
        else now_o <= now_o + {{(T_BITS - 1) {1'b0}}, &clocks};
    end
endmodule

`default_nettype wire
