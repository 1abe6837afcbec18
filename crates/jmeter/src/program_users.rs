//! `JmeterProgram`: a plan's threads as virtual users.

use std::rc::Rc;
use std::sync::Arc;

use users::{Exception, Host, UserProgram};

use crate::thread::user::ThreadUser;
use crate::world::World;

/// A plan's threads as virtual users, a user a thread.
#[derive(Clone)]
pub struct JmeterProgram(pub Arc<World>);

impl UserProgram for JmeterProgram {
    type User = ThreadUser;
    type Shared = Arc<World>;

    const USER_BYTES: usize = 8 << 10;

    fn share(&self, _: usize) -> Result<Arc<World>, Exception> {
        Ok(Arc::clone(&self.0))
    }

    fn spawn(world: &Arc<World>, host: Rc<dyn Host>, number: u64) -> Result<ThreadUser, Exception> {
        let place = world.program().thread_of(number.saturating_sub(1));
        let (group, index) =
            place.ok_or_else(|| Exception::internal(format!("no thread has number {number}")))?;
        Ok(ThreadUser::new(world, host, group, index))
    }
}
