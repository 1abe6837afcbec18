//! Macros that write a flag of [`RunFlags`](super::RunFlags), by the kind of its value.

/// A flag that is an option of a script: its name, its value's kind, its default, its docs, the option, how it is written.
macro_rules! option {
    ($name:literal, $kind:expr, $default:literal, $docs:literal, $option:literal, $format:ident) => {
        Flag::new($name, $kind, $default, $docs, |t: &mut RunFlags, v| {
            t.set($option, ValueFormat::$format, v)
        })
        .native()
    };
}

/// The same of a time.
macro_rules! time {
    ($name:literal, $docs:literal, $option:literal) => {
        Flag::new($name, ValueKind::Duration, "", $docs, |t: &mut RunFlags, v| {
            t.set_time($option, v)
        })
        .native()
    };
}

/// The same of a list, which several of its kind make longer.
macro_rules! list {
    ($name:literal, $value:literal, $docs:literal, $option:literal, $format:ident) => {
        Flag::new($name, ValueKind::Text($value), "", $docs, |t: &mut RunFlags, v| {
            t.append($option, ValueFormat::$format, v)
        })
        .native()
    };
}

/// A switch that may be left unsaid.
macro_rules! maybe {
    ($name:literal, $docs:literal, $field:ident) => {
        Flag::new($name, ValueKind::Switch, "", $docs, |t: &mut RunFlags, v| {
            value::switch(v).map(|on| t.$field = Some(on))
        })
        .native()
    };
}

/// A text that several flags of the kind gather.
macro_rules! gather {
    ($name:literal, $value:literal, $docs:literal, $field:ident) => {
        Flag::new($name, ValueKind::Text($value), "", $docs, |t: &mut RunFlags, v| {
            t.$field.push(v.to_owned());
            Ok(())
        })
        .native()
    };
}
