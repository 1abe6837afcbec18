//! One exchange with a server before the load: a request of the engine's own kind, so that it takes the same way.

use std::time::Duration;

use anyhow::{Result, anyhow};
use engine::{AnswerForm, Capture, CapturedHeaders, Run, RunEvent, Settings};
use metrics::{FailureKind, Outcome};
use workload::{Load, Plan, Target, Targets};

/// The answer to a single request.
#[derive(Debug, Default)]
pub(crate) struct Answer {
    pub(crate) outcome: Outcome,
    pub(crate) failure: FailureKind,
    /// The error of an answer that is no success.
    pub(crate) error: String,
    pub(crate) body: Vec<u8>,
}

/// Sends one request and waits for the answer.
///
/// # Errors
/// The settings cannot be used, or the answer is larger than any that is kept.
pub(crate) fn exchange(target: Target, settings: &Settings) -> Result<Answer> {
    let settings = Settings {
        workers: 1,
        rows: true,
        answers: AnswerForm::Messages,
        capture: Capture {
            body_max: Capture::BODY_MAX,
            count_kept_only: false,
            headers: CapturedHeaders::Call,
        },
        ..settings.clone()
    };
    let load = Load::Closed { users: 1 };
    let plan = Plan { hits_max: Some(1), ..Plan::new(load, Targets::new(vec![target]), 0) };
    let run = Run::start(plan, &settings, None).map_err(|error| anyhow!("{error}"))?;
    let mut answer = Answer::default();
    loop {
        match run.next_event(Duration::from_secs(1)) {
            Some(RunEvent::Rows(batch)) => {
                for sample in &batch.samples {
                    answer = Answer {
                        outcome: sample.outcome,
                        failure: sample.failure,
                        error: String::from_utf8_lossy(batch.text(sample.error)).into_owned(),
                        body: batch.text(sample.body).to_vec(),
                    };
                    if (answer.body.len() as u64) < sample.bytes_in {
                        return Err(anyhow!("it answers with {} bytes", sample.bytes_in));
                    }
                }
                run.recycle(batch);
            }
            Some(RunEvent::Finished(_)) => return Ok(answer),
            Some(RunEvent::Progress(_)) | None => {}
        }
    }
}
