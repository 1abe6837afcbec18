//! Which module runs: the one that calls a function of ours, and the one whose code is run at present, which may have called into
//! another module.

use std::rc::Rc;

use rquickjs::{Ctx, Result};

use super::store::Store;
use crate::runtime::context::VuContext;
use crate::runtime::current::vu_of;

/// So many frames of the stack are looked at.
const FRAMES_MAX: isize = 256;

/// The modules of the frames of the stack, the innermost first; one that is deeper than can be seen has none.
fn frames(ctx: &Ctx<'_>, store: &Store) -> Vec<String> {
    if ctx.script_or_module_name(FRAMES_MAX).is_some() {
        return Vec::new();
    }
    let name = |level| ctx.script_or_module_name(level)?.to_string().ok();
    (0..FRAMES_MAX).filter_map(name).filter(|name| store.is_of_script(name)).collect()
}

/// The module that calls the function of ours that runs; the empty text where there is none.
pub(crate) fn caller(ctx: &Ctx<'_>, store: &Store) -> String {
    // Whether our function has a frame of its own depends on how QuickJS calls it.
    let named = (0..8).find_map(|level| {
        let name = ctx.script_or_module_name(level)?.to_string().ok()?;
        store.is_of_script(&name).then_some(name)
    });
    named.unwrap_or_default()
}

/// The module whose code is run at present: while a module calls a function of another one, still the first.
pub(crate) fn running(ctx: &Ctx<'_>, store: &Store) -> Result<String> {
    let below = vu_of(ctx)?.evaluations.borrow().last().copied().unwrap_or_default();
    let mut frames = frames(ctx, store);
    frames.truncate(frames.len().saturating_sub(below));
    Ok(frames.pop().unwrap_or_else(|| caller(ctx, store)))
}

/// A module is run in the middle of another one until this is dropped.
pub(super) struct Evaluation(Rc<VuContext>);

impl Evaluation {
    pub(super) fn begin(ctx: &Ctx<'_>) -> Result<Self> {
        let vu = vu_of(ctx)?;
        let below = vu.store.get().map_or(0, |store| frames(ctx, store).len());
        vu.evaluations.borrow_mut().push(below);
        Ok(Self(vu))
    }
}

impl Drop for Evaluation {
    fn drop(&mut self) {
        self.0.evaluations.borrow_mut().pop();
    }
}
