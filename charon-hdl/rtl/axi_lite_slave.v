// AXI4-Lite (IHI 0022) towards registers: one write and one read at a time, each as a pulse with its answer.
//
// What it is   the handshakes of the five channels. A write happens when both its address and its data are there, in
//              whichever order they came; its answer holds until it is taken, and so does a read's.
// Writes       write_o is high for a clock, with address, data and strobes; write_error_i is looked at in that clock. If
//              the answer has to wait, wait_i is high from the next clock on, for as long as it has to; if fail_i is high
//              meanwhile, the answer is an error.
// Reads        read_word_o holds the address; read_data_i and read_error_i are looked at once, so a read has no effect
//              but its answer.
// Answers      OKAY, or SLVERR with data 0; also SLVERR, without a pulse, for addresses that are not multiples of 4.
// Left out     AWPROT and ARPROT: every access is allowed.
// Pace         a write every 3 clocks and a read every 2 clocks, side by side.
// Reset        ends everything; no VALID is high after it.
`default_nettype none

module axi_lite_slave #(
    parameter ADDRESS_BITS = 16 // bits of an address, in bytes
) (
    input  wire                    clk_i,         // every edge that counts is rising
    input  wire                    rst_i,         // synchronous, active high
    // The bus, its names as in the standard.
    input  wire                    awvalid_i,     // a write's address is there
    output wire                    awready_o,     // it is taken at this edge
    input  wire [ADDRESS_BITS-1:0] awaddr_i,      // the address, in bytes
    input  wire                    wvalid_i,      // a write's data is there
    output wire                    wready_o,      // it is taken at this edge
    input  wire [31:0]             wdata_i,       // the data
    input  wire [3:0]              wstrb_i,       // which of its bytes count
    output reg                     bvalid_o,      // a write's answer is there
    input  wire                    bready_i,      // it is taken at this edge
    output wire [1:0]              bresp_o,       // OKAY 0, SLVERR 2
    input  wire                    arvalid_i,     // a read's address is there
    output wire                    arready_o,     // it is taken at this edge
    input  wire [ADDRESS_BITS-1:0] araddr_i,      // the address, in bytes
    output reg                     rvalid_o,      // a read's answer is there
    input  wire                    rready_i,      // it is taken at this edge
    output reg  [31:0]             rdata_o,       // the data; 0 with SLVERR
    output wire [1:0]              rresp_o,       // OKAY 0, SLVERR 2
    // The registers.
    output wire                    write_o,       // write now
    output wire [ADDRESS_BITS-3:0] write_word_o,  // where, in words
    output wire [31:0]             write_data_o,  // what
    output wire [3:0]              write_bytes_o, // which bytes of it
    input  wire                    write_error_i, // this write changes nothing and is an error
    input  wire                    wait_i,        // the answer of the write before has to wait
    input  wire                    fail_i,        // while it waits: it will be an error
    output wire [ADDRESS_BITS-3:0] read_word_o,   // where a read looks, in words
    input  wire [31:0]             read_data_i,   // what is there
    input  wire                    read_error_i   // nothing is there to be read
);
    // A write: its address and its data, each held until both are there and the answer before is gone.
    reg                    address_held, data_held, waiting, write_failed;
    reg [ADDRESS_BITS-1:0] address;
    reg [31:0]             data;
    reg [3:0]              bytes;
    wire do_write = address_held & data_held & ~waiting & ~bvalid_o;
    assign awready_o     = ~address_held;
    assign wready_o      = ~data_held;
    assign write_o       = do_write & address[1:0] == 2'd0;
    assign write_word_o  = address[ADDRESS_BITS-1:2];
    assign write_data_o  = data;
    assign write_bytes_o = bytes;
    assign bresp_o       = {write_failed, 1'b0};
    always @(posedge clk_i) begin
        if (awvalid_i & awready_o) address <= awaddr_i;
        if (wvalid_i & wready_o) {data, bytes} <= {wdata_i, wstrb_i};
        if (do_write) write_failed <= write_error_i | address[1:0] != 2'd0;
        else if (waiting & fail_i) write_failed <= 1'b1;
        if (rst_i) {address_held, data_held, waiting, bvalid_o} <= 4'd0;
        else begin
            address_held <= (awvalid_i | address_held) & ~do_write;
            data_held    <= (wvalid_i | data_held) & ~do_write;
            waiting      <= do_write | (waiting & wait_i);
            bvalid_o     <= (waiting & ~wait_i) | (bvalid_o & ~bready_i);
        end
    end

    // A read: its address, held until the answer before is gone.
    reg                    reading, read_failed;
    reg [ADDRESS_BITS-1:0] from;
    wire do_read = reading & ~rvalid_o;
    assign arready_o   = ~reading;
    assign read_word_o = from[ADDRESS_BITS-1:2];
    assign rresp_o     = {read_failed, 1'b0};
    wire   no_read     = read_error_i | from[1:0] != 2'd0;
    always @(posedge clk_i) begin
        if (arvalid_i & arready_o) from <= araddr_i;
        if (do_read) begin
            read_failed <= no_read;
            rdata_o     <= no_read ? 32'd0 : read_data_i;
        end
        if (rst_i) {reading, rvalid_o} <= 2'd0;
        else begin
            reading  <= (arvalid_i | reading) & ~do_read;
            rvalid_o <= do_read | (rvalid_o & ~rready_i);
        end
    end
endmodule

`default_nettype wire
