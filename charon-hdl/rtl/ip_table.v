// The IP Table: from a server's id to where its packets go.
//
// What it is   a row per server, and a flag that says whether there is one. The row is the user's bits, such as
//              {address, MAC, port}.
// Timing       an id in clock c, its row in clock c + 1; one per clock. An edit in clock c counts for the id in clock c.
// Contract     an id of SERVERS or more has no row.
// Reset        no server has a row.
`default_nettype none
`include "charon_params.vh"

module ip_table #(
    parameter SERVERS  = `CHARON_SERVERS, // N: rows, ids 0 to N - 1; 2 to 256
    parameter ROW_BITS = 96               // bits of a row
) (
    input  wire                clk_i,     // every edge that counts is rising
    input  wire                rst_i,     // synchronous, active high; wins over edits
    input  wire [7:0]          id_i,      // the server to look up
    output wire                found_o,   // it has a row, a clock later
    output wire [ROW_BITS-1:0] row_o,     // its row, a clock later; of no meaning without found_o
    input  wire                we_i,      // edit a row
    input  wire [7:0]          waddr_i,   // whose; an id of SERVERS or more changes nothing
    input  wire                present_i, // give it row_i, or take its row away
    input  wire [ROW_BITS-1:0] row_i      // the row
);
    localparam ADDR = $clog2(SERVERS);

    wire             known  = {24'd0, id_i} < SERVERS;
    wire             edit   = we_i & {24'd0, waddr_i} < SERVERS;
    wire [ADDR-1:0]  row    = id_i[ADDR-1:0];
    wire [ADDR-1:0]  edited = waddr_i[ADDR-1:0];

    reg [SERVERS-1:0] present;
    always @(posedge clk_i) begin
        if (edit) present[edited] <= present_i;
        if (rst_i) present <= {SERVERS{1'b0}};
    end

    // The memory's own answer for a row that is written in the same clock is not used.
    wire [ROW_BITS-1:0] stored;
    charon_bram #(.ROWS(SERVERS), .WIDTH(ROW_BITS)) table_rows (
        .clk_i(clk_i), .we_i(edit), .waddr_i(edited), .wdata_i(row_i), .raddr_i(row), .rdata_o(stored)
    );
    reg                found, just_written;
    reg [ROW_BITS-1:0] written;
    always @(posedge clk_i) begin
        just_written <= edit & edited == row;
        written      <= row_i;
        found        <= known & ~rst_i & (edit & edited == row ? present_i : present[row]);
    end
    assign found_o = found;
    assign row_o   = just_written ? written : stored;
endmodule

`default_nettype wire
