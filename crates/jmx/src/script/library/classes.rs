//! The classes that scripts may name: their packages, what they extend, and those that are out of reach.

use crate::script::value::{ListKind, Object, Value};

/// Classes by the packages that they are in.
const CLASSES: &[(&str, &[&str])] = &[
    (
        "java.lang",
        &[
            "Object",
            "String",
            "CharSequence",
            "StringBuilder",
            "StringBuffer",
            "Integer",
            "Long",
            "Double",
            "Float",
            "Short",
            "Byte",
            "Number",
            "Boolean",
            "Character",
            "Math",
            "StrictMath",
            "System",
            "Thread",
            "Iterable",
            "Comparable",
            "Void",
            "Class",
            "InterruptedException",
        ],
    ),
    ("java.math", &["BigDecimal", "BigInteger", "RoundingMode", "MathContext"]),
    (
        "java.util",
        &[
            "UUID",
            "Random",
            "Date",
            "Calendar",
            "GregorianCalendar",
            "TimeZone",
            "Locale",
            "List",
            "ArrayList",
            "LinkedList",
            "Vector",
            "Arrays",
            "Collections",
            "Collection",
            "Map",
            "HashMap",
            "LinkedHashMap",
            "TreeMap",
            "Hashtable",
            "Set",
            "HashSet",
            "LinkedHashSet",
            "TreeSet",
            "Iterator",
            "Entry",
            "Base64",
            "Objects",
            "Properties",
            "Optional",
            "Queue",
            "Deque",
            "ArrayDeque",
            "Stack",
            "StringJoiner",
        ],
    ),
    (
        "java.util.concurrent",
        &[
            "ThreadLocalRandom",
            "TimeUnit",
            "ConcurrentHashMap",
            "CopyOnWriteArrayList",
            "ConcurrentLinkedQueue",
            "LinkedBlockingQueue",
            "ConcurrentLinkedDeque",
        ],
    ),
    ("java.util.concurrent.atomic", &["AtomicInteger", "AtomicLong"]),
    ("java.util.regex", &["Pattern", "Matcher"]),
    ("java.text", &["SimpleDateFormat", "DateFormat", "DecimalFormat", "ParseException"]),
    (
        "java.time",
        &[
            "LocalDate",
            "LocalDateTime",
            "LocalTime",
            "Instant",
            "ZonedDateTime",
            "OffsetDateTime",
            "ZoneId",
            "ZoneOffset",
            "Duration",
            "DateTimeException",
            "Period",
            "DayOfWeek",
        ],
    ),
    ("java.time.format", &["DateTimeFormatter", "DateTimeParseException"]),
    ("java.time.temporal", &["ChronoUnit"]),
    ("java.nio.charset", &["StandardCharsets", "Charset"]),
    ("java.net", &["URLEncoder", "URLDecoder"]),
    ("java.security", &["MessageDigest", "SecureRandom"]),
    ("javax.crypto", &["Mac"]),
    ("javax.crypto.spec", &["SecretKeySpec"]),
    (
        "groovy.json",
        &["JsonSlurper", "JsonSlurperClassic", "JsonOutput", "JsonBuilder", "JsonParserType"],
    ),
    ("groovy.lang", &["Closure", "GString", "Range", "IntRange"]),
    (
        "org.apache.commons.lang3",
        &["StringUtils", "RandomStringUtils", "RandomUtils", "StringEscapeUtils"],
    ),
    ("org.apache.commons.codec.digest", &["DigestUtils"]),
    ("org.apache.commons.codec.binary", &["Hex"]),
    ("org.apache.jmeter.samplers", &["SampleResult", "Sampler", "AbstractSampler"]),
    ("org.apache.jmeter.assertions", &["AssertionResult"]),
    (
        "org.apache.jmeter.threads",
        &[
            "JMeterContext",
            "JMeterContextService",
            "JMeterVariables",
            "JMeterThread",
            "AbstractThreadGroup",
            "ThreadGroup",
        ],
    ),
    ("org.apache.jmeter.util", &["JMeterUtils"]),
    ("org.apache.jmeter.services", &["FileServer"]),
    ("org.apache.jmeter.config", &["Argument", "Arguments"]),
    ("org.apache.jmeter.engine", &["StandardJMeterEngine"]),
    (
        "org.apache.jmeter.protocol.http.control",
        &["Header", "HeaderManager", "Cookie", "CookieManager"],
    ),
    ("org.apache.jmeter.protocol.http.util", &["HTTPArgument"]),
    (
        "org.apache.jmeter.protocol.http.sampler",
        &["HTTPSamplerProxy", "HTTPSamplerBase", "HTTPSampleResult", "HTTPSampler"],
    ),
    ("org.slf4j", &["Logger", "LoggerFactory"]),
    ("java.io", &["PrintStream"]),
];

/// Exceptions, with the package of each and what it extends.
const EXCEPTIONS: &[(&str, &str, &str)] = &[
    ("Throwable", "java.lang", ""),
    ("Exception", "java.lang", "Throwable"),
    ("Error", "java.lang", "Throwable"),
    ("AssertionError", "java.lang", "Error"),
    ("RuntimeException", "java.lang", "Exception"),
    ("IllegalArgumentException", "java.lang", "RuntimeException"),
    ("IllegalStateException", "java.lang", "RuntimeException"),
    ("NumberFormatException", "java.lang", "IllegalArgumentException"),
    ("NullPointerException", "java.lang", "RuntimeException"),
    ("ArithmeticException", "java.lang", "RuntimeException"),
    ("ClassCastException", "java.lang", "RuntimeException"),
    ("UnsupportedOperationException", "java.lang", "RuntimeException"),
    ("NegativeArraySizeException", "java.lang", "RuntimeException"),
    ("IndexOutOfBoundsException", "java.lang", "RuntimeException"),
    ("StringIndexOutOfBoundsException", "java.lang", "IndexOutOfBoundsException"),
    ("ArrayIndexOutOfBoundsException", "java.lang", "IndexOutOfBoundsException"),
    ("NoSuchElementException", "java.util", "RuntimeException"),
    ("PatternSyntaxException", "java.util.regex", "IllegalArgumentException"),
    ("ParseException", "java.text", "Exception"),
    ("DateTimeException", "java.time", "RuntimeException"),
    ("DateTimeParseException", "java.time.format", "DateTimeException"),
    ("NoSuchAlgorithmException", "java.security", "Exception"),
    ("InterruptedException", "java.lang", "Exception"),
    ("IOException", "java.io", "Exception"),
    ("ScriptException", "javax.script", "Exception"),
    ("EvalError", "bsh", "Exception"),
    ("JsonException", "groovy.json", "RuntimeException"),
    ("GroovyRuntimeException", "groovy.lang", "RuntimeException"),
    ("MissingPropertyException", "groovy.lang", "GroovyRuntimeException"),
    ("MissingMethodException", "groovy.lang", "GroovyRuntimeException"),
    ("GroovyCastException", "org.codehaus.groovy.runtime.typehandling", "ClassCastException"),
    ("JMeterStopThreadException", "org.apache.jorphan.util", "RuntimeException"),
    ("JMeterStopTestException", "org.apache.jorphan.util", "RuntimeException"),
    ("JMeterStopTestNowException", "org.apache.jorphan.util", "RuntimeException"),
];

/// Classes that reach what no script may.
const RESERVED: [&str; 30] = [
    "File",
    "FileReader",
    "FileWriter",
    "FileInputStream",
    "FileOutputStream",
    "FileUtils",
    "Files",
    "Path",
    "Paths",
    "BufferedReader",
    "BufferedWriter",
    "PrintWriter",
    "RandomAccessFile",
    "InputStreamReader",
    "Runtime",
    "ProcessBuilder",
    "Process",
    "Socket",
    "ServerSocket",
    "URL",
    "URI",
    "HttpURLConnection",
    "HttpClient",
    "HttpClients",
    "Sql",
    "DriverManager",
    "GroovyShell",
    "ClassLoader",
    "Unsafe",
    "Scanner",
];

/// A class by its simple name.
pub(crate) fn class_named(name: &str) -> Option<&'static str> {
    let exception = EXCEPTIONS.iter().map(|(known, ..)| *known).find(|known| *known == name);
    let plain = || CLASSES.iter().flat_map(|(_, names)| *names).find(|known| **known == name);
    exception.or_else(|| plain().copied())
}

/// Whether a class reaches files, processes or networks.
pub(crate) fn is_reserved(name: &str) -> bool {
    RESERVED.contains(&name)
}

/// A class with its package.
pub(crate) fn full_name(class: &str) -> String {
    let exception = EXCEPTIONS.iter().find(|(known, ..)| *known == class).map(|(_, of, _)| *of);
    let plain = || CLASSES.iter().find(|(_, names)| names.contains(&class)).map(|(of, _)| *of);
    match exception.or_else(plain) {
        Some(package) => format!("{package}.{class}"),
        None => class.to_owned(),
    }
}

/// Whether a class is that of an exception.
pub(super) fn is_exception(class: &str) -> bool {
    EXCEPTIONS.iter().any(|(known, ..)| *known == class)
}

/// Whether an exception is of a class or of one that extends it.
fn extends(class: &str, other: &str) -> bool {
    let mut class = class;
    // The table has no circles; the bound is that of its length.
    for _ in 0..EXCEPTIONS.len() {
        if class == other {
            return true;
        }
        let Some((.., above)) = EXCEPTIONS.iter().find(|(known, ..)| *known == class) else {
            return false;
        };
        class = above;
    }
    false
}

/// Whether a value is of a class.
pub(crate) fn is_kind_of(value: &Value, class: &str) -> bool {
    if let Value::Object(object) = value
        && let Object::Thrown(thrown) = &**object
    {
        return extends(thrown.class, class);
    }
    match (class, value) {
        (_, Value::Null) => false,
        ("Object", _) => true,
        ("Number", value) => value.is_number(),
        ("CharSequence", Value::Text(_)) => true,
        ("Comparable", Value::Text(_)) => true,
        ("Collection" | "Iterable", Value::List(list)) => list.kind() != ListKind::Array,
        ("List" | "ArrayList" | "LinkedList", Value::List(list)) => list.kind() == ListKind::List,
        ("Set" | "HashSet" | "LinkedHashSet", Value::List(list)) => list.kind() == ListKind::Set,
        ("Map" | "HashMap" | "LinkedHashMap", Value::Map(_)) => true,
        ("SampleResult", Value::Host(host)) => host.class() == "HTTPSampleResult",
        ("Calendar", value) => value.class() == "GregorianCalendar",
        (class, value) => value.class() == class,
    }
}
