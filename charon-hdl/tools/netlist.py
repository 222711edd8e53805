#!/usr/bin/env python3
"""Writes the netlists of netlist/ from the RTL, with Yosys (`pip install pyosys==0.70`).

usage: netlist.py [DIRECTORY]     the default is netlist/ beside this script's folder

The files are byte for byte the same whenever the RTL is: source positions and generated names are cut off, and the version
of Yosys is pinned.
For every design there is the netlist of each size, and one with the faults of tools/faults.txt or tools/part_faults.txt
built in: every expression named there becomes `planted == NUMBER ? (wrong) : (right)`, where `planted` is a register that
nothing writes. A fault of a design that has no such netlist is an error.
"""

import functools
import os
import re
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# Each in several sizes.
DESIGNS = ["dip_reg_score_fsm", "dip_reg_score_pipe"]
SIZES = [16, 256]
# Small ones, with their parameters, on which the interpreter is compared with a simulator.
SMALL = [
    ("operators", {}),
    ("sync_fifo", {"WIDTH": 70, "DEPTH": 8}),
    ("charon_bram", {"ROWS": 6, "WIDTH": 5, "LATENCY": 2}),
    ("row_memory", {"ROWS": 5, "WIDTH": 66}),
]
# The parts around the Score Table, and the whole: file, module, parameters.
PARTS = [
    ("alias_table_16", "alias_table", {"SERVERS": 16}),
    ("alias_table_100", "alias_table", {"SERVERS": 100}),
    ("ip_table_v4_16", "ip_table", {"SERVERS": 16, "ADDRESS_BITS": 32}),
    ("ip_table_v6_16", "ip_table", {"SERVERS": 16, "ADDRESS_BITS": 128}),
    ("ip_table_v4_2", "ip_table", {"SERVERS": 2, "ADDRESS_BITS": 32}),
    ("ip_table_v4_3", "ip_table", {"SERVERS": 3, "ADDRESS_BITS": 32}),
    ("ip_table_v6_256", "ip_table", {"SERVERS": 256, "ADDRESS_BITS": 128}),
    ("timestamp_gen", "timestamp_gen", {}),
    ("server_id_extract_4", "server_id_extract", {"ID_BITS": 4}),
    ("server_id_extract_8", "server_id_extract", {"ID_BITS": 8}),
    ("control_port_16", "control_port", {"SERVERS": 16}),
    ("control_port_2", "control_port", {"SERVERS": 2}),
    ("control_port_3", "control_port", {"SERVERS": 3}),
    ("control_port_256", "control_port", {"SERVERS": 256}),
    ("charon_top_16", "charon_top", {"SERVERS": 16}),
    ("charon_top_fsm_16", "charon_top", {"SERVERS": 16, "SCORE_FSM": 1}),
    ("charon_top_2", "charon_top", {"SERVERS": 2}),
    ("charon_top_3", "charon_top", {"SERVERS": 3}),
    ("charon_top_256", "charon_top", {"SERVERS": 256, "ID_BITS": 8}),
]
# With their faults: file, module, parameters, and which designs' faults.
FAULTY = [
    ("dip_reg_score_fsm", "dip_reg_score_fsm", {"SERVERS": 16}, ["dip_reg_score_fsm"]),
    ("dip_reg_score_pipe", "dip_reg_score_pipe", {"SERVERS": 16}, ["dip_reg_score_pipe"]),
    ("alias_table", "alias_table", {"SERVERS": 16}, ["alias_table"]),
    ("ip_table", "ip_table", {"SERVERS": 16, "ADDRESS_BITS": 32}, ["ip_table"]),
    ("timestamp_gen", "timestamp_gen", {}, ["timestamp_gen"]),
    ("server_id_extract", "server_id_extract", {"ID_BITS": 4}, ["server_id_extract"]),
    ("control_port", "control_port", {"SERVERS": 16}, ["control_port"]),
    ("charon_top", "charon_top", {"SERVERS": 16}, ["charon_top"]),
    ("charon_top_fsm", "charon_top", {"SERVERS": 16, "SCORE_FSM": 1}, ["charon_top", "charon_top_fsm"]),
]
YOSYS = "0.70"

# From modules to words: no hierarchy, one clock that is implied, read ports without registers, flip-flops without resets
# and enables, nothing undefined, no wire kept for its name.
PASSES = """
prep -flatten -top {top}
async2sync
memory_nordff
opt -full
dffunmap
setundef -undriven -zero
opt_clean -purge
write_btor {out}
"""

# The same without making words smaller: masks that are constant stay words, of which a parity is one line. Otherwise it would
# become a line per bit, and the hashes are 640 parities.
PASSES_OF_PARTS = """
hierarchy -check -top {top}
proc -noopt
flatten
opt_clean
memory_dff
memory_collect
opt_merge
opt_clean
async2sync
memory_nordff
dffunmap
setundef -undriven -zero
opt_merge
opt_clean -purge
write_btor {out}
"""


def main():
    out = os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else os.path.join(ROOT, "netlist")
    os.makedirs(out, exist_ok=True)
    sources = read_sources()
    for top in DESIGNS:
        for size in SIZES:
            write_netlist(sources, top, {"SERVERS": size}, os.path.join(out, f"{top}_{size}.btor2"))
    for top, parameters in SMALL:
        write_netlist(sources, top, parameters, os.path.join(out, f"{top}.btor2"))
    for name, top, parameters in PARTS:
        write_netlist(sources, top, parameters, os.path.join(out, f"{name}.btor2"), PASSES_OF_PARTS)
    faults = read_faults()
    for name, top, parameters, designs in FAULTY:
        passes = PASSES if top in DESIGNS else PASSES_OF_PARTS
        faulty = with_faults(sources, [fault for fault in faults if fault[2] in designs])
        write_netlist(faulty, top, parameters, os.path.join(out, f"{name}_faults.btor2"), passes)


def read_sources():
    rtl = os.path.join(ROOT, "rtl")
    paths = [os.path.join(rtl, name) for name in sorted(os.listdir(rtl))] + [os.path.join(ROOT, "tests", "operators.v")]
    return {os.path.basename(path): open(path).read() for path in paths}


def write_netlist(sources, top, parameters, out, passes=PASSES):
    from pyosys import libyosys

    with tempfile.TemporaryDirectory() as folder:
        write_files(folder, sources)
        modules = sorted(needed(sources, top))
        raw = os.path.join(folder, "raw.btor2")
        design = read_modules(folder, modules)
        if "crc32_columns" in modules:
            write_files(folder, {"columns.il": columns(*(sources[name] for name in COLUMNS))})
            libyosys.run_pass(f"read_rtlil {folder}/columns.il", design)
        for name, value in parameters.items():
            libyosys.run_pass(f"chparam -set {name} {value} {top}", design)
        for line in passes.format(top=top, out=raw).split("\n"):
            if line:
                libyosys.run_pass(line, design)
        lines = open(raw).read().splitlines()
    if f"Yosys {YOSYS} " not in lines[0]:
        sys.exit(f"error: netlists are made with Yosys {YOSYS}, this is another: {lines[0]}")
    with open(out, "w") as file:
        values = "".join(f", {name} = {value}" for name, value in parameters.items())
        file.write(f"; {top}{values}: written by tools/netlist.py with Yosys {YOSYS}; do not edit.\n")
        for line in lines[1:]:
            # Names of Yosys's own hold positions and counters.
            line = " ".join(word for word in line.split(";")[0].split() if "$" not in word)
            if line:
                file.write(line + "\n")


def write_files(folder, texts):
    for name, text in texts.items():
        with open(os.path.join(folder, name), "w") as file:
            file.write(text)


def read_modules(folder, modules):
    from pyosys import libyosys

    design = libyosys.Design()
    libyosys.run_pass(f"read_verilog -I{folder} {' '.join(f'{folder}/{module}.v' for module in modules)}", design)
    return design


# What the hashes are made of.
COLUMNS = ["crc32_columns.v", "flow_hash.v"]


@functools.cache
def columns(*texts):
    """crc32_columns with both its polynomials, elaborated: most of the time goes into that, so each text is read once."""
    from pyosys import libyosys

    with tempfile.TemporaryDirectory() as folder:
        write_files(folder, dict(zip(COLUMNS, texts)))
        design = read_modules(folder, [name[:-2] for name in COLUMNS])
        libyosys.run_pass("hierarchy -check -top flow_hash", design)
        libyosys.run_pass("select *crc32_columns*", design)
        libyosys.run_pass(f"write_rtlil -selected {folder}/columns.il", design)
        with open(os.path.join(folder, "columns.il")) as file:
            return file.read()


def needed(sources, top):
    """The modules below one, and itself: only these are read, since the order of operands depends on what Yosys has read."""
    found, new = set(), {top}
    while new:
        module = new.pop()
        found.add(module)
        words = set(re.findall(r"\w+", re.sub(r"//.*", "", sources[f"{module}.v"])))
        new |= {name[:-2] for name in sources if name.endswith(".v") and name[:-2] in words} - found
    return found


def with_faults(sources, faults):
    sources = dict(sources)
    for number, _, _, name, pattern, wrong in faults:
        match = re.fullmatch(r"(.*)<<(.*)>>(.*)", pattern)
        before, right, after = match.groups()
        text = sources[name]
        if text.count(before + right + after) != 1:
            sys.exit(f"error: fault {number}: {before + right + after!r} is not in {name} exactly once")
        both = f"{before}(planted == {number} ? ({wrong}) : ({right})){after}"
        text = text.replace(before + right + after, both)
        if "wire [7:0] planted;" not in text:
            text = text.replace("\n);\n", "\n);\n    (* anyconst *) wire [7:0] planted;\n", 1)
        sources[name] = text
    return sources


def read_faults():
    faults = []
    for name in ["faults.txt", "part_faults.txt"]:
        with open(os.path.join(ROOT, "tools", name)) as file:
            for line in file:
                if line.strip() and not line.startswith("#"):
                    faults.append([field.strip() for field in line.split(" @ ")])
    known = {design for *_, designs in FAULTY for design in designs}
    for number, meaning, design, *_ in faults:
        if design not in known:
            sys.exit(f"error: fault {number}, {meaning}: no netlist has faults of {design!r}")
    return faults


main()
