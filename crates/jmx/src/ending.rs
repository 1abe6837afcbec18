//! Whether the work of this thread is to end. Loops over what plans and servers have made look here at every turn, since a single
//! loop may take longer than a user waits. Nothing is ended from here: a loop that is to end gives up, and its result is of no account.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

thread_local! {
    static ENDING: RefCell<Option<Arc<AtomicBool>>> = const { RefCell::new(None) };
}

/// Has all scripts, extractors and assertions of this thread give up once `ending` is set.
pub fn end_with(ending: &Arc<AtomicBool>) {
    ENDING.with_borrow_mut(|own| {
        if !own.as_ref().is_some_and(|own| Arc::ptr_eq(own, ending)) {
            *own = Some(Arc::clone(ending));
        }
    });
}

/// Whether the work of this thread is to end.
pub(crate) fn is_over() -> bool {
    ENDING.with_borrow(|own| own.as_ref().is_some_and(|ending| ending.load(Ordering::Relaxed)))
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;
    use crate::jsonpath::{Path, PathError, parse_json};
    use crate::pattern::Pattern;
    use crate::xpath::{Names, Tree, XPathError, evaluate};
    use crate::{Bindings, Language, MemoryScope, ScopeContext, Script, ScriptError, ScriptLimit};

    /// A piece of work, and whether it gave up.
    type Work = (&'static str, fn() -> bool);

    fn xpath() -> bool {
        let tree = Tree::of_page(&"<p>x".repeat(50));
        let names = Names { namespaces: &[], ignores_namespaces: true };
        evaluate(&tree, "//p[. = //p]", names) == Err(XPathError::Ended)
    }

    fn json_path() -> bool {
        let list = parse_json("[[1,2],[3,4]]").expect("JSON");
        Path::parse("$..*").expect("a path").find(&list) == Err(PathError::Ended)
    }

    fn pattern() -> bool {
        Pattern::of("a").expect("a pattern").matches(&"a".repeat(1_000), 1_000).is_empty()
    }

    const WORK: [Work; 3] =
        [("XPath", xpath), ("JSONPath", json_path), ("a regular expression", pattern)];

    #[test]
    fn issue_42_searches_give_up_where_the_test_has_ended() {
        for (name, work) in WORK {
            assert!(!work(), "{name} in a test that goes on");
            let ended = move || {
                end_with(&Arc::new(AtomicBool::new(true)));
                work()
            };
            assert!(std::thread::spawn(ended).join().expect("no panic"), "{name}");
        }
        assert!(!is_over(), "that was of other threads");
    }

    /// Scripts of few steps that take long each, or of one.
    const SCRIPTS: [&str; 9] = [
        "while (true) {}",
        "def a=[1]; def b=[1]; 30.times { a=[a,a]; b=[b,b] }; while (true) { a == b }",
        "def s = new HashSet(); while (true) { s.addAll(1..9000); s.clear() }",
        "def a=(1..300000).toList(); while (true) { a.contains(-1) }",
        "def a=(1..300000).toList(); while (true) { a.removeAll(a) ; a.addAll(1..9000) }",
        "def a=[1]; 20.times { a=[a,a] }; while (true) { a.toString() }",
        "def a=[1]; 20.times { a=[a,a] }; def b=(1..400).collect { [a, it] }; b.sort()",
        "def a=[1]; 20.times { a=[a,a] }; def m=[:]; while (true) { m.put(a, 1) }",
        "def t='a' * 1000000; while (true) { t.replaceAll('a', 'b') }",
    ];

    fn outcome(text: &str) -> Result<(), ScriptError> {
        let script = Script::parse(Language::Groovy, text).expect("a script");
        let mut scope = MemoryScope::default();
        let mut context = ScopeContext(&mut scope);
        script.run(&mut context, &mut Bindings::standard()).map(|_| ())
    }

    #[test]
    fn issue_42_scripts_end_soon_after_the_test() {
        for text in SCRIPTS {
            let ending = Arc::new(AtomicBool::new(false));
            let own = Arc::clone(&ending);
            let script = std::thread::spawn(move || {
                end_with(&own);
                outcome(text)
            });
            std::thread::sleep(Duration::from_millis(20));
            ending.store(true, Ordering::Relaxed);
            let asked = Instant::now();
            let outcome = script.join().expect("no panic");
            assert_eq!(outcome, Err(ScriptError::Limit(ScriptLimit::Time)), "{text}");
            assert!(asked.elapsed() < Duration::from_secs(5), "{text}: {:?}", asked.elapsed());
        }
    }
}
