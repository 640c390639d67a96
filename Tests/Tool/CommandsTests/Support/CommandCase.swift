import Base
import Foundation

/// One case of the command line: a text file of sections, each under a line `=== name`.
///
/// `arguments` has one argument a line; `terminal` the width of a terminal, if there is one;
/// `variable NAME` the value of an environment variable; `file NAME` the content of a file;
/// then `stdout`, `stderr` and `exit`. In the text of an output, `␛` and `␍` stand for their
/// control characters and `�` for bytes that are no UTF-8; a last line `⏎` without a line end after
/// it marks an output that does not end in a line end.
struct CommandCase: CustomStringConvertible, Sendable {
    let name: String
    var run = CommandRun()
    var output = ""
    var diagnostics = ""
    var code: Int32 = 0
    private var inputs = ""

    var description: String { name }

    static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().appendingPathComponent("Cases")

    /// Every case, by name.
    static func all() -> [CommandCase] {
        do {
            let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
            return try names.filter { $0.hasSuffix(".case") }.sorted().map { file in
                let path = folder.appendingPathComponent(file)
                let name = String(file.dropLast(5))
                return CommandCase(name: name, text: try String(contentsOf: path, encoding: .utf8))
            }
        } catch {
            preconditionFailure("the cases cannot be read: \(error)")
        }
    }

    init(name: String, text: String) {
        self.name = name
        var title = ""
        var lines: [Substring] = []
        let end: [Substring] = ["=== end"]
        let text = text.hasSuffix("\n") ? text.dropLast() : text[...]
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) + end {
            guard line.hasPrefix("=== ") else {
                lines.append(line)
                continue
            }
            take(lines, as: title)
            title = String(line.dropFirst(4))
            lines = []
        }
    }

    private mutating func take(_ lines: [Substring], as title: String) {
        let text = lines.isEmpty ? "" : lines.joined(separator: "\n") + "\n"
        let words = title.split(separator: " ", maxSplits: 1).map(String.init)
        switch words.first {
        case "arguments": run.arguments = lines.map(String.init)
        case "terminal": run.terminal = lines.first.flatMap { Int($0) }
        case "variable": run.variables[words[1]] = lines.first.map(String.init)
        case "file": run.files[words[1]] = [UInt8](text.utf8)
        case "stdout": output = text
        case "stderr": diagnostics = text
        case "exit": code = lines.first.flatMap { Int32($0) } ?? -1
        default: break
        }
        if !["stdout", "stderr", "exit"].contains(words.first) {
            inputs += title.isEmpty ? text : "=== \(title)\n\(text)"
        }
    }

    /// Writes what a run gave as what is expected from now on, for a person to review.
    func accept(_ result: CommandRun.Result) throws {
        let text =
            inputs + "=== stdout\n" + Self.shown(result.output) + "=== stderr\n"
            + Self.shown(result.diagnostics) + "=== exit\n\(result.code)\n"
        let path = Self.folder.appendingPathComponent(name + ".case")
        try text.write(to: path, atomically: true, encoding: .utf8)
    }

    /// An output as the file shows it.
    static func shown(_ bytes: [UInt8]) -> String {
        var text = bytes.text.replacingOccurrences(of: "\u{1B}", with: "␛")
        text = text.replacingOccurrences(of: "\r", with: "␍")
        return text.isEmpty || text.utf8.last == 0x0A ? text : text + "⏎\n"
    }
}
