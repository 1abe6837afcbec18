//! `CallPlan`: calls to one method, made into the targets of a run.

use std::sync::Arc;

use anyhow::Result;
use engine::LazyTargets;
use grpc::{CallRequest, Method, compress_frames};
use stdx::Nanos;
use workload::Target;

use crate::data::CallData;
use crate::request_values::{MethodNames, RequestValues};
use crate::server::{Server, USER_AGENT};
use crate::template::Template;

/// Calls to one method of a server.
#[derive(Clone, Debug)]
pub struct CallPlan {
    /// The server.
    pub server: Server,
    /// The method.
    pub method: Method,
    /// The messages.
    pub data: CallData,
    /// Metadata; its values are templates.
    pub metadata: Vec<(String, Template)>,
    /// How long a call may take; `None` for no limit.
    pub timeout: Option<Nanos>,
    /// The workers that calls are numbered by, in turn; at least 1.
    pub workers: u64,
    /// Every random value follows from it.
    pub seed: u64,
    /// The messages of a client's stream, where they are not as many as the data has: those of the data in turn.
    pub stream_messages: Option<u64>,
    /// How messages are sent.
    pub coding: Coding,
}

/// How messages are sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Coding {
    /// As they are.
    #[default]
    Identity,
    /// In gzip.
    Gzip,
}

/// The targets of calls.
pub enum CallTargets {
    /// They take turns.
    InTurn(Vec<Target>),
    /// Each call has one of its own.
    Own(LazyTargets),
}

impl CallPlan {
    /// The targets of the calls. The first are made here: what does not fit is known before the run.
    ///
    /// # Errors
    /// The data does not fit the method, or a template has wrong arguments.
    pub fn targets(self) -> Result<CallTargets> {
        let names = MethodNames::of(&self.method);
        let first = self.target(&names, 0)?;
        let is_constant = self.metadata.iter().all(|(_, value)| value.is_constant());
        if is_constant && self.data.is_constant() {
            let values = &mut RequestValues::new(&names, (0, 0), self.seed);
            let bodies = self.data.bodies((&self.method, self.stream_messages), values)?;
            let with =
                |body: Vec<u8>| Target { body: Arc::from(self.coded(body)), ..first.clone() };
            return Ok(CallTargets::InTurn(bodies.into_iter().map(with).collect()));
        }
        let numbers = 0_u64..;
        let targets = numbers
            .map(move |number| self.target(&names, number).map_err(|error| format!("{error:#}")));
        Ok(CallTargets::Own(Box::new(targets)))
    }

    /// The target of call number `number`.
    fn target(&self, names: &MethodNames, number: u64) -> Result<Target> {
        let mut values = RequestValues::new(names, (number, number % self.workers), self.seed);
        let mut bodies = self.data.bodies((&self.method, self.stream_messages), &mut values)?;
        let at = (number % bodies.len() as u64) as usize;
        let mut metadata = Vec::new();
        for (name, value) in &self.metadata {
            metadata.push((name.clone(), value.render(&mut values)?));
        }
        let timeout_ns = self.timeout.map(|Nanos(ns)| ns);
        let request = CallRequest { metadata: &metadata, timeout_ns, user_agent: Some(USER_AGENT) };
        let body = self.coded(bodies.swap_remove(at));
        let mut target = self.server.target(&self.method.path(), &request, body);
        if self.coding == Coding::Gzip {
            target.headers.push(("grpc-encoding".to_owned(), "gzip".to_owned()));
        }
        Ok(target)
    }

    /// A body as it is sent.
    fn coded(&self, body: Vec<u8>) -> Vec<u8> {
        match self.coding {
            Coding::Identity => body,
            Coding::Gzip => compress_frames(&body),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::method::find_method;
    use crate::method::tests::{SHOP, definitions};

    fn plan(data: &str, metadata: &str) -> CallPlan {
        let value = Template::parse(metadata).expect("a template");
        CallPlan {
            server: Server::parse("h:1").expect("an address"),
            method: find_method(&definitions(SHOP), "shop.v1.Shop/Buy").expect("a method"),
            data: CallData::json(data).expect("data"),
            metadata: vec![("x-a".to_owned(), value)],
            timeout: Some(Nanos::SECOND),
            workers: 2,
            seed: 1,
            stream_messages: None,
            coding: Coding::Identity,
        }
    }

    #[test]
    fn constant_calls_take_turns() {
        let targets = plan(r#"[{"name":"a"},{"name":"b"}]"#, "1").targets().expect("targets");
        let CallTargets::InTurn(list) = targets else { panic!("they are constant") };
        assert_eq!(list.len(), 2);
        assert_eq!(&*list[1].body, b"\0\0\0\0\x03\x0a\x01b");
        assert_eq!(list[0].url, "https://h:1/shop.v1.Shop/Buy");
        assert!(list[0].headers.contains(&("x-a".to_owned(), "1".to_owned())));
        assert!(list[0].headers.contains(&("grpc-timeout".to_owned(), "1000000u".to_owned())));
    }

    #[test]
    fn messages_may_be_compressed() {
        let plan = CallPlan { coding: Coding::Gzip, ..plan(r#"{"name":"a"}"#, "") };
        let CallTargets::InTurn(list) = plan.targets().expect("targets") else { panic!("fixed") };
        assert_eq!(list[0].body[0], 1);
        assert!(list[0].headers.contains(&("grpc-encoding".to_owned(), "gzip".to_owned())));
    }

    #[test]
    fn templates_make_a_target_for_each_call() {
        let targets = plan(r#"{"name":"{{.RequestNumber}}"}"#, "w{{.WorkerID}}").targets();
        let CallTargets::Own(own) = targets.expect("targets") else { panic!("each is another") };
        let list: Vec<Target> = own.take(3).map(|target| target.expect("a target")).collect();
        assert_eq!(&*list[2].body, b"\0\0\0\0\x03\x0a\x012");
        assert!(list[1].headers.contains(&("x-a".to_owned(), "wg0c1".to_owned())));
        assert!(plan(r#"{"count":"{{.MethodName}}"}"#, "").targets().is_err());
    }
}
