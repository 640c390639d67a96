import Audit
import Base
import Findings
import Foundation
import Launching
import Presentation
import Proxy
import Replay
import Runs
import Terminal
import Testing
import Transfer

@testable import Commands

/// What the tool writes, held to the schemas of the documentation.
@Suite struct SchemaTests {
    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("../../../Documentation").standardizedFileURL

    /// By their names, such as `sallyport.flow/1`.
    private static func schemas() throws -> [String: JSONSchema] {
        let place = folder.appendingPathComponent("schemas")
        let files = try FileManager.default.contentsOfDirectory(
            at: place, includingPropertiesForKeys: nil)
        let schemas = try files.filter { $0.pathExtension == "json" }.map { file in
            JSONSchema(
                root: try JSONDecoder().decode(JSONValue.self, from: try Data(contentsOf: file)))
        }
        return Dictionary(uniqueKeysWithValues: schemas.map { (name(of: $0.root, "title"), $0) })
    }

    private static func name(of value: JSONValue, _ member: String) -> String {
        if case .string(let name)? = value[member] { name } else { "" }
    }

    @Test func casesMatchTheirSchemas() throws {
        let schemas = try Self.schemas()
        var seen: Set<String> = []
        for example in CommandCase.all() {
            for text in [example.output, example.diagnostics] {
                for document in try Self.documents(in: text) {
                    let name = Self.name(of: document, "schema")
                    seen.insert(name)
                    let found = try #require(schemas[name], "\(name)").violations(of: document)
                    #expect(found == [], "\(example.name), \(name)")
                }
            }
        }
        #expect(seen.count >= 10, "\(seen.sorted())")
    }

    @Test(arguments: [
        ReadyMessage(
            ways: [
                .init(
                    HostPort(host: "127.0.0.1", port: 8080), .explicit,
                    pages: [HostPort(host: "127.0.0.1", port: 8080)])
            ], authority: "ca.pem",
            capture: nil, processID: 7
        ).json.text,
        ReplayMiss("imap.example", 993).json.line.text,
        Self.transfer(.completed).row.line.text,
        Self.transfer(
            .waiting(
                TransferWait(
                    .retry, until: Timestamp(microseconds: 1),
                    Failure("origin-status", party: .origin, "it said 503", hint: "wait")))
        ).row.line.text,
        BatteryReport(
            kind: .resume, client: "curl", command: ["curl"],
            results: BatteryKind.resume.cases.dropLast().map {
                BatteryResult(
                    $0, exitStatus: 0, isRight: $0.isControl, seen: "", runs: 2,
                    requests: [BatteryRequestRecord("a")], duration: 7)
            }, startedAt: Timestamp(microseconds: 0), duration: 9, toolVersion: "0", source: nil
        ).json.line.text,
        AuditJSON.document(
            AuditReport(
                results: [], startedAt: Timestamp(microseconds: 0), duration: 12_500,
                capturePath: "session.sallyport", command: ["curl"], toolVersion: "0",
                sources: [:])
        ).line.text,
    ])
    func documentsMatchTheirSchemas(_ text: String) throws {
        let document = try #require(try Self.documents(in: text).first)
        let schema = try #require(try Self.schemas()[Self.name(of: document, "schema")])
        #expect(schema.violations(of: document) == [])
    }

    /// One of each kind, on a terminal and in JSON, without a secret.
    @Test(arguments: FetchEvent.samples)
    func fetchEventsMatchTheirSchema(_ event: FetchEvent) throws {
        let text = event.json.line.text
        let document = try #require(try Self.documents(in: text).first)
        let schema = try #require(try Self.schemas()["sallyport.refresh-event/1"])
        #expect(schema.violations(of: document) == [], "\(text)")
        for shown in [text, event.text(.plain) ?? ""] {
            #expect(!shown.contains("kW8v"), "\(shown)")
        }
    }

    private static func transfer(_ state: TransferState) -> TransferTask {
        var task = TransferTask(
            TransferPlan(.download, "https://example.org/a", file: "/a"),
            identifier: UUIDText.text(seed: 1), createdAt: Timestamp(microseconds: 0))
        task.state = state
        task.hops = ["https://example.org/b"]
        task.restarts = ["changed"]
        return task
    }

    /// Of a run that saw something, one that the command spoilt, and one that saw nothing.
    @Test(arguments: [
        (ChildProcess.Ending.exited(0), Int64(1), nil, GateVerdict.Kind.findings),
        (.signalled(9), 7, nil, .inconclusive),
        (.exited(0), 7, "namespaces-forbidden", .inconclusive),
    ])
    func runsMatchTheirSchema(
        _ ending: ChildProcess.Ending, _ first: Int64, _ failure: String?,
        _ verdict: GateVerdict.Kind
    ) throws {
        let outcome = ClientRun.Outcome(
            ["curl", "--user", "nora:pa55-word"], from: SampleCapture.start,
            to: SampleCapture.start,
            ending: ending, capturePath: "session.sallyport",
            firstRecords: FirstRecords(connection: first, exchange: first),
            confinementFailure: failure.map { Failure($0, party: .tool, "not allowed here") })
        let report = try RunReport(
            outcome, in: SampleCapture.source(),
            configuration: .standard(
                profile: nil, runKey: [UInt8](repeating: 7, count: 32),
                treatsLoopbackAsRemote: true))
        #expect(report.verdict.kind == verdict)
        let text = report.json(toolVersion: "0").line.text
        #expect(!text.contains("pa55"))
        let document = try #require(try Self.documents(in: text).first)
        let schema = try #require(try Self.schemas()["sallyport.run/1"])
        #expect(schema.violations(of: document) == [])
        #expect(report.junit(toolVersion: "0").contains("the command \(ending.text)"))
    }

    /// The page has a section for each schema, and no other.
    @Test func pageNamesEverySchema() throws {
        let page = try String(
            contentsOf: Self.folder.appendingPathComponent("schemas.md"), encoding: .utf8)
        let sections = page.split(separator: "\n").filter { $0.hasPrefix("## ") }
            .map { String($0.dropFirst(3)) }
        #expect(sections.sorted() == (try Self.schemas()).keys.sorted())
    }

    @Test(arguments: [
        (#"{"schema":"sallyport.content/1","http":"a","https":"b","ca":"c","pid":1}"#, 0),
        (#"{"schema":"sallyport.content/1","http":"a","https":"b","ca":"c","pid":1.5}"#, 1),
        (#"{"schema":"sallyport.content/1","http":"a","https":null,"ca":"c","pid":true}"#, 2),
        (#"{"schema":"sallyport.content/1","http":"a","https":"b","ca":"c"}"#, 1),
        (#"{"schema":"sallyport.content/1","http":"a","https":"b","ca":"c","pid":1,"more":1}"#, 1),
    ])
    func schemasRefuseWhatTheyDoNotDescribe(_ text: String, _ count: Int) throws {
        let document = try #require(try Self.documents(in: text).first)
        let schema = try #require(try Self.schemas()["sallyport.content/1"])
        #expect(schema.violations(of: document).count == count)
    }

    /// A document that fills the text, or a document a line.
    private static func documents(in text: String) throws -> [JSONValue] {
        let texts = [text] + text.split(separator: "\n").map(String.init)
        let values = try texts.compactMap { text -> JSONValue? in
            guard text.hasPrefix("{"), text.contains("\"schema\"") else { return nil }
            // Lines of JSON are no document as a whole, and a document's lines are none.
            do {
                return try JSONDecoder().decode(JSONValue.self, from: Data(text.utf8))
            } catch DecodingError.dataCorrupted { return nil }
        }
        // A document in one line was read twice.
        return text.split(separator: "\n").count == 1 ? Array(values.prefix(1)) : values
    }
}
