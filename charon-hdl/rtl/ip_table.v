// The IP Table of one address family: from a server's id to where it is; and, for packets without an id, from a hash to an
// id.
//
// What it is   a row per id {address, link address, port}, and a fallback of 2^BUCKET_BITS buckets, each with an id. The
//              control plane deals out the buckets, as charon-model's IpTable does, and writes what it dealt.
// Two banks    as in alias_table: every look-up says which bank it reads, and the control port writes the other.
// Look-ups     fallback  bank and hash -> id               check  bank and id -> whether there is a row, its address
//              flags     bank and two ids -> whether        row    bank and id -> its row
//                        there are rows
// Timing       one of each per clock. fallback, check and row: asked in clock c, answered in clock c + 1; flags, and whether
//              a bank has rows at all: combinational.
// Contract     a bank is not written while somebody reads it. A bucket holds something only once it was written.
// Reset        no id has a row, in either bank. The buckets and the rows stay as they were, out of reach.
`default_nettype none
`include "charon_params.vh"

module ip_table #(
    parameter SERVERS      = `CHARON_SERVERS, // N: rows; 2 to 256
    parameter ADDRESS_BITS = 32,              // of the family: 32 or 128
    parameter BUCKET_BITS  = 12               // log2 of the buckets, 1 to 31
) (
    input  wire                       clk_i,             // every edge that counts is rising
    input  wire                       rst_i,             // synchronous, active high
    // The control port.
    input  wire                       wbank_i,           // the bank to write
    input  wire                       we_row_i,          // write a row at this edge
    input  wire [$clog2(SERVERS)-1:0] wid_i,             // whose, less than N
    input  wire                       wpresent_i,        // there is one; otherwise it is taken away
    input  wire [ADDRESS_BITS-1:0]    waddress_i,        // its address
    input  wire [47:0]                wmac_i,            // its link address
    input  wire [15:0]                wport_i,           // the port towards it
    input  wire                       we_bucket_i,       // write a bucket at this edge
    input  wire [BUCKET_BITS-1:0]     wbucket_i,         // which
    input  wire [7:0]                 wbucket_id_i,      // whose it is
    // fallback
    input  wire                       fallback_bank_i,   // the bank
    input  wire [31:0]                fallback_hash_i,   // its high bits name the bucket
    output wire [7:0]                 fallback_id_o,     // a clock later: the server
    // check
    input  wire                       check_bank_i,      // the bank
    input  wire [7:0]                 check_id_i,        // the server
    output reg                        check_known_o,     // a clock later: it has a row
    output wire [ADDRESS_BITS-1:0]    check_address_o,   // a clock later: its address, if it has
    // flags
    input  wire                       flags_bank_i,      // the bank
    input  wire [7:0]                 flags_id0_i,       // a server
    input  wire [7:0]                 flags_id1_i,       // another
    output wire                       flags_known0_o,    // the first has a row
    output wire                       flags_known1_o,    // the second has
    output wire [1:0]                 used_o,            // per bank: somebody has a row
    // row
    input  wire                       row_bank_i,        // the bank
    input  wire [7:0]                 row_id_i,          // the server; one that has a row
    output wire [ADDRESS_BITS-1:0]    row_address_o,     // a clock later: its address
    output wire [47:0]                row_mac_o,         // a clock later: its link address
    output wire [15:0]                row_port_o         // a clock later: the port towards it
);
    localparam ADDR = $clog2(SERVERS);

    // Parameters that the module is not made for: elaboration stops at a module that there is not, whose name says why.
    generate
        if (SERVERS < 2 || SERVERS > 256) begin : no_servers
            ip_table_needs_SERVERS_2_to_256 refused ();
        end
        if (ADDRESS_BITS != 32 && ADDRESS_BITS != 128) begin : no_address
            ip_table_needs_ADDRESS_BITS_32_or_128 refused ();
        end
        if (BUCKET_BITS < 1 || BUCKET_BITS > 31) begin : no_buckets
            ip_table_needs_BUCKET_BITS_1_to_31 refused ();
        end
    endgenerate

    reg [SERVERS-1:0] present0, present1;
    always @(posedge clk_i) begin
        if (we_row_i & ~wbank_i) present0[wid_i] <= wpresent_i;
        if (we_row_i & wbank_i) present1[wid_i] <= wpresent_i;
        if (rst_i) {present0, present1} <= {{SERVERS{1'b0}}, {SERVERS{1'b0}}};
    end
    assign used_o = {|present1, |present0};

    // Whether an id has a row; ids of N and more have none.
    wire [255:0] flags_present = {{(256 - SERVERS) {1'b0}}, flags_bank_i ? present1 : present0};
    wire [255:0] check_present = {{(256 - SERVERS) {1'b0}}, check_bank_i ? present1 : present0};
    assign flags_known0_o = flags_present[flags_id0_i];
    assign flags_known1_o = flags_present[flags_id1_i];
    always @(posedge clk_i) check_known_o <= check_present[check_id_i];

    charon_bram #(.ROWS(2 << BUCKET_BITS), .WIDTH(8)) buckets (
        .clk_i(clk_i), .we_i(we_bucket_i), .waddr_i({wbank_i, wbucket_i}), .wdata_i(wbucket_id_i),
        .raddr_i({fallback_bank_i, fallback_hash_i[31-:BUCKET_BITS]}), .rdata_o(fallback_id_o)
    );
    charon_bram #(.ROWS(2 << ADDR), .WIDTH(ADDRESS_BITS)) addresses (
        .clk_i(clk_i), .we_i(we_row_i), .waddr_i({wbank_i, wid_i}), .wdata_i(waddress_i),
        .raddr_i({check_bank_i, check_id_i[ADDR-1:0]}), .rdata_o(check_address_o)
    );
    charon_bram #(.ROWS(2 << ADDR), .WIDTH(ADDRESS_BITS + 64)) row_words (
        .clk_i(clk_i), .we_i(we_row_i), .waddr_i({wbank_i, wid_i}), .wdata_i({waddress_i, wmac_i, wport_i}),
        .raddr_i({row_bank_i, row_id_i[ADDR-1:0]}), .rdata_o({row_address_o, row_mac_o, row_port_o})
    );
    wire unused = &{1'b0, fallback_hash_i[31-BUCKET_BITS:0], row_id_i};
endmodule

`default_nettype wire
