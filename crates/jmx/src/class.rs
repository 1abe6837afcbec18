//! `Class`: the classes of elements that plans may have. What is not in the table is not built.

/// A class of elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "each is JMeter's class of this name")]
pub enum Class {
    TestPlan,
    ThreadGroup,
    SetupThreadGroup,
    PostThreadGroup,
    OpenModelThreadGroup,
    UltimateThreadGroup,
    ConcurrencyThreadGroup,
    TestFragment,
    WorkBench,
    HttpSampler,
    TestAction,
    DebugSampler,
    GenericController,
    LoopController,
    IfController,
    WhileController,
    OnceOnlyController,
    RandomController,
    RandomOrderController,
    InterleaveControl,
    ThroughputController,
    TransactionController,
    SwitchController,
    ForeachController,
    ModuleController,
    IncludeController,
    RunTime,
    CriticalSection,
    RecordingController,
    Arguments,
    HttpDefaults,
    HeaderManager,
    CookieManager,
    CacheManager,
    AuthManager,
    DnsCacheManager,
    CsvDataSet,
    CounterConfig,
    RandomVariable,
    UserParameters,
    RegexUserParameters,
    SampleTimeout,
    ConstantTimer,
    UniformRandomTimer,
    GaussianRandomTimer,
    PoissonRandomTimer,
    ConstantThroughputTimer,
    PreciseThroughputTimer,
    RegexExtractor,
    BoundaryExtractor,
    JsonExtractor,
    JmesPathExtractor,
    XPathExtractor,
    XPath2Extractor,
    HtmlExtractor,
    ResultAction,
    ResponseAssertion,
    DurationAssertion,
    SizeAssertion,
    JsonAssertion,
    JmesPathAssertion,
    XPathAssertion,
    XPath2Assertion,
    Md5Assertion,
    XmlAssertion,
    ResultCollector,
    Summariser,
    ResultSaver,
    BackendListener,
    OtherListener,
    Jsr223Sampler,
    Jsr223PreProcessor,
    Jsr223PostProcessor,
    Jsr223Assertion,
    Jsr223Timer,
    Jsr223Listener,
    BeanShellSampler,
    BeanShellPreProcessor,
    BeanShellPostProcessor,
    BeanShellAssertion,
    BeanShellTimer,
    BeanShellListener,
}

/// What a class is to the samplers of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The plan itself.
    Plan,
    /// It has threads.
    Group,
    /// It chooses samplers.
    Controller,
    /// It makes a sample, or pauses.
    Sampler,
    /// It is merged into samplers, or sets variables.
    Config,
    /// It runs before each sampler.
    PreProcessor,
    /// Samplers wait for it.
    Timer,
    /// It runs after each sample.
    PostProcessor,
    /// It judges samples.
    Assertion,
    /// It gets results, and does nothing to them.
    Listener,
}

/// The names that a class has in files, without their packages, and what it is.
const TABLE: &[(&[&str], Class, Role)] = &[
    (&["TestPlan"], Class::TestPlan, Role::Plan),
    (&["ThreadGroup"], Class::ThreadGroup, Role::Group),
    (&["SetupThreadGroup"], Class::SetupThreadGroup, Role::Group),
    (&["PostThreadGroup"], Class::PostThreadGroup, Role::Group),
    (&["OpenModelThreadGroup"], Class::OpenModelThreadGroup, Role::Group),
    (&["UltimateThreadGroup"], Class::UltimateThreadGroup, Role::Group),
    (&["ConcurrencyThreadGroup"], Class::ConcurrencyThreadGroup, Role::Group),
    (&["TestFragmentController"], Class::TestFragment, Role::Controller),
    (&["WorkBench"], Class::WorkBench, Role::Plan),
    (
        &["HTTPSamplerProxy", "HTTPSampler", "HTTPSampler2", "HTTPSampler3"],
        Class::HttpSampler,
        Role::Sampler,
    ),
    (&["TestAction"], Class::TestAction, Role::Sampler),
    (&["DebugSampler"], Class::DebugSampler, Role::Sampler),
    (&["GenericController"], Class::GenericController, Role::Controller),
    (&["LoopController"], Class::LoopController, Role::Controller),
    (&["IfController"], Class::IfController, Role::Controller),
    (&["WhileController"], Class::WhileController, Role::Controller),
    (&["OnceOnlyController"], Class::OnceOnlyController, Role::Controller),
    (&["RandomController"], Class::RandomController, Role::Controller),
    (&["RandomOrderController"], Class::RandomOrderController, Role::Controller),
    (&["InterleaveControl"], Class::InterleaveControl, Role::Controller),
    (&["ThroughputController"], Class::ThroughputController, Role::Controller),
    (&["TransactionController"], Class::TransactionController, Role::Controller),
    (&["SwitchController"], Class::SwitchController, Role::Controller),
    (&["ForeachController"], Class::ForeachController, Role::Controller),
    (&["ModuleController"], Class::ModuleController, Role::Controller),
    (&["IncludeController"], Class::IncludeController, Role::Controller),
    (&["RunTime"], Class::RunTime, Role::Controller),
    (&["CriticalSectionController"], Class::CriticalSection, Role::Controller),
    (&["RecordingController"], Class::RecordingController, Role::Controller),
    (&["Arguments"], Class::Arguments, Role::Config),
    (&["ConfigTestElement"], Class::HttpDefaults, Role::Config),
    (&["HeaderManager"], Class::HeaderManager, Role::Config),
    (&["CookieManager"], Class::CookieManager, Role::Config),
    (&["CacheManager"], Class::CacheManager, Role::Config),
    (&["AuthManager"], Class::AuthManager, Role::Config),
    (&["DNSCacheManager"], Class::DnsCacheManager, Role::Config),
    (&["CSVDataSet"], Class::CsvDataSet, Role::Config),
    (&["CounterConfig"], Class::CounterConfig, Role::Config),
    (&["RandomVariableConfig"], Class::RandomVariable, Role::Config),
    (&["UserParameters"], Class::UserParameters, Role::PreProcessor),
    (&["RegExUserParameters"], Class::RegexUserParameters, Role::PreProcessor),
    (&["SampleTimeout"], Class::SampleTimeout, Role::PreProcessor),
    (&["ConstantTimer"], Class::ConstantTimer, Role::Timer),
    (&["UniformRandomTimer"], Class::UniformRandomTimer, Role::Timer),
    (&["GaussianRandomTimer"], Class::GaussianRandomTimer, Role::Timer),
    (&["PoissonRandomTimer"], Class::PoissonRandomTimer, Role::Timer),
    (&["ConstantThroughputTimer"], Class::ConstantThroughputTimer, Role::Timer),
    (&["PreciseThroughputTimer"], Class::PreciseThroughputTimer, Role::Timer),
    (&["RegexExtractor"], Class::RegexExtractor, Role::PostProcessor),
    (&["BoundaryExtractor"], Class::BoundaryExtractor, Role::PostProcessor),
    (&["JSONPostProcessor"], Class::JsonExtractor, Role::PostProcessor),
    (&["JMESPathExtractor"], Class::JmesPathExtractor, Role::PostProcessor),
    (&["XPathExtractor"], Class::XPathExtractor, Role::PostProcessor),
    (&["XPath2Extractor"], Class::XPath2Extractor, Role::PostProcessor),
    (&["HtmlExtractor"], Class::HtmlExtractor, Role::PostProcessor),
    (&["ResultAction"], Class::ResultAction, Role::PostProcessor),
    (&["ResponseAssertion"], Class::ResponseAssertion, Role::Assertion),
    (&["DurationAssertion"], Class::DurationAssertion, Role::Assertion),
    (&["SizeAssertion"], Class::SizeAssertion, Role::Assertion),
    (&["JSONPathAssertion"], Class::JsonAssertion, Role::Assertion),
    (&["JMESPathAssertion"], Class::JmesPathAssertion, Role::Assertion),
    (&["XPathAssertion"], Class::XPathAssertion, Role::Assertion),
    (&["XPath2Assertion"], Class::XPath2Assertion, Role::Assertion),
    (&["MD5HexAssertion"], Class::Md5Assertion, Role::Assertion),
    (&["XMLAssertion"], Class::XmlAssertion, Role::Assertion),
    (&["ResultCollector"], Class::ResultCollector, Role::Listener),
    (&["Summariser"], Class::Summariser, Role::Listener),
    (&["ResultSaver"], Class::ResultSaver, Role::Listener),
    (&["BackendListener"], Class::BackendListener, Role::Listener),
    (&["JSR223Sampler"], Class::Jsr223Sampler, Role::Sampler),
    (&["JSR223PreProcessor"], Class::Jsr223PreProcessor, Role::PreProcessor),
    (&["JSR223PostProcessor"], Class::Jsr223PostProcessor, Role::PostProcessor),
    (&["JSR223Assertion"], Class::Jsr223Assertion, Role::Assertion),
    (&["JSR223Timer"], Class::Jsr223Timer, Role::Timer),
    (&["JSR223Listener"], Class::Jsr223Listener, Role::Listener),
    (&["BeanShellSampler"], Class::BeanShellSampler, Role::Sampler),
    (&["BeanShellPreProcessor"], Class::BeanShellPreProcessor, Role::PreProcessor),
    (&["BeanShellPostProcessor"], Class::BeanShellPostProcessor, Role::PostProcessor),
    (&["BeanShellAssertion"], Class::BeanShellAssertion, Role::Assertion),
    (&["BeanShellTimer"], Class::BeanShellTimer, Role::Timer),
    (&["BeanShellListener"], Class::BeanShellListener, Role::Listener),
    (
        &[
            "CorrectedResultCollector",
            "BSFListener",
            "MailerResultCollector",
            "MailerVisualizer",
            "ViewResultsFullVisualizer",
            "StatVisualizer",
            "TableVisualizer",
            "GraphVisualizer",
            "PropertyControlGui",
            "ProxyControl",
            "DistributionGraphVisualizer",
            "DebugPostProcessor",
            // Of plug-ins: they show or store what was measured, and send nothing to the system under test.
            "PerfMonCollector",
            "JMXMonCollector",
            "DbMonCollector",
            "LoadosophiaUploader",
            "FlexibleFileWriter",
            "GraphsGeneratorListener",
            "ConsoleStatusLogger",
        ],
        Class::OtherListener,
        Role::Listener,
    ),
];

impl Class {
    /// Whether its elements are scripts of JSR 223, in a language that each names.
    #[must_use]
    pub fn is_jsr223(self) -> bool {
        matches!(
            self,
            Self::Jsr223Sampler
                | Self::Jsr223PreProcessor
                | Self::Jsr223PostProcessor
                | Self::Jsr223Assertion
                | Self::Jsr223Timer
                | Self::Jsr223Listener
        )
    }

    /// Whether its elements are scripts of BeanShell.
    #[must_use]
    pub fn is_beanshell(self) -> bool {
        matches!(
            self,
            Self::BeanShellSampler
                | Self::BeanShellPreProcessor
                | Self::BeanShellPostProcessor
                | Self::BeanShellAssertion
                | Self::BeanShellTimer
                | Self::BeanShellListener
        )
    }

    /// The class of a name in a file, with or without its package.
    #[must_use]
    pub fn of(name: &str) -> Option<Self> {
        let short = name.rsplit('.').next().unwrap_or(name);
        TABLE.iter().find(|(names, ..)| names.contains(&short)).map(|(_, class, _)| *class)
    }

    /// What it is to the samplers of a plan.
    #[must_use]
    pub fn role(self) -> Role {
        let row = TABLE.iter().find(|(_, class, _)| *class == self);
        row.map(|(_, _, role)| *role).expect("each class has a row, as a test says")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_do_not_matter() {
        assert_eq!(Class::of("ThreadGroup"), Some(Class::ThreadGroup));
        assert_eq!(Class::of("org.apache.jmeter.threads.ThreadGroup"), Some(Class::ThreadGroup));
        assert_eq!(Class::of("java.lang.Runtime"), None);
        assert_eq!(Class::of(""), None);
    }

    #[test]
    fn names_are_unique_and_classes_have_roles() {
        let mut names: Vec<&str> =
            TABLE.iter().flat_map(|(names, ..)| names.iter().copied()).collect();
        let all = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all);
        assert!(TABLE.iter().all(|(_, class, role)| class.role() == *role));
    }
}
