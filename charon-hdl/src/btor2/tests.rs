use alloc::string::{String, ToString};
use alloc::vec::Vec;
use alloc::{format, vec};

use proptest::prelude::*;

use super::*;
use crate::Design;
use crate::btor2::word::{self, MAX_WIDTH, Word, ZERO};

fn ones(width: u32) -> u128 {
    u128::MAX >> (128 - width)
}

/// A netlist with one operator on two words of `width` bits, whose result has `out` bits.
fn evaluate(op: &str, width: u32, out: u32, tail: &str, [a, b]: [u128; 2]) -> u128 {
    let text = format!(
        "1 sort bitvec {width}\n2 sort bitvec {out}\n3 input 1 a\n4 input 1 b\n5 {op} 2 3 {tail} ; a comment\n6 output 5 y\n"
    );
    let netlist = Netlist::parse(&text).unwrap_or_else(|error| panic!("{text}: {error}"));
    let mut machine = Machine::new(&netlist, Fill::Zero);
    machine.set(netlist.input("a").unwrap(), a);
    machine.set(netlist.input("b").unwrap(), b);
    machine.settle();
    machine.get(netlist.output("y").unwrap())
}

fn signed(value: u128, width: u32) -> i128 {
    ((value << (128 - width)) as i128) >> (128 - width)
}

proptest! {
    /// Every operator on two words agrees with 128-bit arithmetic, on both sides of 64 bits.
    #[test]
    fn operators_on_two_words(width in 1u32..=128, a in any::<u128>(), b in any::<u128>(), near in 0u8..4) {
        let a = a & ones(width);
        // Equal, close, small, or anything.
        let b = match near { 0 => a, 1 => a.wrapping_add(1), 2 => b % 140, _ => b } & ones(width);
        let shift = u32::try_from(b).unwrap_or(u32::MAX);
        let (sa, sb) = (signed(a, width), signed(b, width));
        for (op, expected) in [
            ("and", a & b),
            ("or", a | b),
            ("xor", a ^ b),
            ("add", a.wrapping_add(b)),
            ("sub", a.wrapping_sub(b)),
            ("mul", a.wrapping_mul(b)),
            ("sll", a.checked_shl(shift).unwrap_or(0)),
            ("srl", a.checked_shr(shift).unwrap_or(0)),
            ("sra", sa.checked_shr(shift).unwrap_or(sa >> 127) as u128),
        ] {
            prop_assert_eq!(evaluate(op, width, width, "4", [a, b]), expected & ones(width), "{}", op);
        }
        for (op, expected) in [
            ("eq", a == b),
            ("neq", a != b),
            ("ult", a < b),
            ("ulte", a <= b),
            ("ugt", a > b),
            ("ugte", a >= b),
            ("slt", sa < sb),
            ("slte", sa <= sb),
            ("sgt", sa > sb),
            ("sgte", sa >= sb),
        ] {
            prop_assert_eq!(evaluate(op, width, 1, "4", [a, b]), expected.into(), "{}", op);
        }
    }

    /// Every operator on one word, likewise.
    #[test]
    fn operators_on_one_word(width in 1u32..=128, a in any::<u128>(), low in 0u32..128, bits in 1u32..128, all in any::<bool>()) {
        let a = if all { ones(width) } else { a & ones(width) };
        prop_assert_eq!(evaluate("not", width, width, "", [a, 0]), !a & ones(width));
        prop_assert_eq!(evaluate("neg", width, width, "", [a, 0]), a.wrapping_neg() & ones(width));
        prop_assert_eq!(evaluate("redand", width, 1, "", [a, 0]), (a == ones(width)).into());
        prop_assert_eq!(evaluate("redor", width, 1, "", [a, 0]), (a != 0).into());
        prop_assert_eq!(evaluate("redxor", width, 1, "", [a, 0]), u128::from(a.count_ones() % 2));
        let low = low % width;
        let bits = 1 + bits % (width - low);
        let tail = format!("{} {low}", low + bits - 1);
        prop_assert_eq!(evaluate("slice", width, bits, &tail, [a, 0]), a >> low & ones(bits));
        let more = 128 - width;
        prop_assert_eq!(evaluate("uext", width, 128, &more.to_string(), [a, 0]), a);
        prop_assert_eq!(evaluate("sext", width, 128, &more.to_string(), [a, 0]), signed(a, width) as u128);
        if width <= 64 {
            prop_assert_eq!(evaluate("concat", width, 2 * width, "4", [a, !a]), a << width | !a & ones(width));
        }
    }

    /// Words of up to 512 bits agree with the same operations bit by bit.
    #[test]
    fn wide_words(a in any::<Word>(), b in any::<Word>(), width in 1u32..=MAX_WIDTH, by in 0u64..600) {
        let (a, b) = (word::cut(a, width), word::cut(b, width));
        let (x, y) = (bits(&a, width), bits(&b, width));
        let mut carry = false;
        let sum: Vec<bool> = x.iter().zip(&y).map(|(&x, &y)| {
            let sum = x ^ y ^ carry;
            carry = x & y | x & carry | y & carry;
            sum
        }).collect();
        prop_assert_eq!(bits(&word::add(&a, &b, false), width), sum);
        prop_assert_eq!(word::cut(word::add(&word::sub(&a, &b), &b, false), width), a);
        prop_assert_eq!(word::less(&a, &b), x.iter().rev().lt(y.iter().rev()));
        let at = |from: Option<usize>| from.and_then(|from| x.get(from)).copied().unwrap_or(false);
        let all = MAX_WIDTH as usize;
        let by_bits = usize::try_from(by).unwrap();
        let left: Vec<bool> = (0..all).map(|bit| at(bit.checked_sub(by_bits))).collect();
        let right: Vec<bool> = (0..all).map(|bit| at(Some(bit + by_bits))).collect();
        prop_assert_eq!(bits(&word::shift_left(&a, by), MAX_WIDTH), left);
        prop_assert_eq!(bits(&word::shift_right(&a, by), MAX_WIDTH), right);
        let product = y.iter().enumerate().filter(|(_, bit)| **bit);
        let product = product.fold(ZERO, |sum, (at, _)| word::add(&sum, &word::shift_left(&a, at as u64), false));
        prop_assert_eq!(word::mul(&a, &b), product);
        let negative = x[width as usize - 1];
        let extended: Vec<bool> = (0..all).map(|bit| x.get(bit).copied().unwrap_or(negative)).collect();
        let shifted: Vec<bool> = (0..all).map(|bit| extended.get(bit + by_bits).copied().unwrap_or(negative)).collect();
        prop_assert_eq!(bits(&word::sign_extend(&a, width), MAX_WIDTH), extended);
        prop_assert_eq!(bits(&word::shift_right_signed(&a, width, by), MAX_WIDTH), shifted);
    }
}

fn bits(word: &Word, width: u32) -> Vec<bool> {
    (0..width as usize).map(|bit| word[bit / 64] >> (bit % 64) & 1 == 1).collect()
}

/// Constants in three bases, and the three with names.
#[test]
fn constants() {
    let text = "1 sort bitvec 70\n2 const 1 1011\n3 constd 1 1180591620717411303424\n4 consth 1 3fDeadBeef00000000\n\
                5 zero 1\n6 one 1\n7 ones 1\n";
    let outputs: String = (2..=7).map(|id| format!("{} output {id} y{id}\n", id + 10)).collect();
    let netlist = Netlist::parse(&(text.to_string() + &outputs)).unwrap();
    let machine = Machine::new(&netlist, Fill::Zero);
    let values = (2..=7).map(|id| machine.get(netlist.output(&format!("y{id}")).unwrap()));
    let expected = vec![0b1011, 0 /* 2^70 */, 0x3f_dead_beef << 32 & ones(70), 0, 1, ones(70)];
    assert_eq!(values.collect::<Vec<_>>(), expected);
}

/// A bit concatenated to itself is one operator, whatever the order; another bit among them is not taken for the same; what
/// nothing uses is left out.
#[test]
fn copies_of_a_bit_are_joined() {
    let text = "1 sort bitvec 1\n2 sort bitvec 2\n3 sort bitvec 3\n4 sort bitvec 5\n5 input 1 x\n6 input 1 y\n\
                7 concat 2 5 5\n8 concat 3 7 5\n9 concat 4 8 7\n10 output 9 same\n11 concat 3 7 6\n12 concat 4 7 11\n\
                13 output 12 mixed\n14 not 4 12\n";
    let netlist = Netlist::parse(text).unwrap();
    assert_eq!(netlist.operators(), 4, "one for `same`, three for `mixed`");
    let mut machine = Machine::new(&netlist, Fill::Zero);
    for (x, y, same, mixed) in [(0, 0, 0, 0), (0, 1, 0, 1), (1, 0, 0b11111, 0b11110), (1, 1, 0b11111, 0b11111)] {
        machine.set(netlist.input("x").unwrap(), x);
        machine.set(netlist.input("y").unwrap(), y);
        machine.settle();
        let seen = ["same", "mixed"].map(|name| machine.get(netlist.output(name).unwrap()));
        assert_eq!(seen, [same, mixed]);
    }
}

/// Two registers that exchange their values do so at once; one without `next` keeps its value; `init` holds at first.
#[test]
fn registers_change_together() {
    let text = "1 sort bitvec 9\n2 state 1 a\n3 state 1 b\n4 state 1 c\n5 constd 1 300\n6 constd 1 7\n\
                7 init 1 2 5\n8 init 1 3 6\n9 next 1 2 3\n10 next 1 3 2\n";
    let netlist = Netlist::parse(text).unwrap();
    let [a, b, c] = ["a", "b", "c"].map(|name| netlist.signal(name).unwrap());
    let mut machine = Machine::new(&netlist, Fill::Pattern(9));
    let kept = machine.get(c);
    assert_ne!(kept, 0);
    assert_eq!([machine.get(a), machine.get(b)], [300, 7]);
    machine.settle();
    machine.clock();
    assert_eq!([machine.get(a), machine.get(b), machine.get(c)], [7, 300, kept]);
}

/// A memory with two writes, the second of which wins, one of them conditional, read before and through the writes.
#[test]
fn memories() {
    let text = "1 sort bitvec 3\n2 sort bitvec 80\n3 sort array 1 2\n4 sort bitvec 1\n5 input 1 first\n6 input 1 second\n\
                7 input 2 one\n8 input 2 two\n9 input 4 also\n10 input 1 at\n11 state 3 memory\n12 write 3 11 5 7\n\
                13 write 3 12 6 8\n14 ite 3 9 13 12\n15 next 3 11 14\n16 read 2 11 10\n17 output 16 before\n\
                18 read 2 14 10\n19 output 18 after\n";
    let netlist = Netlist::parse(text).unwrap();
    let mut machine = Machine::new(&netlist, Fill::Zero);
    let mut step = |inputs: [u128; 6]| {
        let names = ["first", "second", "one", "two", "also", "at"];
        for (name, value) in names.iter().zip(inputs) {
            machine.set(netlist.input(name).unwrap(), value);
        }
        machine.settle();
        let seen = ["before", "after"].map(|name| machine.get(netlist.output(name).unwrap()));
        machine.clock();
        seen
    };
    let (x, y) = (ones(80), 1 << 70 | 5);
    assert_eq!(step([2, 3, x, y, 1, 3]), [0, y]);
    assert_eq!(step([4, 5, 1, 2, 0, 2]), [x, x]);
    assert_eq!(step([6, 6, 1, 2, 1, 6]), [0, 2], "the second write wins");
    assert_eq!(step([7, 7, 1, 2, 0, 5]), [0, 0], "the conditional one was not written");
    assert_eq!(step([0, 0, 0, 0, 0, 7])[0], 1);
    assert_eq!(step([0, 0, 0, 0, 0, 6])[0], 2);
}

/// A word put into a memory is there, cut to its width; an address beyond the memory is refused, as is another name.
#[test]
fn words_are_put_into_memories() {
    let text = "1 sort bitvec 2\n2 sort bitvec 70\n3 sort array 1 2\n4 input 1 at\n5 state 3 memory\n6 read 2 5 4\n\
                7 output 6 word\n8 state 2 register\n";
    let netlist = Netlist::parse(text).unwrap();
    assert_eq!((netlist.memory("register"), netlist.memory("word")), (None, None));
    let memory = netlist.memory("memory").unwrap();
    let mut machine = Machine::new(&netlist, Fill::Zero);
    assert!(machine.put(memory, 3, &[5, u64::MAX]) && machine.put(memory, 1, &[9]));
    assert!(!machine.put(memory, 4, &[1]));
    for (at, expected) in [(0, 0), (1, 9), (2, 0), (3, 63 << 64 | 5)] {
        machine.set(netlist.input("at").unwrap(), at);
        machine.settle();
        assert_eq!(machine.get(netlist.output("word").unwrap()), expected);
    }
}

/// The bits at power-up depend on the seed only, and fill the width.
#[test]
fn patterns_fill() {
    let netlist = Netlist::parse("1 sort bitvec 33\n2 state 1 a\n3 state 1 b\n").unwrap();
    let values = |fill| {
        let machine = Machine::new(&netlist, fill);
        ["a", "b"].map(|name| machine.get(netlist.signal(name).unwrap()))
    };
    assert_eq!(values(Fill::Zero), [0, 0]);
    assert_eq!(values(Fill::Pattern(4)), values(Fill::Pattern(4)));
    assert_ne!(values(Fill::Pattern(4)), values(Fill::Pattern(5)));
    let drawn: Vec<u128> = (0..20).flat_map(|seed| values(Fill::Pattern(seed))).collect();
    assert!(drawn.iter().all(|&value| value <= ones(33)), "no bit beyond the width");
    assert_eq!(drawn.iter().fold(0, |all, value| all | value), ones(33), "every bit now and then");
}

/// What is wrong is said with its line.
#[test]
fn wrong_netlists_are_refused() {
    let prefix = "1 sort bitvec 8\n2 sort bitvec 1\n3 input 1 a\n4 state 1 s\n5 sort array 1 1\n6 state 5\n7 state 5\n";
    let error = |line: &str| Netlist::parse(&(prefix.to_string() + line)).map(|_| ()).unwrap_err();
    let line = 8;
    let widths = Btor2Error::Widths { line };
    assert_eq!(error("x and 1 3 3"), Btor2Error::Syntax { line, expected: "a number" });
    assert_eq!(error("8"), Btor2Error::Syntax { line, expected: "an operator" });
    assert_eq!(error("8 udiv 1 3 3"), Btor2Error::Operator { line, op: "udiv".to_string() });
    assert_eq!(error("8 bad 3"), Btor2Error::Reference { line, id: 3, expected: "a sort of words" });
    assert_eq!(error("8 and 1 3"), Btor2Error::Syntax { line, expected: "a word" });
    assert_eq!(error("8 and 1 3 -3"), Btor2Error::Syntax { line, expected: "a word" });
    assert_eq!(error("8 and 1 3 9"), Btor2Error::Reference { line, id: 9, expected: "a word" });
    assert_eq!(error("8 and 1 3 6"), Btor2Error::Reference { line, id: 6, expected: "a word" });
    assert_eq!(error("3 and 1 3 3"), Btor2Error::Twice { line, id: 3 });
    for text in ["8 and 2 3 3", "8 eq 1 3 3", "8 slice 1 3 8 0", "8 slice 2 3 0 1", "8 concat 1 3 3", "8 ite 1 3 3 3"] {
        assert_eq!(error(text), widths, "{text}");
    }
    for text in ["8 uext 1 3 1", "8 uext 2 3 0", "8 redor 1 3", "8 read 2 6 3", "8 slice 1 3 99999999999 0"] {
        assert_eq!(error(text), widths, "{text}");
    }
    assert_eq!(error("8 next 1 3 4"), Btor2Error::Syntax { line, expected: "a state" });
    assert_eq!(error("8 init 1 4 3"), Btor2Error::Syntax { line, expected: "a constant" });
    assert_eq!(error("8 next 5 6 7"), Btor2Error::Array { line });
    assert_eq!(error("8 const 1 012"), Btor2Error::Syntax { line, expected: "digits" });
    let large = |what, got, limit| Btor2Error::TooLarge { line, what, got, limit };
    assert_eq!(error("8 sort bitvec 513"), large("a word", 513, 512));
    assert_eq!(error("8 sort bitvec 0"), large("a word", 0, 512));
    assert_eq!(large("a word", 513, 512).to_string(), "line 8: a word of size 513: expected 1 to 512");
    assert_eq!(
        error("8 sort bitvec 17\n9 sort array 8 8"),
        Btor2Error::TooLarge { line: 9, what: "an address", got: 17, limit: 16 }
    );
    // The difference of the widths is negative; nothing may take it for 2^32 - 1.
    assert_eq!(error("8 slice 2 3 0 0\n9 uext 2 3 4294967289"), Btor2Error::Widths { line: 9 });
    assert_eq!(error("8 slice 2 3 0 0\n9 sext 2 3 4294967289"), Btor2Error::Widths { line: 9 });
    let syntax = |expected| Btor2Error::Syntax { line: 10, expected };
    assert_eq!(error("8 next 1 4 3\n9 zero 1\n10 next 1 4 9"), syntax("a state without a next value"));
    assert_eq!(error("8 zero 1\n9 init 1 4 8\n10 init 1 4 8"), syntax("a state without a first value"));
    assert_eq!(error("8 next 5 6 6\n9 zero 1\n10 next 5 6 6"), syntax("a state without a next value"));
    // A line is a few bytes, and the array that it asks for 4 MiB: the ninth is too much.
    let arrays: String = (10..20).map(|id| format!("{id} state 9\n")).collect();
    let all = error(&format!("8 sort bitvec 512\n21 sort bitvec 16\n9 sort array 21 8\n{arrays}"));
    let got = (8 << 19) + 512; // with the two of the prefix, of 256 words each
    assert_eq!(all, Btor2Error::TooLarge { line: 18, what: "all arrays, in words of 64 bits,", got, limit: 1 << 22 });
    let writes: String = (8..2_000).map(|id| format!("{id} write 5 {} 3 3\n", id - 1)).collect();
    assert!(matches!(error(&writes), Btor2Error::TooLarge { what: "writes to an array", got: 1_025, .. }));
}

/// The crate's own netlists with words changed, lines lost and repeated: no panic when they are read, nor when they run.
#[test]
fn damaged_netlists_do_no_harm() {
    let text = Design::Fsm.netlist().text;
    let lines: Vec<&str> = text.lines().collect();
    let mut state = 1u64;
    let mut draw = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    let (mut read, mut refused) = (0, 0);
    for _ in 0..600 {
        let mut damaged: Vec<String> = lines.iter().map(|line| (*line).to_string()).collect();
        let at = draw(lines.len());
        let words: Vec<&str> = lines[at].split(' ').collect();
        match draw(5) {
            0 => drop(damaged.remove(at)),
            1 => damaged[at] = damaged[draw(lines.len())].clone(),
            2 => {
                damaged[at] =
                    lines[at].replace(" and ", " or ").replace(" concat ", " and ").replace(" ite ", " slice ")
            }
            _ => {
                let mut words: Vec<String> = words.iter().map(|word| (*word).to_string()).collect();
                let word = draw(words.len());
                words[word] = draw(900).to_string();
                damaged[at] = words.join(" ");
            }
        }
        match Netlist::parse(&damaged.join("\n")) {
            Err(_) => refused += 1,
            Ok(netlist) => {
                read += 1;
                let mut machine = Machine::new(&netlist, Fill::Pattern(1));
                for _ in 0..20 {
                    machine.settle();
                    machine.clock();
                }
            }
        }
    }
    assert!(read > 50 && refused > 50, "{read} read, {refused} refused");
}
