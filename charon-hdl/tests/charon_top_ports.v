// charon_top with ports of at most 128 bits, for the bench. What no VALID stands beside is unknown, so that it shows if
// anybody looks at it.
`default_nettype none

module charon_top_ports #(
    parameter SCORE_FSM = 0 // as charon_top's
) (
    input  wire         clk_i,   // the clock
    input  wire         rst_i,   // reset
    input  wire         valid_i, // a packet
    input  wire [89:0]  data3_i, // its fields, from the top down
    input  wire [127:0] data2_i, // ...
    input  wire [127:0] data1_i, // ...
    input  wire [127:0] data0_i, // ...
    input  wire [72:0]  bus_i,   // {AWVALID, AWADDR, WVALID, WDATA, WSTRB, BREADY, ARVALID, ARADDR, RREADY}
    output wire         valid_o, // an answer
    output wire [78:0]  data1_o, // its fields, from the top down
    output wire [127:0] data0_o, // ...
    output wire [4:0]   ready_o, // {AWREADY, WREADY, BVALID, ARREADY, RVALID}
    output wire [1:0]   bresp_o, // BRESP
    output wire [33:0]  read_o,  // {RDATA, RRESP}
    output wire [31:0]  now_o    // the tick
);
    wire unused;
    charon_top #(.SCORE_FSM(SCORE_FSM)) dut (
        .clk_lookup(clk_i), .rst(rst_i), .tuple_in_charon_input_VALID(valid_i),
        .tuple_in_charon_input_DATA(valid_i ? {data3_i, data2_i, data1_i, data0_i} : {474{1'bx}}),
        .tuple_out_charon_output_VALID(valid_o), .tuple_out_charon_output_DATA({data1_o, data0_o}),
        .control_S_AXI_AWVALID(bus_i[72]), .control_S_AXI_AWADDR(bus_i[72] ? bus_i[71:56] : 16'bx),
        .control_S_AXI_WVALID(bus_i[55]), .control_S_AXI_WDATA(bus_i[55] ? bus_i[54:23] : 32'bx),
        .control_S_AXI_WSTRB(bus_i[55] ? bus_i[22:19] : 4'bx), .control_S_AXI_BREADY(bus_i[18]),
        .control_S_AXI_ARVALID(bus_i[17]), .control_S_AXI_ARADDR(bus_i[17] ? bus_i[16:1] : 16'bx),
        .control_S_AXI_RREADY(bus_i[0]),
        .control_S_AXI_AWREADY(ready_o[4]), .control_S_AXI_WREADY(ready_o[3]), .control_S_AXI_BVALID(ready_o[2]),
        .control_S_AXI_BRESP(bresp_o), .control_S_AXI_ARREADY(ready_o[1]), .control_S_AXI_RVALID(ready_o[0]),
        .control_S_AXI_RDATA(read_o[33:2]), .control_S_AXI_RRESP(read_o[1:0]), .now_o(now_o), .bank_o(unused)
    );
endmodule

`default_nettype wire
