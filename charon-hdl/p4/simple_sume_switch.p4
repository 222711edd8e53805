// The architecture of the P4-NetFPGA (SUME) switch, as its published interface describes it: one parser, one match-action
// pipeline, one deparser, between four ports of 10 Gb/s and the host. Written for this project; use the platform's own file
// instead where you have it.
#ifndef SIMPLE_SUME_SWITCH_P4
#define SIMPLE_SUME_SWITCH_P4

#include <core.p4>

// Ports, a bit each: nf0, nf0's DMA queue, nf1, nf1's DMA queue, and so on, from the low bit up.
typedef bit<8> port_t;

// The 128 bits that go along with every packet (tuser of the AXI stream), the first field on top.
struct sume_metadata_t {
    bit<16> dma_q_size;      // what waits in the output queues, in words of 32 bytes
    bit<16> nf3_q_size;
    bit<16> nf2_q_size;
    bit<16> nf1_q_size;
    bit<16> nf0_q_size;
    bit<8>  send_dig_to_cpu; // bit 0: the digest goes to the host
    bit<8>  drop;            // deprecated: a dst_port of 0 drops
    port_t  dst_port;        // where to: any number of bits
    port_t  src_port;        // where from: one bit
    bit<16> pkt_len;         // bytes, without preamble and frame check sequence
}

// H: parsed headers; M: the program's own metadata; D: the digest, 256 bits.
parser Parser<H, M, D>(packet_in packet,
                       out H headers,
                       out M user_metadata,
                       out D digest_data,
                       inout sume_metadata_t sume_metadata);

control Pipe<H, M, D>(inout H headers,
                      inout D digest_data,
                      inout M user_metadata,
                      inout sume_metadata_t sume_metadata);

control Deparser<H, M, D>(packet_out packet,
                          in H headers,
                          in M user_metadata,
                          inout D digest_data,
                          inout sume_metadata_t sume_metadata);

package SimpleSumeSwitch<H, M, D>(Parser<H, M, D> TopParser, Pipe<H, M, D> TopPipe, Deparser<H, M, D> TopDeparser);

#endif
