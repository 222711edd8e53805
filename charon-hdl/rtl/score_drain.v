// One lane of arithmetic that needs no score: what a server has completed since its row was stored.
//
// What it is   D = min(v * dt, 2^G_BITS) with dt = now - t, or D = 2^G_BITS if dt is stale (2^STALE_BITS ticks or more);
//              2^G_BITS empties any score. Beside it E = D - one task, so that the loop after this lane finds g' + 1 task
//              with one subtraction, as it finds g'.
// Timing       four stages, one operation per clock: stage 3 subtracts, 4 multiplies halves, 5 adds the products,
//              6 limits. What is at stage 3 in clock c is at the outputs in clock c + 4.
// Reset        none: the values of a stage without an operation are never used.
`default_nettype none

module score_drain #(
    parameter G_BITS        = 40, // bits of g
    parameter FRACTION_BITS = 28, // fraction bits of g and v: one task is 2^FRACTION_BITS
    parameter V_BITS        = 24, // bits of v
    parameter T_BITS        = 32, // bits of t
    parameter STALE_BITS    = 24  // dt of 2^STALE_BITS or more is stale; less than T_BITS
) (
    input  wire              clk_i,    // every edge that counts is rising
    input  wire [T_BITS-1:0] now_s3_i, // the tick of the operation
    input  wire [T_BITS-1:0] t_s3_i,   // the tick at which the row was stored
    input  wire [V_BITS-1:0] v_s3_i,   // the row's speed
    input  wire              use_s6_i, // the operation needs a score; otherwise D = E = 0, three clocks later
    output reg  [G_BITS:0]   d_s7_o,   // D
    output reg  [G_BITS:0]   e_s7_o    // E modulo 2^(G_BITS + 1)
);
    localparam V_LOW  = V_BITS / 2;
    localparam V_HIGH = V_BITS - V_LOW;
    localparam A_LOW  = STALE_BITS / 2;
    localparam A_HIGH = STALE_BITS - A_LOW;
    localparam P_BITS = V_BITS + STALE_BITS;
    localparam [G_BITS:0] ALL  = {1'b1, {G_BITS{1'b0}}};
    localparam [G_BITS:0] TASK = {{G_BITS{1'b0}}, 1'b1} << FRACTION_BITS;

    // Stage 3: the age.
    wire [T_BITS-1:0] dt_s3 = now_s3_i - t_s3_i;
    reg  [STALE_BITS-1:0] age_s4;
    reg  [V_BITS-1:0]     v_s4;
    reg                   stale_s4;
    always @(posedge clk_i) begin
        age_s4   <= dt_s3[STALE_BITS-1:0];
        v_s4     <= v_s3_i;
        stale_s4 <= |dt_s3[T_BITS-1:STALE_BITS];
    end

    // Stage 4: four products of halves, which multipliers of 18 bits hold.
    reg [V_LOW+A_LOW-1:0]   low_low_s5;
    reg [V_LOW+A_HIGH-1:0]  low_high_s5;
    reg [V_HIGH+A_LOW-1:0]  high_low_s5;
    reg [V_HIGH+A_HIGH-1:0] high_high_s5;
    reg                     stale_s5;
    always @(posedge clk_i) begin
        low_low_s5   <= v_s4[V_LOW-1:0] * age_s4[A_LOW-1:0];
        low_high_s5  <= v_s4[V_LOW-1:0] * age_s4[STALE_BITS-1:A_LOW];
        high_low_s5  <= v_s4[V_BITS-1:V_LOW] * age_s4[A_LOW-1:0];
        high_high_s5 <= v_s4[V_BITS-1:V_LOW] * age_s4[STALE_BITS-1:A_LOW];
        stale_s5     <= stale_s4;
    end

    // Stage 5: their sum. The outer two do not overlap.
    wire [P_BITS-1:0] inner_s5 = ({{(P_BITS - V_LOW - A_HIGH) {1'b0}}, low_high_s5} << A_LOW)
                               + ({{(P_BITS - V_HIGH - A_LOW) {1'b0}}, high_low_s5} << V_LOW);
    reg [P_BITS-1:0] product_s6;
    reg              stale_s6;
    always @(posedge clk_i) begin
        product_s6 <= {high_high_s5, low_low_s5} + inner_s5;
        stale_s6   <= stale_s5;
    end

    // Stage 6: the limit.
    wire over_s6;
    wire [G_BITS-1:0] drained_s6;
    generate
        if (P_BITS > G_BITS) begin : clamp
            assign over_s6    = stale_s6 | (|product_s6[P_BITS-1:G_BITS]);
            assign drained_s6 = product_s6[G_BITS-1:0];
        end else begin : fits
            assign over_s6    = stale_s6;
            assign drained_s6 = {{(G_BITS - P_BITS) {1'b0}}, product_s6};
        end
    endgenerate
    wire [G_BITS:0] d_s6 = over_s6 ? ALL : {1'b0, drained_s6};
    always @(posedge clk_i) begin
        d_s7_o <= use_s6_i ? d_s6 : {(G_BITS + 1) {1'b0}};
        e_s7_o <= use_s6_i ? d_s6 - TASK : {(G_BITS + 1) {1'b0}};
    end
endmodule

`default_nettype wire
