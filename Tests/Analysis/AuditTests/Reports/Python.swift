import Foundation
import ProcessStart

/// The parsers that Python brings along, as readers that are not ours.
enum Python {
    static let path = (ProcessInfo.processInfo.environment["PATH"] ?? "")
        .split(separator: ":").map { "\($0)/python3" }
        .first { FileManager.default.isExecutableFile(atPath: $0) }

    /// Runs `script` with `input` on its standard input; returns what it wrote.
    static func run(_ script: String, input: [UInt8]) throws -> String {
        guard let path else { return "" }
        let file = FileManager.default.temporaryDirectory
            .appendingPathComponent("audit-report-\(UUID().uuidString)")
        try Data(input).write(to: file)
        defer { unsafe unlink(file.path) }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: path)
        process.arguments = ["-c", script, file.path]
        let text = try ProcessStart.output(of: process, withErrors: true)
        return String(decoding: text, as: UTF8.self)
    }
}
