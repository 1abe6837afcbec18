//! stub
use rquickjs::{Ctx, Result};
pub(crate) fn install(_ctx: &Ctx<'_>) -> Result<()> { Ok(()) }
/// Random bytes of the machine.
pub(super) fn random(ctx: &Ctx<'_>, len: usize) -> Result<Vec<u8>> {
    use rsa::rand_core::RngCore as _;
    let mut bytes = vec![0; len];
    rsa::rand_core::OsRng
        .try_fill_bytes(&mut bytes)
        .map_err(|error| rquickjs::Exception::throw_message(ctx, &format!("random bytes: {error}")))?;
    Ok(bytes)
}
