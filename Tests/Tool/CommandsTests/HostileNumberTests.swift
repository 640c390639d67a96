import Base
import Foundation
import Testing
import Traffic

@testable import CaptureStore
@testable import Commands
@testable import Formats

/// Files that somebody else made, with numbers in them that nobody can have counted: every command
/// ends with a code.
///
/// A trap ends the whole test run; that this one ends at all is what it shows.
struct HostileNumberTests {
    static let numbers: [Int64] = [.min, -1, 0, .max]

    /// What reads a capture; FOLDER is one of its own.
    static let commands = [
        "flows list CAPTURE", "flows list CAPTURE --json --with-secrets",
        "flows list CAPTURE --transfers", "flows list CAPTURE --transfers --json",
        "flows list CAPTURE --filter size>1&duration>1ms&status>1&time>07:05|body~zzz",
        "flows show CAPTURE 12", "flows show CAPTURE 15 --part request-body",
        "flows show CAPTURE 14 --as curl", "connections CAPTURE", "connections CAPTURE --json",
        "connections CAPTURE 6", "messages CAPTURE 6 --full", "messages CAPTURE 7 --json",
        "messages CAPTURE 8", "check CAPTURE --json", "check CAPTURE --filter size>1",
        "export CAPTURE --format har --with-secrets", "export CAPTURE --format har",
        "export CAPTURE --format mitmproxy --with-secrets",
        "export CAPTURE --format pcapng --with-secrets", "export CAPTURE --format pcapng",
        "export CAPTURE --format bodies --output FOLDER/bodies", "replay diff CAPTURE CAPTURE",
        "replay learn CAPTURE CAPTURE", "import FOLDER/more0.har --capture CAPTURE",
    ]

    /// The columns of a capture that hold numbers, by their tables.
    static let columns = [
        "connection": [
            "id", "opened_us", "closed_us", "origin_port", "origin_reused", "client_received",
            "client_sent", "origin_received", "origin_sent", "exchanges", "messages", "process_id",
            "policy_version",
        ],
        "certificate": ["id"],
        "client_tls": ["connection", "resumed", "completed"],
        "origin_tls": ["connection", "resumed", "completed"],
        "exchange": [
            "id", "connection", "started_us", "duration_us", "first_byte_us", "status",
            "request_size", "response_size", "request_truncated", "response_truncated",
            "request_chunks", "response_chunks", "request_body", "response_body",
            "answered_by_tool", "interims", "stream", "grpc_status",
        ],
        "interim": ["exchange", "position"],
        "change": ["number"],
        "chunk": ["id", "size", "coding"],
        "part": ["exchange", "sequence", "chunk"],
        "message": [
            "connection", "number", "part", "exchange", "at_us", "size", "chunk", "offset",
            "is_last", "truncated",
        ],
    ]

    static var columnNames: [String] {
        var names: [String] = []
        for (table, columns) in columns { names += columns.map { "\(table).\($0)" } }
        return names.sorted()
    }

    @Test func knowsEveryColumn() throws {
        let home = try Folder()
        let folder = home.path
        let path = folder + "/a"
        try RecordedCaptureTests.record(SampleCapture.source(), to: path)
        let database = try Database(path: path, access: .read)
        let names = try database.prepare(
            "SELECT tables.name, columns.name FROM sqlite_schema AS tables, "
                + "pragma_table_info(tables.name) AS columns "
                + "WHERE tables.type = 'table' AND columns.type = 'INTEGER'")
        var found: [String: Set<String>] = [:]
        while try names.next() { found[names.text(), default: []].insert(names.text()) }
        #expect(found == Self.columns.mapValues { Set($0) })
        withExtendedLifetime(home) {}
    }

    /// The commands are sound: nothing but the numbers ends them otherwise.
    @Test func runsOnWhatWasNotEdited() async throws {
        let home = try Folder()
        let original = try await Self.capture(in: home.path)
        for command in Self.commands {
            let code = await Self.run(command, original, home.path)
            #expect([0, 1].contains(code), "\(command)")
        }
        withExtendedLifetime(home) {}
    }

    @Test(arguments: columnNames)
    func endsWithACode(column: String) async throws {
        let words = column.split(separator: ".")
        let (table, name) = (words[0], words[1])
        let home = try Folder()
        let folder = home.path
        let original = try await Self.capture(in: folder)
        for number in Self.numbers {
            let path = "\(folder)/edited\(number)"
            try FileManager.default.copyItem(atPath: original, toPath: path)
            // Where it has to be unique, the first row gets it.
            try Self.edit(path, ["UPDATE OR IGNORE \(table) SET \(name) = \(number)"])
            await Self.runAll(on: path, "\(column) = \(number)", in: folder)
        }
        withExtendedLifetime(home) {}
    }

    @Test func endsWithACodeOfSeveralAtOnce() async throws {
        let every = Self.columns.flatMap { table, names in
            names.map { (table: table, name: $0) }
        }.filter { !["id", "exchange", "connection", "chunk"].contains($0.name) }
        let home = try Folder()
        let folder = home.path
        let original = try await Self.capture(in: folder)
        for number in Self.numbers {
            let path = "\(folder)/edited\(number)"
            try FileManager.default.copyItem(atPath: original, toPath: path)
            try Self.edit(
                path,
                every.map { "UPDATE OR IGNORE \($0.table) SET \($0.name) = \(number)" })
            await Self.runAll(on: path, "all = \(number)", in: folder)
        }
        withExtendedLifetime(home) {}
    }

    private static let fileNumbers = ["-9223372036854775808", "-1", "0", "9223372036854775807"]

    /// Every member of our own HAR that is a number, and the most that tools write.
    @Test(arguments: fileNumbers + ["1e308", "-1e308", "9e18"])
    func endsWithACodeForHAR(number: String) async throws {
        let home = try Folder()
        let folder = home.path
        let original = try await Self.capture(in: folder)
        let file = folder + "/a.har"
        _ = await Self.run("export CAPTURE --format har --with-secrets --output \(file)", original)
        let text = try String(contentsOfFile: file, encoding: .utf8)
        let names = try Self.memberNames(in: text)
        #expect(names.count > 20)
        for name in names {
            let edited = try Self.setting(name, to: number, in: text)
            try Data(edited.utf8).write(to: URL(fileURLWithPath: file))
            let path = "\(folder)/\(name)"
            let code = await Self.run("import \(file) --capture \(path)", "")
            #expect((0...4).contains(code), "\(name)")
            guard FileManager.default.fileExists(atPath: path) else { continue }
            for command in ["check CAPTURE", "export CAPTURE --format har", "flows list CAPTURE"] {
                let code = await Self.run(command, path)
                #expect((0...4).contains(code), "\(name), \(command)")
            }
        }
        withExtendedLifetime(home) {}
    }

    private static func memberNames(in text: String) throws -> Set<String> {
        let member = try Regex(#""(\w+)":-?[0-9][0-9.]*"#)
        return Set(text.matches(of: member).compactMap { $0.output[1].substring.map(String.init) })
    }

    private static func setting(
        _ name: String, to number: String, in text: String
    ) throws -> String {
        let member = try Regex("\"\(name)\":-?[0-9][0-9.]*")
        return text.replacing(member, with: "\"\(name)\":\(number)")
    }

    /// Every number of our own dump for mitmproxy.
    @Test(arguments: fileNumbers)
    func endsWithACodeForMitmproxy(number: String) async throws {
        let home = try Folder()
        let folder = home.path
        let original = try await Self.capture(in: folder)
        let file = folder + "/a.mitm"
        _ = await Self.run(
            "export CAPTURE --format mitmproxy --with-secrets --output \(file)", original)
        var reader = TnetstringReader(itemByteLimit: 1 << 20)
        reader.append([UInt8](try Data(contentsOf: URL(fileURLWithPath: file))))
        reader.finish()
        var edited: [UInt8] = []
        while let flow = try reader.next()?.value {
            edited += Self.spelled(flow, number: number)
        }
        try Data(edited).write(to: URL(fileURLWithPath: file))
        let path = "\(folder)/imported"
        let code = await Self.run("import \(file) --capture \(path)", "")
        #expect((0...4).contains(code))
        guard FileManager.default.fileExists(atPath: path) else { return }
        await Self.runAll(on: path, "all = \(number)", in: folder)
        withExtendedLifetime(home) {}
    }

    /// A value with other numbers in it, as the file has it.
    private static func spelled(_ value: TnetstringValue, number: String) -> [UInt8] {
        switch value {
        case .null: framed([], "~")
        case .boolean(let isTrue): framed(Array((isTrue ? "true" : "false").utf8), "!")
        case .integer: framed(Array(number.utf8), "#")
        case .float: framed(Array("\(number).0".utf8), "^")
        case .bytes(let bytes): framed(bytes, ",")
        case .string(let bytes): framed(bytes, ";")
        case .list(let elements):
            framed(elements.flatMap { spelled($0, number: number) }, "]")
        case .dictionary(let members):
            framed(
                members.flatMap {
                    framed(Array($0.name.utf8), ";") + spelled($0.value, number: number)
                }, "}")
        }
    }

    private static func framed(_ payload: [UInt8], _ type: String) -> [UInt8] {
        Array("\(payload.count):".utf8) + payload + Array(type.utf8)
    }

    // MARK: Support

    /// A capture with everything in it that has numbers.
    private static func capture(in folder: String) async throws -> String {
        let path = folder + "/original"
        try RecordedCaptureTests.record(SampleMessages.source(), to: path)
        for (index, source) in [SampleCapture.source(), SampleTransfers.source()].enumerated() {
            let (more, file) = ("\(folder)/\(index)", "\(folder)/more\(index).har")
            try RecordedCaptureTests.record(source, to: more)
            let out = await run("export CAPTURE --format har --with-secrets --output \(file)", more)
            #expect(out == 0)
            #expect(await run("import \(file) --capture \(path)", "") == 0)
        }
        return path
    }

    private static func edit(_ path: String, _ statements: [String]) throws {
        let database = try Database(path: path, access: .write)
        for statement in statements { try database.execute(statement) }
    }

    private static func runAll(on path: String, _ name: String, in folder: String) async {
        for command in commands {
            let code = await run(command, path, folder)
            #expect((0...4).contains(code), "\(name): \(command)")
        }
        guard FileManager.default.fileExists(atPath: folder + "/bodies") else { return }
        #expect(throws: Never.self) {
            try FileManager.default.removeItem(atPath: folder + "/bodies")
        }
    }

    private static func run(
        _ command: String, _ capture: String, _ folder: String = ""
    ) async -> Int32 {
        let arguments = command.split(separator: " ").map {
            String($0.replacing("CAPTURE", with: capture).replacing("FOLDER", with: folder))
        }
        var run = CommandRun(arguments: arguments)
        run.capture = capture
        return await run.run().code
    }

    /// A folder that goes with it.
    private final class Folder {
        let path: String

        init() throws {
            let url = FileManager.default.temporaryDirectory
                .appendingPathComponent(UUID().uuidString)
            try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
            path = url.path
        }

        deinit {
            #expect(throws: Never.self) { try FileManager.default.removeItem(atPath: path) }
        }
    }
}
