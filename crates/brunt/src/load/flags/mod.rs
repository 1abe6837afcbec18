//! Groups of flags that commands with load have in common. A command's options hold the groups it takes, and its table lists
//! their rows. The rows are generic over the options, so that a flag, its help text and its default stand in one place.

/// Declares a flag of a group as a function that gives its row for any options that hold the group: the group, the function,
/// the flag's name, value, default, help text, the setter, and what else the row has.
macro_rules! row {
    (
        $group:ty, $function:ident, $name:literal, $kind:expr, $default:literal, $docs:literal,
        |$values:ident, $text:ident| $set:expr $(; $($more:tt)+)?
    ) => {
        #[doc = concat!("The flag `-", $name, "`.")]
        pub(crate) const fn $function<T: AsMut<$group>>() -> ::cli::Flag<T> {
            ::cli::Flag::new($name, $kind, $default, $docs, |options: &mut T, $text| {
                let $values: &mut $group = options.as_mut();
                $set
            })
            $($($more)+)?
        }
    };
}

/// Implements access to the groups of flags in a command's options.
macro_rules! holds {
    ($options:ty: $($field:ident: $group:ty),+ $(,)?) => {
        $(impl AsMut<$group> for $options {
            fn as_mut(&mut self) -> &mut $group {
                &mut self.$field
            }
        })+
    };
}

/// Implements access to the flags of a command whose runs are kept, watched and sent from a fleet: its fields `saving`, `watched` and
/// `fleet`.
macro_rules! leaves_runs {
    ($options:ty) => {
        impl ::remote::flags::SendsFromFleet for $options {
            fn fleet(&mut self) -> &mut ::remote::flags::FleetFlags {
                &mut self.fleet
            }
        }

        impl ::session::save::Saves for $options {
            fn saving(&mut self) -> &mut ::session::save::SaveFlags {
                &mut self.saving
            }
        }

        impl ::session::monitor_flags::Watches for $options {
            fn watched(&mut self) -> &mut ::session::monitor_flags::MonitorTargets {
                &mut self.watched
            }
        }
    };
}

pub(crate) mod client;
pub(crate) mod display;
pub(crate) mod http;
pub(crate) mod results;
pub(crate) mod target;

pub(crate) use self::client::ClientFlags;
pub(crate) use self::display::DisplayFlags;
pub(crate) use self::http::HttpFlags;
pub(crate) use self::results::ResultsFlags;
pub(crate) use self::target::{Cookies, TargetFlags};
pub(crate) use {holds, leaves_runs};
