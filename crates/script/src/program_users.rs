//! Scripts as what virtual users run: `users` keeps them busy, the engine sees a pool of them for each worker.

use std::rc::Rc;

use users::{Exception, Host, MetricRegistry, UserProgram, VuPoolPlan};
use workload::VirtualUsers;
use workload::arrival::Shard;

use crate::loader::program::Program;
use crate::runtime::realm::Realm;
use crate::runtime::vu::Vu;

/// The VUs of one worker.
#[must_use]
pub fn vu_pool(program: &Program, plan: &VuPoolPlan, shard: Shard) -> Box<dyn VirtualUsers> {
    users::vu_pool(program, plan, shard)
}

/// How many VUs there is memory for, at most: how much their JavaScript takes is seen when they are made.
#[must_use]
pub fn vus_that_fit() -> u64 {
    users::vus_that_fit::<Program>()
}

/// All users of a thread share a realm; each is a fiber of it.
impl UserProgram for Program {
    type User = Vu;
    type Shared = Rc<Realm>;

    /// Beside its objects of JavaScript, which its realm counts: two pages of its stack, and 2 KiB of ours for its slot, its
    /// context and its places in lists.
    const USER_BYTES: usize = (8 << 10) + (2 << 10);

    fn share(&self, threads: usize) -> Result<Rc<Realm>, Exception> {
        Realm::beside(self, threads)
    }

    fn spawn(realm: &Rc<Realm>, host: Rc<dyn Host>, number: u64) -> Result<Vu, Exception> {
        Vu::new(realm, host, number)
    }

    fn memory_bound(realm: &Rc<Realm>) -> String {
        realm.bound()
    }

    fn metrics(&self) -> MetricRegistry {
        self.metrics.clone()
    }
}
