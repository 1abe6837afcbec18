//! `Ansi`: draws cells on standard error by the sequences of ECMA-48, which every terminal has. Without colours where `NO_COLOR` is
//! set.

use std::fmt::Write as _;
use std::io::{self, Write as _};

use cli::terminal;
use ratatui_core::backend::{Backend, ClearType, WindowSize};
use ratatui_core::buffer::Cell;
use ratatui_core::layout::{Position, Size};
use ratatui_core::style::{Color, Modifier};

/// A terminal that does not say how large it is.
const SIZE: (u16, u16) = (80, 24);

/// Draws on standard error.
#[derive(Debug, Default)]
pub(super) struct Ansi {
    pub(super) is_plain: bool,
    out: String,
}

impl Ansi {
    pub(super) fn new(is_plain: bool) -> Self {
        Self { is_plain, out: String::new() }
    }

    fn style(&mut self, cell: &Cell) {
        self.out.push_str("\x1b[0");
        for (modifier, code) in [(Modifier::BOLD, 1), (Modifier::DIM, 2), (Modifier::REVERSED, 7)] {
            if cell.modifier.contains(modifier) {
                write!(self.out, ";{code}").expect("a String takes all");
            }
        }
        if let Some(code) = foreground(cell.fg).filter(|_| !self.is_plain) {
            write!(self.out, ";{code}").expect("a String takes all");
        }
        self.out.push('m');
    }
}

/// SGR codes of the colours that the view has.
fn foreground(colour: Color) -> Option<u8> {
    Some(match colour {
        Color::Red => 31,
        Color::Green => 32,
        Color::Yellow => 33,
        Color::Blue => 34,
        Color::Magenta => 35,
        Color::Cyan => 36,
        Color::DarkGray => 90,
        _ => return None,
    })
}

impl Backend for Ansi {
    type Error = io::Error;

    fn draw<'a, I: Iterator<Item = (u16, u16, &'a Cell)>>(&mut self, content: I) -> io::Result<()> {
        let mut after: Option<(u16, u16)> = None;
        let mut style = None;
        for (x, y, cell) in content {
            if after != Some((x, y)) {
                write!(self.out, "\x1b[{};{}H", y + 1, x + 1).expect("a String takes all");
            }
            if style != Some((cell.fg, cell.modifier)) {
                self.style(cell);
                style = Some((cell.fg, cell.modifier));
            }
            self.out.push_str(cell.symbol());
            // Wide letters move the cursor further than a cell.
            after = cell.symbol().is_ascii().then(|| (x + 1, y));
        }
        self.out.push_str("\x1b[0m");
        Ok(())
    }

    fn hide_cursor(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn show_cursor(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn get_cursor_position(&mut self) -> io::Result<Position> {
        Ok(Position::ORIGIN)
    }

    fn set_cursor_position<P: Into<Position>>(&mut self, _: P) -> io::Result<()> {
        Ok(())
    }

    fn clear(&mut self) -> io::Result<()> {
        self.out.push_str("\x1b[2J");
        Ok(())
    }

    fn clear_region(&mut self, _: ClearType) -> io::Result<()> {
        self.clear()
    }

    fn size(&self) -> io::Result<Size> {
        let (width, height) = terminal::size(&io::stderr()).unwrap_or(SIZE);
        Ok(Size { width, height })
    }

    fn window_size(&mut self) -> io::Result<WindowSize> {
        Ok(WindowSize { columns_rows: self.size()?, pixels: Size::ZERO })
    }

    fn flush(&mut self) -> io::Result<()> {
        let out = std::mem::take(&mut self.out);
        let mut stderr = io::stderr().lock();
        stderr.write_all(out.as_bytes())?;
        stderr.flush()
    }
}
