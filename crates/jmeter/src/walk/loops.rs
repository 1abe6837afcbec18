//! Controllers that go round: Loop, While, ForEach, Runtime.

use stdx::Nanos;

use super::walker::{Ground, Next, Walker};

impl Walker {
    pub(super) fn ask_loop(&mut self, id: usize, ground: &mut dyn Ground) -> Next {
        loop {
            self.publish_round(id, ground);
            if self.is_loop_over(id, ground) {
                self.end_loop(id, ground);
                return Next::Empty;
            }
            let next = self.ask_children(id, ground);
            if next != Next::Empty {
                return next;
            }
            self.next_round(id);
            if self.is_loop_over(id, ground) {
                self.end_loop(id, ground);
                self.publish_round(id, ground);
                return Next::Empty;
            }
            if !self.step() {
                return Next::Pause;
            }
        }
    }

    /// Whether a loop has gone round as often as it may; how often that is is looked at once.
    fn is_loop_over(&mut self, id: usize, ground: &mut dyn Ground) -> bool {
        let known = self.states[id].loops_max;
        let most = known.unwrap_or_else(|| {
            let text = self.text(id, "LoopController.loops", ground);
            text.trim().parse().unwrap_or(0)
        });
        let state = &mut self.states[id];
        state.loops_max = Some(most);
        state.breaks || (most >= 0 && state.loops >= most)
    }

    fn end_loop(&mut self, id: usize, ground: &mut dyn Ground) {
        let word = self.text(id, "LoopController.continue_forever", ground);
        let state = &mut self.states[id];
        state.breaks = false;
        // What was saved without the property begins again, as JMeter's class has it.
        if word.trim().eq_ignore_ascii_case("false") {
            state.is_done = true;
        } else {
            state.loops = 0;
            state.loops_max = None;
        }
    }

    /// The number of the round, from 0, as a variable of the controller's name.
    fn publish_round(&self, id: usize, ground: &mut dyn Ground) {
        let element = self.element(id);
        let name = element.name.written();
        if !name.is_empty() {
            ground.set_variable(&format!("__jm__{name}__idx"), self.states[id].loops.to_string());
        }
    }

    fn next_round(&mut self, id: usize) {
        let state = &mut self.states[id];
        state.begin_again();
        state.loops += 1;
    }

    pub(super) fn ask_while(&mut self, id: usize, ground: &mut dyn Ground) -> Next {
        self.publish_round(id, ground);
        if self.states[id].breaks
            || self.states[id].is_first && self.is_while_over(id, false, ground)
        {
            self.rewind(id);
            return Next::Empty;
        }
        loop {
            let next = self.ask_children(id, ground);
            if next != Next::Empty {
                return next;
            }
            self.next_round(id);
            self.publish_round(id, ground);
            // JMeter looks at the condition at the end of a round, and once more at the beginning of the next.
            let is_over =
                self.is_while_over(id, true, ground) || self.is_while_over(id, false, ground);
            if is_over {
                self.rewind(id);
                return Next::Empty;
            }
            if !self.step() {
                return Next::Pause;
            }
        }
    }

    /// Whether the condition ends the loop: `false`, or the last sample where it says nothing else.
    fn is_while_over(&mut self, id: usize, at_end: bool, ground: &mut dyn Ground) -> bool {
        let condition = self.text(id, "WhileController.condition", ground);
        let condition = condition.trim();
        let looks_back = condition.is_empty() && at_end || condition.eq_ignore_ascii_case("LAST");
        let word = match looks_back {
            true => ground.variable("JMeterThread.last_sample_ok").unwrap_or_default(),
            false => condition.to_owned(),
        };
        word.eq_ignore_ascii_case("false")
    }

    /// The loop begins with its first round again.
    fn rewind(&mut self, id: usize) {
        let state = &mut self.states[id];
        state.breaks = false;
        state.loops = 0;
        state.at = 0;
        state.is_first = true;
    }

    pub(super) fn ask_foreach(&mut self, id: usize, ground: &mut dyn Ground) -> Next {
        loop {
            if self.states[id].breaks || !self.take_value(id, ground) {
                self.rewind(id);
                return Next::Empty;
            }
            let next = self.ask_children(id, ground);
            if next != Next::Empty {
                return next;
            }
            self.next_round(id);
            if !self.step() {
                return Next::Pause;
            }
        }
    }

    /// Sets the variable of this round; false where there is none.
    fn take_value(&mut self, id: usize, ground: &mut dyn Ground) -> bool {
        let Some(at) = self.place_of_value(id, ground) else { return false };
        let input = self.text(id, "ForeachController.inputVal", ground);
        let output = self.text(id, "ForeachController.returnVal", ground);
        let word = self.text(id, "ForeachController.useSeparator", ground);
        let separator = if word.trim().eq_ignore_ascii_case("false") { "" } else { "_" };
        let element = self.element(id);
        let name = element.name.written().to_owned();
        let Some(value) = ground.variable(&format!("{input}{separator}{}", at + 1)) else {
            return false;
        };
        ground.set_variable(&output, value);
        if !name.is_empty() {
            ground.set_variable(&format!("__jm__{name}__idx"), self.states[id].loops.to_string());
        }
        true
    }

    /// The number before that of the value which is next; `None` behind the last.
    fn place_of_value(&self, id: usize, ground: &mut dyn Ground) -> Option<i64> {
        let mut number = |name: &str, absent: i64| {
            self.text(id, name, ground).trim().parse::<i64>().unwrap_or(absent)
        };
        let start = number("ForeachController.startIndex", 0);
        let end = number("ForeachController.endIndex", i64::MAX);
        let at = start.saturating_add(self.states[id].loops);
        (at < end).then_some(at)
    }

    pub(super) fn ask_runtime(&mut self, id: usize, ground: &mut dyn Ground) -> Next {
        let text = self.text(id, "RunTime.seconds", ground);
        let length = Nanos::from_secs(text.trim().parse().unwrap_or(0));
        let began = *self.states[id].began.get_or_insert(ground.now());
        loop {
            if ground.now() >= began.saturating_add(length) {
                self.rewind(id);
                self.states[id].began = None;
                return Next::Empty;
            }
            let next = self.ask_children(id, ground);
            if next != Next::Empty {
                return next;
            }
            self.next_round(id);
            if !self.step() {
                return Next::Pause;
            }
        }
    }
}
