//! The users of a test, for the engine: one [`CableUsers`] a worker.

use std::sync::Arc;

use workload::VuFactory;

use crate::cable::Cable;
use crate::users::CableUsers;

impl Cable {
    /// The users, for the engine.
    #[must_use]
    pub fn users(self: &Arc<Self>) -> VuFactory {
        let cable = Arc::clone(self);
        VuFactory {
            users: u64::from(self.plan.own_users()),
            make: Arc::new(move |shard| Box::new(CableUsers::new(Arc::clone(&cable), shard))),
        }
    }
}
