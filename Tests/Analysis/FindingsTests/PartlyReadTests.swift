import Base
import LoginRows
import Testing
import Traffic

@testable import Findings

/// What was not looked into is told, and no verdict of it is clean.
@Suite struct PartlyReadTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let name: String
        let sample: Sample
        /// A part of the summary.
        let told: String
        var testDescription: String { name }
    }

    @Test(arguments: rows) func isNeverClean(_ row: Row) throws {
        let report = FindingsLaboratory.run([row.sample])
        #expect(report.inconclusive == [.partlyRead])
        #expect(GateVerdict(report).kind == .inconclusive)
        #expect(FindingsText.render(report, color: false).contains(row.told))
        let waived = try FindingsPolicyTests.report([row.sample], "[gate]\nwaive = partly-read")
        #expect(GateVerdict(waived).kind == .clean)
        #expect(FindingsSummary.remarks(waived).contains("waived by ci/p.policy: partly-read"))
    }

    /// What can hold no secret that is looked for, and what is empty, is no reason.
    @Test(arguments: [
        sent("\u{1}", "image/png", coding: "xz"), sent("", "application/json"),
        sent(#"{"a":1}"#, "application/json", coding: "utf-8"),
        sent(String(repeating: "\u{1}", count: 2 << 20), "application/octet-stream"),
        sent("", "multipart/form-data; boundary=A"),
        sent(String(repeating: "\u{1}", count: 2 << 20), "image/png"),
        get("/?" + list(1024)), sent(list(1024), form), sent(parts(1024), multipart),
    ])
    func isNoReason(_ sample: Sample) {
        #expect(FindingsLaboratory.run([sample]).inconclusive.isEmpty)
    }

    @Test func tellsOfMessages() {
        let text = "{" + (0..<5000).map { "\"k\($0)\":1" }.joined(separator: ",") + "}"
        let report = WebSocketSample.clear(.client(text)).report()
        #expect(report.inconclusive == [.partlyRead])
    }

    private static let form = "application/x-www-form-urlencoded"
    private static let multipart = "multipart/form-data; boundary=AAA"
    private static let notWhole = "1 body not looked into to the end"

    private static let rows: [Row] = [
        Row(
            name: "a query", sample: get("/?" + list(1025)),
            told: "1 head not looked into to the end"),
        Row(
            name: "parameters of a path",
            sample: get("/a" + list(1025).split(separator: "&").map { ";" + $0 }.joined()),
            told: "1 head not looked into to the end"),
        Row(
            name: "a long target", sample: get("/" + String(repeating: "a", count: 70_000)),
            told: "1 head not looked into to the end"),
        Row(name: "a form", sample: sent(list(1025), form), told: notWhole),
        Row(
            name: "a large form", sample: sent(String(repeating: "a", count: 2 << 20), form),
            told: notWhole),
        Row(name: "an unknown coding", sample: coded, told: "1 body in an unknown coding"),
        Row(
            name: "another boundary", sample: sent(parts(1), "multipart/form-data; boundary=BBB"),
            told: notWhole),
        Row(name: "parts", sample: sent(parts(1025), multipart), told: notWhole),
        Row(
            name: "attributes",
            sample: sent(
                "<a " + (0..<65).map { "a\($0)='1'" }.joined(separator: " ") + "/>", "text/xml"),
            told: notWhole),
        Row(name: "a message in a message", sample: nested, told: notWhole),
    ]

    /// Protocol Buffers: one message in another, of more fields than are read.
    private static let nested: Sample = {
        let inner =
            [UInt8]([[0x0A, 4], Array("note".utf8)].joined())
            + [[UInt8]](repeating: [0x10, 1], count: 4200).joined()
        let length = [UInt8(inner.count & 127) | 128, UInt8(inner.count >> 7)]
        var sample = sent("", "application/x-protobuf")
        sample.body = [0x0A] + length + inner
        return sample
    }()

    private static let coded: Sample = {
        var sample = sent("", "application/json", coding: "xz")
        sample.body = [0xFD, 0x37, 0x7A, 0x58, 0x5A, 0x00, 0x00, 0x04]
        return sample
    }()

    private static func get(_ target: String) -> Sample { .get(target, over: .https) }

    private static func list(_ count: Int) -> String {
        (0..<count).map { "a\($0)=1" }.joined(separator: "&")
    }

    private static func parts(_ count: Int) -> String {
        (0..<count).map { number in
            "--AAA\r\nContent-Disposition: form-data; name=\"a\(number)\"\r\n\r\n1\r\n"
        }.joined() + "--AAA--\r\n"
    }

    private static func sent(_ body: String, _ type: String, coding: String = "") -> Sample {
        var sample = Sample.post(body, type, over: .https)
        if !coding.isEmpty { sample.headers.append("Content-Encoding: \(coding)") }
        return sample
    }
}
