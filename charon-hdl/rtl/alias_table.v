// The Alias Table: two candidates for a flow, each in proportion to its weight, by one read and one comparison.
//
// What it is   Walker's alias method over the two hashes of a flow: the high half of a hash, scaled to N, names a cell; its
//              low bits are a random number; below the cell's threshold the cell's own server is chosen, else its alias.
//              A threshold has one bit more than the random number, so that it can say "always": 2^RANDOM_BITS.
// Two banks    the flows of a version read one bank, while the control port writes the other. Which bank is said by the
//              flow, so a flow sees one version from its first stage to its last, however the banks change their roles.
// Stages       1 parities of the hashes   3 the cells' numbers   5 threshold against random number
//              2 the hashes               4 read the cells
// Timing       one flow per clock: a flow in clock c, its candidates in clock c + 5.
// Contract     the cells written are those of N servers; a bank is not written while a flow reads it.
// Reset        none, as block RAM has none: the user does not use candidates of a bank that was never written.
`default_nettype none
`include "charon_params.vh"

module alias_table #(
    parameter SERVERS     = `CHARON_SERVERS,    // N: cells; 2 to 256
    parameter RANDOM_BITS = `CHARON_RANDOM_BITS // bits of the random number, 1 to 16
) (
    input  wire                       clk_i,                 // every edge that counts is rising
    // The control port.
    input  wire                       we_i,                  // write a cell at this edge
    input  wire                       wbank_i,               // of this bank
    input  wire [$clog2(SERVERS)-1:0] wcell_i,               // its number, less than N
    input  wire [RANDOM_BITS:0]       wthreshold_i,          // its threshold, at most 2^RANDOM_BITS
    input  wire [7:0]                 walias_i,              // who has the rest of it
    // A flow per clock.
    input  wire                       bank_s1_i,             // the bank of its version
    input  wire                       v6_s1_i,               // its addresses are IPv6; otherwise IPv4, in the low 32 bits
    input  wire [127:0]               source_s1_i,           // the client
    input  wire [127:0]               destination_s1_i,      // the service
    input  wire [15:0]                source_port_s1_i,      // the client's port
    input  wire [15:0]                destination_port_s1_i, // the service's port
    // What is found.
    output wire [31:0]                hash_s3_o,             // the first hash, two clocks later: for the fallback
    output reg  [7:0]                 first_s6_o,            // the candidate of the first hash, five clocks later
    output reg  [7:0]                 second_s6_o            // that of the second hash
);
    localparam ADDR = $clog2(SERVERS);
    localparam CELL = RANDOM_BITS + 9;

    // Parameters that the module is not made for: elaboration stops at a module that there is not, whose name says why.
    generate
        if (SERVERS < 2 || SERVERS > 256) begin : no_servers
            alias_table_needs_SERVERS_2_to_256 refused ();
        end
        if (RANDOM_BITS < 1 || RANDOM_BITS > 16) begin : no_random
            alias_table_needs_RANDOM_BITS_1_to_16 refused ();
        end
    endgenerate

    wire [31:0] first_s3, second_s3;
    flow_hash hashes (
        .clk_i(clk_i), .v6_s1_i(v6_s1_i), .source_s1_i(source_s1_i), .destination_s1_i(destination_s1_i),
        .source_port_s1_i(source_port_s1_i), .destination_port_s1_i(destination_port_s1_i),
        .first_s3_o(first_s3), .second_s3_o(second_s3)
    );
    assign hash_s3_o = first_s3;

    // Stage 3: the cells' numbers: the high half of a hash, scaled from 2^16 to N.
    localparam [31:0] N = SERVERS;
    wire [31:0] scaled0_s3 = {16'd0, first_s3[31:16]} * N;
    wire [31:0] scaled1_s3 = {16'd0, second_s3[31:16]} * N;
    wire unused = &{1'b0, scaled0_s3, scaled1_s3, first_s3, second_s3};
    reg                   bank_s2, bank_s3, bank_s4;
    reg [ADDR-1:0]        cell0_s4, cell1_s4, cell0_s5, cell1_s5;
    reg [RANDOM_BITS-1:0] random0_s4, random1_s4, random0_s5, random1_s5;
    always @(posedge clk_i) begin
        {bank_s2, bank_s3, bank_s4} <= {bank_s1_i, bank_s2, bank_s3};
        cell0_s4   <= scaled0_s3[16+:ADDR];
        cell1_s4   <= scaled1_s3[16+:ADDR];
        random0_s4 <= first_s3[RANDOM_BITS-1:0];
        random1_s4 <= second_s3[RANDOM_BITS-1:0];
        {cell0_s5, cell1_s5, random0_s5, random1_s5} <= {cell0_s4, cell1_s4, random0_s4, random1_s4};
    end

    // Stage 4: the cells, from a memory for each hash.
    wire [RANDOM_BITS:0] threshold0_s5, threshold1_s5;
    wire [7:0]           alias0_s5, alias1_s5;
    charon_bram #(.ROWS(2 << ADDR), .WIDTH(CELL)) cells0 (
        .clk_i(clk_i), .we_i(we_i), .waddr_i({wbank_i, wcell_i}), .wdata_i({wthreshold_i, walias_i}),
        .raddr_i({bank_s4, cell0_s4}), .rdata_o({threshold0_s5, alias0_s5})
    );
    charon_bram #(.ROWS(2 << ADDR), .WIDTH(CELL)) cells1 (
        .clk_i(clk_i), .we_i(we_i), .waddr_i({wbank_i, wcell_i}), .wdata_i({wthreshold_i, walias_i}),
        .raddr_i({bank_s4, cell1_s4}), .rdata_o({threshold1_s5, alias1_s5})
    );

    // Stage 5: the cell's own server, or its alias.
    wire own0_s5 = {1'b0, random0_s5} < threshold0_s5;
    wire own1_s5 = {1'b0, random1_s5} < threshold1_s5;
    always @(posedge clk_i) begin
        first_s6_o  <= own0_s5 ? {{(8 - ADDR) {1'b0}}, cell0_s5} : alias0_s5;
        second_s6_o <= own1_s5 ? {{(8 - ADDR) {1'b0}}, cell1_s5} : alias1_s5;
    end
endmodule

`default_nettype wire
