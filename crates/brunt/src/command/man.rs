//! `man`: the manual page in roff, from the tables.

use cli::{
    CommandError, CommandSpec, ExitCode, NO_FLAGS, Output, Registry, Row, global, usage_error,
};

use crate::dialect::Invocation;

/// Prints the man page.
pub(super) fn run(invocation: &Invocation, registry: &Registry) -> Result<ExitCode, CommandError> {
    if let Some(extra) = invocation.parse(NO_FLAGS)?.operands.first() {
        return Err(usage_error(format!("unexpected \"{extra}\"")));
    }
    Output::Stdout.write(page(registry).as_bytes())?;
    Ok(ExitCode::Ok)
}

/// The whole page.
fn page(registry: &Registry) -> String {
    let version = env!("CARGO_PKG_VERSION");
    let mut text = format!(
        ".TH BRUNT 1 \"\" \"brunt {version}\" \"User Commands\"\n.SH NAME\nbrunt \\- an honest load tester\n\
         .SH SYNOPSIS\n.B brunt\n[\\fB\\-cpus\\fR N] \\fICOMMAND\\fR [flags]\n"
    );
    for tool in registry.tools {
        text.push_str(&format!(".br\n.B brunt {}\n\\fIARGUMENTS\\fR\n", tool.name));
    }
    text.push_str(".SH GLOBAL FLAGS\n");
    for row in global::FLAGS.iter().map(|flag| flag.row).filter(|row| row.name != "profile") {
        push_row(&mut text, row);
    }
    text.push_str(".SH COMMANDS\n");
    for command in registry.commands {
        push_command(&mut text, command);
    }
    text.push_str(".SH EXIT STATUS\n");
    for (code, meaning) in ExitCode::MEANINGS {
        let (code, meaning) = (code as u8, escape(meaning));
        text.push_str(&format!(".TP\n.B {code}\n{meaning}\n"));
    }
    text
}

fn push_command(text: &mut String, command: &CommandSpec) {
    let operands = escape(command.operands);
    text.push_str(&format!(".SS \"{} {operands}\"\n{}\n", command.name, escape(command.summary)));
    if !command.about.is_empty() {
        text.push_str(&format!(".PP\n.nf\n{}\n.fi\n", escape(command.about)));
    }
    for row in command.native_rows() {
        push_row(text, row);
    }
    for (line, purpose) in command.examples {
        text.push_str(&format!(
            ".PP\n{}:\n.PP\n.nf\n.RS\n{}\n.RE\n.fi\n",
            escape(purpose),
            escape(line)
        ));
    }
}

fn push_row(text: &mut String, row: Row) {
    let name = escape(row.name);
    let value = escape(&row.kind.help_text());
    text.push_str(&format!(".TP\n\\fB\\-{name}\\fR \\fI{value}\\fR\n{}", escape(row.docs)));
    if !row.default.is_empty() {
        text.push_str(&format!(" Default: {}.", escape(row.default)));
    }
    text.push('\n');
}

/// Text for roff: hyphens stay hyphens, and no line begins a request.
fn escape(text: &str) -> String {
    let escaped = text.replace('\\', "\\e").replace('-', "\\-");
    let lines = escaped.lines().map(|line| {
        if line.starts_with(['.', '\'']) { format!("\\&{line}") } else { line.to_owned() }
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::REGISTRY;

    #[test]
    fn every_flag_is_on_the_page() {
        let page = page(&REGISTRY);
        for row in REGISTRY.commands.iter().flat_map(CommandSpec::native_rows) {
            assert!(page.contains(&format!("\\fB\\-{}\\fR", escape(row.name))), "-{}", row.name);
        }
    }

    #[test]
    fn text_is_no_request() {
        assert_eq!(escape(".x\n'y a-b \\"), "\\&.x\n\\&'y a\\-b \\e");
    }
}
