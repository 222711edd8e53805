// Drives any module with one clock from a file of vectors, and writes down what its outputs show before every edge.
//
// Macros       TOP         the module
//              PARAMETERS  its parameters, as in #(...); may be empty
//              CLOCK       the name of its clock
//              PORTS       its other ports, connected to slices of `in` and `out`
//              IN, OUT     the bits of those
//              VECTORS     the file of `in`, a hexadecimal number a line, one line per clock
//              SEEN        the file for `out`, the bits of a clock on a line; x where the simulator knows no value
`default_nettype none

module bench;
    reg             clk = 1'b0;
    reg  [`IN-1:0]  in  = {`IN{1'b0}};
    wire [`OUT-1:0] out;

    `TOP #(`PARAMETERS) dut (.`CLOCK(clk), `PORTS);

    integer vectors, seen, got;
    initial begin
        vectors = $fopen(`VECTORS, "r");
        seen    = $fopen(`SEEN, "w");
        got     = $fscanf(vectors, "%h\n", in);
        while (got == 1) begin
            #1 $fdisplay(seen, "%b", out);
            clk = 1'b1;
            #1 clk = 1'b0;
            got = $fscanf(vectors, "%h\n", in);
        end
        $finish;
    end
endmodule

`default_nettype wire
