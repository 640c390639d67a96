// swift-tools-version: 6.2
import PackageDescription

/// What every target is built with: each unsafe expression is marked, a warning is an error, an
/// async function stays on its caller's executor, and an import is visible only where it is written.
let strict: [SwiftSetting] = [
    .strictMemorySafety(),
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .enableExperimentalFeature("Lifetimes"),
]

/// What the compiler calls for libFuzzer in the build of Scripts/fuzz, and the program answers itself
/// (`TouchedCounters`, Comparisons.swift).
let guided: [LinkerSetting] =
    Context.environment["SALLYPORT_FUZZ_GUIDED"] == nil
    ? []
    : [
        .unsafeFlags(
            [
                "8bit_counters_init", "pcs_init", "trace_cmp1", "trace_cmp2", "trace_cmp4",
                "trace_cmp8", "trace_const_cmp1", "trace_const_cmp2", "trace_const_cmp4",
                "trace_const_cmp8",
            ].flatMap { ["-Xlinker", "--wrap=__sanitizer_cov_\($0)"] })
    ]

/// The layers, which are the folders of `Sources` and `Tests`: a target uses those of its own layer
/// and of the layers above it in this list.
let layers: KeyValuePairs<String, [String]> = [
    "C": ["CPlatform", "COpenSSL", "CSQLite", "CCompression", "CNgHTTP2", "CPSL", "CGSSAPI"],
    "System": ["Base", "Sockets", "Confinement", "PublicSuffixes"],
    "Protocols": [
        "HTTPModel", "TLS", "Catalogue", "DNS", "Negotiation", "HTTPCodecs", "Transport", "HTTP2",
    ],
    "Records": [
        "Traffic", "Contents", "Logins", "Redaction", "Recording", "CaptureStore", "Filters",
    ],
    "Network": [
        "Processes", "Origins", "Proxy", "DevicePage", "HTTPClient", "HTTPServer", "Pushes",
        "ContentServer",
    ],
    "Clients": ["Refresh", "Transfer"],
    "Analysis": [
        "Findings", "Formats", "PacketFormats", "Replay", "Comparison", "TransferAnalysis", "Audit",
    ],
    "Tool": [
        "Terminal", "CommandSyntax", "Launching", "Views", "Runs", "Presentation", "Commands",
        "sallyport", "Fuzzing", "sallyport-fuzz",
    ],
]

func layer(of name: String) -> String {
    guard let layer = layers.first(where: { $0.value.contains(name) }) else {
        preconditionFailure("\(name) is in no layer")
    }
    return layer.key
}

func library(_ name: String, _ pkgConfig: String, apt: [String], brew: [String]) -> Target {
    .systemLibrary(
        name: name, path: "Sources/C/\(name)", pkgConfig: pkgConfig,
        providers: [.apt(apt), .brew(brew)])
}

func target(
    _ name: String, _ dependencies: [Target.Dependency], exclude: [String] = [],
    plugins: [Target.PluginUsage] = []
) -> Target {
    .target(
        name: name, dependencies: dependencies, path: "Sources/\(layer(of: name))/\(name)",
        exclude: exclude, swiftSettings: strict, plugins: plugins)
}

func program(
    _ name: String, _ dependencies: [Target.Dependency], linked: [LinkerSetting] = []
) -> Target {
    .executableTarget(
        name: name, dependencies: dependencies, path: "Sources/\(layer(of: name))/\(name)",
        swiftSettings: strict, linkerSettings: linked)
}

func tests(
    of name: String, _ more: [Target.Dependency] = [], exclude: [String] = []
) -> Target {
    .testTarget(
        name: "\(name)Tests", dependencies: [.byName(name: name)] + more,
        path: "Tests/\(layer(of: name))/\(name)Tests", exclude: exclude, swiftSettings: strict)
}

/// What tests share.
func support(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
    .target(
        name: name, dependencies: dependencies, path: "Tests/Support/\(name)",
        swiftSettings: strict)
}

let package = Package(
    name: "sallyport",
    products: [.executable(name: "sallyport", targets: ["sallyport"])],
    targets: [
        // The C libraries, each imported by one target only.
        .systemLibrary(name: "CPlatform", path: "Sources/C/CPlatform"),
        library("COpenSSL", "openssl", apt: ["libssl-dev"], brew: ["openssl@3"]),
        library("CSQLite", "sqlite3", apt: ["libsqlite3-dev"], brew: ["sqlite"]),
        library(
            "CCompression", "zlib", apt: ["zlib1g-dev", "libbrotli-dev", "libzstd-dev"],
            brew: ["zlib", "brotli", "zstd"]),
        library("CNgHTTP2", "libnghttp2", apt: ["libnghttp2-dev"], brew: ["libnghttp2"]),
        library("CPSL", "libpsl", apt: ["libpsl-dev"], brew: ["libpsl"]),
        // Looked for when it is first used: nothing is linked.
        .systemLibrary(name: "CGSSAPI", path: "Sources/C/CGSSAPI"),

        // System
        target("Base", []),
        target("Sockets", ["Base", "CPlatform"]),
        target("Confinement", ["Base", "CPlatform"]),
        target("PublicSuffixes", ["Base", "CPSL"]),
        // Protocols
        target("HTTPModel", ["Base"]),
        target("TLS", ["Base", "COpenSSL"]),
        // Its link to Certs lets the build see that a file has come or gone.
        target("Catalogue", ["Base", "TLS"], exclude: ["Certs"], plugins: ["EmbedCatalogue"]),
        target("DNS", ["Base"]),
        target("Negotiation", ["Base"]),
        target("HTTPCodecs", ["Base", "HTTPModel", "CCompression", "CNgHTTP2"]),
        target("Transport", ["Base", "Sockets", "TLS"]),
        target("HTTP2", ["Base", "HTTPModel", "HTTPCodecs", "Sockets", "Transport"]),
        // Records
        target("Traffic", ["Base"]),
        target("Contents", ["Base", "DNS", "HTTPCodecs", "HTTPModel", "Traffic"]),
        target("Logins", ["Base", "Contents", "Negotiation", "Traffic"]),
        target("Redaction", ["Base", "Contents", "HTTPModel", "Logins", "Traffic"]),
        target(
            "Recording",
            ["Base", "Contents", "HTTPCodecs", "HTTPModel", "Negotiation", "Traffic"]),
        target("CaptureStore", ["Base", "Contents", "Traffic", "CSQLite"]),
        target("Filters", ["Base", "Contents", "HTTPModel", "Traffic"]),
        // Network
        target("Processes", ["Base", "Contents", "Redaction", "Sockets", "Traffic"]),
        target(
            "Origins",
            [
                "Base", "Contents", "HTTP2", "HTTPModel", "HTTPCodecs", "Negotiation", "Sockets",
                "TLS",
                "Traffic", "Transport",
            ]),
        target(
            "Proxy",
            [
                "Base", "HTTP2", "HTTPCodecs", "HTTPModel", "Negotiation", "Origins", "Processes",
                "Recording", "Sockets", "TLS", "Traffic", "Transport",
            ]),
        target(
            "DevicePage",
            ["Base", "Contents", "HTTPCodecs", "HTTPModel", "Proxy", "Sockets", "TLS"]),
        target(
            "HTTPClient",
            [
                "Base", "HTTP2", "HTTPCodecs", "HTTPModel", "Origins", "Recording", "Sockets",
                "TLS", "Traffic", "Transport",
            ]),
        target(
            "HTTPServer",
            ["Base", "HTTP2", "HTTPCodecs", "HTTPModel", "Sockets", "TLS", "Transport"]),
        target("Pushes", ["Base", "Contents"]),
        target(
            "ContentServer",
            [
                "Base", "Contents", "HTTPCodecs", "HTTPModel", "HTTPServer", "Pushes",
                "Redaction", "TLS", "CGSSAPI",
            ]),
        // Clients
        target(
            "Refresh",
            [
                "Base", "Contents", "HTTPClient", "HTTPCodecs", "HTTPModel", "Origins", "Pushes",
                "Sockets", "TLS",
            ]),
        target(
            "Transfer",
            [
                "Base", "CPlatform", "Contents", "HTTPClient", "HTTPCodecs", "HTTPModel", "Origins",
                "Sockets", "TLS", "Transport",
            ]),
        // Analysis
        target(
            "Findings",
            ["Base", "Contents", "DNS", "HTTPCodecs", "HTTPModel", "Logins", "Traffic"]),
        target(
            "Formats",
            ["Base", "Contents", "HTTPCodecs", "HTTPModel", "Recording", "Redaction", "Traffic"]),
        target(
            "PacketFormats",
            [
                "Base", "Contents", "Formats", "HTTPCodecs", "HTTPModel", "Negotiation",
                "Recording", "Redaction", "TLS", "Traffic",
            ]),
        target("Replay", ["Base", "Contents", "HTTPModel", "HTTPCodecs", "Traffic"]),
        target(
            "Comparison",
            ["Base", "Contents", "HTTPCodecs", "HTTPModel", "Redaction", "Replay", "Traffic"]),
        target("TransferAnalysis", ["Base", "Contents", "HTTPModel", "Traffic"]),
        target(
            "Audit",
            ["Base", "Catalogue", "Findings", "Proxy", "Sockets", "TLS", "Traffic"]),
        // Tool
        target("Terminal", ["Base"]),
        target("CommandSyntax", ["Base", "Redaction", "Terminal"]),
        target(
            "Launching",
            [
                "Base", "CPlatform", "Confinement", "Contents", "DNS", "Processes", "Proxy",
                "Sockets", "TLS",
                "Traffic",
            ]),
        target(
            "Views",
            [
                "Base", "Contents", "Filters", "Findings", "Formats", "HTTPCodecs", "HTTPModel",
                "Redaction", "Replay", "Traffic", "TransferAnalysis",
            ]),
        target(
            "Runs",
            [
                "Base", "Audit", "CaptureStore", "Catalogue", "Confinement", "Contents",
                "ContentServer", "DevicePage", "Findings", "Formats", "HTTPClient", "HTTPCodecs",
                "HTTPModel", "HTTPServer", "Launching", "Negotiation", "Origins", "PacketFormats",
                "Processes",
                "Proxy", "PublicSuffixes", "Recording", "Redaction", "Refresh", "Replay", "Sockets",
                "TLS",
                "Traffic", "Transfer", "Transport", "Views",
            ]),
        target(
            "Presentation",
            [
                "Audit", "Base", "Catalogue", "Comparison", "Contents", "Formats", "HTTPModel",
                "Launching", "Proxy", "Redaction", "Refresh", "Replay", "Runs", "TLS", "Terminal",
                "Traffic", "Transfer", "TransferAnalysis", "Views",
            ]),
        target(
            "Commands",
            [
                "Audit", "Base", "CaptureStore", "Catalogue", "CommandSyntax", "Comparison",
                "Confinement", "Contents", "Filters", "Findings", "Formats", "HTTPClient",
                "HTTPCodecs", "Launching", "Origins", "Presentation", "Proxy", "PublicSuffixes",
                "Redaction", "Refresh", "Replay", "Runs", "Sockets", "TLS", "Terminal", "Traffic",
                "Transfer", "Views",
            ]),
        program("sallyport", ["Commands"]),

        // Feeds every reader, and the whole proxy, with bytes that nobody wrote; see Scripts/fuzz.
        target(
            "Fuzzing",
            [
                "Base", "CaptureStore", "Catalogue", "Comparison", "Contents", "DNS", "Filters",
                "Findings", "Formats", "HTTPCodecs", "HTTPModel", "Logins", "Negotiation",
                "Origins", "PacketFormats", "Proxy", "Recording", "Redaction", "Refresh", "Replay",
                "TLS", "Traffic",
                "TransferAnalysis",
            ]),
        program("sallyport-fuzz", ["Base", "Commands", "Fuzzing"], linked: guided),

        // The files in Certs, made a part of the tool when it is built.
        .executableTarget(
            name: "embed-catalogue", dependencies: ["Base"],
            path: "Sources/Protocols/CatalogueEmbedding/Generator", swiftSettings: strict),
        .plugin(
            name: "EmbedCatalogue", capability: .buildTool(), dependencies: ["embed-catalogue"],
            path: "Sources/Protocols/CatalogueEmbedding/Plugin"),

        // Starts programs for tests, one at a time.
        support("ProcessStart"),
        // What tests may take: a thread of their own, a processor for so long.
        support("TestConditions"),
        // Dialogues without TLS, and the logins in them.
        support("LoginRows", ["Base", "Logins", "Traffic"]),
        // What a command writes, kept.
        support("OutputCollector", ["Base", "Terminal"]),
        tests(of: "Base"),
        tests(of: "HTTPModel"),
        tests(of: "Sockets"),
        // Inside of the tool as it is shipped: it starts itself anew in the namespaces.
        tests(of: "Confinement", ["Base", "Sockets", "sallyport"]),
        tests(of: "Processes", ["Base", "CPlatform", "ProcessStart", "Sockets", "Traffic"]),
        tests(of: "TLS", ["Base", "COpenSSL", "ProcessStart", "TestConditions"]),
        tests(of: "Catalogue", ["Base", "COpenSSL", "ProcessStart", "TestConditions", "TLS"]),
        tests(of: "Transport", ["Base", "Sockets", "TLS"]),
        tests(of: "PublicSuffixes"),
        tests(of: "DNS", ["Base"]),
        tests(of: "Traffic"),
        tests(of: "Contents", ["Base", "TestConditions", "Traffic"]),
        tests(of: "Redaction", ["Base", "Logins", "TestConditions", "Traffic"]),
        tests(of: "Negotiation", ["Base"]),
        // Frames of HTTP/2 written by hand, for peers that no sound library would play.
        support("HTTP2Frames"),
        tests(of: "HTTPCodecs", ["HTTPModel", "Base", "HTTP2Frames"]),
        tests(
            of: "HTTP2",
            ["Base", "HTTPCodecs", "HTTPModel", "HTTP2Frames", "Sockets", "Transport"]),
        tests(of: "Recording", ["Base", "HTTPCodecs", "Traffic"]),
        tests(of: "CaptureStore", ["Base", "Contents", "HTTPModel", "Traffic"]),
        tests(of: "Filters", ["Base", "HTTPModel", "TestConditions", "Traffic"]),
        tests(
            of: "Findings",
            [
                "Base", "Contents", "HTTPModel", "LoginRows", "Logins", "Redaction",
                "TestConditions", "Traffic",
            ]),
        tests(
            of: "Formats",
            [
                "Base", "CaptureStore", "Contents", "HTTPCodecs", "ProcessStart", "Recording",
                "TLS",
                "Traffic",
            ]),
        tests(
            of: "HTTPClient",
            [
                "Base", "Contents", "HTTP2", "HTTP2Frames", "HTTPCodecs", "HTTPModel", "Origins",
                "Recording",
                "Sockets", "TLS", "Traffic", "Transport",
            ]),
        tests(
            of: "Transfer",
            [
                "Base", "ContentServer", "Contents", "HTTPClient", "HTTPCodecs", "HTTPModel",
                "HTTPServer", "Origins", "Recording", "Sockets", "TLS",
            ]),
        tests(of: "TransferAnalysis", ["Base", "Contents", "HTTPModel", "TLS", "Traffic"]),
        tests(
            of: "Replay",
            ["Base", "Contents", "HTTPCodecs", "HTTPModel", "TestConditions", "Traffic"]),
        tests(
            of: "Comparison",
            ["Base", "HTTPCodecs", "HTTPModel", "Replay", "TestConditions", "Traffic"]),
        tests(
            of: "PacketFormats",
            [
                "Base", "CaptureStore", "Findings", "Formats", "HTTP2Frames", "HTTPCodecs",
                "ProcessStart", "Recording", "TestConditions", "TLS", "Traffic",
            ]),
        tests(
            of: "HTTPServer",
            [
                "Base", "HTTP2", "HTTP2Frames", "HTTPCodecs", "HTTPModel", "Sockets", "TLS",
                "Transport",
            ]),
        tests(of: "Origins", ["Base", "Contents", "Negotiation", "Sockets", "Transport"]),
        tests(
            of: "Proxy",
            [
                "Base", "CaptureStore", "COpenSSL", "Findings", "Formats", "HTTP2Frames",
                "HTTPCodecs", "HTTPModel", "LoginRows", "Origins", "PacketFormats",
                "ProcessStart", "Recording", "Sockets", "TestConditions", "TLS", "Traffic",
                "Transport",
            ]),
        tests(
            of: "DevicePage", ["Base", "HTTPCodecs", "HTTPModel", "Proxy", "Sockets", "TLS"]),
        // Real clients against the servers of probes.
        tests(
            of: "Audit",
            [
                "Base", "Catalogue", "Findings", "ProcessStart", "Proxy", "Sockets",
                "TestConditions", "TLS", "Traffic",
            ]),
        tests(of: "Pushes", ["Base"]),
        tests(
            of: "Refresh",
            [
                "Base", "ContentServer", "Contents", "HTTPClient", "HTTPModel", "HTTPServer",
                "Origins", "Recording", "Sockets", "TLS", "Traffic",
            ]),
        // Requests for ranges and with preconditions, and what they must be answered with.
        support("RangeVectors"),
        tests(
            of: "ContentServer",
            [
                "Base", "Contents", "HTTPCodecs", "HTTPModel", "HTTPServer", "RangeVectors",
                "Sockets", "TLS", "TestConditions", "Transport",
            ]),
        tests(of: "Terminal", ["Base", "OutputCollector"]),
        tests(of: "CommandSyntax", ["Base"]),
        tests(
            of: "Launching",
            [
                "Base"
            ]),
        tests(
            of: "Views",
            [
                "Base", "Contents", "HTTPCodecs", "Replay", "Traffic",
            ]),
        tests(
            of: "Runs",
            [
                "Base", "ContentServer", "Contents", "Findings", "HTTPClient", "HTTPModel",
                "HTTPServer", "Launching", "Origins", "ProcessStart", "Proxy", "Recording",
                "Refresh", "Sockets", "TLS", "Traffic",
                "Transfer", "Views",
            ]),
        tests(
            of: "Presentation",
            [
                "Audit", "Base", "Catalogue", "OutputCollector", "Proxy", "Runs", "Terminal",
                "Transfer", "Views",
            ]),
        tests(
            of: "Commands",
            [
                "Audit", "Base", "CaptureStore", "Catalogue", "CommandSyntax", "Contents",
                "Filters", "Findings", "OutputCollector", "Presentation", "Terminal",
                "Formats", "HTTPClient", "HTTPCodecs", "Launching", "LoginRows", "Logins",
                "Negotiation", "Origins", "Proxy", "Refresh", "Replay", "Runs", "TestConditions",
                "TLS", "Traffic", "Transfer", "Views",
            ],
            exclude: ["Cases"]),
        tests(of: "Fuzzing"),
        // Real clients through the tool as it is shipped.
        .testTarget(
            name: "RealClientTests", dependencies: ["sallyport", "ProcessStart", "RangeVectors"],
            exclude: ["Clients", "Servers", "Uses"], swiftSettings: strict),
    ]
)
