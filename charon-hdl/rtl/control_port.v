// The control port of the balancer: AXI4-Lite registers for its configuration, its tables, its scores and its time.
//
// What it is   the register map below behind axi_lite_slave. Addresses are in bytes, words have 32 bits.
// Tables       writes go into the version that is not in force. COMMIT puts it into force between two packets, and its
//              answer comes when no packet of the version before is under way; so the next write cannot disturb one. What
//              was in force is the version to write then: the control plane brings it up to date, too.
// Errors       SLVERR, and nothing changes: addresses that are no multiple of 4 or not in the map, reads of what can only be
//              written and the other way round, ids of N and more in SET_ROW and SCORE, configuration once a version is in
//              force, and strobes that leave out a byte of a word that acts (SET_ROW, SCORE, COMMIT, TICK, and the tables);
//              and a SCORE that found no slot for PATIENCE clocks: ask again. All other words take the bytes that the
//              strobes name. The ids in cells and buckets are taken as they are.
//
//   0x0000  ID          r   0x43484152
//   0x0004  SERVERS     r   N
//   0x0008  TICK        rw  the tick; a write sets it, from the next clock on, and is answered when no operation on
//                           a score can have the tick before any more
//   0x000C  COMMIT      rw  read: versions put into force since reset; after 2^32 - 1 comes 1. Write:
//                           put the next one into force; bit 0: its Alias Table can be used (otherwise nobody can be
//                           chosen for a new flow)
//   0x0010  FAULTS      r   operations with unknown codes or ids that dip_reg_score saw
//   0x0014  DROPS       r   operations that dip_reg_score dropped (the state machine only)
//   0x0020  CONFIG      c   bit 0: the first candidate always (sticky); 1: ids in the high bits of timestamps; 2, 3: stored
//                           and not used; 4, 5: the service has an IPv4, IPv6 address; 6, 7: the tunnel's end has
//   0x0024  UPLINK_PORT c   15:0 the port towards the clients
//   0x0028  UPLINK_MAC  c   31:0 of the link address behind it; 47:32 at 0x002C
//   0x0030  SERVICE_V4  c   the service's address
//   0x0034  TUNNEL_V4   c   the tunnel's end
//   0x0040  SERVICE_V6  c   four words, the low 32 bits first
//   0x0050  TUNNEL_V6   c   four words, the low 32 bits first
//   0x0060  ROW_ADDRESS rw  four words, the low 32 bits first (IPv4: the first word)
//   0x0070  ROW_MAC     rw  31:0; 47:32 at 0x0074
//   0x0078  ROW_PORT    rw  15:0
//   0x007C  SET_ROW     w   7:0 id; bit 8: IPv6; bit 9: there is a row, the words above (otherwise there is none)
//   0x0080  SCORE_G     rw  11:0 tasks, for UPDATE
//   0x0084  SCORE_V     rw  23:0 tasks per tick in units of 2^-28, for UPDATE
//   0x0088  SCORE       w   7:0 id; bit 8: UPDATE (otherwise READ). Answered when it is done, in a slot without a packet
//                           or with one that needs no score; or with SLVERR when it had none for PATIENCE clocks
//   0x008C  SCORE_LOW   r   31:0 of the score that the last SCORE answered
//   0x0090  SCORE_HIGH  r   39:32
//   0x1000  CELLS       w   N words, cell by cell: 16:0 threshold, 31:24 alias
//   0x4000  BUCKETS_V4  w   4096 words, bucket by bucket: 7:0 id
//   0x8000  BUCKETS_V6  w   4096 words
//           c: read and written until the first version is in force, only read afterwards
//
// Widths       the registers have the bits of the default parameters, and the module refuses others.
// Reset        all words 0; no version is in force.
`default_nettype none
`include "charon_params.vh"

module control_port #(
    parameter SERVERS  = `CHARON_SERVERS, // N, 2 to 256
    parameter LINGER   = 20,             // clocks that a packet may be under way, and the answer to COMMIT waits; 1 to 1023
    parameter SETTLE   = 6,              // clocks from a tick to operations with it, and the answer to TICK waits; 1 to 1023
    parameter PATIENCE = 1023            // clocks that an operation on a score may wait for its slot, 1 to 1023
) (
    input  wire         clk_i,           // every edge that counts is rising
    input  wire         rst_i,           // synchronous, active high
    // The bus: see axi_lite_slave.
    input  wire         awvalid_i,       // a write's address is there
    output wire         awready_o,       // it is taken at this edge
    input  wire [15:0]  awaddr_i,        // the address, in bytes
    input  wire         wvalid_i,        // a write's data is there
    output wire         wready_o,        // it is taken at this edge
    input  wire [31:0]  wdata_i,         // the data
    input  wire [3:0]   wstrb_i,         // which of its bytes count
    output wire         bvalid_o,        // a write's answer is there
    input  wire         bready_i,        // it is taken at this edge
    output wire [1:0]   bresp_o,         // OKAY 0, SLVERR 2
    input  wire         arvalid_i,       // a read's address is there
    output wire         arready_o,       // it is taken at this edge
    input  wire [15:0]  araddr_i,        // the address, in bytes
    output wire         rvalid_o,        // a read's answer is there
    input  wire         rready_i,        // it is taken at this edge
    output wire [31:0]  rdata_o,         // the data
    output wire [1:0]   rresp_o,         // OKAY 0, SLVERR 2
    // The time.
    input  wire [31:0]  now_i,           // the tick
    output wire         set_time_o,      // set it to word_o at this edge
    // Versions.
    output reg          bank_o,          // the bank in force; the other one is written
    output reg  [1:0]   usable_o,        // per bank: the Alias Table can be used
    // Writes into a table, at this edge, of what is in word_o, at place_o.
    output wire         we_cell_o,       // a cell: threshold word_o[16:0], alias word_o[31:24]
    output wire         we_row_v4_o,     // the row of id place_o, IPv4: present word_o[9], the rest in row_*_o
    output wire         we_row_v6_o,     // the same, IPv6
    output wire         we_bucket_v4_o,  // a bucket: id word_o[7:0]
    output wire         we_bucket_v6_o,  // the same, IPv6
    output wire [11:0]  place_o,         // the cell, the bucket, or the id
    output wire [31:0]  word_o,          // the word that is being written
    output wire [127:0] row_address_o,   // ROW_ADDRESS
    output wire [47:0]  row_mac_o,       // ROW_MAC
    output wire [15:0]  row_port_o,      // ROW_PORT
    // The configuration.
    output wire [7:0]   config_o,        // CONFIG
    output wire [15:0]  uplink_port_o,   // UPLINK_PORT
    output wire [47:0]  uplink_mac_o,    // UPLINK_MAC
    output wire [31:0]  service_v4_o,    // SERVICE_V4
    output wire [31:0]  tunnel_v4_o,     // TUNNEL_V4
    output wire [127:0] service_v6_o,    // SERVICE_V6
    output wire [127:0] tunnel_v6_o,     // TUNNEL_V6
    // A score's operation.
    output wire         score_valid_o,   // one is waiting for a slot
    input  wire         score_busy_i,    // it has begun, and ends by score_done_i, or by waiting again
    output reg          score_update_o,  // UPDATE; otherwise READ
    output reg  [7:0]   score_id_o,      // of this server
    output wire [11:0]  score_g_o,       // SCORE_G
    output wire [23:0]  score_v_o,       // SCORE_V
    input  wire         score_done_i,    // it was done
    input  wire [39:0]  score_i,         // with this answer
    input  wire [31:0]  faults_i,        // FAULTS
    input  wire [31:0]  drops_i          // DROPS
);
    localparam [31:0] N = SERVERS;

    // Parameters that the module is not made for: elaboration stops at a module that there is not, whose name says why.
    generate
        if (SERVERS < 2 || SERVERS > 256) begin : no_servers
            control_port_needs_SERVERS_2_to_256 refused ();
        end
        if (LINGER < 1 || LINGER > 1023 || SETTLE < 1 || SETTLE > 1023 || PATIENCE < 1 || PATIENCE > 1023) begin : no_wait
            control_port_needs_LINGER_SETTLE_PATIENCE_1_to_1023 refused ();
        end
        if (`CHARON_G_BITS != 40 || `CHARON_FRACTION_BITS != 28 || `CHARON_V_BITS != 24 || `CHARON_T_BITS != 32
            || `CHARON_RANDOM_BITS != 16) begin : no_widths
            control_port_needs_G_40_FRACTION_28_V_24_T_32_RANDOM_16_BITS refused ();
        end
    endgenerate

    // Words of the first page.
    localparam [5:0] ID = 6'h00, COUNT = 6'h01, TICK = 6'h02, COMMIT = 6'h03, FAULTS = 6'h04, DROPS = 6'h05,
        CONFIG = 6'h08, UPLINK_PORT = 6'h09, UPLINK_MAC = 6'h0a, SERVICE_V4 = 6'h0c, TUNNEL_V4 = 6'h0d,
        SERVICE_V6 = 6'h10, TUNNEL_V6 = 6'h14, ROW_ADDRESS = 6'h18, ROW_MAC = 6'h1c, ROW_PORT = 6'h1e, SET_ROW = 6'h1f,
        SCORE_G = 6'h20, SCORE_V = 6'h21, SCORE = 6'h22, SCORE_LOW = 6'h23, SCORE_HIGH = 6'h24;

    wire        write, write_error, read_error, hold;
    wire [13:0] write_word, read_word;
    wire [31:0] data, read_data;
    wire [3:0]  bytes;
    axi_lite_slave #(.ADDRESS_BITS(16)) bus (
        .clk_i(clk_i), .rst_i(rst_i),
        .awvalid_i(awvalid_i), .awready_o(awready_o), .awaddr_i(awaddr_i),
        .wvalid_i(wvalid_i), .wready_o(wready_o), .wdata_i(wdata_i), .wstrb_i(wstrb_i),
        .bvalid_o(bvalid_o), .bready_i(bready_i), .bresp_o(bresp_o),
        .arvalid_i(arvalid_i), .arready_o(arready_o), .araddr_i(araddr_i),
        .rvalid_o(rvalid_o), .rready_i(rready_i), .rdata_o(rdata_o), .rresp_o(rresp_o),
        .write_o(write), .write_word_o(write_word), .write_data_o(data), .write_bytes_o(bytes),
        .write_error_i(write_error), .wait_i(hold), .fail_i(give_up),
        .read_word_o(read_word), .read_data_i(read_data), .read_error_i(read_error)
    );

    // What a write is.
    reg  [31:0] versions;
    wire [5:0]  word      = write_word[5:0];
    wire        first     = write_word[13:6] == 8'd0;
    wire        whole     = &bytes;
    wire        open      = versions == 32'd0; // see below: it never comes back to 0
    wire        known_id  = {24'd0, data[7:0]} < N;
    wire is_config  = first & (word == CONFIG | word == UPLINK_PORT | word[5:1] == UPLINK_MAC[5:1]
                             | word == SERVICE_V4 | word == TUNNEL_V4
                             | word[5:2] == SERVICE_V6[5:2] | word[5:2] == TUNNEL_V6[5:2]);
    wire is_staging = first & (word[5:2] == ROW_ADDRESS[5:2] | word[5:1] == ROW_MAC[5:1] | word == ROW_PORT
                             | word == SCORE_G | word == SCORE_V);
    wire is_tick    = first & word == TICK & whole;
    wire is_commit  = first & word == COMMIT & whole;
    wire is_row     = first & word == SET_ROW & whole & known_id;
    wire is_score   = first & word == SCORE & whole & known_id;
    wire is_cell    = write_word[13:8] == 6'h04 & {24'd0, write_word[7:0]} < N & whole;
    wire is_v4      = write_word[13:12] == 2'd1 & whole;
    wire is_v6      = write_word[13:12] == 2'd2 & whole;
    assign write_error = ~((is_config & open) | is_staging | is_tick | is_commit | is_row | is_score | is_cell | is_v4
                         | is_v6);

    assign set_time_o     = write & is_tick;
    assign we_cell_o      = write & is_cell;
    assign we_row_v4_o    = write & is_row & ~data[8];
    assign we_row_v6_o    = write & is_row & data[8];
    assign we_bucket_v4_o = write & is_v4;
    assign we_bucket_v6_o = write & is_v6;
    assign place_o        = is_row ? {4'd0, data[7:0]} : {is_cell ? 4'd0 : write_word[11:8], write_word[7:0]};
    assign word_o         = data;

    // Configuration, rows and what an UPDATE stores.
    wire configure = write & is_config & open;
    wire stage     = write & is_staging;
    strobed_words #(.WORDS(1), .BITS(8)) config_words (
        .clk_i(clk_i), .rst_i(rst_i), .we_i(configure & word == CONFIG), .word_i(word[1:0]), .data_i(data), .bytes_i(bytes),
        .words_o(config_o)
    );
    strobed_words #(.WORDS(1), .BITS(16)) uplink_port_words (
        .clk_i(clk_i), .rst_i(rst_i), .we_i(configure & word == UPLINK_PORT), .word_i(word[1:0]), .data_i(data), .bytes_i(bytes),
        .words_o(uplink_port_o)
    );
    strobed_words #(.WORDS(2), .BITS(48)) uplink_mac_words (
        .clk_i(clk_i), .rst_i(rst_i), .we_i(configure & word[5:1] == UPLINK_MAC[5:1]), .word_i(word[1:0]), .data_i(data), .bytes_i(bytes),
        .words_o(uplink_mac_o)
    );
    strobed_words #(.WORDS(1), .BITS(32)) service_v4_words (
        .clk_i(clk_i), .rst_i(rst_i), .we_i(configure & word == SERVICE_V4), .word_i(word[1:0]), .data_i(data), .bytes_i(bytes),
        .words_o(service_v4_o)
    );
    strobed_words #(.WORDS(1), .BITS(32)) tunnel_v4_words (
        .clk_i(clk_i), .rst_i(rst_i), .we_i(configure & word == TUNNEL_V4), .word_i(word[1:0]), .data_i(data), .bytes_i(bytes),
        .words_o(tunnel_v4_o)
    );
    strobed_words #(.WORDS(4), .BITS(128)) service_v6_words (
        .clk_i(clk_i), .rst_i(rst_i), .we_i(configure & word[5:2] == SERVICE_V6[5:2]), .word_i(word[1:0]), .data_i(data), .bytes_i(bytes),
        .words_o(service_v6_o)
    );
    strobed_words #(.WORDS(4), .BITS(128)) tunnel_v6_words (
        .clk_i(clk_i), .rst_i(rst_i), .we_i(configure & word[5:2] == TUNNEL_V6[5:2]), .word_i(word[1:0]), .data_i(data), .bytes_i(bytes),
        .words_o(tunnel_v6_o)
    );
    strobed_words #(.WORDS(4), .BITS(128)) row_address_words (
        .clk_i(clk_i), .rst_i(rst_i), .we_i(stage & word[5:2] == ROW_ADDRESS[5:2]), .word_i(word[1:0]), .data_i(data), .bytes_i(bytes),
        .words_o(row_address_o)
    );
    strobed_words #(.WORDS(2), .BITS(48)) row_mac_words (
        .clk_i(clk_i), .rst_i(rst_i), .we_i(stage & word[5:1] == ROW_MAC[5:1]), .word_i(word[1:0]), .data_i(data), .bytes_i(bytes),
        .words_o(row_mac_o)
    );
    strobed_words #(.WORDS(1), .BITS(16)) row_port_words (
        .clk_i(clk_i), .rst_i(rst_i), .we_i(stage & word == ROW_PORT), .word_i(word[1:0]), .data_i(data), .bytes_i(bytes),
        .words_o(row_port_o)
    );
    strobed_words #(.WORDS(1), .BITS(12)) score_g_words (
        .clk_i(clk_i), .rst_i(rst_i), .we_i(stage & word == SCORE_G), .word_i(word[1:0]), .data_i(data), .bytes_i(bytes),
        .words_o(score_g_o)
    );
    strobed_words #(.WORDS(1), .BITS(24)) score_v_words (
        .clk_i(clk_i), .rst_i(rst_i), .we_i(stage & word == SCORE_V), .word_i(word[1:0]), .data_i(data), .bytes_i(bytes),
        .words_o(score_v_o)
    );

    // Versions. The count jumps over 0, which means that none is in force.
    reg [9:0] linger;
    always @(posedge clk_i)
        if (rst_i) begin
            bank_o   <= 1'b0;
            usable_o <= 2'b00;
            versions <= 32'd0;
            linger   <= 10'd0;
        end else if (write & is_commit) begin
            bank_o            <= ~bank_o;
            usable_o[~bank_o] <= data[0];
            versions          <= &versions ? 32'd1 : versions + 32'd1;
            linger            <= LINGER;
        end else if (write & is_tick) linger <= SETTLE;
        else if (linger != 10'd0) linger <= linger - 10'd1;

    // Scores.
    // An operation that has begun is waited for; one that has no slot for too long is given up.
    reg [39:0] score;
    reg        score_asked;
    reg [9:0]  patience;
    wire       give_up = score_asked & patience == 10'd0 & ~score_busy_i;
    assign score_valid_o = score_asked & patience != 10'd0;
    always @(posedge clk_i)
        if (rst_i) begin
            {score_asked, score_update_o, score_id_o} <= 10'd0;
            score    <= 40'd0;
            patience <= 10'd0;
        end else begin
            if (write & is_score) begin
                {score_asked, score_update_o, score_id_o} <= {1'b1, data[8], data[7:0]};
                patience <= PATIENCE;
            end else if (score_done_i | give_up) score_asked <= 1'b0;
            else if (patience != 10'd0) patience <= patience - 10'd1;
            if (score_done_i) score <= score_i;
        end
    assign hold = linger != 10'd0 | score_asked;

    // Reads.
    wire [5:0] from      = read_word[5:0];
    wire       is_stored = (from >= CONFIG & from < 6'h0e) | (from >= SERVICE_V6 & from < SET_ROW)
                         | from == SCORE_G | from == SCORE_V;
    assign read_error = read_word[13:6] != 8'd0
                      | ~(from <= DROPS | is_stored | from == SCORE_LOW | from == SCORE_HIGH);
    reg [31:0] found;
    always @*
        case (from)
            ID:                 found = 32'h4348_4152;
            COUNT:              found = N;
            TICK:               found = now_i;
            COMMIT:             found = versions;
            FAULTS:             found = faults_i;
            DROPS:              found = drops_i;
            CONFIG:             found = {24'd0, config_o};
            UPLINK_PORT:        found = {16'd0, uplink_port_o};
            UPLINK_MAC:         found = uplink_mac_o[31:0];
            UPLINK_MAC + 6'd1:  found = {16'd0, uplink_mac_o[47:32]};
            SERVICE_V4:         found = service_v4_o;
            TUNNEL_V4:          found = tunnel_v4_o;
            SERVICE_V6:         found = service_v6_o[31:0];
            SERVICE_V6 + 6'd1:  found = service_v6_o[63:32];
            SERVICE_V6 + 6'd2:  found = service_v6_o[95:64];
            SERVICE_V6 + 6'd3:  found = service_v6_o[127:96];
            TUNNEL_V6:          found = tunnel_v6_o[31:0];
            TUNNEL_V6 + 6'd1:   found = tunnel_v6_o[63:32];
            TUNNEL_V6 + 6'd2:   found = tunnel_v6_o[95:64];
            TUNNEL_V6 + 6'd3:   found = tunnel_v6_o[127:96];
            ROW_ADDRESS:        found = row_address_o[31:0];
            ROW_ADDRESS + 6'd1: found = row_address_o[63:32];
            ROW_ADDRESS + 6'd2: found = row_address_o[95:64];
            ROW_ADDRESS + 6'd3: found = row_address_o[127:96];
            ROW_MAC:            found = row_mac_o[31:0];
            ROW_MAC + 6'd1:     found = {16'd0, row_mac_o[47:32]};
            ROW_PORT:           found = {16'd0, row_port_o};
            SCORE_G:            found = {20'd0, score_g_o};
            SCORE_V:            found = {8'd0, score_v_o};
            SCORE_LOW:          found = score[31:0];
            SCORE_HIGH:         found = {24'd0, score[39:32]};
            default:            found = 32'd0;
        endcase
    assign read_data = found;
endmodule

`default_nettype wire
