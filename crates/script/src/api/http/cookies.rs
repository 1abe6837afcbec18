//! `CookieJar`: the jars that scripts hold.

use rquickjs::function::{Rest, This};
use rquickjs::{Class, Ctx, Exception, Function, Object, Result, Value};
use users::{SetCookie, SharedJar, parse_date, url_error::url_error_text};
use wire::url::Url;

use crate::runtime::current::vu_of;
use crate::runtime::ffi::{Handle, HandleClass};
use crate::runtime::values::{number_of, string_of, truthy};

/// A jar as a script holds it.
pub(in crate::api) struct JarRef(pub(in crate::api) SharedJar);

type Jar<'js> = Class<'js, Handle<JarRef>>;

impl HandleClass for JarRef {
    const NAME: &'static str = "CookieJar";

    fn prototype<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
        let prototype = Object::new(ctx.clone())?;
        prototype.set("set", Function::new(ctx.clone(), set)?)?;
        prototype.set("cookiesForURL", Function::new(ctx.clone(), cookies_for_url)?)?;
        prototype.set("clear", Function::new(ctx.clone(), clear)?)?;
        prototype.set("delete", Function::new(ctx.clone(), delete)?)?;
        Ok(prototype)
    }
}

/// `new CookieJar()`.
pub(super) fn empty(ctx: Ctx<'_>) -> Result<Jar<'_>> {
    Class::instance(ctx, Handle(JarRef(SharedJar::default())))
}

/// `cookieJar()`: the VU's own.
pub(super) fn of_vu(ctx: Ctx<'_>) -> Result<Jar<'_>> {
    let vu = vu_of(&ctx)?;
    vu.require_started(&ctx, "Getting cookie jars")?;
    let jar = vu.jar.borrow().clone();
    Class::instance(ctx, Handle(JarRef(jar)))
}

/// The URL of a cookie; `None` if it is not one of HTTP: those have no cookies.
fn url_of(ctx: &Ctx<'_>, url: &Value<'_>) -> Result<Option<Url>> {
    let text = string_of(url)?;
    match Url::parse(&text) {
        Ok(url) => Ok(Some(url)),
        Err(wire::url::UrlError::Scheme(scheme)) if !text.contains(' ') || !scheme.is_empty() => {
            Ok(None)
        }
        Err(wire::url::UrlError::NoHost) => Ok(None),
        Err(error) => {
            let reason = url_error_text(&error);
            Err(Exception::throw_message(ctx, &format!("parse {text:?}: {reason}")))
        }
    }
}

/// `set(url, name, value, options?)`.
fn set<'js>(ctx: Ctx<'js>, this: This<Jar<'js>>, arguments: Rest<Value<'js>>) -> Result<bool> {
    let [url, name, value, options @ ..] = arguments.0.as_slice() else {
        return Err(Exception::throw_type(&ctx, "a cookie needs a URL, a name and a value"));
    };
    let url = url_of(&ctx, url)?;
    let (name, value) = (string_of(name)?, string_of(value)?);
    let mut cookie = SetCookie { name, value, ..SetCookie::default() };
    if let Some(options) = options.first().and_then(Value::as_object) {
        for option in options.props::<String, Value<'js>>() {
            let (name, value) = option?;
            match name.as_str() {
                "path" => cookie.path = string_of(&value)?,
                "domain" => cookie.domain = string_of(&value)?,
                "secure" => cookie.secure = truthy(&value)?,
                "http_only" => cookie.http_only = truthy(&value)?,
                "max_age" => cookie.max_age = number_of(&value).unwrap_or(0.0) as i64,
                "expires" => cookie.expires = expires(&ctx, &string_of(&value)?)?,
                _ => {}
            }
        }
    }
    if let Some(url) = url {
        this.0.borrow().0.0.borrow_mut().set(&url, cookie, vu_of(&ctx)?.host.unix_time());
    }
    Ok(true)
}

fn expires(ctx: &Ctx<'_>, text: &str) -> Result<Option<i64>> {
    if text.is_empty() {
        return Ok(None);
    }
    parse_date(text).map(Some).ok_or_else(|| {
        let text = format!(
            "unable to parse \"expires\" date string {text:?}: it is like Mon, 02 Jan 2006 15:04:05 GMT"
        );
        Exception::throw_message(ctx, &text)
    })
}

/// `cookiesForURL(url)`: the values of each name.
fn cookies_for_url<'js>(
    ctx: Ctx<'js>,
    this: This<Jar<'js>>,
    url: Value<'js>,
) -> Result<Object<'js>> {
    let object = Object::new(ctx.clone())?;
    let Some(url) = url_of(&ctx, &url)? else { return Ok(object) };
    let held = this.0.borrow();
    let jar = held.0.0.borrow();
    let mut names: Vec<(&str, Vec<&str>)> = Vec::new();
    for (name, value, _) in jar.cookies_for(&url, vu_of(&ctx)?.host.unix_time()) {
        match names.iter_mut().find(|(known, _)| *known == name) {
            Some((_, values)) => values.push(value),
            None => names.push((name, vec![value])),
        }
    }
    for (name, values) in names {
        object.set(name, values)?;
    }
    Ok(object)
}

/// `clear(url)`.
fn clear<'js>(ctx: Ctx<'js>, this: This<Jar<'js>>, url: Value<'js>) -> Result<()> {
    forget(&ctx, &this.0, &url, None)
}

/// `delete(url, name)`.
fn delete<'js>(
    ctx: Ctx<'js>,
    this: This<Jar<'js>>,
    url: Value<'js>,
    name: Value<'js>,
) -> Result<()> {
    forget(&ctx, &this.0, &url, Some(&string_of(&name)?))
}

fn forget<'js>(ctx: &Ctx<'js>, jar: &Jar<'js>, url: &Value<'js>, name: Option<&str>) -> Result<()> {
    if let Some(url) = url_of(ctx, url)? {
        let now = vu_of(ctx)?.host.unix_time();
        jar.borrow().0.0.borrow_mut().forget(&url, name, now);
    }
    Ok(())
}
