// Every operator that a netlist may hold, on words of up to 64 bits and above: what the interpreter computes is compared
// with a simulator.
`default_nettype none

module operators #(
    parameter W = 100 // bits of the wide words
) (
    input  wire          clk_i,
    input  wire          rst_i,
    input  wire [W-1:0]  a_i,
    input  wire [W-1:0]  b_i,
    input  wire [6:0]    by_i,
    output reg  [W-1:0]  wide_o,
    output reg  [31:0]   narrow_o,
    output wire [19:0]   bits_o
);
    wire [31:0] c = a_i[31:0];
    wire [31:0] d = b_i[31:0];
    wire signed [W-1:0] sa = a_i;
    wire signed [W-1:0] sb = b_i;
    wire signed [31:0]  sc = c;
    wire signed [31:0]  sd = d;

    always @(posedge clk_i)
        if (rst_i) begin
            wide_o   <= {W{1'b0}};
            narrow_o <= 32'd0;
        end else begin
            case (by_i[3:0])
                4'd0:    wide_o <= wide_o + a_i;
                4'd1:    wide_o <= wide_o - b_i;
                4'd2:    wide_o <= wide_o * a_i;
                4'd3:    wide_o <= -wide_o;
                4'd4:    wide_o <= ~wide_o ^ b_i;
                4'd5:    wide_o <= wide_o << by_i;
                4'd6:    wide_o <= wide_o >> by_i;
                4'd7:    wide_o <= $signed(wide_o) >>> by_i;
                4'd8:    wide_o <= {wide_o[W/2-1:0], a_i[W-1:W/2]};
                4'd9:    wide_o <= {{(W - 32) {sc[31]}}, sc};
                4'd10:   wide_o <= sa < sb ? a_i : b_i | wide_o;
                default: wide_o <= a_i & wide_o;
            endcase
            case (by_i[6:4])
                3'd0:    narrow_o <= narrow_o + c;
                3'd1:    narrow_o <= narrow_o - d;
                3'd2:    narrow_o <= narrow_o * c;
                3'd3:    narrow_o <= narrow_o << by_i[3:0];
                3'd4:    narrow_o <= $signed(narrow_o) >>> by_i[2:0];
                3'd5:    narrow_o <= narrow_o >> by_i;
                3'd6:    narrow_o <= sc <= sd ? c : ~narrow_o;
                default: narrow_o <= -d;
            endcase
        end

    assign bits_o = {
        a_i < b_i, a_i <= b_i, a_i > b_i, a_i >= b_i, a_i == b_i, a_i != b_i, sa < sb, sa <= sb, sa > sb, sa >= sb,
        c < d, c <= d, sc > sd, sc >= sd, c == d, &a_i, |b_i, ^wide_o, &c, ^narrow_o
    };
endmodule

`default_nettype wire
