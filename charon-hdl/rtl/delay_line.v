// A word that waits: what comes in goes out a fixed number of clocks later.
//
// Reset        none: what is in the line keeps coming out.
`default_nettype none

module delay_line #(
    parameter WIDTH  = 8, // bits of the word
    parameter CLOCKS = 2  // how long it waits, at least 1
) (
    input  wire             clk_i,  // every edge that counts is rising
    input  wire [WIDTH-1:0] data_i, // the word
    output wire [WIDTH-1:0] data_o  // the word of CLOCKS clocks ago
);
    genvar stage;
    generate
        for (stage = 0; stage < CLOCKS; stage = stage + 1) begin : stages
            reg [WIDTH-1:0] word;
            if (stage == 0) begin : first
                always @(posedge clk_i) word <= data_i;
            end else begin : later
                always @(posedge clk_i) word <= stages[stage-1].word;
            end
        end
    endgenerate
    assign data_o = stages[CLOCKS-1].word;
endmodule

`default_nettype wire
