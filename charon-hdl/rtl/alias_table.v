// The Alias Table: two candidate servers for two hashes of a flow, in proportion to weights.
//
// What it is   two tables of SERVERS cells, {threshold, alias}; one is in use, the other is being written. A hash names
//              the cell (hi16 * SERVERS) >> 16, and its low RANDOM_BITS bits are the random number: below the threshold
//              the cell's own server is the candidate, otherwise the alias. A threshold has one bit more than the random
//              number, so that 0 means never and 2^RANDOM_BITS always.
// Timing       hashes in clock c, candidates in clock c + 3; a pair per clock. Both come from the same table: the one that
//              is in use after the edge of clock c.
// Contract     write every cell of the table that is not in use, then swap: a swap takes effect between two lookups.
//              The table that went out of use may be written from the next clock on.
// Reset        no table is in use: usable_o is 0 until the first swap with usable_i. The cells stay.
`default_nettype none
`include "charon_params.vh"

module alias_table #(
    parameter SERVERS     = `CHARON_SERVERS,    // N: cells, ids 0 to N - 1; 2 to 256
    parameter RANDOM_BITS = `CHARON_RANDOM_BITS // bits of the random number, 1 to 16
) (
    input  wire                       clk_i,       // every edge that counts is rising
    input  wire                       rst_i,       // synchronous, active high
    input  wire [31:0]                hash0_i,     // hash for the first candidate
    input  wire [31:0]                hash1_i,     // hash for the second candidate
    output reg  [7:0]                 id0_o,       // first candidate, three clocks later
    output reg  [7:0]                 id1_o,       // second candidate, three clocks later
    output reg                        usable_o,    // the candidates mean something, three clocks later
    input  wire                       we_i,        // write a cell of the table that is not in use
    input  wire [$clog2(SERVERS)-1:0] waddr_i,     // which cell, less than SERVERS
    input  wire [RANDOM_BITS:0]       threshold_i, // its threshold, at most 2^RANDOM_BITS
    input  wire [7:0]                 alias_i,     // its alias, less than SERVERS
    input  wire                       swap_i,      // the tables change places at this edge
    input  wire                       usable_i     // with swap_i: somebody can be chosen from the table coming into use
);
    localparam ADDR = $clog2(SERVERS);
    localparam CELL = RANDOM_BITS + 1 + 8;

    reg in_use, usable;
    always @(posedge clk_i)
        if (rst_i) {in_use, usable} <= 2'b00;
        else if (swap_i) {in_use, usable} <= {~in_use, usable_i};

    // Stage 1: the cells, and the random numbers.
    wire [31:0] scaled0 = {16'd0, hash0_i[31:16]} * SERVERS;
    wire [31:0] scaled1 = {16'd0, hash1_i[31:16]} * SERVERS;
    wire unused = &{1'b0, scaled0, scaled1, hash0_i, hash1_i}; // only parts of these are needed
    reg [ADDR-1:0]        cell0_s1, cell1_s1, cell0_s2, cell1_s2;
    reg [RANDOM_BITS-1:0] random0_s1, random1_s1, random0_s2, random1_s2;
    reg                   usable_s2;
    always @(posedge clk_i) begin
        cell0_s1   <= scaled0[16+:ADDR];
        cell1_s1   <= scaled1[16+:ADDR];
        random0_s1 <= hash0_i[RANDOM_BITS-1:0];
        random1_s1 <= hash1_i[RANDOM_BITS-1:0];
        {cell0_s2, cell1_s2}     <= {cell0_s1, cell1_s1};
        {random0_s2, random1_s2} <= {random0_s1, random1_s1};
        usable_s2 <= usable & ~rst_i;
    end

    // Stage 2: the table is chosen with the address, so nothing can be written into it any more.
    wire [RANDOM_BITS:0] threshold0_s2, threshold1_s2;
    wire [7:0]           alias0_s2, alias1_s2;
    charon_bram #(.ROWS(2 << ADDR), .WIDTH(CELL)) cells0 (
        .clk_i(clk_i), .we_i(we_i), .waddr_i({~in_use, waddr_i}), .wdata_i({threshold_i, alias_i}),
        .raddr_i({in_use, cell0_s1}), .rdata_o({threshold0_s2, alias0_s2})
    );
    charon_bram #(.ROWS(2 << ADDR), .WIDTH(CELL)) cells1 (
        .clk_i(clk_i), .we_i(we_i), .waddr_i({~in_use, waddr_i}), .wdata_i({threshold_i, alias_i}),
        .raddr_i({in_use, cell1_s1}), .rdata_o({threshold1_s2, alias1_s2})
    );

    // Stage 3: the cell's own server, or the alias.
    wire [7:0] own0_s2 = {{(8 - ADDR) {1'b0}}, cell0_s2};
    wire [7:0] own1_s2 = {{(8 - ADDR) {1'b0}}, cell1_s2};
    always @(posedge clk_i) begin
        id0_o    <= {1'b0, random0_s2} < threshold0_s2 ? own0_s2 : alias0_s2;
        id1_o    <= {1'b0, random1_s2} < threshold1_s2 ? own1_s2 : alias1_s2;
        usable_o <= usable_s2 & ~rst_i;
    end
endmodule

`default_nettype wire
