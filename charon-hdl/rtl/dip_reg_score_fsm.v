// dip_reg_score as the paper has it: a FIFO of requests, a block RAM of rows, and a state machine between them.
//
// What it is   one operation at a time; a request waits in the FIFO until the machine has finished those before it.
// Operations   READ 0, UPDATE 1, COPY 2, GET_INDEX 3. Unknown codes, and ids that an operation needs but no server has,
//              are answered like COPY and counted; statefulValid = 0 is answered like COPY and counts nothing.
// States       RMW_START  look at the oldest request; UPDATE writes its row, COPY does nothing, and both end: 1 clock
//              WAIT_BRAM  READ and GET_INDEX wait for their rows, which come two clocks after their addresses:
//                         step 1  the address of id1
//                         step 2  row id0: its D = min(v * dt, 2^G_BITS); READ ends: 3 clocks
//                         step 3  row id1: its D; g' of id0
//                         step 4  g' of id1, the winner, and row id0 is stored
//                         step 5  row id1 is stored; GET_INDEX ends: 6 clocks
// Loss         a request that meets a full FIFO is dropped and never answered, as in the paper's module; that puts the
//              packets behind it out of step with their answers. drops_o counts them.
// Reset        empties the FIFO, returns to RMW_START, clears the outputs, and every row becomes zero.
`default_nettype none
`include "charon_params.vh"

module dip_reg_score_fsm #(
    parameter SERVERS       = `CHARON_SERVERS,       // N: rows, ids 0 to N - 1; 2 to 256
    parameter G_BITS        = `CHARON_G_BITS,        // bits of g, the remaining tasks; at most 48
    parameter FRACTION_BITS = `CHARON_FRACTION_BITS, // fraction bits of g and v; the port g has the rest, 1 to 16
    parameter V_BITS        = `CHARON_V_BITS,        // bits of v, tasks per tick; 1 to 32
    parameter T_BITS        = `CHARON_T_BITS,        // bits of t, in ticks; at most 32
    parameter STALE_BITS    = `CHARON_STALE_BITS,    // a score 2^STALE_BITS ticks old counts as idle; 1 to T_BITS - 2
    parameter FIFO_DEPTH    = 64                     // requests that may wait; a power of two
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
    output reg  [31:0] drops_o   // requests lost since reset, modulo 2^32: each shows as a change
);
    localparam ADDR      = $clog2(SERVERS);
    localparam TASK_BITS = G_BITS - FRACTION_BITS;
    localparam REQUEST   = 25 + TASK_BITS + V_BITS + T_BITS;
    localparam ROW       = G_BITS + V_BITS + T_BITS;
    localparam P_BITS    = V_BITS + STALE_BITS;
    localparam WIDE      = P_BITS > G_BITS ? P_BITS : G_BITS + 1; // holds a product, and 2^G_BITS
    localparam [WIDE-1:0]   ALL  = {{(WIDE - 1) {1'b0}}, 1'b1} << G_BITS;
    localparam [G_BITS-1:0] TASK = {{(G_BITS - 1) {1'b0}}, 1'b1} << FRACTION_BITS;

    // Parameters that the module is not made for: elaboration stops at a module that there is not, whose name says why.
    generate
        if (SERVERS < 2 || SERVERS > 256) begin : no_servers
            dip_reg_score_fsm_needs_SERVERS_2_to_256 refused ();
        end
        if (G_BITS > 48 || FRACTION_BITS >= G_BITS || G_BITS - FRACTION_BITS > 16) begin : no_g
            dip_reg_score_fsm_needs_G_BITS_to_48_with_1_to_16_above_FRACTION_BITS refused ();
        end
        if (V_BITS < 1 || V_BITS > 32) begin : no_v
            dip_reg_score_fsm_needs_V_BITS_1_to_32 refused ();
        end
        if (T_BITS > 32 || STALE_BITS < 1 || STALE_BITS > T_BITS - 2) begin : no_t
            dip_reg_score_fsm_needs_STALE_BITS_1_to_2_less_than_T_BITS_to_32 refused ();
        end
        if (FIFO_DEPTH < 2 || (FIFO_DEPTH & (FIFO_DEPTH - 1)) != 0) begin : no_fifo
            dip_reg_score_fsm_needs_FIFO_DEPTH_a_power_of_two refused ();
        end
    endgenerate

    localparam [2:0] RMW_START = 3'd0; // the steps of WAIT_BRAM are 1 to 5

    // D of a row.
    function [G_BITS:0] drained(input [V_BITS-1:0] v, input [T_BITS-1:0] t, input [T_BITS-1:0] at);
        reg [T_BITS-1:0] dt;
        reg [WIDE-1:0]   product;
        begin
            dt      = at - t;
            product = {{(WIDE - V_BITS) {1'b0}}, v} * {{(WIDE - STALE_BITS) {1'b0}}, dt[STALE_BITS-1:0]};
            if (|dt[T_BITS-1:STALE_BITS] || product > ALL) product = ALL;
            drained = product[G_BITS:0];
        end
    endfunction

    // g' of g.
    function [G_BITS-1:0] remaining(input [G_BITS-1:0] g, input [G_BITS:0] d);
        reg [G_BITS:0] left;
        begin
            left      = {1'b0, g} - d;
            remaining = left[G_BITS] ? {G_BITS{1'b0}} : left[G_BITS-1:0];
        end
    endfunction

    // One task more, unless the whole tasks are as many as fit.
    function [G_BITS-1:0] plus_task(input [G_BITS-1:0] g);
        plus_task = &g[G_BITS-1:FRACTION_BITS] ? g : g + TASK;
    endfunction

    // The oldest request.
    wire [REQUEST-1:0] request;
    wire               idle;
    wire               full;
    wire               done;
    sync_fifo #(.WIDTH(REQUEST), .DEPTH(FIFO_DEPTH)) fifo (
        .clk_i(clk_lookup), .rst_i(rst),
        .push_i(tuple_in_charon_dip_reg_score_input_VALID), .data_i(tuple_in_charon_dip_reg_score_input_DATA),
        .pop_i(done), .data_o(request), .empty_o(idle), .full_o(full)
    );
    wire                 stateful;
    wire [7:0]           code, id0, id1;
    wire [TASK_BITS-1:0] set_g;
    wire [V_BITS-1:0]    set_v;
    wire [T_BITS-1:0]    now;
    assign {stateful, code, id0, id1, set_g, set_v, now} = request;

    wire known0 = {24'd0, id0} < SERVERS;
    wire known1 = {24'd0, id1} < SERVERS;
    wire read   = stateful & code == `CHARON_OP_READ      & known0;
    wire update = stateful & code == `CHARON_OP_UPDATE    & known0;
    wire copy   = stateful & code == `CHARON_OP_COPY;
    wire choose = stateful & code == `CHARON_OP_GET_INDEX & known0 & known1;
    wire fault  = stateful & ~(read | update | copy | choose);

    reg  [2:0] step;
    wire       start = step == RMW_START & ~idle;
    assign done = (start & ~read & ~choose) | (step == 3'd2 & read) | step == 3'd5;
    always @(posedge clk_lookup)
        if (rst | done) step <= RMW_START;
        else if (start | step != RMW_START) step <= step + 3'd1;

    // The rows, and whether each was written since reset.
    wire              store;
    wire [ADDR-1:0]   store_at;
    wire [ROW-1:0]    store_row;
    wire [ADDR-1:0]   load_at = step == RMW_START ? id0[ADDR-1:0] : id1[ADDR-1:0];
    wire [ROW-1:0]    loaded;
    charon_bram #(.ROWS(SERVERS), .WIDTH(ROW), .LATENCY(2)) table_rows (
        .clk_i(clk_lookup), .we_i(store), .waddr_i(store_at), .wdata_i(store_row), .raddr_i(load_at), .rdata_o(loaded)
    );
    reg [SERVERS-1:0] written;
    reg [1:0]         loaded_written;
    always @(posedge clk_lookup) begin
        if (store) written[store_at] <= 1'b1;
        if (rst) written <= {SERVERS{1'b0}};
        loaded_written <= {loaded_written[0], written[load_at]};
    end
    wire [G_BITS-1:0] row_g;
    wire [V_BITS-1:0] row_v;
    wire [T_BITS-1:0] row_t;
    assign {row_g, row_v, row_t} = loaded & {ROW{loaded_written[1]}};

    // WAIT_BRAM: D and g' of both candidates.
    wire [G_BITS:0]   row_d = drained(row_v, row_t, now);
    reg  [G_BITS-1:0] g0, g1, score0, lost1;
    reg  [G_BITS:0]   d0, d1;
    reg  [V_BITS-1:0] v0, v1;
    reg               second;
    wire [G_BITS-1:0] score1     = remaining(g1, d1);
    wire              second_now = score1 < score0;
    always @(posedge clk_lookup) begin
        if (step == 3'd2) {g0, v0, d0} <= {row_g, row_v, row_d};
        if (step == 3'd3) {g1, v1, d1} <= {row_g, row_v, row_d};
        score0 <= remaining(g0, d0);
        lost1  <= score1;
        second <= second_now;
    end

    // One row is stored per clock.
    wire [G_BITS-1:0] store_g = step == RMW_START ? {set_g, {FRACTION_BITS{1'b0}}}
                              : step == 3'd4      ? (second_now ? score0 : plus_task(score0))
                              :                     (second ? plus_task(lost1) : lost1);
    wire [V_BITS-1:0] store_v = step == RMW_START ? set_v : step == 3'd4 ? v0 : v1;
    assign store     = (start & update) | step == 3'd4 | (step == 3'd5 & id0 != id1);
    assign store_at  = step == 3'd5 ? id1[ADDR-1:0] : id0[ADDR-1:0];
    assign store_row = {store_g, store_v, now};

    // The answer leaves its operation as {id, g, D}, and the outputs have g' a clock later.
    wire              answer = (start & ~read & ~choose) | (step == 3'd2 & read) | step == 3'd4;
    reg               answered;
    reg  [7:0]        answer_id;
    reg  [G_BITS-1:0] answer_g;
    reg  [G_BITS:0]   answer_d;
    always @(posedge clk_lookup) begin
        answered  <= answer & ~rst;
        answer_id <= step == 3'd4 & second_now ? id1 : id0;
        answer_g  <= step == 3'd4 ? (second_now ? score1 : score0)
                   : step == 3'd2 ? row_g
                   : update       ? {set_g, {FRACTION_BITS{1'b0}}} : {G_BITS{1'b0}};
        answer_d  <= step == 3'd2 ? row_d : {(G_BITS + 1) {1'b0}};
    end
    always @(posedge clk_lookup)
        if (rst) begin
            tuple_out_charon_dip_reg_score_output_VALID <= 1'b0;
            tuple_out_charon_dip_reg_score_output_DATA  <= {(8 + G_BITS) {1'b0}};
        end else begin
            tuple_out_charon_dip_reg_score_output_VALID <= answered;
            tuple_out_charon_dip_reg_score_output_DATA  <= {answer_id, remaining(answer_g, answer_d)};
        end

    wire drop = tuple_in_charon_dip_reg_score_input_VALID & full;
    always @(posedge clk_lookup)
        if (rst) {faults_o, drops_o} <= 64'd0;
        else begin
            if (start & fault & ~&faults_o) faults_o <= faults_o + 32'd1;
            if (drop) drops_o <= drops_o + 32'd1;
        end
endmodule

`default_nettype wire
