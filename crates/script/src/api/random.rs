//! `randomSeed`: a VU's own sequence of `Math.random`.

use rquickjs::function::Opt;
use rquickjs::{Coerced, Ctx, Function, Object, Result, Value};

use crate::runtime::context::VuContext;
use crate::runtime::current::vu_of;

/// `randomSeed(seed)`: from now on this VU's `Math.random` gives the sequence of this seed.
pub(super) fn seed<'js>(ctx: Ctx<'js>, seed: Opt<Value<'js>>) -> Result<()> {
    let seed = seed.0.as_ref().and_then(|seed| seed.get::<Coerced<f64>>().ok());
    let seed = seed.map_or(0.0, |seed| seed.0) as i64;
    vu_of(&ctx)?.random.set(Some(seed.cast_unsigned()));
    // All VUs share `Math`; those that have no seed get one of their own.
    let math: Object<'js> = ctx.globals().get("Math")?;
    math.set("random", Function::new(ctx, random)?)
}

fn random(ctx: Ctx<'_>) -> Result<f64> {
    let vu = vu_of(&ctx)?;
    let state = vu.random.get().unwrap_or_else(|| unseeded(&vu));
    let state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    vu.random.set(Some(state));
    // The upper 53 bits are what a double holds.
    Ok((mixed(state) >> 11) as f64 / (1_u64 << 53) as f64)
}

/// A seed that no other VU has.
fn unseeded(vu: &VuContext) -> u64 {
    mixed(vu.host.now().0) ^ mixed(vu.execution.borrow().vu)
}

/// SplitMix64's output function (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014).
const fn mixed(state: u64) -> u64 {
    let z = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
