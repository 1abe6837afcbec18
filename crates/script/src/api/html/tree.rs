//! A page's tree, by html5ever's rules. It is bounded: its cost grows with the page's length, for hostile pages as well. It
//! knows nothing of JavaScript.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;

use super::attributes::AttributeCounter;
use dom_query::{Document, NodeId};
use html5ever::buffer_queue::BufferQueue;
use html5ever::interface::Tracer;
use html5ever::tendril::StrTendril;
use html5ever::tokenizer::{
    EndTag, StartTag, Tag, TagToken, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts,
};
use html5ever::tree_builder::{TreeBuilder, TreeBuilderOpts};
use html5ever::{LocalName, TokenizerResult};
use stdx::{MemoryShare, OutOfMemory};

/// The most open elements; formatting elements (`b`, `i`, …) count twice, as open and as active ones. Each start tag
/// searches all of them, so the bound limits its cost. Deeper elements become siblings, as in browsers (from 200 or 512 on).
const OPEN_MAX: usize = 256;
/// The most nodes of a page: 2 Mi, some 500 MB.
const NODES_MAX: usize = 1 << 21;
/// How many attributes may be compared with others: so many for each byte, and 256 Mi (1/10 s) in addition, which is those of
/// 23,000 attributes of one tag.
const COMPARISONS_PER_BYTE: usize = 64;
const COMPARISONS_MIN: usize = 1 << 28;
/// What a node takes, about: itself, its name, and its number.
const NODE_BYTES: usize = 300;
/// What an attribute takes, about, beside its text: its place in a list that doubles, and its name among all names.
const ATTRIBUTE_BYTES: usize = 128;
/// After so many bytes it is asked whether to go on.
const PIECE_BYTES: usize = 4 << 10;

/// Elements that nothing stands in.
const VOID: [&str; 13] = [
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track",
    "wbr",
];

/// Why a page has no tree.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum TreeError {
    /// It would have more nodes than [`NODES_MAX`].
    TooMany,
    /// Tags have so many attributes that comparing them takes long.
    TooManyAttributes,
    /// There is no memory for it.
    OutOfMemory,
    /// It was asked to stop.
    Stopped,
}

impl TreeError {
    /// The text of the exception.
    pub(super) fn message(&self) -> &'static str {
        match self {
            Self::TooMany => "the page has more than 2097152 nodes",
            Self::TooManyAttributes => "a tag of the page has too many attributes",
            Self::OutOfMemory => "no memory is left for the page (-memory-limit)",
            Self::Stopped => "the script is to end",
        }
    }
}

impl From<OutOfMemory> for TreeError {
    fn from(_: OutOfMemory) -> Self {
        Self::OutOfMemory
    }
}

/// Parses a page, whose share of memory grows with it; `stops` is asked now and then whether to give up.
pub(super) fn parsed(
    text: &str,
    memory: &mut MemoryShare,
    stops: &dyn Fn() -> bool,
) -> Result<Document, TreeError> {
    let options = TreeBuilderOpts { scripting_enabled: false, ..TreeBuilderOpts::default() };
    let builder = TreeBuilder::new(Document::default(), options);
    let tokenizer = Tokenizer::new(Shallow::new(builder), TokenizerOpts::default());
    let queue = BufferQueue::default();
    let sink = &tokenizer.sink;
    let mut cost = Cost::default();
    let (mut rest, mut looked) = (text, 0);
    while !rest.is_empty() {
        let read = text.len() - rest.len();
        // A byte may become dozens of nodes.
        if read + sink.nodes() >= looked {
            looked = read + sink.nodes() + PIECE_BYTES;
            if stops() {
                return Err(TreeError::Stopped);
            }
            memory.resize(cost.bytes(read, sink.nodes()))?;
        }
        let piece = first_piece(rest);
        rest = &rest[piece.len()..];
        cost.add(piece, !sink.has_token.take());
        if cost.comparisons > COMPARISONS_MIN + read * COMPARISONS_PER_BYTE {
            return Err(TreeError::TooManyAttributes);
        }
        queue.push_back(StrTendril::from_slice(piece));
        // It stops at the end of each script as well.
        while !matches!(tokenizer.feed(&queue), TokenizerResult::Done) {}
        if sink.nodes() > NODES_MAX {
            return Err(TreeError::TooMany);
        }
        // One for each error, which may be a byte. They are not read.
        sink.builder.sink.errors.borrow_mut().clear();
    }
    tokenizer.end();
    memory.resize(cost.bytes(text.len(), tokenizer.sink.nodes()))?;
    Ok(tokenizer.sink.builder.sink)
}

/// What of a text is read at once: up to the next `<`, so that at most one tag begins in it, and that at its start.
fn first_piece(text: &str) -> &str {
    let piece = &text[..text.floor_char_boundary(PIECE_BYTES)];
    let next = piece.bytes().skip(1).position(|byte| byte == b'<');
    next.map_or(piece, |at| &piece[..at + 1])
}

/// What the attributes of a page cost.
#[derive(Default)]
struct Cost {
    attributes: usize,
    comparisons: usize,
    /// Those of the tag that is not at its end.
    counter: AttributeCounter,
}

impl Cost {
    /// What a page takes of which so much is read, and that has so many nodes.
    fn bytes(&self, read: usize, nodes: usize) -> usize {
        2 * read + nodes * NODE_BYTES + self.attributes * ATTRIBUTE_BYTES
    }

    /// Adds that of a piece, which may go on with what the one before it left open.
    fn add(&mut self, piece: &str, goes_on: bool) {
        if !goes_on {
            self.counter = AttributeCounter::default();
        }
        let before = self.counter.count();
        self.counter.read(piece);
        let count = self.counter.count();
        self.attributes += count - before;
        self.comparisons += (count - before) * (count + before) / 2;
    }
}

/// Hands tokens on to the tree's builder, and closes elements at once that would stand too deep.
struct Shallow {
    builder: TreeBuilder<NodeId, Document>,
    /// How many elements were open when they were last counted, and how many nodes there were then.
    counted: Cell<(usize, usize)>,
    deeper: RefCell<Deeper>,
    /// A token came since it was cleared: what was begun before is at its end.
    has_token: Cell<bool>,
}

/// The elements that the page has open beyond [`OPEN_MAX`], from the outermost on. The builder has the innermost at most.
#[derive(Default)]
struct Deeper {
    names: Vec<LocalName>,
    counts: HashMap<LocalName, usize>,
    /// The one that the builder has open.
    open: Option<LocalName>,
}

impl Deeper {
    fn push(&mut self, name: LocalName) {
        *self.counts.entry(name.clone()).or_default() += 1;
        self.open = Some(name.clone());
        self.names.push(name);
    }

    fn has(&self, name: &LocalName) -> bool {
        self.counts.get(name).is_some_and(|count| *count > 0)
    }

    /// Closes the innermost one of this name, with all in it.
    fn close(&mut self, name: &LocalName) {
        while let Some(last) = self.names.pop() {
            if let Some(count) = self.counts.get_mut(&last) {
                *count -= 1;
            }
            if last == *name {
                break;
            }
        }
    }
}

/// Counts the elements that a builder holds.
struct Counter(Cell<usize>);

impl Tracer for Counter {
    type Handle = NodeId;

    fn trace_handle(&self, _node: &NodeId) {
        self.0.set(self.0.get() + 1);
    }
}

impl Shallow {
    fn new(builder: TreeBuilder<NodeId, Document>) -> Self {
        Self {
            builder,
            counted: Cell::new((0, 0)),
            deeper: RefCell::default(),
            has_token: Cell::default(),
        }
    }

    fn nodes(&self) -> usize {
        self.builder.sink.tree.len()
    }

    /// How many elements are open.
    fn open(&self) -> usize {
        let counter = Counter(Cell::new(0));
        self.builder.trace_handles(&counter);
        let open = counter.0.get();
        self.counted.set((open, self.nodes()));
        open
    }

    /// Whether so many elements are open that no more may be. They are counted only where enough were made since the last time:
    /// what is open was made, and counts twice at most.
    fn is_full(&self) -> bool {
        let (open, nodes) = self.counted.get();
        open + 2 * (self.nodes() - nodes) >= OPEN_MAX && self.open() >= OPEN_MAX
    }

    fn is_deep(&self) -> bool {
        !self.deeper.borrow().names.is_empty()
    }

    /// A start tag where no more may be open: what it opens is closed before the next element opens.
    fn handle_deep_start(&self, tag: Tag, line: u64) -> TokenSinkResult<NodeId> {
        if VOID.contains(&&*tag.name) {
            return self.builder.process_token(TagToken(tag), line);
        }
        self.close_innermost(line);
        let (name, before) = (tag.name.clone(), self.open());
        let result = self.builder.process_token(TagToken(tag), line);
        // A script's or a title's text follows, and nothing can be nested in that.
        if matches!(result, TokenSinkResult::Continue) && self.open() > before {
            self.deeper.borrow_mut().push(name);
        }
        result
    }

    /// An end tag while the page has elements open that the builder has not.
    fn handle_deep_end(&self, tag: Tag, line: u64) -> TokenSinkResult<NodeId> {
        if self.deeper.borrow().has(&tag.name) {
            self.close_innermost(line);
            self.deeper.borrow_mut().close(&tag.name);
            return TokenSinkResult::Continue;
        }
        let result = self.builder.process_token(TagToken(tag), line);
        if self.open() < OPEN_MAX {
            self.deeper.take();
        }
        result
    }

    /// Closes the one element of those too deep that the builder has open.
    fn close_innermost(&self, line: u64) {
        let Some(name) = self.deeper.borrow_mut().open.take() else { return };
        let end = Tag {
            kind: EndTag,
            name,
            self_closing: false,
            attrs: Vec::new(),
            had_duplicate_attributes: false,
        };
        // An end tag changes nothing of how the text after it is read.
        let _: TokenSinkResult<NodeId> = self.builder.process_token(TagToken(end), line);
    }
}

impl TokenSink for Shallow {
    type Handle = NodeId;

    fn process_token(&self, token: Token, line: u64) -> TokenSinkResult<NodeId> {
        if matches!(token, Token::ParseError(_)) {
            return TokenSinkResult::Continue;
        }
        self.has_token.set(true);
        match token {
            TagToken(tag) if tag.kind == StartTag && self.is_full() => {
                self.handle_deep_start(tag, line)
            }
            TagToken(tag) if tag.kind == EndTag && self.is_deep() => {
                self.handle_deep_end(tag, line)
            }
            token => self.builder.process_token(token, line),
        }
    }

    fn end(&self) {
        self.builder.end();
    }

    fn adjusted_current_node_present_but_not_in_html_namespace(&self) -> bool {
        self.builder.adjusted_current_node_present_but_not_in_html_namespace()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    fn tree(text: &str) -> Document {
        parse(text).expect("it has a tree")
    }

    fn parse(text: &str) -> Result<Document, TreeError> {
        parsed(text, &mut MemoryShare::default(), &|| false)
    }

    fn depth(page: &Document) -> usize {
        let root = page.root();
        let nodes = root.descendants_it();
        nodes.map(|node| node.ancestors_it(None).count()).max().unwrap_or_default()
    }

    /// Pages as people write them, cut into pieces in the middle of everything, are as html5ever has them.
    #[test]
    fn ordinary_pages_are_parsed_as_ever() {
        let item = "<li class=é>one &amp; <b>two<i>three</b>four</i><p>five<p>six<table><tr><td>seven</table>\
            <script>if (a < b) '</div>'</script><svg><path d='M0'/><g><circle/></g></svg><br/><textarea>\n<b></textarea>";
        let nested = "<div><p>".repeat(60) + "deep" + &"</div>".repeat(60);
        for page in [
            format!("<!doctype html><title>T</title><ul>{}</ul>tail", item.repeat(200)),
            format!("{nested}<span>after</span>"),
            "plain".to_owned(),
            String::new(),
        ] {
            let page = page.as_str();
            assert_eq!(tree(page).html(), Document::from(page).html());
        }
    }

    #[test]
    fn what_is_nested_too_deep_becomes_siblings() {
        let page = "<div>".repeat(1000)
            + "<b>x<br>y</b><script>1<2</script>"
            + &"</div>".repeat(1000)
            + "<p id=after>y";
        let page = tree(&page);
        assert_eq!(page.select("div").length(), 1000);
        assert_eq!(page.select("div b br").length(), 1);
        assert_eq!(&*page.select("div b").text(), "xy");
        assert_eq!(&*page.select("script").text(), "1<2");
        assert_eq!(&*page.select("body > #after").text(), "y", "all of them are closed");
        assert!((OPEN_MAX - 8..=OPEN_MAX + 8).contains(&depth(&page)), "{}", depth(&page));
    }

    /// Twice as much takes twice as long, not four times; what was quadratic took seconds.
    #[expect(clippy::disallowed_methods, reason = "it measures how long parsing takes")]
    #[test]
    fn no_page_takes_longer_than_its_length() {
        for part in [
            "<div>",
            "<b>",
            "<p><b>",
            "<table><tr><td>",
            "<svg>",
            "<b x=1><p>",
            "</p><a>",
            "<div></x>",
        ] {
            let page = part.repeat(40_000);
            let began = Instant::now();
            let page = tree(&page);
            let text = page.root().text();
            assert!(text.is_empty());
            let took = began.elapsed();
            assert!(took.as_secs() < 5, "{part}: {took:?}");
        }
    }

    #[test]
    fn it_gives_up_when_it_is_asked_to_or_there_are_too_many() {
        let asked = Cell::new(0);
        let stops = || {
            asked.set(asked.get() + 1);
            asked.get() == 3
        };
        let page = "<p>".repeat(10_000);
        let stopped = parsed(&page, &mut MemoryShare::default(), &stops);
        assert_eq!(stopped.err(), Some(TreeError::Stopped));
        // Each paragraph opens again what the one before it left open: 200 elements for 5 bytes.
        let bold: String = (0..100).map(|n| format!("<b x{n}>")).collect();
        let page = format!("<p>{bold}{}", "<p>x".repeat(30_000));
        assert_eq!(parse(&page).err(), Some(TreeError::TooMany));
    }

    /// A page of 4 KiB was charged for nothing, whatever became of it.
    #[test]
    fn issue_19_small_pages_are_charged() {
        let bold: String = (0..100).map(|n| format!("<b x{n}>")).collect();
        let page = format!("<p>{bold}{}", "<p>x".repeat(600));
        let mut memory = MemoryShare::default();
        let page = parsed(&page, &mut memory, &|| false).expect("a page");
        assert!(page.tree.len() > 60_000, "{}", page.tree.len());
        assert!(memory.taken() > 60_000 * NODE_BYTES, "{}", memory.taken());
    }

    /// 4 MiB of what is a parse error at each byte took 400 MB; attributes of one tag, a minute.
    #[expect(clippy::disallowed_methods, reason = "it measures how long parsing takes")]
    #[test]
    fn issue_19_no_page_keeps_its_errors_or_compares_its_attributes_for_long() {
        for part in ["\0", "<\u{1}", "</p>", "&#0;"] {
            let page = tree(&part.repeat((4 << 20) / part.len()));
            assert!(page.errors.borrow().len() <= PIECE_BYTES, "{part:?}");
        }
        for (page, count) in [
            (format!("<p {}>", "a ".repeat(20_000)), 1),
            (format!("<p><!--{}-->", "lorem <b> ipsum ".repeat(100_000)), 1),
            (format!("<p alt=x src='data:;base64,{}'>", "iVBOR/".repeat(1_000_000)), 1),
            ("<p class=a id=b hidden>lorem ipsum".repeat(50_000), 50_000),
        ] {
            assert_eq!(tree(&page).select("p").length(), count);
        }
        let many: String = (0..200_000).map(|n| format!("{n:x} ")).collect();
        let began = Instant::now();
        for before in ["<p", "<b a=x/y", "<p ='", "<p a='<!--'"] {
            let page = parse(&format!("{before} {many}>"));
            assert_eq!(page.err(), Some(TreeError::TooManyAttributes), "{before}");
        }
        let took = began.elapsed();
        assert!(took.as_secs() < 60, "{took:?}");
    }
}
