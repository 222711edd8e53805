// Stages 1 and 2 of the pipe: the columns t and v of the Score Table.
//
// What it is   t and v of a row after an operation depend on the operation only, never on which candidate won, so this
//              loop closes in one clock and holds no arithmetic: read the old t and v of both ids, store t = now (and v,
//              if it is an UPDATE).
// Hazards      the operation one ahead writes in the clock in which this one reads; its values are forwarded. What is
//              further ahead has been written.
// Timing       ids at stage 1, old t and v at the outputs at stage 3, i.e. two clocks later.
// Reset        every row becomes t = 0, v = 0.
`default_nettype none

module score_times #(
    parameter SERVERS = 16, // rows, 2 to 256
    parameter V_BITS  = 24, // bits of v
    parameter T_BITS  = 32  // bits of t
) (
    input  wire                       clk_i,       // every edge that counts is rising
    input  wire                       rst_i,       // synchronous, active high
    input  wire                       write0_s1_i, // the operation stores row id0 (UPDATE, GET_INDEX)
    input  wire                       write1_s1_i, // it also stores row id1, another one (GET_INDEX)
    input  wire                       update_s1_i, // it stores v too (UPDATE)
    input  wire [$clog2(SERVERS)-1:0] id0_s1_i,    // the first row
    input  wire [$clog2(SERVERS)-1:0] id1_s1_i,    // the second row
    input  wire [V_BITS-1:0]          v_s1_i,      // v of an UPDATE
    input  wire [T_BITS-1:0]          now_s1_i,    // the tick of the operation
    output reg  [T_BITS-1:0]          t0_s3_o,     // t of row id0, before this operation
    output reg  [T_BITS-1:0]          t1_s3_o,     // t of row id1
    output reg  [V_BITS-1:0]          v0_s3_o,     // v of row id0
    output reg  [V_BITS-1:0]          v1_s3_o      // v of row id1
);
    localparam ADDR = $clog2(SERVERS);

    // Stage 2: what this operation stores, and which of its rows the operation one ahead has just stored.
    reg              write0_s2, write1_s2, update_s2;
    reg [ADDR-1:0]   id0_s2, id1_s2;
    reg [V_BITS-1:0] v_s2;
    reg [T_BITS-1:0] now_s2;
    reg              t0_ahead_s2, t1_ahead_s2, v0_ahead_s2, v1_ahead_s2;
    always @(posedge clk_i) begin
        write0_s2   <= write0_s1_i & ~rst_i;
        write1_s2   <= write1_s1_i & ~rst_i;
        update_s2   <= update_s1_i & ~rst_i;
        id0_s2      <= id0_s1_i;
        id1_s2      <= id1_s1_i;
        v_s2        <= v_s1_i;
        now_s2      <= now_s1_i;
        t0_ahead_s2 <= (write0_s2 & id0_s1_i == id0_s2) | (write1_s2 & id0_s1_i == id1_s2);
        t1_ahead_s2 <= (write0_s2 & id1_s1_i == id0_s2) | (write1_s2 & id1_s1_i == id1_s2);
        v0_ahead_s2 <= update_s2 & id0_s1_i == id0_s2;
        v1_ahead_s2 <= update_s2 & id1_s1_i == id0_s2;
    end

    // Stage 3 of the operation one ahead.
    reg [V_BITS-1:0] v_s3;
    reg [T_BITS-1:0] now_s3;
    always @(posedge clk_i) begin
        v_s3   <= v_s2;
        now_s3 <= now_s2;
    end

    wire [T_BITS-1:0] t0_s2, t1_s2;
    row_memory #(.ROWS(SERVERS), .WIDTH(T_BITS)) column_t (
        .clk_i(clk_i), .rst_i(rst_i),
        .we0_i(write0_s2), .waddr0_i(id0_s2), .wdata0_i(now_s2),
        .we1_i(write1_s2), .waddr1_i(id1_s2), .wdata1_i(now_s2),
        .raddr0_i(id0_s1_i), .rdata0_o(t0_s2), .raddr1_i(id1_s1_i), .rdata1_o(t1_s2)
    );

    wire [V_BITS-1:0] v0_s2, v1_s2;
    row_memory #(.ROWS(SERVERS), .WIDTH(V_BITS)) column_v (
        .clk_i(clk_i), .rst_i(rst_i),
        .we0_i(update_s2), .waddr0_i(id0_s2), .wdata0_i(v_s2),
        .we1_i(1'b0), .waddr1_i({ADDR{1'b0}}), .wdata1_i({V_BITS{1'b0}}),
        .raddr0_i(id0_s1_i), .rdata0_o(v0_s2), .raddr1_i(id1_s1_i), .rdata1_o(v1_s2)
    );

    always @(posedge clk_i) begin
        t0_s3_o <= t0_ahead_s2 ? now_s3 : t0_s2;
        t1_s3_o <= t1_ahead_s2 ? now_s3 : t1_s2;
        v0_s3_o <= v0_ahead_s2 ? v_s3 : v0_s2;
        v1_s3_o <= v1_ahead_s2 ? v_s3 : v1_s2;
    end
endmodule

`default_nettype wire
