//! Archives (POSIX ustar) of plain files, as `archive` writes and `run` reads them.

/// Bytes of a block.
const BLOCK: usize = 512;
/// Where the magic word stands in a head.
const MAGIC: std::ops::Range<usize> = 257..262;

/// Whether bytes begin as an archive does.
pub(super) fn is_one(bytes: &[u8]) -> bool {
    bytes.get(MAGIC).is_some_and(|magic| magic == b"ustar")
}

/// The plain files of an archive.
///
/// # Errors
/// The bytes are not an archive, or are cut off.
pub(super) fn read(bytes: &[u8]) -> Result<Vec<(String, Vec<u8>)>, String> {
    if !is_one(bytes) {
        return Err("it is no tar archive".to_owned());
    }
    let (mut files, mut rest, mut long) = (Vec::new(), bytes, None);
    while let Some((head, after)) = rest.split_at_checked(BLOCK) {
        if head.iter().all(|byte| *byte == 0) {
            break;
        }
        let len = octal(&head[124..136]).ok_or("a length in the archive is wrong")?;
        let content = after.get(..len).ok_or("the archive is cut off")?;
        rest = after.get(len.next_multiple_of(BLOCK)..).unwrap_or_default();
        match head[156] {
            0 | b'0' => files.push((long.take().unwrap_or_else(|| name(head)), content.to_vec())),
            b'x' => long = path_of(content),
            b'L' => long = Some(text(content)),
            _ => {}
        }
    }
    // An archive is whole blocks.
    if rest.len() < BLOCK && !rest.is_empty() {
        return Err("the archive is cut off".to_owned());
    }
    Ok(files)
}

/// The name in a head, its prefix before it.
fn name(head: &[u8]) -> String {
    let (prefix, name) = (text(&head[345..500]), text(&head[..100]));
    if prefix.is_empty() { name } else { format!("{prefix}/{name}") }
}

/// Bytes up to the first 0.
fn text(bytes: &[u8]) -> String {
    let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    String::from_utf8_lossy(&bytes[..end]).into_owned()
}

/// The path in the records of an extended head: `LEN path=NAME\n`.
fn path_of(content: &[u8]) -> Option<String> {
    let content = String::from_utf8_lossy(content);
    let path = |line: &str| Some(line.split_once(" path=")?.1.to_owned());
    content.lines().find_map(path)
}

fn octal(digits: &[u8]) -> Option<usize> {
    usize::from_str_radix(text(digits).trim(), 8).ok()
}

/// An archive of these files.
pub(super) fn written(files: &[(String, Vec<u8>)]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (name, content) in files {
        if name.len() > 100 {
            let record = record(name);
            push(&mut bytes, "PaxHeaders/path", b'x', record.as_bytes());
        }
        push(&mut bytes, name, b'0', content);
    }
    bytes.resize(bytes.len() + 2 * BLOCK, 0);
    bytes
}

/// `LEN path=NAME\n`, where LEN counts itself.
fn record(name: &str) -> String {
    let bare = name.len() + " path=\n".len();
    let digits = (1..).find(|digits| (bare + digits).to_string().len() == *digits).unwrap_or(3);
    format!("{} path={name}\n", bare + digits)
}

fn push(bytes: &mut Vec<u8>, name: &str, kind: u8, content: &[u8]) {
    let mut head = [0; BLOCK];
    let mut set = |at: usize, text: &[u8]| head[at..at + text.len()].copy_from_slice(text);
    set(0, &name.as_bytes()[..name.len().min(100)]);
    set(100, b"0000644\0");
    set(108, b"0000000\0");
    set(116, b"0000000\0");
    set(124, format!("{:011o}\0", content.len()).as_bytes());
    set(136, b"00000000000\0");
    set(148, b"        ");
    set(156, &[kind]);
    set(MAGIC.start, b"ustar\x0000");
    let sum: u32 = head.iter().map(|byte| u32::from(*byte)).sum();
    head[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    bytes.extend_from_slice(&head);
    bytes.extend_from_slice(content);
    bytes.resize(bytes.len().next_multiple_of(BLOCK), 0);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let long = format!("file/{}", "long/".repeat(60));
        let files = vec![
            ("metadata.json".to_owned(), b"{}".to_vec()),
            (long, vec![7; 1500]),
            ("empty".to_owned(), Vec::new()),
        ];
        let bytes = written(&files);
        assert!(bytes.len().is_multiple_of(BLOCK) && is_one(&bytes));
        assert_eq!(read(&bytes), Ok(files));
        assert!(read(&bytes[..bytes.len() / 4]).is_err() && read(b"no").is_err());
    }
}
