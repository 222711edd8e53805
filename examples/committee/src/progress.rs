//! Progress of runs in virtual time: bars on a terminal, a line now and then elsewhere.

use std::io::{IsTerminal, Write};

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};

/// Progress of several runs side by side.
#[derive(Debug)]
pub struct Progress {
    bars: MultiProgress,
    seconds: u64,
    names: usize,
}

/// Progress of one run.
#[derive(Clone, Debug)]
pub struct Bar {
    bar: ProgressBar,
    name: String,
    seconds: u64,
    plain: bool,
}

/// Without a terminal, so many lines a run.
const PLAIN_LINES: u64 = 5;

impl Progress {
    /// For `names` runs of `seconds` each.
    pub fn new(names: usize, seconds: u64) -> Self {
        Self { bars: MultiProgress::new(), seconds, names }
    }

    /// The bar of the `index`-th run.
    pub fn bar(&self, index: usize, name: &str) -> Bar {
        let bar = self.bars.insert(index.min(self.names), ProgressBar::new(self.seconds));
        let style = "{prefix:>16}  {wide_bar}  {pos:>4}/{len} virtual s  {elapsed:>4}";
        bar.set_style(ProgressStyle::with_template(style).expect("the template is constant"));
        bar.set_prefix(name.to_owned());
        Bar { bar, name: name.to_owned(), seconds: self.seconds, plain: !std::io::stderr().is_terminal() }
    }

    pub fn finish(&self) {
        let _ = self.bars.clear();
    }
}

impl Bar {
    /// `second` of virtual time is reached.
    pub fn set(&self, second: u64) {
        self.bar.set_position(second);
        if self.plain && second.is_multiple_of((self.seconds / PLAIN_LINES).max(1)) {
            // Progress that cannot be shown is no reason to stop.
            let _ = writeln!(std::io::stderr(), "{}: {second} of {} virtual seconds", self.name, self.seconds);
        }
    }
}
