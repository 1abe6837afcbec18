//! A thread as the controllers that it walks through see it.

use jmx::Element;
use stdx::Nanos;

use super::scope::Thread;
use crate::config;
use crate::plan::node::Part;
use crate::plan::property::{flag, text};
use crate::walk::Ground;

impl Ground for Thread {
    fn text(&mut self, element: &Element, name: &str) -> String {
        text(&element.properties, name, self)
    }

    fn variable(&self, name: &str) -> Option<String> {
        self.variables.get(name).cloned()
    }

    fn set_variable(&mut self, name: &str, value: String) {
        self.put(name, value);
    }

    fn is_true(&mut self, element: &Element) -> bool {
        let condition = text(&element.properties, "IfController.condition", self);
        let as_text = flag(&element.properties, "IfController.useExpression", self) == Some(true);
        let value = match as_text {
            true => condition,
            false => jmx::evaluate_script(jmx::Language::JavaScript, &condition, self)
                .unwrap_or_default(),
        };
        value.trim().eq_ignore_ascii_case("true")
    }

    fn now(&self) -> Nanos {
        self.host.now()
    }

    fn below(&mut self, end: usize) -> usize {
        self.random.below(end)
    }

    fn begin_round(&mut self, part: &Part) -> bool {
        config::begin_round(part, self)
    }

    fn begin_iteration(&mut self) {
        self.iteration += 1;
        let same_user = self.program.groups[self.group].same_user;
        self.is_new_user = self.iteration > 1 && !same_user;
        self.forget();
    }

    fn shared_round(&mut self, controller: usize, runs: &dyn Fn(u64, u64) -> bool) -> bool {
        self.world.shared_round(controller, runs)
    }

    fn try_lock(&mut self, name: &str) -> bool {
        self.world.try_lock(name)
    }

    fn unlock(&mut self, name: &str) {
        self.world.unlock(name);
    }

    fn begin_transaction(&mut self, controller: usize) {
        self.open_transaction(controller);
    }

    fn count_in_transaction(&mut self, controller: usize, times: u64) {
        self.count_samples(controller, times);
    }

    fn end_transaction(&mut self, controller: usize) {
        self.close_transaction(controller);
    }
}
