// The tick that scores are measured in: a clock counter without its low bits.
//
// Timing       now_o is the number of whole ticks of 2^PRESCALER_BITS clocks since reset, modulo 2^T_BITS.
// Reset        begins at tick 0.
`default_nettype none
`include "charon_params.vh"

module timestamp_gen #(
    parameter T_BITS         = `CHARON_T_BITS,        // bits of a tick's number
    parameter PRESCALER_BITS = `CHARON_PRESCALER_BITS // a tick is 2^PRESCALER_BITS clocks; at least 1
) (
    input  wire              clk_i, // every edge that counts is rising
    input  wire              rst_i, // synchronous, active high
    output wire [T_BITS-1:0] now_o  // the tick
);
    reg [T_BITS+PRESCALER_BITS-1:0] clocks;
    always @(posedge clk_i)
        if (rst_i) clocks <= {(T_BITS + PRESCALER_BITS) {1'b0}};
        else clocks <= clocks + {{(T_BITS + PRESCALER_BITS - 1) {1'b0}}, 1'b1};

    assign now_o = clocks[T_BITS+PRESCALER_BITS-1:PRESCALER_BITS];
endmodule

`default_nettype wire
