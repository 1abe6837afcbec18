//! `Displays`: what people and other programs see of a run while it goes on.

use cli::{ExitCode, ExitError, Interrupts, eprint_line, reason};
use workload::Plan;

use crate::labels::target_labels;
use crate::listener::BarePort;
use crate::observer::Observer;
use crate::progress::Progress;
use crate::prometheus::PrometheusExporter;
use crate::tui;
use crate::web::{self, LivePage, LiveView, MoreOnPage};

/// What a command line asks to see of a run.
#[derive(Clone, Debug, Default)]
pub struct Displays {
    /// What the terminal shows.
    pub terminal: TerminalView,
    /// The live page (`-web`).
    pub page: Option<PageRequest>,
    /// The live metrics (`-prometheus-addr`).
    pub metrics: Option<MetricsRequest>,
}

/// What the terminal shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TerminalView {
    /// Nothing, or what the command draws itself.
    #[default]
    Nothing,
    /// A few lines, drawn anew each second.
    Progress,
    /// The same of a load that this many agents send together; `None` where their number is open.
    ProgressOfAgents(Option<usize>),
    /// The whole terminal (`-tui`).
    FullScreen,
}

/// The live page that is asked for.
#[derive(Clone, Debug)]
pub struct PageRequest {
    /// `HOST:PORT`; empty for any that is free.
    pub address: String,
    /// Who opens the page.
    pub opened: PageOpened,
    /// What viewers may do to the load.
    pub load: LoadOnPage,
}

/// Who opens the live page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PageOpened {
    /// The user, by the URL that is printed.
    #[default]
    ByHand,
    /// This program, in the browser of this machine.
    InBrowser,
}

/// What viewers of a live page may do to the load.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LoadOnPage {
    /// It is as planned.
    #[default]
    Fixed,
    /// It may be paused, and its rate or users changed.
    Changeable,
}

impl PageRequest {
    /// A page of a run whose load is as planned.
    #[must_use]
    pub fn at(address: &str) -> Self {
        let (opened, load) = (PageOpened::ByHand, LoadOnPage::Fixed);
        Self { address: address.to_owned(), opened, load }
    }
}

/// The live metrics that are asked for.
#[derive(Clone, Debug)]
pub struct MetricsRequest {
    /// `HOST:PORT`.
    pub address: String,
    /// What an address without a host stands for.
    pub bare: BarePort,
    /// What an address does that is taken.
    pub taken: TakenAddress,
}

/// What an address of live metrics does that is taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TakenAddress {
    /// The run does not begin.
    #[default]
    Refused,
    /// The run has no live metrics, as in Vegeta.
    Ignored,
}

impl MetricsRequest {
    /// Live metrics that must be served; `:PORT` is for this machine alone.
    #[must_use]
    pub fn at(address: &str) -> Self {
        let (bare, taken) = (BarePort::Loopback, TakenAddress::Refused);
        Self { address: address.to_owned(), bare, taken }
    }

    /// Serves the metrics of runs of this plan.
    ///
    /// # Errors
    /// The address is malformed, or taken.
    pub fn open(&self, plan: &Plan) -> Result<Option<PrometheusExporter>, ExitError> {
        let address = &self.address;
        if let (Some(port), BarePort::Loopback) = (address.strip_prefix(':'), self.bare) {
            eprint_line(&format!(
                "metrics are at http://127.0.0.1:{port}/metrics, for this machine only (for other machines: -prometheus-addr=0.0.0.0:{port})"
            ));
        }
        match (PrometheusExporter::start(address, self.bare, target_labels(plan)), self.taken) {
            (Ok(exporter), _) => Ok(Some(exporter)),
            (Err(_), TakenAddress::Ignored) => Ok(None),
            (Err(error), TakenAddress::Refused) => {
                let reason = reason(&error);
                let text =
                    format!("flag -prometheus-addr: cannot listen on \"{address}\": {reason}");
                Err(ExitError::new(ExitCode::Failure, text))
            }
        }
    }
}

impl Displays {
    /// Whether a display needs a row for each request.
    #[must_use]
    pub fn take_rows(&self) -> bool {
        self.terminal == TerminalView::FullScreen || self.page.is_some() || self.metrics.is_some()
    }

    /// Opens all of them for a run of this plan.
    ///
    /// # Errors
    /// The live metrics cannot be served.
    pub fn open(&self, plan: &Plan, interrupts: &Interrupts) -> Result<OpenDisplays, ExitError> {
        let metrics = self.metrics.as_ref().map(|metrics| metrics.open(plan)).transpose()?;
        let page = self.page.as_ref().and_then(|page| Some((page, page.open(interrupts)?)));
        let view = page.as_ref().map(|(request, page)| match request.load {
            LoadOnPage::Changeable => page.controlled_view(plan),
            LoadOnPage::Fixed => page.view(plan),
        });
        let changes_load = page.as_ref().is_some_and(|(page, _)| page.load != LoadOnPage::Fixed);
        Ok(OpenDisplays {
            metrics: metrics.flatten(),
            view,
            terminal: self.terminal.open(plan, interrupts),
            page: page.map(|(_, page)| page),
            changes_load,
        })
    }
}

impl PageRequest {
    /// Serves the page; `None` where its address is taken, which a warning says.
    #[must_use]
    pub fn open(&self, interrupts: &Interrupts) -> Option<LivePage> {
        let page = web::open(&self.address, interrupts)?;
        if self.opened == PageOpened::InBrowser {
            web::browse(&page);
        }
        Some(page)
    }
}

impl TerminalView {
    /// Takes the terminal for a run of this plan.
    #[must_use]
    pub fn open(self, plan: &Plan, interrupts: &Interrupts) -> Option<Box<dyn Observer>> {
        match self {
            Self::Nothing => None,
            Self::Progress => Some(Box::new(Progress::new(plan))),
            Self::ProgressOfAgents(agents) => Some(Box::new(Progress::new(plan).of_agents(agents))),
            Self::FullScreen => {
                tui::open(plan, interrupts).map(|view| Box::new(view) as Box<dyn Observer>)
            }
        }
    }
}

/// The displays of one run.
#[derive(Default)]
pub struct OpenDisplays {
    pub(super) metrics: Option<PrometheusExporter>,
    pub(super) view: Option<LiveView>,
    pub(super) terminal: Option<Box<dyn Observer>>,
    pub(super) page: Option<LivePage>,
    pub(super) changes_load: bool,
}

impl OpenDisplays {
    /// A run on a page that stays for others after it, and on the terminal.
    #[must_use]
    pub fn of_step(view: Option<LiveView>, terminal: Option<Box<dyn Observer>>) -> Self {
        Self { view, terminal, ..Self::default() }
    }

    /// Where a command puts what the live page shows of its own; `None` without a page.
    #[must_use]
    pub fn more_on_page(&self) -> Option<MoreOnPage> {
        self.view.as_ref().map(LiveView::more)
    }
}
