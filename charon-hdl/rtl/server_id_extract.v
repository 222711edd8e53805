// The server's id in an echoed TCP timestamp.
//
// What it is   charon-model's Codec::id: the top ID_BITS of the timestamp (HighBits, the paper's) or its low ID_BITS
//              (LowBits, recommended: see there why the high bits are a trap).
// Timing       combinational.
`default_nettype none
`include "charon_params.vh"

module server_id_extract #(
    parameter ID_BITS = `CHARON_ID_BITS // bits of an id, 1 to 8
) (
    input  wire        high_i, // HighBits; otherwise LowBits
    input  wire [31:0] echo_i, // the TSecr
    output wire [7:0]  id_o    // the id; whether there is such a server, the IP Table knows
);
    // Parameters that the module is not made for: elaboration stops at a module that there is not, whose name says why.
    generate
        if (ID_BITS < 1 || ID_BITS > 8) begin : no_id
            server_id_extract_needs_ID_BITS_1_to_8 refused ();
        end
    endgenerate

    assign id_o = {{(8 - ID_BITS) {1'b0}}, high_i ? echo_i[31-:ID_BITS] : echo_i[ID_BITS-1:0]};
    // The time.
    wire unused = &{1'b0, echo_i[31-ID_BITS:ID_BITS]};
endmodule

`default_nettype wire
