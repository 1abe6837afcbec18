//! The environment of scripts, `__ENV`.

use std::sync::Arc;

use rquickjs::{Ctx, Object, Result};

/// The environment of scripts, `__ENV`.
pub type Env = Arc<Vec<(String, String)>>;

/// The name of the global.
pub(crate) const ENV: &str = "__ENV";

/// Gives a VU the environment anew, with variables beside the test's own.
pub(crate) fn set_env(ctx: &Ctx<'_>, extra: &[(String, String)]) -> Result<()> {
    if ctx.globals().remove(ENV).is_err() {
        // The script has made the global permanent: the variables are set in its object.
        ctx.catch();
    }
    let env: Object<'_> = ctx.globals().get(ENV)?;
    extra.iter().try_for_each(|(name, value)| env.set(name.as_str(), value.as_str()))
}
