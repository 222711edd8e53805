// Synchronous first-in first-out queue whose oldest word is always on data_o.
//
// What it is   a ring of DEPTH words with a write pointer and a read pointer, each one bit wider than an address:
//              equal pointers are an empty queue, pointers that differ in the top bit only a full one.
// Contract     a push into a full queue and a pop from an empty one change nothing, also when both come at once;
//              full_o and empty_o are there for the user to count what that loses.
// Reset        empties the queue; the words stay, unreachable.
`default_nettype none

module sync_fifo #(
    parameter WIDTH = 8,  // bits of a word
    parameter DEPTH = 64  // words; a power of two, at least 2
) (
    input  wire             clk_i,   // every edge that counts is rising
    input  wire             rst_i,   // synchronous, active high
    input  wire             push_i,  // store data_i at this edge, unless full_o
    input  wire [WIDTH-1:0] data_i,  // the word to store
    input  wire             pop_i,   // give up data_o at this edge, unless empty_o
    output wire [WIDTH-1:0] data_o,  // the oldest word; of no meaning while empty_o
    output wire             empty_o, // no word is stored
    output wire             full_o   // DEPTH words are stored
);
    localparam ADDR = $clog2(DEPTH);

    reg [WIDTH-1:0] words [0:DEPTH-1];
    reg [ADDR:0]    head;
    reg [ADDR:0]    tail;

    assign empty_o = head == tail;
    assign full_o  = head == {~tail[ADDR], tail[ADDR-1:0]};
    assign data_o  = words[head[ADDR-1:0]];

    wire push = push_i & ~full_o;
    wire pop  = pop_i & ~empty_o;

    always @(posedge clk_i) begin
        if (push) words[tail[ADDR-1:0]] <= data_i;
        if (rst_i) begin
            head <= {(ADDR + 1) {1'b0}};
            tail <= {(ADDR + 1) {1'b0}};
        end else begin
            head <= head + {{ADDR{1'b0}}, pop};
            tail <= tail + {{ADDR{1'b0}}, push};
        end
    end
endmodule

`default_nettype wire
