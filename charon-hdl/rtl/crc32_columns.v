// A reflected CRC of 32 bits in parallel form: every bit of the remainder is the parity of some bits of the message.
//
// What it is   the linear part of the CRC: the remainder of the message with an initial value of zero and no inversion.
//              With it any CRC of this polynomial can be made: an initial value of all ones inverts the first four bytes
//              of the message, the inversion at the end inverts the result, and zeros in front of a message add nothing.
// Method       which bits belong to which parity follows from the polynomial at elaboration. The parities are taken over
//              64 bits each, registered, and joined: parities of about 32 bits, then of 5.
// Timing       two stages, one message per clock: what is at msg_s1_i in clock c is at crc_s3_o in clock c + 2.
// Reset        none.
`default_nettype none

module crc32_columns #(
    parameter [31:0] POLYNOMIAL = 32'h04c1_1db7, // without x^32, the highest power first
    parameter        BYTES      = 37             // bytes of a message, at least 4
) (
    input  wire               clk_i,    // every edge that counts is rising
    input  wire [8*BYTES-1:0] msg_s1_i, // the message, its first byte on top
    output reg  [31:0]        crc_s3_o  // the remainder, two clocks later
);
    localparam BITS  = 8 * BYTES;
    localparam PARTS = (BITS + 63) / 64;

    // For every bit of the remainder, which bits of the message count. A message goes through the register byte by byte,
    // the low bit of a byte first; so the last bit to go in is the top bit of the lowest byte, and leaves the polynomial
    // behind, and each bit before it the same shifted once more.
    function [32*BITS-1:0] counting(input [31:0] polynomial);
        reg [31:0] reflected, remainder;
        integer    at, row;
        begin
            for (at = 0; at < 32; at = at + 1) reflected[at] = polynomial[31 - at];
            remainder = reflected;
            for (at = 0; at < BITS; at = at + 1) begin
                for (row = 0; row < 32; row = row + 1)
                    counting[BITS*row+at-at%8+7-at%8] = remainder[row];
                remainder = {1'b0, remainder[31:1]} ^ (remainder[0] ? reflected : 32'd0);
            end
        end
    endfunction
    localparam [32*BITS-1:0] COUNTING = counting(POLYNOMIAL);

    genvar row, part;
    generate
        for (row = 0; row < 32; row = row + 1) begin : rows
            reg [PARTS-1:0] parity_s2;
            for (part = 0; part < PARTS; part = part + 1) begin : parts
                localparam LOW  = 64 * part;
                localparam SIZE = BITS - LOW < 64 ? BITS - LOW : 64;
                always @(posedge clk_i)
                    parity_s2[part] <= ^(msg_s1_i[LOW+:SIZE] & COUNTING[BITS*row+LOW+:SIZE]);
            end
            always @(posedge clk_i) crc_s3_o[row] <= ^parity_s2;
        end
    endgenerate
endmodule

`default_nettype wire
