//! Command lines of curl, of bash, Windows' cmd and PowerShell, as the requests that curl would send.
//!
//! ```text
//! text ─▶ dialect ─▶ bash | windows: commands of words ─▶ shell: variables, pipes, loops ─▶ arguments ─▶ options: operations
//!                                                                                        ─▶ request: exchanges
//! ```

mod ansi;
mod bash;
mod braces;
mod capture;
mod command;
mod cookies;
mod date;
mod echo;
mod expansion;
mod filter;
mod form;
mod glob;
mod headers;
mod http_date;
mod option_table;
mod options;
mod parameter;
mod prompts;
mod request;
mod session;
mod shell;
mod substitution;
mod url_parts;
mod windows;
mod words;

use crate::{Cookies, Group, Import, ImportError, Input, Kind, Step};

pub(crate) fn import(input: &Input<'_>) -> Result<Import, ImportError> {
    let commands = words::commands(input)?;
    let mut import =
        Import { inputs: vec![(input.name.to_owned(), Kind::Curl)], ..Import::default() };
    let mut exchanges = shell::run(input, commands, &mut import);
    // Where there is one request alone, nothing is to be kept from it.
    if let [one] = exchanges.as_mut_slice()
        && one.cookies == Cookies::Forgotten
    {
        one.cookies = Cookies::Session;
    }
    let steps = exchanges.into_iter().map(|one| Step::Exchange(Box::new(one))).collect();
    import.groups.push(Group { name: String::new(), steps });
    Ok(import)
}

#[cfg(test)]
mod tests;
