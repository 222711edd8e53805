// Memory with one write port and one read port that tools infer as block RAM, or as distributed RAM where it is small.
//
// Timing       an address at raddr_i in clock c gives its word at rdata_o in clock c + LATENCY.
// Contract     what a read returns of a row that is written in the same clock is not to be used: it is the old word in
//              simulation, and up to the RAM elsewhere. Every user here forwards instead.
// Reset        none, as block RAM has none; users keep a flag per row that says whether it was written since reset.
`default_nettype none

module charon_bram #(
    parameter ROWS    = 16, // words, at least 2
    parameter WIDTH   = 40, // bits of a word
    parameter LATENCY = 1   // clocks of a read: 1, or 2 with the output register of the RAM
) (
    input  wire                    clk_i,   // every edge that counts is rising
    input  wire                    we_i,    // write wdata_i to row waddr_i at this edge
    input  wire [$clog2(ROWS)-1:0] waddr_i, // row to write, less than ROWS
    input  wire [WIDTH-1:0]        wdata_i, // word to write
    input  wire [$clog2(ROWS)-1:0] raddr_i, // row to read, less than ROWS
    output wire [WIDTH-1:0]        rdata_o  // the row of raddr_i, LATENCY clocks later
);
    reg [WIDTH-1:0] rows [0:ROWS-1];
    reg [WIDTH-1:0] read;

    always @(posedge clk_i) begin
        if (we_i) rows[waddr_i] <= wdata_i;
        read <= rows[raddr_i];
    end

    generate
        if (LATENCY == 2) begin : registered
            reg [WIDTH-1:0] out;
            always @(posedge clk_i) out <= read;
            assign rdata_o = out;
        end else begin : direct
            assign rdata_o = read;
        end
    endgenerate
endmodule

`default_nettype wire
