//! The progress bar, and Ctrl-C.

use std::sync::atomic::{AtomicBool, Ordering};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::exit::Exit;
use super::show::{plain, say};
use crate::report::{Progress, Step};

/// Set by the first Ctrl-C.
static CANCELLED: AtomicBool = AtomicBool::new(false);

/// A texel of the second pass costs about this many texels of the first, which only measures: one bar runs through both.
const TEXELS_WEIGHT: u64 = 3;

/// Makes Ctrl-C end the bake between two pieces of work; a second one ends the program at once.
pub fn watch_interrupts() {
    let handler = || {
        if CANCELLED.swap(true, Ordering::SeqCst) {
            std::process::exit(i32::from(Exit::Failed.code()));
        }
        say("\nstopping; press Ctrl-C again to stop at once");
    };
    if let Err(error) = ctrlc::set_handler(handler) {
        log::warn!("Ctrl-C ends the program at once: {error}");
    }
}

/// Shows a bake on the terminal that standard error is, and nothing elsewhere.
pub struct Bar {
    bar: ProgressBar,
    /// Units of the bar for one unit of the step.
    weight: u64,
}

impl Bar {
    /// A bar that shows `title`; a hidden one answers Ctrl-C only.
    pub fn new(title: String, hidden: bool) -> Self {
        let target = if hidden { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
        let bar = ProgressBar::with_draw_target(None, target).with_prefix(plain(&title));
        bar.set_style(style("{spinner} {prefix}: {msg}"));
        Self { bar, weight: 1 }
    }
}

impl Progress for Bar {
    fn begin(&mut self, step: Step, total: u64) {
        self.bar.set_message(label(step));
        match step {
            Step::Bounds if total > 0 => {
                self.bar.set_style(style("{prefix}: {msg} {wide_bar} {percent}% {eta} left"));
                self.bar.reset();
                self.bar.set_length(total.saturating_mul(1 + TEXELS_WEIGHT));
                self.weight = 1;
            }
            Step::Texels if total > 0 => {
                self.bar.set_length(total.saturating_mul(1 + TEXELS_WEIGHT));
                self.bar.set_position(total);
                self.weight = TEXELS_WEIGHT;
            }
            _ => self.weight = 0,
        }
        self.bar.tick();
    }

    fn advance(&mut self, done: u64) {
        self.bar.inc(done.saturating_mul(self.weight));
    }

    fn is_cancelled(&self) -> bool {
        CANCELLED.load(Ordering::SeqCst)
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

fn label(step: Step) -> &'static str {
    match step {
        Step::Read => "reading",
        Step::Plan => "planning",
        Step::Start => "starting the device",
        Step::Bounds => "measuring",
        Step::Texels => "baking",
        Step::Write => "finishing",
    }
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_bar_runs_through_both_passes() {
        let mut bar = Bar::new("fox".into(), true);
        bar.begin(Step::Read, 0);
        bar.advance(5);
        bar.begin(Step::Bounds, 100);
        assert_eq!(bar.bar.position(), 0);
        bar.advance(100);
        assert_eq!((bar.bar.position(), bar.bar.length()), (100, Some(400)));
        bar.begin(Step::Texels, 100);
        bar.advance(50);
        assert_eq!(bar.bar.position(), 250);
        bar.advance(50);
        bar.begin(Step::Write, 0);
        assert_eq!((bar.bar.position(), bar.bar.length()), (400, Some(400)));
    }

    #[test]
    fn templates_are_valid() {
        for template in ["{spinner} {prefix}: {msg}", "{prefix}: {msg} {wide_bar} {percent}% {eta} left"] {
            assert!(ProgressStyle::with_template(template).is_ok(), "{template}");
        }
    }
}
