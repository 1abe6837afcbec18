//! The view: a state as widgets. What a small terminal has no room for is left out, the tables first.

use metrics::Histogram;
use ratatui_core::layout::{Constraint, Layout, Rect};
use ratatui_core::style::{Color, Style, Stylize as _};
use ratatui_core::terminal::Frame;
use ratatui_core::text::{Line, Span as Text};
use ratatui_widgets::block::Block;
use ratatui_widgets::paragraph::{Paragraph, Wrap};
use ratatui_widgets::sparkline::Sparkline;
use ratatui_widgets::table::{Row, Table};
use stdx::{Nanos, counted};

use super::state::{Sort, Span, State};

/// Rows of the chart of response times at most.
const BARS_MAX: usize = 24;
/// Targets and texts of errors that are drawn at most.
const ROWS_MAX: usize = 200;

/// Draws all of it.
pub(super) fn draw(frame: &mut Frame<'_>, state: &State) {
    let rows = [
        Constraint::Length(2),
        Constraint::Length(6),
        Constraint::Min(7),
        Constraint::Percentage(40),
        Constraint::Length(1),
    ];
    let [head, rate, times, tables, foot] = Layout::vertical(rows).areas(frame.area());
    frame.render_widget(Paragraph::new(head_lines(state)), head);
    draw_rate(frame, rate, state);
    let halves = [Constraint::Percentage(60), Constraint::Percentage(40)];
    let [bars, figures] = Layout::horizontal(halves).areas(times);
    draw_times(frame, bars, state);
    draw_figures(frame, figures, state);
    let [targets, errors] = Layout::horizontal(halves).areas(tables);
    draw_targets(frame, targets, state);
    draw_errors(frame, errors, state);
    let keys = match state.shows_keys {
        true => " q stop (twice: at once)   p whole run or last second   s sort targets   ? close",
        false => " q stop   ? keys",
    };
    frame.render_widget(Paragraph::new(keys).style(Style::new().dim()), foot);
}

/// The run, how far it is, and whether it can be believed.
fn head_lines(state: &State) -> Vec<Line<'static>> {
    let elapsed = tenths(state.elapsed);
    let far = match state.duration {
        Some(duration) => {
            let share = state.elapsed.as_secs_f64() / duration.as_secs_f64().max(1e-9) * 100.0;
            format!("{elapsed} of {duration} ({:.0} %)", share.min(100.0))
        }
        None => elapsed.to_string(),
    };
    let name = if state.name.is_empty() { "brunt" } else { state.name.as_str() };
    let ending = if state.is_ending { ", ending: waiting for what is under way" } else { "" };
    let verdict = state.verdict();
    let words = verdict.to_string();
    let verdict = if verdict.is_valid() { words.green() } else { words.red() };
    vec![
        Line::from(vec![format!(" {name}").bold(), format!("   {far}{ending}").into()]),
        Line::from(vec![Text::raw(" "), verdict]),
    ]
}

fn tenths(time: Nanos) -> Nanos {
    Nanos(time.0 / 100_000_000 * 100_000_000)
}

fn draw_rate(frame: &mut Frame<'_>, area: Rect, state: &State) {
    let last = state.seconds.back().copied().unwrap_or_default();
    let due = if last.due > 0.0 { format!(", due {:.0}/s", last.due) } else { String::new() };
    let title = format!(" answered {:.0}/s{due}, failed {:.0}/s ", last.ended, last.failed);
    let block = Block::bordered().title(title);
    let width = usize::from(area.width.saturating_sub(2));
    let skipped = state.seconds.len().saturating_sub(width);
    let bars: Vec<u64> = state.seconds.iter().skip(skipped).map(|one| one.ended as u64).collect();
    let colour = if last.failed > 0.0 { Color::Yellow } else { Color::Cyan };
    frame.render_widget(Sparkline::default().data(bars).style(colour).block(block), area);
}

/// Response times by size: a bar for each class, as long as its share.
fn draw_times(frame: &mut Frame<'_>, area: Rect, state: &State) {
    let of = match state.span {
        Span::Run => "whole run",
        Span::LastSecond => "last second",
    };
    let block = Block::bordered().title(format!(" response times, {of} "));
    let inner = block.inner(area);
    frame.render_widget(block, area);
    let classes = classes(state.response(), usize::from(inner.height).min(BARS_MAX));
    let most = classes.iter().map(|(_, count)| *count).max().unwrap_or(0).max(1);
    let room = usize::from(inner.width).saturating_sub(24).max(1);
    let line = |(upper, count): &(Nanos, u64)| {
        let len = (*count as f64 / most as f64 * room as f64).round() as usize;
        let len = len.max(usize::from(*count > 0));
        let upper = format!("{:>10} ", shown(*upper));
        Line::from(vec![upper.dim(), "■".repeat(len).blue(), format!(" {count}").into()])
    };
    let lines: Vec<Line<'_>> = classes.iter().map(line).collect();
    frame.render_widget(Paragraph::new(lines), inner);
}

/// So many classes of equal ratio between the least value and the greatest: upper bound and count.
fn classes(times: &Histogram, rows: usize) -> Vec<(Nanos, u64)> {
    if times.count() == 0 || rows == 0 {
        return Vec::new();
    }
    let (least, most) = (times.min().0.max(1) as f64, times.max().0.max(1) as f64);
    let ratio = (most / least).powf(1.0 / rows as f64);
    let mut classes: Vec<(Nanos, u64)> =
        (1..=rows).map(|n| (Nanos((least * ratio.powi(n as i32)) as u64), 0)).collect();
    for (low, high, count) in times.buckets() {
        let middle = (low.0 as f64 + high.0 as f64) / 2.0;
        let at = (middle.max(least) / least).ln() / ratio.ln().max(1e-12);
        classes[(at as usize).min(rows - 1)].1 += count;
    }
    classes
}

fn shown(time: Nanos) -> String {
    // Three digits are enough to see.
    let digits = time.0.max(1).ilog10().saturating_sub(2);
    let step = 10u64.pow(digits);
    Nanos(time.0 / step * step).to_string()
}

fn draw_figures(frame: &mut Frame<'_>, area: Rect, state: &State) {
    let (run, last) = (&state.total.response, &state.recent.response);
    let row = |name: &str, of: &dyn Fn(&Histogram) -> Nanos| {
        Row::new([name.to_owned(), shown(of(run)), shown(of(last))])
    };
    let quantile = |q: f64| move |of: &Histogram| of.quantile(q);
    let mut rows = vec![
        row("p50", &quantile(0.5)),
        row("p90", &quantile(0.9)),
        row("p95", &quantile(0.95)),
        row("p99", &quantile(0.99)),
        row("max", &|of| of.max()),
    ];
    let total = &state.total;
    let cpu = total.generator.cpu.as_secs_f64() / state.elapsed.as_secs_f64().max(1e-9);
    let counts = [
        ("requests", total.hits().to_string()),
        ("failed", (total.hits() - total.successes.min(total.hits())).to_string()),
        ("under way", total.in_flight.to_string()),
        ("our CPU", format!("{:.0} %", cpu * 100.0)),
    ];
    rows.extend(counts.into_iter().map(|(name, text)| Row::new([name.to_owned(), text])));
    let head = Row::new(["", "run", "last second"]).style(Style::new().dim());
    let widths = [Constraint::Length(10), Constraint::Length(11), Constraint::Min(11)];
    let table = Table::new(rows, widths).header(head).block(Block::bordered().title(" figures "));
    frame.render_widget(table, area);
}

fn draw_targets(frame: &mut Frame<'_>, area: Rect, state: &State) {
    let mut list: Vec<_> = state.groups.list().iter().collect();
    let failed = |group: &metrics::Group| group.hits - group.successes;
    list.sort_by_key(|(_, group)| {
        std::cmp::Reverse(match state.sort {
            Sort::Requests => group.hits,
            Sort::P99 => group.response.quantile(0.99).0,
            Sort::Failed => failed(group),
        })
    });
    // What the other columns, their gaps and the border leave.
    let room = usize::from(area.width).saturating_sub(41).max(16);
    let row = |(name, group): &&(String, metrics::Group)| {
        let at = |q| shown(group.response.quantile(q));
        Row::new([
            fitted(&printable(name), room),
            group.hits.to_string(),
            failed(group).to_string(),
            at(0.5),
            at(0.99),
        ])
    };
    let rows: Vec<Row<'_>> = list.iter().take(ROWS_MAX).map(row).collect();
    let widths = [
        Constraint::Min(16),
        Constraint::Length(9),
        Constraint::Length(8),
        Constraint::Length(9),
        Constraint::Length(9),
    ];
    let title = format!(" {}, by {} ", counted(list.len() as u64, "target"), state.sort.name());
    let head = Row::new(["target", "requests", "failed", "p50", "p99"]).style(Style::new().dim());
    let table = Table::new(rows, widths).header(head).block(Block::bordered().title(title));
    frame.render_widget(table, area);
}

fn draw_errors(frame: &mut Frame<'_>, area: Rect, state: &State) {
    let errors = state.summary.errors();
    let line = |(text, count): &(_, u64)| {
        let text: &dyn std::fmt::Display = text;
        Line::from(vec![format!("{count} ").red(), printable(&text.to_string()).into()])
    };
    let lines: Vec<Line<'_>> =
        errors.iter().take(ROWS_MAX).map(|(text, count)| line(&(text.clone(), *count))).collect();
    let title = if lines.is_empty() { " no errors " } else { " errors " };
    let lines = Paragraph::new(lines).wrap(Wrap { trim: false });
    frame.render_widget(lines.block(Block::bordered().title(title)), area);
}

/// A name that is too long, with its first word and its end: URLs differ there.
pub(super) fn fitted(name: &str, room: usize) -> String {
    let len = name.chars().count();
    if len <= room {
        return name.to_owned();
    }
    let first = name.split(' ').next().filter(|word| word.len() < room / 2).unwrap_or_default();
    let begin = if first.is_empty() { String::new() } else { format!("{first} ") };
    let tail = room.saturating_sub(begin.chars().count() + 1);
    let tail: String = name.chars().skip(len - tail).collect();
    format!("{begin}…{tail}")
}

/// A text from a server without what would move the cursor.
fn printable(text: &str) -> String {
    text.chars().map(|c| if stdx::steers(c) { ' ' } else { c }).collect()
}
