// Stages 5 to 8 of the pipe: the column g of the Score Table, and the choice between two candidates.
//
// What it is   the only loop that holds arithmetic. An operation may need the rows of the operation one ahead of it in the
//              very clock in which that one's winner is still being found; so both outcomes are tried, and the winner of
//              the operation ahead, one bit that comes late, selects.
// Stages       5  the addresses of g; which rows of the three operations ahead are the same
//              6  the rows as they were, except for what the operation one ahead does: from the memory, or forwarded
//                 from two (its winner just known) or three ahead
//              7  per candidate, g' and g' + one task: once as if id0 of the operation ahead had won, once as if id1 had
//              8  the winner: id1 if its g' is less. What is stored goes into the memory at the end of this clock
// Contract     D and E of an operation come at stage 7, as score_drain makes them; D = E = 0 if it does not read.
// Reset        every row becomes g = 0, and what is under way writes nothing more.
`default_nettype none

module score_loop #(
    parameter SERVERS       = 16, // rows, 2 to 256
    parameter G_BITS        = 40, // bits of g
    parameter FRACTION_BITS = 28  // one task is 2^FRACTION_BITS
) (
    input  wire                       clk_i,       // every edge that counts is rising
    input  wire                       rst_i,       // synchronous, active high
    input  wire                       reads_s5_i,  // the operation needs the score of id0 (READ, GET_INDEX)
    input  wire                       choose_s5_i, // it needs that of id1 too and stores what it finds (GET_INDEX)
    input  wire                       same_s5_i,   // id1 is the same row as id0
    input  wire                       update_s5_i, // it stores set_s5_i in row id0 (UPDATE); never with reads_s5_i
    input  wire [$clog2(SERVERS)-1:0] id0_s5_i,    // the first row
    input  wire [$clog2(SERVERS)-1:0] id1_s5_i,    // the second row
    input  wire [G_BITS-1:0]          set_s5_i,    // g of an UPDATE; 0 for what neither reads nor stores
    input  wire [G_BITS:0]            d0_s7_i,     // D of id0
    input  wire [G_BITS:0]            e0_s7_i,     // E of id0
    input  wire [G_BITS:0]            d1_s7_i,     // D of id1
    input  wire [G_BITS:0]            e1_s7_i,     // E of id1
    output wire                       second_s8_o, // id1 wins
    output wire [G_BITS-1:0]          score_s8_o   // g' of the winner, before its task; g of an UPDATE; otherwise 0
);
    localparam ADDR = $clog2(SERVERS);

    // What the operations at stages 6, 7 and 8 store: row id0, row id1.
    reg [1:0]      writes_s6, writes_s7, writes_s8;
    reg [ADDR-1:0] id0_s6, id1_s6, id0_s7, id1_s7, id0_s8, id1_s8;
    reg            choose_s6, choose_s7, choose_s8;
    always @(posedge clk_i) begin
        writes_s6 <= {choose_s5_i & ~same_s5_i, choose_s5_i | update_s5_i} & {2{~rst_i}};
        writes_s7 <= writes_s6 & {2{~rst_i}};
        writes_s8 <= writes_s7 & {2{~rst_i}};
        {id0_s6, id1_s6} <= {id0_s5_i, id1_s5_i};
        {id0_s7, id1_s7} <= {id0_s6, id1_s6};
        {id0_s8, id1_s8} <= {id0_s7, id1_s7};
        choose_s6 <= choose_s5_i;
        choose_s7 <= choose_s6;
        choose_s8 <= choose_s7;
    end

    // Stage 8: the winner, and both rows afterwards.
    reg  [G_BITS-1:0] lose0_s8, win0_s8, lose1_s8, win1_s8;
    wire              second_s8 = choose_s8 & lose1_s8 < lose0_s8;
    wire [G_BITS-1:0] row0_s8   = second_s8 ? lose0_s8 : win0_s8;
    wire [G_BITS-1:0] row1_s8   = second_s8 ? win1_s8 : lose1_s8;
    assign second_s8_o = second_s8;
    assign score_s8_o  = second_s8 ? lose1_s8 : lose0_s8;

    reg [G_BITS-1:0] row0_s9, row1_s9;
    always @(posedge clk_i) begin
        row0_s9 <= row0_s8;
        row1_s9 <= row1_s8;
    end

    wire [G_BITS-1:0] stored0_s6, stored1_s6;
    row_memory #(.ROWS(SERVERS), .WIDTH(G_BITS)) column_g (
        .clk_i(clk_i), .rst_i(rst_i),
        .we0_i(writes_s8[0]), .waddr0_i(id0_s8), .wdata0_i(row0_s8),
        .we1_i(writes_s8[1]), .waddr1_i(id1_s8), .wdata1_i(row1_s8),
        .raddr0_i(id0_s5_i), .rdata0_o(stored0_s6), .raddr1_i(id1_s5_i), .rdata1_o(stored1_s6)
    );

    // Stage 5: whether an operation ahead stores the same row, as {its id1, its id0}; id0 here is `a`, id1 is `b`.
    // One that is one ahead is at stage 6 now, at 7 in the next clock, and at 8 when its rows are needed.
    reg [1:0] a_one_s6, a_two_s6, a_three_s6, b_one_s6, b_two_s6, b_three_s6;
    reg [1:0] a_one_s7, b_one_s7;
    always @(posedge clk_i) begin
        a_one_s6   <= {2{reads_s5_i}} & writes_s6 & {id0_s5_i == id1_s6, id0_s5_i == id0_s6};
        a_two_s6   <= {2{reads_s5_i}} & writes_s7 & {id0_s5_i == id1_s7, id0_s5_i == id0_s7};
        a_three_s6 <= {2{reads_s5_i}} & writes_s8 & {id0_s5_i == id1_s8, id0_s5_i == id0_s8};
        b_one_s6   <= writes_s6 & {id1_s5_i == id1_s6, id1_s5_i == id0_s6};
        b_two_s6   <= writes_s7 & {id1_s5_i == id1_s7, id1_s5_i == id0_s7};
        b_three_s6 <= writes_s8 & {id1_s5_i == id1_s8, id1_s5_i == id0_s8};
        a_one_s7   <= a_one_s6;
        b_one_s7   <= b_one_s6;
    end

    // Stage 6: the rows but for the operation one ahead.
    reg              reads_s6;
    reg [G_BITS-1:0] set_s6;
    reg [G_BITS-1:0] a_s7, b_s7;
    always @(posedge clk_i) begin
        reads_s6 <= reads_s5_i;
        set_s6   <= set_s5_i;
        a_s7 <= ~reads_s6     ? set_s6
              : a_two_s6[0]   ? row0_s8
              : a_two_s6[1]   ? row1_s8
              : a_three_s6[0] ? row0_s9
              : a_three_s6[1] ? row1_s9 : stored0_s6;
        b_s7 <= b_two_s6[0]   ? row0_s8
              : b_two_s6[1]   ? row1_s8
              : b_three_s6[0] ? row0_s9
              : b_three_s6[1] ? row1_s9 : stored1_s6;
    end

    // Stage 7: both guesses at the operation one ahead. `first`: its id0 won; `second`: its id1 won.
    wire [G_BITS-1:0] a_first  = a_one_s7[0] ? win0_s8  : a_one_s7[1] ? lose1_s8 : a_s7;
    wire [G_BITS-1:0] a_second = a_one_s7[0] ? lose0_s8 : a_one_s7[1] ? win1_s8  : a_s7;
    wire [G_BITS-1:0] b_first  = b_one_s7[0] ? win0_s8  : b_one_s7[1] ? lose1_s8 : b_s7;
    wire [G_BITS-1:0] b_second = b_one_s7[0] ? lose0_s8 : b_one_s7[1] ? win1_s8  : b_s7;

    wire [G_BITS-1:0] lose0_first, win0_first, lose0_second, win0_second;
    wire [G_BITS-1:0] lose1_first, win1_first, lose1_second, win1_second;
    score_try #(.G_BITS(G_BITS), .FRACTION_BITS(FRACTION_BITS)) try_a_first (
        .g_i(a_first), .d_i(d0_s7_i), .e_i(e0_s7_i), .lose_o(lose0_first), .win_o(win0_first)
    );
    score_try #(.G_BITS(G_BITS), .FRACTION_BITS(FRACTION_BITS)) try_a_second (
        .g_i(a_second), .d_i(d0_s7_i), .e_i(e0_s7_i), .lose_o(lose0_second), .win_o(win0_second)
    );
    score_try #(.G_BITS(G_BITS), .FRACTION_BITS(FRACTION_BITS)) try_b_first (
        .g_i(b_first), .d_i(d1_s7_i), .e_i(e1_s7_i), .lose_o(lose1_first), .win_o(win1_first)
    );
    score_try #(.G_BITS(G_BITS), .FRACTION_BITS(FRACTION_BITS)) try_b_second (
        .g_i(b_second), .d_i(d1_s7_i), .e_i(e1_s7_i), .lose_o(lose1_second), .win_o(win1_second)
    );
    always @(posedge clk_i) begin
        lose0_s8 <= second_s8 ? lose0_second : lose0_first;
        win0_s8  <= second_s8 ? win0_second  : win0_first;
        lose1_s8 <= second_s8 ? lose1_second : lose1_first;
        win1_s8  <= second_s8 ? win1_second  : win1_first;
    end
endmodule

`default_nettype wire
