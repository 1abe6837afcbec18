//! `Math`.

use super::arguments::Arguments;
use crate::script::Language;
use crate::script::run::{Machine, normal};
use crate::script::value::Value;

/// A function of `Math`.
pub(super) fn function(
    machine: &mut Machine<'_>,
    name: &str,
    call: Arguments<'_>,
) -> Option<Value> {
    let value = match name {
        "max" | "min" => extreme(name, call)?,
        "abs" => absolute(&call.get(0))?,
        "round" => Value::whole_or_long(call.double(0)),
        "random" => {
            Value::Double((machine.context.scope().random() >> 11) as f64 / 9_007_199_254_740_992.0)
        }
        "floorMod" => Value::whole(call.long(0).checked_rem_euclid(call.long(1))?),
        "floorDiv" => Value::whole(call.long(0).checked_div_euclid(call.long(1))?),
        "addExact" => Value::whole(call.long(0).checked_add(call.long(1))?),
        "multiplyExact" => Value::whole(call.long(0).checked_mul(call.long(1))?),
        "toIntExact" => Value::Int(i32::try_from(call.long(0)).ok()?),
        _ => Value::Double(of_double(name, call)?),
    };
    match (machine.language, &value) {
        (Language::JavaScript, Value::Double(number)) if name != "random" => Some(normal(*number)),
        _ => Some(value),
    }
}

fn of_double(name: &str, call: Arguments<'_>) -> Option<f64> {
    let (one, two) = (call.double(0), call.double(1));
    Some(match name {
        "floor" => one.floor(),
        "ceil" => one.ceil(),
        "rint" => one.round_ties_even(),
        "trunc" => one.trunc(),
        "sqrt" => one.sqrt(),
        "cbrt" => one.cbrt(),
        "pow" => one.powf(two),
        "exp" => one.exp(),
        "log" => one.ln(),
        "log10" => one.log10(),
        "log2" => one.log2(),
        "sin" => one.sin(),
        "cos" => one.cos(),
        "tan" => one.tan(),
        "asin" => one.asin(),
        "acos" => one.acos(),
        "atan" => one.atan(),
        "atan2" => one.atan2(two),
        "hypot" => one.hypot(two),
        "signum" | "sign" => one.signum() * f64::from(u8::from(one != 0.0)),
        "toRadians" => one.to_radians(),
        "toDegrees" => one.to_degrees(),
        _ => return None,
    })
}

fn extreme(name: &str, call: Arguments<'_>) -> Option<Value> {
    let wanted = if name == "max" { std::cmp::Ordering::Greater } else { std::cmp::Ordering::Less };
    let mut best = super::loose_number(&call.get(0))?;
    for value in call.all().iter().skip(1) {
        let value = super::loose_number(value)?;
        if value.order(&best) == Some(wanted) {
            best = value;
        }
    }
    Some(best)
}

fn absolute(value: &Value) -> Option<Value> {
    Some(match super::loose_number(value)? {
        Value::Int(number) => Value::Int(number.wrapping_abs()),
        Value::Long(number) => Value::Long(number.wrapping_abs()),
        other => Value::Double(other.as_double()?.abs()),
    })
}

impl Value {
    /// What `Math.round` makes of a number: half goes up.
    fn whole_or_long(number: f64) -> Self {
        Self::Long((number + 0.5).floor() as i64)
    }
}
