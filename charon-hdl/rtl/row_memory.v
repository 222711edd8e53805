// Memory with two write ports and two read ports, made of memories with one of each.
//
// What it is   a bank per write port, each of them twice, once per read port; two flags per row say which bank was
//              written last ("live value table"). A row without a flag reads as zero.
// Timing       addresses in clock c, words in clock c + 1; a write in clock c is not seen by a read in clock c, whose
//              result for that row must not be used (see charon_bram).
// Contract     the two write ports never name the same row in the same clock.
// Reset        clears the flags: every row reads as zero, from the clock after the reset on.
`default_nettype none

module row_memory #(
    parameter ROWS  = 16, // words, at least 2
    parameter WIDTH = 40  // bits of a word
) (
    input  wire                    clk_i,    // every edge that counts is rising
    input  wire                    rst_i,    // synchronous, active high; wins over writes
    input  wire                    we0_i,    // port 0: write wdata0_i to row waddr0_i at this edge
    input  wire [$clog2(ROWS)-1:0] waddr0_i, // port 0: row, less than ROWS
    input  wire [WIDTH-1:0]        wdata0_i, // port 0: word
    input  wire                    we1_i,    // port 1: write wdata1_i to row waddr1_i at this edge
    input  wire [$clog2(ROWS)-1:0] waddr1_i, // port 1: row, less than ROWS
    input  wire [WIDTH-1:0]        wdata1_i, // port 1: word
    input  wire [$clog2(ROWS)-1:0] raddr0_i, // read port 0: row, less than ROWS
    output wire [WIDTH-1:0]        rdata0_o, // read port 0: word, a clock later
    input  wire [$clog2(ROWS)-1:0] raddr1_i, // read port 1: row, less than ROWS
    output wire [WIDTH-1:0]        rdata1_o  // read port 1: word, a clock later
);
    // At most one of the two is set for a row: the bank that holds it.
    reg [ROWS-1:0] in_bank0;
    reg [ROWS-1:0] in_bank1;
    always @(posedge clk_i) begin
        if (we0_i) begin
            in_bank0[waddr0_i] <= 1'b1;
            in_bank1[waddr0_i] <= 1'b0;
        end
        if (we1_i) begin
            in_bank0[waddr1_i] <= 1'b0;
            in_bank1[waddr1_i] <= 1'b1;
        end
        if (rst_i) begin
            in_bank0 <= {ROWS{1'b0}};
            in_bank1 <= {ROWS{1'b0}};
        end
    end

    wire [WIDTH-1:0] bank0_read0, bank0_read1, bank1_read0, bank1_read1;
    charon_bram #(.ROWS(ROWS), .WIDTH(WIDTH)) bank0_for0 (
        .clk_i(clk_i), .we_i(we0_i), .waddr_i(waddr0_i), .wdata_i(wdata0_i), .raddr_i(raddr0_i), .rdata_o(bank0_read0)
    );
    charon_bram #(.ROWS(ROWS), .WIDTH(WIDTH)) bank0_for1 (
        .clk_i(clk_i), .we_i(we0_i), .waddr_i(waddr0_i), .wdata_i(wdata0_i), .raddr_i(raddr1_i), .rdata_o(bank0_read1)
    );
    charon_bram #(.ROWS(ROWS), .WIDTH(WIDTH)) bank1_for0 (
        .clk_i(clk_i), .we_i(we1_i), .waddr_i(waddr1_i), .wdata_i(wdata1_i), .raddr_i(raddr0_i), .rdata_o(bank1_read0)
    );
    charon_bram #(.ROWS(ROWS), .WIDTH(WIDTH)) bank1_for1 (
        .clk_i(clk_i), .we_i(we1_i), .waddr_i(waddr1_i), .wdata_i(wdata1_i), .raddr_i(raddr1_i), .rdata_o(bank1_read1)
    );

    // The flags of the rows that are being read, beside the words.
    reg [1:0] from0, from1;
    always @(posedge clk_i) begin
        from0 <= {in_bank1[raddr0_i], in_bank0[raddr0_i]};
        from1 <= {in_bank1[raddr1_i], in_bank0[raddr1_i]};
    end
    assign rdata0_o = ({WIDTH{from0[0]}} & bank0_read0) | ({WIDTH{from0[1]}} & bank1_read0);
    assign rdata1_o = ({WIDTH{from1[0]}} & bank0_read1) | ({WIDTH{from1[1]}} & bank1_read1);
endmodule

`default_nettype wire
