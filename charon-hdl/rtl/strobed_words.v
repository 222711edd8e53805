// Registers of one or more words that a bus writes byte by byte.
//
// What it is   WORDS words of 32 bits, of which the low BITS bits are kept, the low word first.
// Reset        all zero.
`default_nettype none

module strobed_words #(
    parameter WORDS = 1, // 1, 2 or 4
    parameter BITS  = 32 // bits that are kept, more than 32 * (WORDS - 1), at most 32 * WORDS
) (
    input  wire            clk_i,   // every edge that counts is rising
    input  wire            rst_i,   // synchronous, active high
    input  wire            we_i,    // write at this edge
    input  wire [1:0]      word_i,  // which word; beyond WORDS - 1 it is another one modulo WORDS
    input  wire [31:0]     data_i,  // the word
    input  wire [3:0]      bytes_i, // which bytes of it
    output reg  [BITS-1:0] words_o  // all words
);
    localparam [31:0] LAST = WORDS - 1;

    genvar place;
    generate
        for (place = 0; place < BITS; place = place + 8) begin : bytes
            localparam        SIZE = BITS - place < 8 ? BITS - place : 8;
            localparam [31:0] WORD = place / 32;
            wire written = we_i & (word_i & LAST[1:0]) == WORD[1:0] & bytes_i[place%32/8];
            always @(posedge clk_i)
                if (rst_i) words_o[place+:SIZE] <= {SIZE{1'b0}};
                else if (written) words_o[place+:SIZE] <= data_i[place%32+:SIZE];
        end
    endgenerate
    wire unused = &{1'b0, data_i, bytes_i};
endmodule

`default_nettype wire
