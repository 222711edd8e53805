// The two hashes of a flow: CRC-32 and CRC-32C of its 5-tuple, in parallel form.
//
// What it is   charon-model's FlowHash: over source, destination, protocol (TCP), source port, destination port in network
//              order; 13 bytes over IPv4, 37 over IPv6. Two polynomials, since two CRCs of one polynomial differ by a
//              constant, and the second candidate would follow from the first.
// Method       an IPv4 tuple is a message of 37 bytes that begins with 24 zeros: these add nothing to the remainder. The
//              initial value of all ones is an inversion of the first four bytes of either tuple.
// Timing       two stages, one flow per clock: a flow in clock c, its hashes in clock c + 2.
// Reset        none.
`default_nettype none

module flow_hash (
    input  wire         clk_i,                 // every edge that counts is rising
    input  wire         v6_s1_i,               // the addresses are IPv6; otherwise IPv4, in their low 32 bits
    input  wire [127:0] source_s1_i,           // the client
    input  wire [127:0] destination_s1_i,      // the service
    input  wire [15:0]  source_port_s1_i,      // the client's port
    input  wire [15:0]  destination_port_s1_i, // the service's port
    output wire [31:0]  first_s3_o,            // CRC-32, polynomial 04c11db7
    output wire [31:0]  second_s3_o            // CRC-32C, polynomial 1edc6f41
);
    localparam [7:0] TCP = 8'd6;

    wire [255:0] addresses_s1 = v6_s1_i
        ? {~source_s1_i[127:96], source_s1_i[95:0], destination_s1_i}
        : {192'd0, ~source_s1_i[31:0], destination_s1_i[31:0]};
    wire [295:0] message_s1 = {addresses_s1, TCP, source_port_s1_i, destination_port_s1_i};

    wire [31:0] first_s3, second_s3;
    crc32_columns #(.POLYNOMIAL(32'h04c1_1db7), .BYTES(37)) crc32 (
        .clk_i(clk_i), .msg_s1_i(message_s1), .crc_s3_o(first_s3)
    );
    crc32_columns #(.POLYNOMIAL(32'h1edc_6f41), .BYTES(37)) crc32c (
        .clk_i(clk_i), .msg_s1_i(message_s1), .crc_s3_o(second_s3)
    );
    assign first_s3_o  = ~first_s3;
    assign second_s3_o = ~second_s3;
endmodule

`default_nettype wire
