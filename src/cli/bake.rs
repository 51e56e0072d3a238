//! `vatbake bake`: one model after the other, then what there is to say.

use std::path::PathBuf;

use super::args::BakeArgs;
use super::config::{Config, resolve_bake};
use super::exit::Exit;
use super::json::{Answer, answers_text};
use super::progress::{Bar, watch_interrupts};
use super::show::{Paint, bytes, many, print, print_beside, say, table, thousands};
use super::summary::{closing_line, engine_line, error_line, findings, timings};
use crate::report::Report;
use crate::warning::Level;
use crate::{Error, Result};

/// What came of one model.
struct Outcome {
    source: PathBuf,
    result: Result<Report>,
}

impl Outcome {
    fn exit(&self) -> Exit {
        self.result.as_ref().map_or_else(Exit::of, |_| Exit::Done)
    }
}

/// Bakes what the flags name.
///
/// # Errors
/// [`Error::Usage`] where the flags make no sense, before anything runs. What happens to a model is shown, and in the exit code.
pub fn run(args: BakeArgs) -> Result<Exit> {
    let mut config = resolve_bake(args)?;
    watch_interrupts();
    let unsearched = std::mem::take(&mut config.failed).into_iter().map(|(source, error)| Outcome { source, result: Err(error) });
    let mut outcomes: Vec<Outcome> = unsearched.collect();
    let asked = outcomes.len() + config.requests.len();
    for outcome in &outcomes {
        show_outcome(outcome, &config)?;
    }
    for (i, request) in config.requests.iter().enumerate() {
        let source = request.input.path();
        let count = if config.several { format!("[{}/{}] ", i + 1, config.requests.len()) } else { String::new() };
        let mut bar = Bar::new(format!("{count}{}", request.input.stem()), config.quiet);
        let result = crate::bake(request, &mut bar);
        drop(bar);
        let outcome = Outcome { source, result };
        show_outcome(&outcome, &config)?;
        let stop = matches!(outcome.result, Err(Error::Interrupted));
        outcomes.push(outcome);
        if stop {
            break;
        }
    }
    close(&outcomes, asked, &config)?;
    match &outcomes[..] {
        [outcome] if !config.several => Ok(outcome.exit()),
        _ => Ok(Exit::of_several(outcomes.iter().map(Outcome::exit))),
    }
}

/// What is said about a model when it is done: the error, or warnings, the closing line and timings.
fn show_outcome(outcome: &Outcome, config: &Config) -> Result<()> {
    let about = config.several.then(|| outcome.source.display().to_string());
    let about = about.as_deref();
    let report = match &outcome.result {
        Ok(report) => report,
        Err(error) => {
            say(&error_line(error, about, Paint::stderr()));
            return Ok(());
        }
    };
    if config.quiet {
        return Ok(());
    }
    // A batch has room for warnings only; its JSON has the notes too.
    let shown: Vec<_> = report.warnings.iter().filter(|w| !config.batch || w.level == Level::Warning).cloned().collect();
    for line in findings(&shown, about, Paint::stderr()) {
        say(&line);
    }
    // A batch has its table at the end.
    if !config.batch {
        print_beside(config.json, &closing_line(report))?;
    }
    if config.timings {
        let head = about.map_or(String::new(), |name| format!("{name}\n"));
        print_beside(config.json, &format!("{head}{}", timings(report)))?;
    }
    Ok(())
}

/// What is said at the end of the run: a batch's table, what engines do to 16-bit PNGs, the JSON.
fn close(outcomes: &[Outcome], asked: usize, config: &Config) -> Result<()> {
    if !config.quiet {
        if config.batch {
            print_beside(config.json, &batch_table(outcomes, asked))?;
        }
        if let Some(line) = engine_line(outcomes.iter().filter_map(|o| o.result.as_ref().ok())) {
            print_beside(config.json, &line)?;
        }
    }
    if config.json {
        let answers: Vec<_> = outcomes.iter().map(|o| Answer::new(&o.result, &o.source)).collect();
        print(&answers_text(&answers, config.several))?;
    }
    Ok(())
}

/// One line a model, then the sums. `asked` is how many there were, done or not.
fn batch_table(outcomes: &[Outcome], asked: usize) -> String {
    let row = |outcome: &Outcome| {
        let source = outcome.source.display().to_string();
        let report = match &outcome.result {
            Ok(report) => report,
            Err(error) => {
                let word = if matches!(error, Error::Strict(_)) { "warnings" } else { "failed" };
                return vec![source, word.into()];
            }
        };
        let warnings = report.warnings.iter().filter(|w| w.level == Level::Warning).count();
        vec![
            source,
            "done".into(),
            thousands(report.clips.len() as u64),
            thousands(report.frame_count as u64),
            thousands(report.vertex_count as u64),
            format!("{} x {}", report.size[0], report.size[1]),
            bytes(report.textures.iter().map(|t| t.gpu_bytes).sum()),
            thousands(warnings as u64),
        ]
    };
    let rows: Vec<_> = outcomes.iter().map(row).collect();
    let done = outcomes.iter().filter(|o| o.result.is_ok()).count();
    let left = asked.saturating_sub(outcomes.len());
    let mut sums = vec![format!("{} done", many(done, "model", "models")), format!("{} failed", outcomes.len() - done)];
    if left > 0 {
        sums.push(format!("{left} not begun"));
    }
    let head = ["model", "result", ">clips", ">frames", ">vertices", ">texels", ">on the GPU", ">warnings"];
    format!("{}\n{}", table(&head, &rows), sums.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_counts_what_was_done() {
        let failed = |source: &str, error| Outcome { source: source.into(), result: Err(error) };
        let outcomes = [failed("a.glb", Error::Bake("too wide".into())), failed("long/name.glb", Error::Strict(Vec::new()))];
        let text = batch_table(&outcomes, 3);
        let lines: Vec<_> = text.lines().collect();
        assert!(lines[1].starts_with("a.glb          failed") && lines[2].starts_with("long/name.glb  warnings"), "{text}");
        assert_eq!(lines[3], "0 models done, 2 failed, 1 not begun");
    }
}
