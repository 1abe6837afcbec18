//! The class of responses: its prototype has the fields, and what takes a response for a page.

use rquickjs::{Ctx, Object, Result};
use users::HttpResponse;

use super::{page, response};
use crate::runtime::ffi::HandleClass;

impl HandleClass for Box<HttpResponse> {
    const NAME: &'static str = "Response";

    fn prototype<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
        let prototype = Object::new(ctx.clone())?;
        response::add(ctx, &prototype)?;
        page::add(ctx, &prototype)?;
        Ok(prototype)
    }
}
