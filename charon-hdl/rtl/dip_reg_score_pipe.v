// dip_reg_score, one operation per clock: the Score Table of Charon as a SUME extern.
//
// What it is   the module of the paper with the same ports as dip_reg_score_fsm, without its FIFO and without a stall.
//              Every VALID is answered nine clocks later, bit for bit as if each operation had ended before the next began.
// Operations   READ 0, UPDATE 1, COPY 2, GET_INDEX 3. Unknown codes, and ids that an operation needs but no server has,
//              are answered like COPY and counted; statefulValid = 0 is answered like COPY and counts nothing.
// Stages       1 decode, read t and v (score_times)   5 read g (score_loop)
//              2 store t and v                        6 limit D; the rows but for the operation one ahead
//              3 dt (score_drain, one per candidate)  7 both guesses at the winner one ahead
//              4 products                             8 the winner; store g
//              5 their sum                            9 the output registers
// Reset        empties the stages and the outputs, and every row becomes zero; a VALID during reset is not answered.
`default_nettype none
`include "charon_params.vh"

module dip_reg_score_pipe #(
    parameter SERVERS       = `CHARON_SERVERS,       // N: rows, ids 0 to N - 1; 2 to 256
    parameter G_BITS        = `CHARON_G_BITS,        // bits of g, the remaining tasks; at most 48
    parameter FRACTION_BITS = `CHARON_FRACTION_BITS, // fraction bits of g and v; the port g has the rest, 1 to 16
    parameter V_BITS        = `CHARON_V_BITS,        // bits of v, tasks per tick; 2 to 32
    parameter T_BITS        = `CHARON_T_BITS,        // bits of t, in ticks; at most 32
    parameter STALE_BITS    = `CHARON_STALE_BITS     // a score 2^STALE_BITS ticks old counts as idle; 2 to T_BITS - 2
) (
    input  wire clk_lookup, // every edge that counts is rising
    input  wire rst,        // synchronous, active high
    // A request this clock; there is no back-pressure.
    input  wire tuple_in_charon_dip_reg_score_input_VALID,
    // The request: {statefulValid, opCode, id0, id1, g, v, now}.
    input  wire [24+G_BITS-FRACTION_BITS+V_BITS+T_BITS:0] tuple_in_charon_dip_reg_score_input_DATA,
    // An answer this clock, in the order of the requests.
    output reg  tuple_out_charon_dip_reg_score_output_VALID,
    // The answer: {id, score}.
    output reg  [7+G_BITS:0] tuple_out_charon_dip_reg_score_output_DATA,
    output reg  [31:0] faults_o, // unknown codes and ids since reset; stops at 2^32 - 1
    output wire [31:0] drops_o   // requests lost since reset: none, ever
);
    localparam ADDR      = $clog2(SERVERS);
    localparam TASK_BITS = G_BITS - FRACTION_BITS;

    // Parameters that the module is not made for: elaboration stops at a module that there is not, whose name says why.
    generate
        if (SERVERS < 2 || SERVERS > 256) begin : no_servers
            dip_reg_score_pipe_needs_SERVERS_2_to_256 refused ();
        end
        if (G_BITS > 48 || FRACTION_BITS >= G_BITS || G_BITS - FRACTION_BITS > 16) begin : no_g
            dip_reg_score_pipe_needs_G_BITS_to_48_with_1_to_16_above_FRACTION_BITS refused ();
        end
        if (V_BITS < 2 || V_BITS > 32) begin : no_v
            dip_reg_score_pipe_needs_V_BITS_2_to_32 refused ();
        end
        if (T_BITS > 32 || STALE_BITS < 2 || STALE_BITS > T_BITS - 2) begin : no_t
            dip_reg_score_pipe_needs_STALE_BITS_2_to_2_less_than_T_BITS_to_32 refused ();
        end
    endgenerate

    assign drops_o = 32'd0;

    // Stage 1: the request.
    reg                 valid_s1, stateful_s1;
    reg [7:0]           code_s1, id0_s1, id1_s1;
    reg [TASK_BITS-1:0] g_s1;
    reg [V_BITS-1:0]    v_s1;
    reg [T_BITS-1:0]    now_s1;
    always @(posedge clk_lookup) begin
        valid_s1 <= tuple_in_charon_dip_reg_score_input_VALID & ~rst;
        {stateful_s1, code_s1, id0_s1, id1_s1, g_s1, v_s1, now_s1} <= tuple_in_charon_dip_reg_score_input_DATA;
    end

    wire known0_s1 = {24'd0, id0_s1} < SERVERS;
    wire known1_s1 = {24'd0, id1_s1} < SERVERS;
    wire does_s1   = valid_s1 & stateful_s1;
    wire read_s1   = does_s1 & code_s1 == `CHARON_OP_READ      & known0_s1;
    wire update_s1 = does_s1 & code_s1 == `CHARON_OP_UPDATE    & known0_s1;
    wire copy_s1   = does_s1 & code_s1 == `CHARON_OP_COPY;
    wire choose_s1 = does_s1 & code_s1 == `CHARON_OP_GET_INDEX & known0_s1 & known1_s1;
    wire fault_s1  = does_s1 & ~(read_s1 | update_s1 | copy_s1 | choose_s1);
    wire same_s1   = id0_s1 == id1_s1;

    always @(posedge clk_lookup)
        if (rst) faults_o <= 32'd0;
        else if (fault_s1 & ~&faults_o) faults_o <= faults_o + 32'd1;

    // Stages 1 to 3: t and v.
    wire [T_BITS-1:0] t0_s3, t1_s3;
    wire [V_BITS-1:0] v0_s3, v1_s3;
    score_times #(.SERVERS(SERVERS), .V_BITS(V_BITS), .T_BITS(T_BITS)) times (
        .clk_i(clk_lookup), .rst_i(rst),
        .write0_s1_i(choose_s1 | update_s1), .write1_s1_i(choose_s1 & ~same_s1), .update_s1_i(update_s1),
        .id0_s1_i(id0_s1[ADDR-1:0]), .id1_s1_i(id1_s1[ADDR-1:0]), .v_s1_i(v_s1), .now_s1_i(now_s1),
        .t0_s3_o(t0_s3), .t1_s3_o(t1_s3), .v0_s3_o(v0_s3), .v1_s3_o(v1_s3)
    );

    // What an operation carries to the stages behind: stages 2 to 5 here, and the answer's part to stage 8.
    // The low bits count from the right: {same, choose, update, read, valid}.
    reg [4:0]           kind_s2, kind_s3, kind_s4, kind_s5;
    reg [7:0]           id0_s2, id0_s3, id0_s4, id0_s5, id0_s6, id0_s7, id0_s8;
    reg [7:0]           id1_s2, id1_s3, id1_s4, id1_s5, id1_s6, id1_s7, id1_s8;
    reg [TASK_BITS-1:0] g_s2, g_s3, g_s4, g_s5;
    reg [T_BITS-1:0]    now_s2, now_s3;
    reg                 valid_s6, valid_s7, valid_s8, reads_s6;
    always @(posedge clk_lookup) begin
        kind_s2 <= {same_s1, choose_s1, update_s1, read_s1, valid_s1} & {5{~rst}};
        kind_s3 <= kind_s2 & {5{~rst}};
        kind_s4 <= kind_s3 & {5{~rst}};
        kind_s5 <= kind_s4 & {5{~rst}};
        {valid_s6, valid_s7, valid_s8} <= {kind_s5[0], valid_s6, valid_s7} & {3{~rst}};
        reads_s6 <= kind_s5[1] | kind_s5[3];
        {id0_s2, id0_s3, id0_s4, id0_s5, id0_s6, id0_s7, id0_s8} <=
            {id0_s1, id0_s2, id0_s3, id0_s4, id0_s5, id0_s6, id0_s7};
        {id1_s2, id1_s3, id1_s4, id1_s5, id1_s6, id1_s7, id1_s8} <=
            {id1_s1, id1_s2, id1_s3, id1_s4, id1_s5, id1_s6, id1_s7};
        {g_s2, g_s3, g_s4, g_s5} <= {update_s1 ? g_s1 : {TASK_BITS{1'b0}}, g_s2, g_s3, g_s4};
        {now_s2, now_s3} <= {now_s1, now_s2};
    end

    // Stages 3 to 6: what each candidate has completed since.
    wire [G_BITS:0] d0_s7, e0_s7, d1_s7, e1_s7;
    score_drain #(
        .G_BITS(G_BITS), .FRACTION_BITS(FRACTION_BITS), .V_BITS(V_BITS), .T_BITS(T_BITS), .STALE_BITS(STALE_BITS)
    ) drain0 (
        .clk_i(clk_lookup), .now_s3_i(now_s3), .t_s3_i(t0_s3), .v_s3_i(v0_s3), .use_s6_i(reads_s6),
        .d_s7_o(d0_s7), .e_s7_o(e0_s7)
    );
    score_drain #(
        .G_BITS(G_BITS), .FRACTION_BITS(FRACTION_BITS), .V_BITS(V_BITS), .T_BITS(T_BITS), .STALE_BITS(STALE_BITS)
    ) drain1 (
        .clk_i(clk_lookup), .now_s3_i(now_s3), .t_s3_i(t1_s3), .v_s3_i(v1_s3), .use_s6_i(reads_s6),
        .d_s7_o(d1_s7), .e_s7_o(e1_s7)
    );

    // Stages 5 to 8: g, and the winner.
    wire              second_s8;
    wire [G_BITS-1:0] score_s8;
    score_loop #(.SERVERS(SERVERS), .G_BITS(G_BITS), .FRACTION_BITS(FRACTION_BITS)) back (
        .clk_i(clk_lookup), .rst_i(rst),
        .reads_s5_i(kind_s5[1] | kind_s5[3]), .choose_s5_i(kind_s5[3]), .same_s5_i(kind_s5[4]), .update_s5_i(kind_s5[2]),
        .id0_s5_i(id0_s5[ADDR-1:0]), .id1_s5_i(id1_s5[ADDR-1:0]), .set_s5_i({g_s5, {FRACTION_BITS{1'b0}}}),
        .d0_s7_i(d0_s7), .e0_s7_i(e0_s7), .d1_s7_i(d1_s7), .e1_s7_i(e1_s7),
        .second_s8_o(second_s8), .score_s8_o(score_s8)
    );

    always @(posedge clk_lookup)
        if (rst) begin
            tuple_out_charon_dip_reg_score_output_VALID <= 1'b0;
            tuple_out_charon_dip_reg_score_output_DATA  <= {(8 + G_BITS) {1'b0}};
        end else begin
            tuple_out_charon_dip_reg_score_output_VALID <= valid_s8;
            tuple_out_charon_dip_reg_score_output_DATA  <= {second_s8 ? id1_s8 : id0_s8, score_s8};
        end
endmodule

`default_nettype wire
