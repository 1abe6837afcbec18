//! `Calls`: the calls of a worker's users that the engine has, by the numbers that their responses bear.

use super::call::HttpCall;

/// Calls that are under way. Each number is answered once.
#[derive(Debug, Default)]
pub(crate) struct Calls {
    list: Vec<Option<HttpCall>>,
    /// Numbers that are free.
    free: Vec<u32>,
}

impl Calls {
    /// A number for one more call, whose place is still empty.
    pub(crate) fn reserve(&mut self) -> u32 {
        self.free.pop().unwrap_or_else(|| {
            self.list.push(None);
            (self.list.len() - 1) as u32
        })
    }

    /// Keeps a call by its number until its response comes.
    pub(crate) fn put(&mut self, number: u32, call: HttpCall) {
        self.list[number as usize] = Some(call);
    }

    /// The call of a number that is under way.
    pub(crate) fn get_mut(&mut self, number: u32) -> Option<&mut HttpCall> {
        self.list.get_mut(number as usize)?.as_mut()
    }

    /// The call of a number, which is free from now on; `None` if it was answered.
    pub(crate) fn take(&mut self, number: u32) -> Option<HttpCall> {
        let call = self.list.get_mut(number as usize).and_then(Option::take)?;
        self.free.push(number);
        Some(call)
    }
}
