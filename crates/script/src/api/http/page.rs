//! A response as a page: `html`, `submitForm`, `clickLink`. What they do with it is `k6/html`'s.

use rquickjs::function::{Opt, This};
use rquickjs::{Class, Coerced, Ctx, Exception, Function, IntoJs, Object, Result, Value};
use wire::url::Url;

use super::body::{self, FormEncoding};
use super::response::Response;
use super::response::{shown_body, text_of, url};
use super::send::{Arguments, send, send_with};
use crate::api::html;
use crate::runtime::values::string_of;

type ThisResponse<'js> = This<Class<'js, Response>>;

/// Adds the methods to the prototype of responses.
pub(super) fn add<'js>(ctx: &Ctx<'js>, prototype: &Object<'js>) -> Result<()> {
    prototype.set("html", Function::new(ctx.clone(), html_of)?)?;
    prototype.set("submitForm", Function::new(ctx.clone(), submit_form)?)?;
    prototype.set("clickLink", Function::new(ctx.clone(), click_link)?)
}

/// The property of the prototype where the parser is kept, once a page was parsed. It holds no state.
const PARSER: &str = "__parseHTML";

/// `html(selector?)`.
fn html_of<'js>(
    ctx: Ctx<'js>,
    this: ThisResponse<'js>,
    selector: Opt<Value<'js>>,
) -> Result<Object<'js>> {
    let page = parsed(&ctx, &this.0)?;
    match selector.0.filter(|selector| !selector.is_undefined() && !selector.is_null()) {
        Some(selector) => called(&page, "find", selector),
        None => Ok(page),
    }
}

/// The whole page as a `Selection`.
fn parsed<'js>(ctx: &Ctx<'js>, response: &Class<'js, Response>) -> Result<Object<'js>> {
    let of = response.borrow();
    let Some(body) = shown_body(&of.0) else {
        let text = "the body is null so we can't transform it to HTML - this likely was because of a request error getting the response";
        return Err(Exception::throw_message(ctx, text));
    };
    let prototype =
        Class::<Response>::prototype(ctx)?.map_or_else(|| Object::new(ctx.clone()), Ok)?;
    let known: Option<Function<'js>> = prototype.get(PARSER)?;
    let parser = match known {
        Some(parser) => parser,
        None => {
            let parser = html::parser(ctx)?;
            prototype.prop(PARSER, rquickjs::object::Property::from(parser.clone()))?;
            parser
        }
    };
    parser.call((text_of(ctx, body)?, url(&of.0)))
}

fn called<'js, T: rquickjs::FromJs<'js>>(
    of: &Object<'js>,
    method: &str,
    argument: impl IntoJs<'js>,
) -> Result<T> {
    let function: Function<'js> = of.get(method)?;
    function.call((This(of.clone()), argument))
}

/// The text of a selection's first element: its attribute of this name.
fn attribute<'js>(of: &Object<'js>, name: &str) -> Result<Option<String>> {
    let value: Value<'js> = called(of, "attr", name)?;
    if value.is_undefined() || value.is_null() { Ok(None) } else { string_of(&value).map(Some) }
}

fn is_empty(of: &Object<'_>) -> Result<bool> {
    let size: Coerced<i32> = called(of, "size", ())?;
    Ok(size.0 == 0)
}

/// A text of the options.
fn option<'js>(options: Option<&Object<'js>>, name: &str, usual: &str) -> Result<String> {
    let value = options.map(|options| options.get::<_, Value<'js>>(name)).transpose()?;
    match value.filter(|value| !value.is_undefined() && !value.is_null()) {
        Some(value) => string_of(&value),
        None => Ok(usual.to_owned()),
    }
}

/// `submitForm({ formSelector, submitSelector, fields, params })`.
fn submit_form<'js>(
    ctx: Ctx<'js>,
    this: ThisResponse<'js>,
    options: Opt<Value<'js>>,
) -> Result<Value<'js>> {
    let options = options.0.as_ref().and_then(Value::as_object);
    let selector = option(options, "formSelector", "form")?;
    let from = url(&this.0.borrow().0).to_owned();
    let form: Object<'js> = called(&parsed(&ctx, &this.0)?, "find", selector.as_str())?;
    if is_empty(&form)? {
        let text = format!("no form found for selector '{selector}' in response '{from}'");
        return Err(Exception::throw_message(&ctx, &text));
    }
    let submit: Option<Value<'js>> =
        options.map(|options| options.get("submitSelector")).transpose()?;
    let submit = submit.filter(|submit| !submit.is_undefined() && !submit.is_null());
    let submission: Object<'js> = match submit {
        Some(submit) => called(&form, SUBMISSION, string_of(&submit)?)?,
        None => called(&form, SUBMISSION, rquickjs::Undefined)?,
    };
    let said = |name: &str| submission.get::<_, Option<String>>(name);
    let method = said("method")?.map_or_else(|| "GET".to_owned(), |m| m.to_uppercase());
    // An empty action is the page itself, whatever its base.
    let url = match said("action")?.filter(|action| !action.trim().is_empty()) {
        Some(action) => resolved(&ctx, &based(&ctx, &this.0, &from)?, action.trim())?,
        None => resolved(&ctx, &from, "")?,
    };
    let data: Object<'js> = submission.get("fields")?;
    let fields: Option<Value<'js>> = options.map(|options| options.get("fields")).transpose()?;
    if let Some(fields) = fields.as_ref().and_then(Value::as_object) {
        for field in fields.props::<String, Value<'js>>() {
            let (name, value) = field?;
            data.set(name, value)?;
        }
    }
    let params: Option<Value<'js>> = options.map(|options| options.get("params")).transpose()?;
    if method == "GET" {
        let query = body::query(&ctx, &data)?;
        let base = url.split('?').next().unwrap_or(&url);
        let url = format!("{base}?{query}").into_js(&ctx)?;
        return send(&ctx, method.into(), &url, None, params.as_ref());
    }
    let (url, data) = (url.into_js(&ctx)?, data.into_value());
    let encoding = FormEncoding::of(&said("enctype")?.unwrap_or_default());
    let arguments = Arguments { body: Some(&data), params: params.as_ref(), encoding };
    send_with(&ctx, method.into(), &url, arguments)
}

/// The method of a selection that gives what a browser sends of a form; no script can name it.
const SUBMISSION: &str = "\u{1}submission";

/// The address that references on a page start from: that of its `base`, else its own.
fn based<'js>(ctx: &Ctx<'js>, response: &Class<'js, Response>, from: &str) -> Result<String> {
    let base: Object<'js> = called(&parsed(ctx, response)?, "find", "base[href]")?;
    match attribute(&base, "href")? {
        Some(href) => resolved(ctx, from, href.trim()),
        None => Ok(from.to_owned()),
    }
}

/// `clickLink({ selector, params })`.
fn click_link<'js>(
    ctx: Ctx<'js>,
    this: ThisResponse<'js>,
    options: Opt<Value<'js>>,
) -> Result<Value<'js>> {
    let options = options.0.as_ref().and_then(Value::as_object);
    let selector = option(options, "selector", "a[href]")?;
    let from = url(&this.0.borrow().0).to_owned();
    let link: Object<'js> = called(&parsed(&ctx, &this.0)?, "find", selector.as_str())?;
    if is_empty(&link)? {
        let text = format!("no element found for selector '{selector}' in response '{from}'");
        return Err(Exception::throw_message(&ctx, &text));
    }
    let Some(href) = attribute(&link, "href")? else {
        let text = format!(
            "no valid href attribute value found on element '{selector}' in response '{from}'"
        );
        return Err(Exception::throw_message(&ctx, &text));
    };
    let url = resolved(&ctx, &based(&ctx, &this.0, &from)?, href.trim())?.into_js(&ctx)?;
    let params: Option<Value<'js>> = options.map(|options| options.get("params")).transpose()?;
    send(&ctx, "GET".into(), &url, None, params.as_ref())
}

/// The address that a reference on a page means.
fn resolved(ctx: &Ctx<'_>, page: &str, reference: &str) -> Result<String> {
    let joined = Url::parse(page).and_then(|page| page.join(reference));
    joined.map(|url| url.to_string()).map_err(|error| {
        Exception::throw_message(ctx, &format!("'{reference}' on '{page}' leads nowhere: {error}"))
    })
}
