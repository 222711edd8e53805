//! Progress: a bar on a terminal, nothing elsewhere.

use indicatif::{ProgressBar, ProgressStyle};

/// A bar of `steps` steps.
pub fn bar(steps: usize, what: &'static str) -> ProgressBar {
    let bar = ProgressBar::new(steps as u64);
    let style = ProgressStyle::with_template("{prefix:>10} {wide_bar} {pos}/{len} {msg} {elapsed}");
    bar.set_style(style.expect("the template is constant"));
    bar.set_prefix(what);
    bar
}
