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

func target(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .target(name: name, dependencies: dependencies, swiftSettings: strict)
}

func tests(
    of name: String, _ more: [Target.Dependency] = [], exclude: [String] = []
) -> Target {
    .testTarget(
        name: "\(name)Tests", dependencies: [.byName(name: name)] + more, exclude: exclude,
        swiftSettings: strict)
}

let package = Package(
    name: "sallyport",
    products: [.executable(name: "sallyport", targets: ["sallyport"])],
    targets: [
        // The C libraries, each imported by one target only.
        .systemLibrary(name: "CPlatform"),
        .systemLibrary(
            name: "COpenSSL", pkgConfig: "openssl",
            providers: [.apt(["libssl-dev"]), .brew(["openssl@3"])]),
        .systemLibrary(
            name: "CSQLite", pkgConfig: "sqlite3",
            providers: [.apt(["libsqlite3-dev"]), .brew(["sqlite"])]),
        .systemLibrary(
            name: "CCompression", pkgConfig: "zlib",
            providers: [
                .apt(["zlib1g-dev", "libbrotli-dev", "libzstd-dev"]),
                .brew(["zlib", "brotli", "zstd"]),
            ]),
        .systemLibrary(
            name: "CNgHTTP2", pkgConfig: "libnghttp2",
            providers: [.apt(["libnghttp2-dev"]), .brew(["libnghttp2"])]),
        .systemLibrary(
            name: "CPSL", pkgConfig: "libpsl",
            providers: [.apt(["libpsl-dev"]), .brew(["libpsl"])]),

        // 0
        target("Base", []),
        // 1
        target("HTTPModel", ["Base"]),
        target("Sockets", ["Base", "CPlatform"]),
        target("Confinement", ["Base", "CPlatform"]),
        target("TLS", ["Base", "COpenSSL"]),
        target("PublicSuffixes", ["Base", "CPSL"]),
        // 2
        // Its link to Certs lets the build see that a file has come or gone.
        .target(
            name: "Catalogue", dependencies: ["Base", "TLS"], exclude: ["Certs"],
            swiftSettings: strict, plugins: ["EmbedCatalogue"]),
        target("DNS", ["Base"]),
        target("Traffic", ["Base", "HTTPModel"]),
        target("Transport", ["Base", "Sockets", "TLS"]),
        target("Redaction", ["Base", "HTTPModel", "Traffic"]),
        target("HTTPCodecs", ["Base", "HTTPModel", "CCompression", "CNgHTTP2"]),
        target("HTTP2", ["Base", "HTTPModel", "HTTPCodecs", "Sockets", "Transport"]),
        target("Negotiation", ["Base"]),
        target("Messages", ["Base", "HTTPCodecs", "HTTPModel", "Traffic"]),
        // 3
        target(
            "Proxy",
            [
                "Base", "HTTP2", "HTTPModel", "HTTPCodecs", "Messages", "Negotiation", "Processes",
                "Sockets", "TLS", "Traffic", "Transport",
            ]),
        target(
            "HTTPClient",
            [
                "Base", "HTTP2", "HTTPModel", "HTTPCodecs", "Messages", "Sockets", "TLS", "Traffic",
                "Transport",
            ]),
        target("HTTPServer", ["Base", "HTTPModel", "HTTPCodecs", "Sockets", "TLS", "Transport"]),
        target("CaptureStore", ["Base", "HTTPModel", "Traffic", "CSQLite"]),
        target("Findings", ["Base", "HTTPModel", "Redaction", "Traffic"]),
        target("Replay", ["Base", "HTTPModel", "HTTPCodecs", "Traffic"]),
        target("Filters", ["Base", "HTTPModel", "Traffic"]),
        target("Formats", ["Base", "HTTPCodecs", "HTTPModel", "Redaction", "Traffic"]),
        target("Processes", ["Base", "Redaction", "Sockets", "Traffic"]),
        target("Transfers", ["Base", "HTTPModel", "Traffic"]),
        target(
            "Comparison",
            ["Base", "HTTPCodecs", "HTTPModel", "Redaction", "Replay", "Traffic"]),
        // 4
        target(
            "PacketFormats",
            [
                "Base", "Formats", "HTTPCodecs", "HTTPModel", "Messages", "Redaction", "TLS",
                "Traffic",
            ]),
        target(
            "Audit",
            ["Base", "Catalogue", "Findings", "HTTPModel", "Proxy", "Sockets", "TLS", "Traffic"]),
        target("ContentServer", ["Base", "HTTPModel", "HTTPCodecs", "HTTPServer", "TLS"]),
        // The tool
        target(
            "Commands",
            [
                "Audit", "Base", "CaptureStore", "Catalogue", "Comparison", "Confinement",
                "ContentServer", "DNS", "Filters", "Findings", "Formats", "HTTPClient",
                "HTTPCodecs", "HTTPModel", "HTTPServer", "Negotiation", "PacketFormats", "Proxy",
                "PublicSuffixes",
                "Redaction", "Replay", "Sockets", "TLS", "Traffic", "Transfers", "Transport",
            ]),
        .executableTarget(name: "sallyport", dependencies: ["Commands"], swiftSettings: strict),

        // Feeds every reader, and the whole proxy, with bytes that nobody wrote; see Scripts/fuzz.
        target(
            "Fuzzing",
            [
                "Base", "CaptureStore", "Catalogue", "Comparison", "DNS", "Filters", "Findings",
                "Formats", "HTTPCodecs", "HTTPModel", "Negotiation", "PacketFormats", "Proxy",
                "Redaction", "Replay", "TLS", "Traffic", "Transfers",
            ]),
        .executableTarget(
            name: "sallyport-fuzz", dependencies: ["Base", "Commands", "Fuzzing"],
            swiftSettings: strict),

        // The files in Certs, made a part of the tool when it is built.
        .executableTarget(
            name: "embed-catalogue", dependencies: ["Base"],
            path: "Sources/CatalogueEmbedding/Generator", swiftSettings: strict),
        .plugin(
            name: "EmbedCatalogue", capability: .buildTool(), dependencies: ["embed-catalogue"],
            path: "Sources/CatalogueEmbedding/Plugin"),

        // Starts programs for tests, one at a time.
        .target(name: "ProcessStart", path: "Tests/ProcessStart", swiftSettings: strict),
        // What tests may take: a thread of their own, a processor for so long.
        .target(name: "TestConditions", path: "Tests/TestConditions", swiftSettings: strict),
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
        tests(of: "Redaction", ["Base", "TestConditions", "Traffic"]),
        tests(of: "Negotiation", ["Base"]),
        // Frames of HTTP/2 written by hand, for peers that no sound library would play.
        .target(name: "HTTP2Frames", path: "Tests/HTTP2Frames", swiftSettings: strict),
        tests(of: "HTTPCodecs", ["HTTPModel", "Base", "HTTP2Frames"]),
        tests(
            of: "HTTP2",
            ["Base", "HTTPCodecs", "HTTPModel", "HTTP2Frames", "Sockets", "Transport"]),
        tests(of: "CaptureStore", ["Traffic", "HTTPModel", "Base"]),
        tests(of: "Filters", ["Base", "HTTPModel", "TestConditions", "Traffic"]),
        tests(of: "Findings", ["Traffic", "HTTPModel", "Base"]),
        tests(
            of: "Formats",
            ["Base", "CaptureStore", "HTTPCodecs", "ProcessStart", "TLS", "Traffic"]),
        tests(
            of: "HTTPClient",
            [
                "Base", "HTTP2", "HTTP2Frames", "HTTPCodecs", "HTTPModel", "Sockets", "Traffic",
                "Transport",
            ]),
        tests(of: "Transfers", ["Base", "HTTPModel", "TLS", "Traffic"]),
        tests(of: "Replay", ["Base", "HTTPCodecs", "HTTPModel", "TestConditions", "Traffic"]),
        tests(of: "Comparison", ["Base", "HTTPModel", "Replay", "TestConditions", "Traffic"]),
        tests(
            of: "PacketFormats",
            [
                "Base", "CaptureStore", "Formats", "HTTP2Frames", "HTTPCodecs", "Messages",
                "ProcessStart", "TestConditions", "TLS", "Traffic",
            ]),
        tests(
            of: "HTTPServer", ["Base", "HTTPCodecs", "HTTPModel", "Sockets", "TLS", "Transport"]),
        tests(
            of: "Proxy",
            [
                "Base", "COpenSSL", "HTTP2Frames", "HTTPCodecs", "HTTPModel", "ProcessStart",
                "Sockets", "TestConditions", "TLS", "Traffic", "Transport",
            ]),
        // Real clients against the servers of probes.
        tests(
            of: "Audit",
            [
                "Base", "Catalogue", "Findings", "ProcessStart", "Proxy", "Sockets",
                "TestConditions", "TLS", "Traffic",
            ]),
        // Requests for ranges and with preconditions, and what they must be answered with.
        .target(name: "RangeVectors", path: "Tests/RangeVectors", swiftSettings: strict),
        tests(
            of: "ContentServer", ["HTTPModel", "HTTPServer", "Base", "RangeVectors", "Sockets"]),
        tests(
            of: "Commands",
            [
                "Audit", "Base", "CaptureStore", "Catalogue", "Filters", "Findings", "Formats",
                "HTTPClient", "HTTPCodecs", "Negotiation", "Proxy", "Replay", "TLS", "Traffic",
            ],
            exclude: ["Cases"]),
        tests(of: "Fuzzing"),
        // Real clients through the tool as it is shipped.
        .testTarget(
            name: "RealClientTests", dependencies: ["sallyport", "ProcessStart", "RangeVectors"],
            exclude: ["Clients", "Servers"], swiftSettings: strict),
    ]
)
