// The tables of Charon for one address family: the header of a packet in, which server it goes to out.
//
// What it is   the match-action stage between a parser and a deparser, one packet per clock, in order, 14 clocks long:
//                clock 0      the Alias Table for two hashes; the fallback for the first; the row of the id that the packet
//                             itself names, in its timestamp or its report
//                clock 3      the Score Table: GET_INDEX for a SYN, UPDATE for a report of the server that it names;
//                             everything else is sent there as a branch not taken
//                clock 12     the row of the winner
//                clock 13     the decision; it shows in clock 14
// Routes       0 SYN with a timestamp, by the scores of two candidates   3 later segment, by the id in its timestamp
//              1 SYN without one, by the fallback                        4 later segment without one, by the fallback
//              2 a server's report: to its client                        5 the server found first has no row: the fallback
// Contract     parser and deparser check and change headers, decode a report's v, and tell a report's inner segment to be
//              a SYN-ACK. Tables are edited while no packet is under way, or the packet may see the edit or not.
// Reset        nothing is under way, no server has a row, nobody can be chosen, every score is zero.
`default_nettype none
`include "charon_params.vh"

module charon_top #(
    parameter SERVERS       = `CHARON_SERVERS,       // N: ids 0 to N - 1; 2 to 256
    parameter ID_BITS       = `CHARON_ID_BITS,       // bits of an id in the timestamp
    parameter LOW_BITS      = 1,                     // where they are: see server_id_extract
    parameter ADDRESS_BITS  = 32,                    // 32 for IPv4, 128 for IPv6
    parameter HOP_BITS      = 64,                    // the rest of a row: {port, MAC} or what the deparser needs
    parameter BUCKET_BITS   = 12,                    // the fallback has 2^BUCKET_BITS buckets
    parameter TASK_BITS     = `CHARON_TASK_BITS,     // bits of a report's g, whole tasks
    parameter V_BITS        = `CHARON_V_BITS,        // bits of a report's v
    parameter T_BITS        = `CHARON_T_BITS         // bits of a tick
) (
    input  wire clk_i, // every edge that counts is rising
    input  wire rst_i, // synchronous, active high

    input  wire                    valid_i,     // a packet
    input  wire                    syn_i,       // it is a SYN
    input  wire                    report_i,    // it is a SYN-ACK in a tunnel; wins over syn_i
    input  wire                    stamped_i,   // it has a timestamp option, with an echo if it is no SYN
    input  wire [31:0]             hash0_i,     // CRC-32 of the 5-tuple
    input  wire [31:0]             hash1_i,     // CRC-32C of the 5-tuple
    input  wire [31:0]             echo_i,      // TSecr
    input  wire [7:0]              report_id_i, // report: who it names
    input  wire [TASK_BITS-1:0]    g_i,         // report: tasks
    input  wire [V_BITS-1:0]       v_i,         // report: tasks per tick, decoded
    input  wire [ADDRESS_BITS-1:0] sender_i,    // report: the tunnel's source
    input  wire [T_BITS-1:0]       now_i,       // the tick

    output reg                             valid_o,     // a packet, 14 clocks later
    output reg                             forward_o,   // it goes somewhere; otherwise it is dropped
    output reg                             to_client_o, // it goes to its client: unwrap it
    output reg  [7:0]                      id_o,        // the server
    output reg  [2:0]                      route_o,     // how it was found
    output reg  [ADDRESS_BITS+HOP_BITS-1:0] row_o,      // the server's row

    input  wire                       alias_we_i,        // Alias Table: write a cell
    input  wire [$clog2(SERVERS)-1:0] alias_waddr_i,     // which
    input  wire [`CHARON_RANDOM_BITS:0] alias_threshold_i, // its threshold
    input  wire [7:0]                 alias_i,           // its alias
    input  wire                       alias_swap_i,      // use what was written
    input  wire                       alias_usable_i,    // somebody can be chosen from it

    input  wire                             row_we_i,      // IP Table: edit a row
    input  wire [7:0]                       row_waddr_i,   // whose
    input  wire                             row_present_i, // give it row_i, or take it away
    input  wire [ADDRESS_BITS+HOP_BITS-1:0] row_i,         // {address, hop}

    input  wire                   bucket_we_i,     // fallback: write a bucket
    input  wire [BUCKET_BITS-1:0] bucket_waddr_i,  // which
    input  wire [7:0]             bucket_i,        // its server
    input  wire                   fallback_set_i,  // fallback: fallback_on_i counts from this edge on
    input  wire                   fallback_on_i    // somebody has a row
);
    localparam ROW = ADDRESS_BITS + HOP_BITS;

    reg fallback_on;
    always @(posedge clk_i)
        if (rst_i) fallback_on <= 1'b0;
        else if (fallback_set_i) fallback_on <= fallback_on_i;

    // Clock 0: what needs nothing but the packet.
    wire [7:0] first_id, second_id, named_id, echo_id;
    wire       usable_s3;
    alias_table #(.SERVERS(SERVERS)) candidates (
        .clk_i(clk_i), .rst_i(rst_i), .hash0_i(hash0_i), .hash1_i(hash1_i),
        .id0_o(first_id), .id1_o(second_id), .usable_o(usable_s3),
        .we_i(alias_we_i), .waddr_i(alias_waddr_i), .threshold_i(alias_threshold_i), .alias_i(alias_i),
        .swap_i(alias_swap_i), .usable_i(alias_usable_i)
    );
    server_id_extract #(.ID_BITS(ID_BITS), .LOW_BITS(LOW_BITS)) extract (.echo_i(echo_i), .id_o(echo_id));
    assign named_id = report_i ? report_id_i : echo_id;

    wire           named_found_s1, other_found_s2;
    wire [ROW-1:0] named_row_s1, other_row_s2;
    wire [7:0]     bucket_s1;
    ip_table #(.SERVERS(SERVERS), .ROW_BITS(ROW)) rows_named (
        .clk_i(clk_i), .rst_i(rst_i), .id_i(named_id), .found_o(named_found_s1), .row_o(named_row_s1),
        .we_i(row_we_i), .waddr_i(row_waddr_i), .present_i(row_present_i), .row_i(row_i)
    );
    charon_bram #(.ROWS(1 << BUCKET_BITS), .WIDTH(8)) buckets (
        .clk_i(clk_i), .we_i(bucket_we_i), .waddr_i(bucket_waddr_i), .wdata_i(bucket_i),
        .raddr_i(hash0_i[31:32-BUCKET_BITS]), .rdata_o(bucket_s1)
    );
    ip_table #(.SERVERS(SERVERS), .ROW_BITS(ROW)) rows_fallback (
        .clk_i(clk_i), .rst_i(rst_i), .id_i(bucket_s1), .found_o(other_found_s2), .row_o(other_row_s2),
        .we_i(row_we_i), .waddr_i(row_waddr_i), .present_i(row_present_i), .row_i(row_i)
    );

    // Clocks 1 to 3: the packet beside its look-ups.
    reg                    valid_s1, valid_s2, valid_s3;
    reg [2:0]              kind_s1, kind_s2, kind_s3; // {report, SYN, stamped}
    reg [7:0]              named_s1, named_s2, named_s3, bucket_s2, bucket_s3;
    reg                    trusted_s2, trusted_s3, named_found_s2, named_found_s3, other_found_s3, on_s1, on_s2, on_s3;
    reg [ROW-1:0]          named_row_s2, named_row_s3, other_row_s3;
    reg [TASK_BITS-1:0]    g_s1, g_s2, g_s3;
    reg [V_BITS-1:0]       v_s1, v_s2, v_s3;
    reg [T_BITS-1:0]       now_s1, now_s2, now_s3;
    reg [ADDRESS_BITS-1:0] sender_s1;
    always @(posedge clk_i) begin
        {valid_s1, valid_s2, valid_s3} <= {valid_i, valid_s1, valid_s2} & {3{~rst_i}};
        {kind_s1, kind_s2, kind_s3}    <= {report_i, syn_i & ~report_i, stamped_i, kind_s1, kind_s2};
        {named_s1, named_s2, named_s3} <= {named_id, named_s1, named_s2};
        {bucket_s2, bucket_s3}         <= {bucket_s1, bucket_s2};
        {on_s1, on_s2, on_s3}          <= {fallback_on, on_s1, on_s2};
        {g_s1, g_s2, g_s3}             <= {g_i, g_s1, g_s2};
        {v_s1, v_s2, v_s3}             <= {v_i, v_s1, v_s2};
        {now_s1, now_s2, now_s3}       <= {now_i, now_s1, now_s2};
        sender_s1                      <= sender_i;
        trusted_s2 <= named_found_s1 & named_row_s1[ROW-1:HOP_BITS] == sender_s1;
        {trusted_s3, named_found_s2, named_found_s3} <= {trusted_s2, named_found_s1, named_found_s2};
        {named_row_s2, named_row_s3}   <= {named_row_s1, named_row_s2};
        {other_found_s3, other_row_s3} <= {other_found_s2 & on_s2, other_row_s2};
    end

    // Clock 3: the Score Table.
    wire syn_s3    = kind_s3[1];
    wire by_score  = syn_s3 & kind_s3[0] & usable_s3;
    wire by_bucket = syn_s3 & ~kind_s3[0] & on_s3;
    wire update    = kind_s3[2] & trusted_s3;
    wire [7:0] code = update ? `CHARON_OP_UPDATE : by_score | by_bucket ? `CHARON_OP_GET_INDEX : `CHARON_OP_COPY;
    wire [7:0] id0  = by_score ? first_id : syn_s3 | (~kind_s3[2] & ~kind_s3[0]) ? bucket_s3 : named_s3;
    wire [7:0] id1  = by_score ? second_id : bucket_s3;
    wire       answered_s12;
    wire [7:0] chosen_s12;
    wire [39:0] score_s12;
    wire [31:0] faults, drops;
    dip_reg_score_pipe #(.SERVERS(SERVERS)) scores (
        .clk_lookup(clk_i), .rst(rst_i),
        .tuple_in_charon_dip_reg_score_input_VALID(valid_s3),
        .tuple_in_charon_dip_reg_score_input_DATA(
            {update | by_score | by_bucket, code, id0, id1, g_s3, v_s3, now_s3}),
        .tuple_out_charon_dip_reg_score_output_VALID(answered_s12),
        .tuple_out_charon_dip_reg_score_output_DATA({chosen_s12, score_s12}),
        .faults_o(faults), .drops_o(drops)
    );
    wire unused = &{1'b0, score_s12, faults, drops, hash0_i};

    // Clocks 3 to 13: what waits for the Score Table.
    wire           chosen, report, syn, stamped, trusted, named_found, other_found;
    wire [ROW-1:0] named_row, other_row;
    wire [7:0]     bucket;
    delay_line #(.WIDTH(15 + 2 * ROW), .CLOCKS(10)) waiting (
        .clk_i(clk_i),
        .data_i({by_score | by_bucket, kind_s3, trusted_s3, named_found_s3, named_row_s3, other_found_s3, other_row_s3,
                 bucket_s3}),
        .data_o({chosen, report, syn, stamped, trusted, named_found, named_row, other_found, other_row, bucket})
    );

    // Clock 12: the winner's row.
    wire           winner_found;
    wire [ROW-1:0] winner_row;
    ip_table #(.SERVERS(SERVERS), .ROW_BITS(ROW)) rows_winner (
        .clk_i(clk_i), .rst_i(rst_i), .id_i(chosen_s12), .found_o(winner_found), .row_o(winner_row),
        .we_i(row_we_i), .waddr_i(row_waddr_i), .present_i(row_present_i), .row_i(row_i)
    );
    reg       valid_s13;
    reg [7:0] chosen_s13;
    always @(posedge clk_i) begin
        valid_s13  <= answered_s12 & ~rst_i;
        chosen_s13 <= chosen_s12;
    end

    // Clock 13: the first choice, or the fallback.
    wire by_name = ~report & ~syn & stamped;
    wire found   = syn ? chosen & winner_found : by_name ? named_found : other_found;
    wire instead = ~report & ~found & other_found;
    always @(posedge clk_i) begin
        valid_o     <= valid_s13 & ~rst_i;
        forward_o   <= report ? trusted : found | other_found;
        to_client_o <= report & trusted;
        id_o        <= instead ? bucket : chosen_s13;
        route_o     <= report ? 3'd2 : instead ? 3'd5 : syn ? (stamped ? 3'd0 : 3'd1) : stamped ? 3'd3 : 3'd4;
        row_o       <= report | (by_name & ~instead) ? named_row : instead | ~syn ? other_row : winner_row;
    end
endmodule

`default_nettype wire
