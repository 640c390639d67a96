import Foundation
import ProcessStart

/// A program that runs, with its output in files; it does not outlive the value.
///
/// `@unchecked Sendable`: the process is started before the value is shared, and what is called on
/// it afterwards, `isRunning` and `processIdentifier`, Foundation guards by a lock of its own.
final class Program: @unchecked Sendable {
    let arguments: [String]
    private let process = Process()
    private let outputPath: String
    private let errorsPath: String
    private let lastSignal: Int32
    private let ending: Ending

    /// - Parameters:
    ///   - peer: the program, or `nil` as its path if it is missing, which throws.
    ///   - input: a file for its standard input; the null device if there is none.
    ///   - variables: added to the few that every program gets.
    ///   - lastSignal: ends it with the value; one that it handles if it has children to end.
    init(
        _ peer: Peer, _ arguments: [String], in folder: Folder, input: FileHandle? = nil,
        variables: [String: String] = [:], lastSignal: Int32 = SIGKILL
    ) throws {
        guard let path = peer.path else { throw Trouble("there is no \(peer.name)") }
        self.arguments = [path] + arguments
        let name = UUID().uuidString
        outputPath = try folder.write("output/\(name).out", "")
        errorsPath = try folder.write("output/\(name).err", "")
        process.executableURL = URL(fileURLWithPath: path)
        process.arguments = arguments
        process.currentDirectoryURL = folder.url
        process.environment = Self.environment(of: folder).merging(variables) { $1 }
        process.standardInput = input ?? FileHandle.nullDevice
        let output = try FileHandle(forWritingTo: URL(fileURLWithPath: outputPath))
        let errors = try FileHandle(forWritingTo: URL(fileURLWithPath: errorsPath))
        process.standardOutput = output
        process.standardError = errors
        self.lastSignal = lastSignal
        let ending = Ending()
        self.ending = ending
        process.terminationHandler = { ending.finish($0.terminationStatus) }
        try ProcessStart.alone { try process.run() }
        // Foundation keeps a process and its handles for good, and reads beyond its buffer when it
        // starts one while more than a thousand descriptors are open.
        try output.close()
        try errors.close()
    }

    deinit {
        send(lastSignal)
    }

    var processID: Int32 { process.processIdentifier }
    var isRunning: Bool { process.isRunning }
    var output: Data { read(outputPath) }
    var errors: Data { read(errorsPath) }

    /// The command and what it said, for the text of a failure.
    var story: String {
        let said = [output, errors].map { String(decoding: $0.suffix(4000), as: UTF8.self) }
        return ([arguments.joined(separator: " ")] + said).joined(separator: "\n")
    }

    func send(_ signal: Int32) {
        if process.isRunning { kill(process.processIdentifier, signal) }
    }

    /// How long a program may take: so much only where it hangs, or the machine has far more to do than this.
    static let patience = Duration.seconds(240)

    /// Waits for its end; it is killed if that takes too long.
    ///
    /// - Returns: its exit code, or the number of the signal that ended it.
    func end(within limit: Duration = Program.patience) async throws -> Int32 {
        let timer = Task {
            try await Task.sleep(for: limit)
            send(SIGKILL)
            // What it has started may hold what tells of its end.
            Task { [ending] in
                try await Task.sleep(for: .seconds(10))
                ending.finish(SIGKILL)
            }
        }
        let code = await ending.code()
        timer.cancel()
        if case .success = await timer.result { throw Trouble("killed after \(limit): \(story)") }
        return code
    }

    /// Runs a program that must end with 0.
    @discardableResult
    static func run(
        _ peer: Peer, _ arguments: [String], in folder: Folder, input: FileHandle? = nil,
        variables: [String: String] = [:], within limit: Duration = Program.patience
    ) async throws -> Data {
        let program = try Program(
            peer, arguments, in: folder, input: input, variables: variables)
        let code = try await program.end(within: limit)
        guard code == 0 else { throw Trouble("exit code \(code) of \(program.story)") }
        return program.output
    }

    /// Nothing of the user's: neither settings nor a home that programs could read or change.
    private static func environment(of folder: Folder) -> [String: String] {
        [
            "PATH": Peer.variables["PATH"] ?? "/usr/bin:/bin", "HOME": folder.path,
            "TMPDIR": folder.path, "LANG": "C.UTF-8", "XDG_STATE_HOME": folder.path("state"),
            "NO_PROXY": "", "no_proxy": "", "NODE_PATH": Peer.nodePath,
        ]
    }

    private func read(_ path: String) -> Data {
        FileManager.default.contents(atPath: path) ?? Data()
    }
}

/// The exit code of a program, for one who waits.
private final class Ending: Sendable {
    private let codes: AsyncStream<Int32>
    private let continuation: AsyncStream<Int32>.Continuation

    init() {
        (codes, continuation) = AsyncStream.makeStream()
    }

    func finish(_ code: Int32) {
        continuation.yield(code)
        continuation.finish()
    }

    func code() async -> Int32 {
        for await code in codes { return code }
        return -1
    }
}
