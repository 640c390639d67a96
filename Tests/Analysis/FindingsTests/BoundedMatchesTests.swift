import Base
import Testing
import Traffic

@testable import Findings

/// Who answers must not crowd out what is found elsewhere.
@Suite struct BoundedMatchesTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let name: String
        let traffic: [Sample]
        let rule: RuleID
        let severity: Severity
        var testDescription: String { name }
    }

    @Test(arguments: rows) func keepsTheWorst(_ row: Row) {
        let report = FindingsLaboratory.run(row.traffic)
        #expect(report.findings.contains { $0.rule == row.rule && $0.severity == row.severity })
        #expect(report.isFailed)
    }

    /// What a suppression may leave open is not lost in silence.
    @Test(arguments: [(32, 0), (33, 1), (40, 8)])
    func countsWhatIsLeftOut(_ fieldCount: Int, _ leftOut: Int) {
        let body = (0..<fieldCount).map { "\(letters($0)).password=tr0ub4dor" }
        let report = FindingsLaboratory.run([
            .post(body.joined(separator: "&"), "application/x-www-form-urlencoded")
        ])
        #expect(report.coverage.leftOutFindings == leftOut)
        #expect(report.inconclusive.contains(.findingsLeftOut) == (leftOut > 0))
    }

    /// The same place again, and what fails nowhere, is no loss.
    @Test(arguments: [
        Sample.post(
            String(repeating: "password=a1b2c3&", count: 2000), "application/x-www-form-urlencoded"),
        .answer(flood),
    ])
    func countsNoRepetition(_ sample: Sample) {
        #expect(FindingsLaboratory.run([sample]).coverage.leftOutFindings == 0)
    }

    private static let rows: [Row] = [
        Row(
            name: "passwords in a response, and a cookie in cleartext",
            traffic: [
                shop(.https, cookie: "session=\(token)"), shop(.http, cookie: "session=\(token)"),
            ], rule: .plainHTTPCookie, severity: .high),
        Row(
            name: "cookies of a redirect's end, and its credential",
            traffic: [
                Sample(
                    scheme: .https, host: "shop.test", headers: ["Authorization: Bearer \(token)"],
                    status: 302, responseHeaders: ["Location: https://evil.test/x"]),
                Sample(
                    scheme: .https, host: "evil.test", target: "/x",
                    headers: ["Authorization: Bearer \(token)"],
                    responseHeaders: (0..<140).map {
                        "Set-Cookie: k\(letters($0))=\(token); Max-Age=9000000; Path=/"
                    }),
            ], rule: .leakRedirect, severity: .high),
        Row(
            name: "mild ones of the same rule",
            traffic: [
                .post(
                    (0..<64).map { "\(letters($0)).pin=4711&" }.joined() + "password=tr0ub4dor",
                    "application/x-www-form-urlencoded")
            ], rule: .plainHTTPForm, severity: .critical),
    ]

    private static let token = "Zk3vQ9xLw2Rt8YbN5mHs4Jc7"
    private static let flood =
        "["
        + (0..<200).map { #"{"p\#(letters($0))":{"password":"abcdefg"}}"# }
        .joined(separator: ",") + "]"

    private static func shop(_ scheme: ExchangeRecord.Scheme, cookie: String) -> Sample {
        Sample(
            scheme: scheme, host: "shop.test", headers: ["Cookie: \(cookie)"],
            responseHeaders: ["Content-Type: application/json"],
            responseBody: scheme == .http ? Array(flood.utf8) : [])
    }
}

/// A name of its own for each number.
private func letters(_ number: Int) -> String {
    String(decoding: [0x61 + UInt8(number / 26), 0x61 + UInt8(number % 26)], as: UTF8.self)
}
