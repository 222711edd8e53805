// The balancer between a parser and a deparser: the header fields of a packet in, what is to be done with it out.
//
// What it is   charon-model's Pipeline::decide in hardware: hashes, Alias Table, Score Table, IP Tables, time, and the
//              control port over all of them.
// Packets      one per clock; every VALID is answered, in order, LATENCY = 18 clocks later. statefulValid = 0 is answered
//              with zeros and touches nothing. Every packet sees one version of all tables: that of the clock it came in.
// Input        {statefulValid 1, kind 2, reason 4, v6 1, inner_v6 1, source 128, destination 128, inner_source 128,
//              source_port 16, destination_port 16, flags 8, ttl 8, stamped 1, word 32}
//              kind 0  refused by the parser for a reason (DropReason of the model)
//                   1  a TCP segment: its addresses (IPv4 in the low 32 bits), ports, control bits, TTL; word is the TSecr
//                      if there is a timestamp (stamped)
//                   2  a TCP segment in GRE: source and destination of the tunnel (v6 is theirs), word is the key;
//                      inner_source (inner_v6), flags and ttl of the segment in it
//                   3  for the host (PuntReason)
// Output       {action 2, detail 4, id 8, v6 1, port 16, mac 48, address 128}
//              action 0  drop; detail is the DropReason
//                     1  to server id: new destination address (of family v6), link address, port; detail is the Route
//                     2  to the client: take the tunnel off; link address, port; detail is the Route; id reported
//                     3  to the host; detail is the PuntReason
// Stages       1 which addresses are whose        6 to 15  dip_reg_score
//              2, 3 the hashes; whose report it is   16  is there a row; else the fallback's
//              3, 4 the fallback                     17  the row
//              4, 5 candidates; what to do           18  the output registers
// Scores       dip_reg_score_pipe. With SCORE_FSM = 1 the paper's dip_reg_score_fsm: packets are still answered in order,
//              after 12 clocks or more, and a packet whose request is dropped is never answered. DROPS counts those, and the
//              tries of the control port that met a full queue; it tries again.
// Control      an operation of the control port on a score takes the slot of a clock without a packet, or of a packet that
//              needs no score; so it delays none. SYNs and reports in every clock leave it none: it is given up then, with
//              an error, see control_port.
// Widths       ports and registers have the bits of the default parameters, and the module refuses others; how long a
//              tick is, and when a score is stale, are the header's.
// Reset        no packet is under way and no version in force; the outputs are zero.
`default_nettype none
`include "charon_params.vh"

module charon_top #(
    parameter SERVERS   = `CHARON_SERVERS, // N: ids 0 to N - 1; 2 to 256
    parameter ID_BITS   = `CHARON_ID_BITS, // bits of an id in a timestamp, 1 to 8; an id for every server
    parameter SCORE_FSM = 0                // 1: the paper's Score Table, which drops requests above its rate
) (
    input  wire         clk_lookup,                  // every edge that counts is rising; also the bus's clock
    input  wire         rst,                         // synchronous, active high
    input  wire         tuple_in_charon_input_VALID, // a packet this clock; there is no back-pressure
    input  wire [473:0] tuple_in_charon_input_DATA,  // its fields: see above
    output reg          tuple_out_charon_output_VALID, // an answer this clock, in the order of the packets
    output reg  [206:0] tuple_out_charon_output_DATA,  // the answer: see above
    // The control port: see control_port.
    input  wire         control_S_AXI_AWVALID,       // a write's address is there
    output wire         control_S_AXI_AWREADY,       // it is taken at this edge
    input  wire [15:0]  control_S_AXI_AWADDR,        // the address, in bytes
    input  wire         control_S_AXI_WVALID,        // a write's data is there
    output wire         control_S_AXI_WREADY,        // it is taken at this edge
    input  wire [31:0]  control_S_AXI_WDATA,         // the data
    input  wire [3:0]   control_S_AXI_WSTRB,         // which of its bytes count
    output wire         control_S_AXI_BVALID,        // a write's answer is there
    input  wire         control_S_AXI_BREADY,        // it is taken at this edge
    output wire [1:0]   control_S_AXI_BRESP,         // OKAY 0, SLVERR 2
    input  wire         control_S_AXI_ARVALID,       // a read's address is there
    output wire         control_S_AXI_ARREADY,       // it is taken at this edge
    input  wire [15:0]  control_S_AXI_ARADDR,        // the address, in bytes
    output wire         control_S_AXI_RVALID,        // a read's answer is there
    input  wire         control_S_AXI_RREADY,        // it is taken at this edge
    output wire [31:0]  control_S_AXI_RDATA,         // the data
    output wire [1:0]   control_S_AXI_RRESP,         // OKAY 0, SLVERR 2
    output wire [31:0]  now_o,                       // the tick that a packet of this clock gets
    output wire         bank_o                       // the bank of the version that it gets
);
    localparam ADDR = $clog2(SERVERS);

    // Parameters that the module is not made for: elaboration stops at a module that there is not, whose name says why.
    generate
        if (SERVERS < 2 || SERVERS > 256) begin : no_servers
            charon_top_needs_SERVERS_2_to_256 refused ();
        end
        if (ID_BITS < 1 || ID_BITS > 8 || SERVERS > (1 << ID_BITS)) begin : no_id
            charon_top_needs_ID_BITS_1_to_8_for_all_SERVERS refused ();
        end
        if (SCORE_FSM != 0 && SCORE_FSM != 1) begin : no_scores
            charon_top_needs_SCORE_FSM_0_or_1 refused ();
        end
        if (`CHARON_G_BITS != 40 || `CHARON_FRACTION_BITS != 28 || `CHARON_V_BITS != 24 || `CHARON_T_BITS != 32
            || `CHARON_RANDOM_BITS != 16) begin : no_widths
            charon_top_needs_G_40_FRACTION_28_V_24_T_32_RANDOM_16_BITS refused ();
        end
    endgenerate

    localparam [1:0] SEGMENT = 2'd1, WRAPPED = 2'd2;
    localparam [1:0] DROP = 2'd0, TO_SERVER = 2'd1, TO_CLIENT = 2'd2, TO_HOST = 2'd3;
    localparam [3:0] NOT_OURS = 4'd9, NO_HOP = 4'd10, TCP_FLAGS = 4'd11, NO_SERVER = 4'd12, FOREIGN_REPORT = 4'd13,
        NOT_SYN_ACK = 4'd14, NOT_FROM_SERVICE = 4'd15;
    localparam [3:0] SYN_ROUTE = 4'd0, SYN_FALLBACK = 4'd1, SYN_ACK = 4'd2, ECHO = 4'd3, FALLBACK = 4'd4, ORPHAN = 4'd5;

    // The control port and the time.
    wire         bank, set_time, we_cell, we_row_v4, we_row_v6, we_bucket_v4, we_bucket_v6;
    wire [1:0]   usable;
    wire [11:0]  place;
    wire [31:0]  now, word, service_v4, tunnel_v4, faults, drops;
    wire [127:0] row_address, service_v6, tunnel_v6;
    wire [47:0]  row_mac, uplink_mac;
    wire [15:0]  row_port, uplink_port;
    wire [7:0]   configured;
    wire         score_valid, score_update, score_done;
    wire [7:0]   score_id;
    wire [11:0]  score_g;
    wire [23:0]  score_v;
    wire [39:0]  answer_score;
    control_port #(.SERVERS(SERVERS), .LINGER(SCORE_FSM != 0 ? 600 : 20)) control (
        .clk_i(clk_lookup), .rst_i(rst),
        .awvalid_i(control_S_AXI_AWVALID), .awready_o(control_S_AXI_AWREADY), .awaddr_i(control_S_AXI_AWADDR),
        .wvalid_i(control_S_AXI_WVALID), .wready_o(control_S_AXI_WREADY), .wdata_i(control_S_AXI_WDATA),
        .wstrb_i(control_S_AXI_WSTRB), .bvalid_o(control_S_AXI_BVALID), .bready_i(control_S_AXI_BREADY),
        .bresp_o(control_S_AXI_BRESP), .arvalid_i(control_S_AXI_ARVALID), .arready_o(control_S_AXI_ARREADY),
        .araddr_i(control_S_AXI_ARADDR), .rvalid_o(control_S_AXI_RVALID), .rready_i(control_S_AXI_RREADY),
        .rdata_o(control_S_AXI_RDATA), .rresp_o(control_S_AXI_RRESP),
        .now_i(now), .set_time_o(set_time), .bank_o(bank), .usable_o(usable),
        .we_cell_o(we_cell), .we_row_v4_o(we_row_v4), .we_row_v6_o(we_row_v6), .we_bucket_v4_o(we_bucket_v4),
        .we_bucket_v6_o(we_bucket_v6), .place_o(place), .word_o(word), .row_address_o(row_address),
        .row_mac_o(row_mac), .row_port_o(row_port), .config_o(configured), .uplink_port_o(uplink_port),
        .uplink_mac_o(uplink_mac), .service_v4_o(service_v4), .tunnel_v4_o(tunnel_v4), .service_v6_o(service_v6),
        .tunnel_v6_o(tunnel_v6), .score_valid_o(score_valid), .score_update_o(score_update), .score_id_o(score_id),
        .score_g_o(score_g), .score_v_o(score_v), .score_busy_i(injected), .score_done_i(score_done), .score_i(answer_score),
        .faults_i(faults), .drops_i(drops)
    );
    timestamp_gen time_of_day (.clk_i(clk_lookup), .rst_i(rst), .set_i(set_time), .time_i(word), .now_o(now));
    assign now_o  = now;
    assign bank_o = bank;

    // Stage 1: the fields, with the tick and the version of the packet. Ticks go along also without a packet, for the control
    // port's operations; a reset ends them too, or the first of these would have a tick from before it. What of a version
    // does not fit into a bank, whether its Alias Table can be used, comes along.
    reg         valid_s1, stateful_s1, v6_s1, inner_v6_s1, stamped_s1, bank_s1, usable_s1;
    reg [1:0]   kind_s1;
    reg [3:0]   reason_s1;
    reg [127:0] source_s1, destination_s1, inner_source_s1;
    reg [15:0]  source_port_s1, destination_port_s1;
    reg [7:0]   flags_s1, ttl_s1;
    reg [31:0]  word_s1, now_s1;
    always @(posedge clk_lookup) begin
        valid_s1  <= tuple_in_charon_input_VALID & ~rst;
        bank_s1   <= bank;
        usable_s1 <= usable[bank];
        now_s1    <= now & {32{~rst}};
        {stateful_s1, kind_s1, reason_s1, v6_s1, inner_v6_s1, source_s1, destination_s1, inner_source_s1, source_port_s1,
         destination_port_s1, flags_s1, ttl_s1, stamped_s1, word_s1} <= tuple_in_charon_input_DATA;
    end
    wire service_s1 = v6_s1 ? configured[5] & destination_s1 == service_v6
                            : configured[4] & destination_s1[31:0] == service_v4;
    wire tunnel_s1  = v6_s1 ? configured[7] & destination_s1 == tunnel_v6
                            : configured[6] & destination_s1[31:0] == tunnel_v4;
    wire inner_s1   = inner_v6_s1 ? configured[5] & inner_source_s1 == service_v6
                                  : configured[4] & inner_source_s1[31:0] == service_v4;
    wire fin_s1 = flags_s1[0], syn_s1 = flags_s1[1], reset_s1 = flags_s1[2], ack_s1 = flags_s1[4];
    wire unused = &{1'b0, flags_s1[7:5], flags_s1[3], configured[3:2]};

    // Stages 2 to 5: what of a packet goes along.
    reg         valid_s2, valid_s3, valid_s4, valid_s5;
    reg [127:0] source_s2, source_s3;
    reg [31:0]  now_s2, now_s3, now_s4, now_s5, word_s2, word_s3, word_s4, word_s5;
    // {stateful, kind, reason, v6, inner_v6, bank, usable, stamped, ours, from service, hop, contradiction, syn, ack}
    reg [17:0]  facts_s2, facts_s3, facts_s4, facts_s5;
    wire ours_s1 = kind_s1 == WRAPPED ? tunnel_s1 : service_s1;
    always @(posedge clk_lookup) begin
        {valid_s2, valid_s3, valid_s4, valid_s5} <= {valid_s1, valid_s2, valid_s3, valid_s4} & {4{~rst}};
        {now_s2, now_s3, now_s4, now_s5}     <= {now_s1, now_s2, now_s3, now_s4} & {128{~rst}};
        {word_s2, word_s3, word_s4, word_s5} <= {word_s1, word_s2, word_s3, word_s4};
        {source_s2, source_s3}               <= {source_s1, source_s2};
        facts_s2 <= {stateful_s1, kind_s1, reason_s1, v6_s1, inner_v6_s1, bank_s1, usable_s1, stamped_s1, ours_s1, inner_s1,
                     ttl_s1 > 8'd1, syn_s1 & (fin_s1 | reset_s1), syn_s1, ack_s1};
        {facts_s3, facts_s4, facts_s5} <= {facts_s2, facts_s3, facts_s4};
    end
    wire       v6_s3 = facts_s3[10], v6_s4 = facts_s4[10], bank_s2 = facts_s2[8], bank_s3 = facts_s3[8];
    wire       bank_s4 = facts_s4[8];
    wire       stateful_s5, v6_s5, inner_v6_s5, bank_s5, usable_s5, stamped_s5, ours_s5, inner_s5, hop_s5, contradict_s5;
    wire       syn_s5, ack_s5;
    wire [1:0] kind_s5;
    wire [3:0] reason_s5;
    assign {stateful_s5, kind_s5, reason_s5, v6_s5, inner_v6_s5, bank_s5, usable_s5, stamped_s5, ours_s5, inner_s5, hop_s5,
            contradict_s5, syn_s5, ack_s5} = facts_s5;

    // Stages 1 to 6: the hashes and the candidates.
    wire [31:0] hash_s3;
    wire [7:0]  first_s6, second_s6;
    alias_table #(.SERVERS(SERVERS)) candidates (
        .clk_i(clk_lookup), .we_i(we_cell), .wbank_i(~bank), .wcell_i(place[ADDR-1:0]), .wthreshold_i(word[16:0]),
        .walias_i(word[31:24]), .bank_s1_i(bank_s1), .v6_s1_i(v6_s1), .source_s1_i(source_s1),
        .destination_s1_i(destination_s1), .source_port_s1_i(source_port_s1),
        .destination_port_s1_i(destination_port_s1), .hash_s3_o(hash_s3), .first_s6_o(first_s6), .second_s6_o(second_s6)
    );

    // Stage 2: whose report it is; stage 3: the fallback; stages 16 and 17: the row.
    wire [7:0]   fallback_v4_s4, fallback_v6_s4, id_s16, other_s16, chosen_s16;
    wire         known_v4_s3, known_v6_s3, known0_v4_s16, known1_v4_s16, known0_v6_s16, known1_v6_s16, bank_s16;
    wire [31:0]  check_v4_s3, address_v4_s17;
    wire [127:0] check_v6_s3, address_v6_s17;
    wire [47:0]  mac_v4_s17, mac_v6_s17;
    wire [15:0]  port_v4_s17, port_v6_s17;
    wire [1:0]   used_v4, used_v6;
    ip_table #(.SERVERS(SERVERS), .ADDRESS_BITS(32)) servers_v4 (
        .clk_i(clk_lookup), .rst_i(rst), .wbank_i(~bank), .we_row_i(we_row_v4), .wid_i(place[ADDR-1:0]),
        .wpresent_i(word[9]), .waddress_i(row_address[31:0]), .wmac_i(row_mac), .wport_i(row_port),
        .we_bucket_i(we_bucket_v4), .wbucket_i(place), .wbucket_id_i(word[7:0]),
        .fallback_bank_i(bank_s3), .fallback_hash_i(hash_s3), .fallback_id_o(fallback_v4_s4),
        .check_bank_i(bank_s2), .check_id_i(word_s2[31:24]), .check_known_o(known_v4_s3), .check_address_o(check_v4_s3),
        .flags_bank_i(bank_s16), .flags_id0_i(id_s16), .flags_id1_i(other_s16), .flags_known0_o(known0_v4_s16),
        .flags_known1_o(known1_v4_s16), .used_o(used_v4), .row_bank_i(bank_s16), .row_id_i(chosen_s16),
        .row_address_o(address_v4_s17), .row_mac_o(mac_v4_s17), .row_port_o(port_v4_s17)
    );
    ip_table #(.SERVERS(SERVERS), .ADDRESS_BITS(128)) servers_v6 (
        .clk_i(clk_lookup), .rst_i(rst), .wbank_i(~bank), .we_row_i(we_row_v6), .wid_i(place[ADDR-1:0]),
        .wpresent_i(word[9]), .waddress_i(row_address), .wmac_i(row_mac), .wport_i(row_port),
        .we_bucket_i(we_bucket_v6), .wbucket_i(place), .wbucket_id_i(word[7:0]),
        .fallback_bank_i(bank_s3), .fallback_hash_i(hash_s3), .fallback_id_o(fallback_v6_s4),
        .check_bank_i(bank_s2), .check_id_i(word_s2[31:24]), .check_known_o(known_v6_s3), .check_address_o(check_v6_s3),
        .flags_bank_i(bank_s16), .flags_id0_i(id_s16), .flags_id1_i(other_s16), .flags_known0_o(known0_v6_s16),
        .flags_known1_o(known1_v6_s16), .used_o(used_v6), .row_bank_i(bank_s16), .row_id_i(chosen_s16),
        .row_address_o(address_v6_s17), .row_mac_o(mac_v6_s17), .row_port_o(port_v6_s17)
    );

    // Stages 3 and 4: whether the report comes from the server that it names; the fallback, if somebody is there.
    reg       reporter_s4, reporter_s5, used_s5;
    reg [7:0] fallback_s5;
    always @(posedge clk_lookup) begin
        reporter_s4 <= v6_s3 ? known_v6_s3 & check_v6_s3 == source_s3 : known_v4_s3 & check_v4_s3 == source_s3[31:0];
        reporter_s5 <= reporter_s4;
        used_s5     <= v6_s4 ? used_v6[bank_s4] : used_v4[bank_s4];
        fallback_s5 <= v6_s4 ? fallback_v6_s4 : fallback_v4_s4;
    end

    // Stage 5: what to do.
    wire [7:0] echoed_s5;
    server_id_extract #(.ID_BITS(ID_BITS)) extract (.high_i(configured[1]), .echo_i(word_s5), .id_o(echoed_s5));
    wire by_echo_s5   = ~syn_s5 & stamped_s5 & ack_s5;
    wire by_alias_s5  = syn_s5 & stamped_s5;
    wire forward_s5   = kind_s5 == SEGMENT & ours_s5 & hop_s5 & ~contradict_s5 & ~(syn_s5 & ack_s5);
    wire accept_s5    = kind_s5 == WRAPPED & ours_s5 & reporter_s5 & syn_s5 & ack_s5 & ~contradict_s5 & inner_s5 & hop_s5;
    wire found_s5     = by_echo_s5 | (by_alias_s5 ? usable_s5 : used_s5);
    wire [3:0] route_s5 = by_alias_s5 ? SYN_ROUTE : syn_s5 ? SYN_FALLBACK : by_echo_s5 ? ECHO : FALLBACK;
    wire [3:0] segment_reason_s5 = ~ours_s5 ? NOT_OURS : ~hop_s5 ? NO_HOP : TCP_FLAGS;
    wire [3:0] wrapped_reason_s5 = ~ours_s5                            ? NOT_OURS
                                 : ~reporter_s5                        ? FOREIGN_REPORT
                                 : contradict_s5 | ~(syn_s5 & ack_s5)  ? NOT_SYN_ACK
                                 : ~inner_s5                           ? NOT_FROM_SERVICE : NO_HOP;

    // A report's speed: 7 bits and an exponent, or 7 bits as they are.
    function [23:0] speed(input [11:0] key);
        if (key[11:7] == 5'd0) speed = {17'd0, key[6:0]};
        else if (key[11:7] > 5'd17) speed = 24'hff_ffff;
        else speed = {16'd0, 1'b1, key[6:0]} << (key[11:7] - 5'd1);
    endfunction

    reg        valid_s6, stateful_s6, v6_s6, bank_s6, found_s6, scored_s6, by_alias_s6, used_s6;
    reg [1:0]  action_s6;
    reg [3:0]  detail_s6;
    reg [7:0]  id_s6, fallback_s6;
    reg [31:0] now_s6;
    reg [11:0] g_s6;
    reg [23:0] v_s6;
    always @(posedge clk_lookup) begin
        valid_s6    <= valid_s5 & ~rst;
        stateful_s6 <= stateful_s5;
        now_s6      <= now_s5;
        v6_s6       <= kind_s5 == WRAPPED ? inner_v6_s5 : v6_s5;
        bank_s6     <= bank_s5;
        action_s6   <= forward_s5 ? TO_SERVER : accept_s5 ? TO_CLIENT : &kind_s5 ? TO_HOST : DROP;
        detail_s6   <= forward_s5 ? route_s5 : accept_s5 ? SYN_ACK
                     : kind_s5 == SEGMENT ? segment_reason_s5 : kind_s5 == WRAPPED ? wrapped_reason_s5 : reason_s5;
        found_s6    <= found_s5;
        scored_s6   <= forward_s5 & syn_s5 & found_s5;
        by_alias_s6 <= by_alias_s5;
        used_s6     <= used_s5;
        id_s6       <= accept_s5 ? word_s5[31:24] : by_echo_s5 ? echoed_s5 : fallback_s5;
        fallback_s6 <= fallback_s5;
        g_s6        <= word_s5[23:12];
        v_s6        <= speed(word_s5[11:0]);
    end

    // Stage 6: the operation; or one of the control port, where no packet is that needs a score. Its tick is that of the
    // stage, as if it had come with the packets: with a later one, packets behind it would find a row newer than themselves.
    reg         injected;
    wire        update_s6 = action_s6 == TO_CLIENT;
    wire        needs_s6  = valid_s6 & stateful_s6 & (update_s6 | scored_s6);
    wire        inject_s6 = score_valid & ~injected & ~needs_s6 & ~rst;
    wire [7:0]  id0_s6    = by_alias_s6 & scored_s6 ? first_s6 : id_s6;
    wire [7:0]  id1_s6    = by_alias_s6 & scored_s6 & ~configured[0] ? second_s6 : id0_s6;
    wire [7:0]  code_s6   = update_s6 ? `CHARON_OP_UPDATE : scored_s6 ? `CHARON_OP_GET_INDEX : `CHARON_OP_COPY;
    wire [7:0]  control_s6 = score_update ? `CHARON_OP_UPDATE : `CHARON_OP_READ;
    wire [92:0] request_s6 = inject_s6 ? {1'b1, control_s6, score_id, score_id, score_g, score_v, now_s6}
                                       : {stateful_s6, code_s6, id0_s6, id1_s6, g_s6, v_s6, now_s6};
    wire        ask_s6    = valid_s6 | inject_s6;

    // What goes around dip_reg_score.
    localparam CONTEXT = 30;
    wire [CONTEXT-1:0] context_s6 = {inject_s6, valid_s6, stateful_s6, action_s6, detail_s6, v6_s6, bank_s6, found_s6,
                                     scored_s6, used_s6, id_s6, fallback_s6};
    wire [CONTEXT-1:0] context_s15;
    wire               answered_s15;
    wire [7:0]         winner_s15;
    wire               lost; // a request of the control port was dropped
    generate
        if (SCORE_FSM != 0) begin : fsm
            dip_reg_score_fsm #(.SERVERS(SERVERS)) scores (
                .clk_lookup(clk_lookup), .rst(rst), .tuple_in_charon_dip_reg_score_input_VALID(ask_s6),
                .tuple_in_charon_dip_reg_score_input_DATA(request_s6),
                .tuple_out_charon_dip_reg_score_output_VALID(answered_s15),
                .tuple_out_charon_dip_reg_score_output_DATA({winner_s15, answer_score}), .faults_o(faults), .drops_o(drops)
            );
            // Whether a request was dropped shows a clock later; one that was gets no place in the queue.
            reg               asked;
            reg [CONTEXT-1:0] context_s7;
            reg [31:0]        drops_before;
            wire              dropped = drops != drops_before;
            always @(posedge clk_lookup) begin
                asked        <= ask_s6 & ~rst;
                context_s7   <= context_s6;
                drops_before <= drops;
            end
            wire empty, full;
            sync_fifo #(.WIDTH(CONTEXT), .DEPTH(128)) around (
                .clk_i(clk_lookup), .rst_i(rst), .push_i(asked & ~dropped), .data_i(context_s7), .pop_i(answered_s15),
                .data_o(context_s15), .empty_o(empty), .full_o(full)
            );
            assign lost = asked & dropped & context_s7[CONTEXT-1];
            wire unused_flags = &{1'b0, empty, full};
        end else begin : pipe
            dip_reg_score_pipe #(.SERVERS(SERVERS)) scores (
                .clk_lookup(clk_lookup), .rst(rst), .tuple_in_charon_dip_reg_score_input_VALID(ask_s6),
                .tuple_in_charon_dip_reg_score_input_DATA(request_s6),
                .tuple_out_charon_dip_reg_score_output_VALID(answered_s15),
                .tuple_out_charon_dip_reg_score_output_DATA({winner_s15, answer_score}), .faults_o(faults), .drops_o(drops)
            );
            reg [9*CONTEXT-1:0] around;
            always @(posedge clk_lookup) around <= {around[8*CONTEXT-1:0], context_s6};
            assign context_s15 = around[8*CONTEXT+:CONTEXT];
            assign lost = 1'b0;
        end
    endgenerate
    wire       injected_s15, packet_s15, stateful_s15, v6_s15, bank_s15, found_s15, scored_s15, used_s15;
    wire [1:0] action_s15;
    wire [3:0] detail_s15;
    wire [7:0] id_s15, fallback_s15;
    assign {injected_s15, packet_s15, stateful_s15, action_s15, detail_s15, v6_s15, bank_s15, found_s15, scored_s15, used_s15,
            id_s15, fallback_s15} = context_s15;
    assign score_done = answered_s15 & injected_s15;
    always @(posedge clk_lookup)
        injected <= (inject_s6 | injected) & ~score_done & ~lost & ~rst;

    // Stage 16: the server, or the fallback's if it has no row.
    reg         valid_s16, stateful_s16, v6_s16_r, bank_s16_r, found_s16, used_s16;
    reg [1:0]   action_s16;
    reg [3:0]   detail_s16;
    reg [7:0]   id_s16_r, other_s16_r;
    always @(posedge clk_lookup) begin
        valid_s16    <= answered_s15 & packet_s15 & ~rst;
        stateful_s16 <= stateful_s15;
        action_s16   <= action_s15;
        detail_s16   <= detail_s15;
        v6_s16_r     <= v6_s15;
        bank_s16_r   <= bank_s15;
        found_s16    <= found_s15;
        used_s16     <= used_s15;
        id_s16_r     <= scored_s15 ? winner_s15 : id_s15;
        other_s16_r  <= fallback_s15;
    end
    assign id_s16     = id_s16_r;
    assign other_s16  = other_s16_r;
    assign bank_s16   = bank_s16_r;
    wire known_s16    = found_s16 & (v6_s16_r ? known0_v6_s16 : known0_v4_s16);
    wire orphan_s16   = used_s16 & (v6_s16_r ? known1_v6_s16 : known1_v4_s16);
    assign chosen_s16 = known_s16 ? id_s16 : other_s16;

    // Stage 17: the row.
    reg       valid_s17, stateful_s17, v6_s17;
    reg [1:0] action_s17;
    reg [3:0] detail_s17;
    reg [7:0] id_s17;
    always @(posedge clk_lookup) begin
        valid_s17    <= valid_s16 & ~rst;
        stateful_s17 <= stateful_s16;
        v6_s17       <= v6_s16_r;
        action_s17   <= action_s16;
        detail_s17   <= detail_s16;
        id_s17       <= id_s16;
        if (action_s16 == TO_SERVER & ~known_s16) begin
            action_s17 <= orphan_s16 ? TO_SERVER : DROP;
            detail_s17 <= orphan_s16 ? ORPHAN : NO_SERVER;
            id_s17     <= other_s16;
        end
    end
    wire server_s17 = stateful_s17 & action_s17 == TO_SERVER;
    wire client_s17 = stateful_s17 & action_s17 == TO_CLIENT;
    wire [191:0] row_s17 = v6_s17 ? {port_v6_s17, mac_v6_s17, address_v6_s17}
                                  : {port_v4_s17, mac_v4_s17, 96'd0, address_v4_s17};
    wire [191:0] way_s17 = server_s17 ? row_s17 : client_s17 ? {uplink_port, uplink_mac, 128'd0} : 192'd0;
    wire [8:0]   who_s17 = server_s17 | client_s17 ? {id_s17, v6_s17} : 9'd0;

    // Stage 18: the answer.
    always @(posedge clk_lookup)
        if (rst) begin
            tuple_out_charon_output_VALID <= 1'b0;
            tuple_out_charon_output_DATA  <= 207'd0;
        end else begin
            tuple_out_charon_output_VALID <= valid_s17;
            tuple_out_charon_output_DATA  <= {{action_s17, detail_s17} & {6{stateful_s17}}, who_s17, way_s17};
        end
endmodule

`default_nettype wire
