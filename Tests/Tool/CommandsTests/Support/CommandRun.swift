import Base
import CaptureStore
import CommandSyntax
import OutputCollector
import Traffic

@testable import Commands
@testable import Runs
@testable import Views

/// One run of the tool in memory, with what it wrote.
struct CommandRun {
    var arguments: [String] = []
    var variables: [String: String] = [:]
    /// The width of the terminal that both streams go to, `nil` for pipes.
    var terminal: Int?
    var files: [String: [UInt8]] = [:]
    /// The file that is read instead of the sample capture.
    var capture: String?
    /// The files that hold options, the one that counts more first.
    var configuration: [ConfigurationFile] = []

    struct Result {
        let output: [UInt8]
        let diagnostics: [UInt8]
        let code: Int32
    }

    func run() async -> Result {
        let (output, diagnostics) = (Collector(), Collector())
        let environment = environment(output, diagnostics)
        let code = await CommandLineTool.run(arguments: arguments, environment: environment)
        return Result(output: output.bytes, diagnostics: diagnostics.bytes, code: code)
    }

    func environment(_ output: Collector, _ diagnostics: Collector) -> Environment {
        let (files, capture, configuration) = (files, capture, configuration)
        var environment = Environment(
            variables: variables, output: output.stream(terminal),
            diagnostics: diagnostics.stream(terminal),
            clock: { MonotonicTime(nanoseconds: 0) },
            randomBytes: { [UInt8](repeating: 7, count: $0) },
            readFile: { path throws(Failure) in
                if let content = files[path] { return content }
                throw Failure("file-unreadable", party: .tool, "cannot read \(path): no such file")
            },
            openCapture: { path throws(Failure) in
                if let capture { return try CaptureOpening.open(capture) }
                switch path {
                case "session.sallyport": return SampleCapture.source()
                case "contents.sallyport": return SampleContents.source()
                case "calls.sallyport": return SampleCalls.source()
                case "messages.sallyport": return SampleMessages.source()
                case "messages-later.sallyport": return SampleMessages.later()
                case "transfers.sallyport": return SampleTransfers.source()
                case "mild.sallyport": return SampleCapture.mild()
                case "planted.sallyport": return PlantedCapture.source()
                case "later.sallyport": return SampleComparison.later()
                case "empty.sallyport": return FakeTrafficSource()
                default:
                    throw Failure(
                        "capture-unreadable", party: .tool, "cannot read capture: \(path)")
                }
            },
            openAuthority: { configuration throws(Failure) in
                AuthorityRecord(
                    certificatePath: configuration.certificatePath ?? "/state/ca.pem",
                    keyPath: configuration.keyPath ?? "/state/ca.key",
                    subject: "CN=Sallyport CA 7f3a", notBefore: SampleCapture.start,
                    notAfter: Timestamp(microseconds: 2_000_000_000_000_000),
                    sha256: [UInt8](0..<32), certificate: [UInt8](0..<60),
                    scope: configuration.scope)
            })
        environment.configurationFiles = { configuration }
        environment.now = { SampleCapture.start }
        environment.projectPolicy = { files["sallyport.policy"].map { ("sallyport.policy", $0) } }
        environment.fileStreams.open = { path throws(Failure) in
            guard let content = files[path] else { return try InputFile(path: path) }
            var pieces = [content]
            return InputFile(size: Int64(content.count)) { () throws(Failure) in
                pieces.popLast() ?? []
            }
        }
        return environment
    }
}
