// The server's id in the TCP timestamp that a client echoes.
//
// What it is   the ID_BITS highest bits of TSecr (the paper's place), or the lowest (recommended: with the high bits, a
//              client's check of timestamps refuses every segment after a while; see charon-model's `timestamp`).
// Timing       combinational: wires.
// Contract     every value has an id; whether there is such a server, the IP Table knows.
`default_nettype none
`include "charon_params.vh"

module server_id_extract #(
    parameter ID_BITS  = `CHARON_ID_BITS, // bits of an id, 1 to 8
    parameter LOW_BITS = 1                // 1: the lowest bits; 0: the highest
) (
    input  wire [31:0] echo_i, // TSecr
    output wire [7:0]  id_o    // the id
);
    wire [ID_BITS-1:0] id = LOW_BITS != 0 ? echo_i[ID_BITS-1:0] : echo_i[31:32-ID_BITS];
    assign id_o = {{(8 - ID_BITS) {1'b0}}, id};
    wire unused = &{1'b0, echo_i}; // the other bits are the server's clock
endmodule

`default_nettype wire
