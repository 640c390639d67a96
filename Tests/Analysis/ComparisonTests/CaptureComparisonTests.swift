import Base
import Foundation
import Replay
import Testing
import Traffic

@testable import Comparison

struct CaptureComparisonTests {
    @Test func findsNothingInTheSame() throws {
        let source = Self.session()
        let report = try Self.compare(source, source)
        #expect(!report.isDifferent && !report.isInconclusive)
        #expect(report.counts.equal == 4 && report.counts.moved == 0)
        #expect(report.entries.isEmpty)
    }

    @Test func alignsByWhatExchangesAre() throws {
        var other = MemorySource()
        other.add("GET /c")
        other.add("GET /new")
        other.add("GET /a", answer: #"{"v":2}"#)
        other.add("POST /b", status: 503, request: "x=1")
        other.add("POST /b", request: "x=1")
        let report = try Self.compare(Self.session(), other)
        #expect(
            Self.lines(report) == [
                "added 2", "1 → 3: json $.v", "added 4 repeats 5", "removed 3",
            ])
        #expect(report.counts.different == 1 && report.counts.moved == 1)
        #expect(report.counts.added == 2 && report.counts.removed == 1)
    }

    /// Digests come in runs by rising exchange, those of exchanges that do not count among them.
    @Test func alignsByDigestsOfWhatCounts() throws {
        var (left, right) = (MemorySource(), MemorySource())
        let answers = ["[1]", "[2]", "[3]", "[4]"]
        for answer in answers { left.add("GET /x", answer: answer) }
        for answer in answers.reversed() { right.add("GET /x", answer: answer) }
        for round in 0..<2 {
            for id in 1...4 {
                let (mine, theirs) = (UInt8(id + round), UInt8(5 - id + round))
                left.digests.append(
                    .init(exchange: Int64(id), direction: .response, bytes: [mine]))
                right.digests.append(
                    .init(exchange: Int64(id), direction: .response, bytes: [theirs]))
            }
        }
        let report = try CaptureComparison(.test).compare(
            .init(name: "a", source: left) { $0.id.isMultiple(of: 2) },
            .init(name: "b", source: right) { !$0.id.isMultiple(of: 2) })
        #expect(!report.isDifferent)
        #expect(report.counts.equal == 2)
    }

    @Test func alignsAcrossAuthorities() throws {
        var (left, right) = (MemorySource(), MemorySource())
        left.add("GET /a", authority: "127.0.0.1:40001")
        right.add("GET /a", authority: "127.0.0.1:52017")
        let report = try Self.compare(left, right)
        #expect(Self.lines(report) == ["1 → 1: authority"])
        let ignoring = try Self.compare(left, right, rules: "ignore authority\n")
        #expect(!ignoring.isDifferent)
    }

    /// A session as an origin plays it: what it makes up, and what it answers besides.
    private static func shop(
        _ authority: String, number: Int, token: String, total: Int = 8, other: Int? = nil,
        link: String? = nil
    ) -> MemorySource {
        var source = MemorySource()
        let origin = "https://\(authority)"
        let fields = "Cookie: sid=\(token)\r\nOrigin: \(origin)\r\n"
        source.add("POST /login", authority: authority, answer: #"{"token":"\#(token)"}"#)
        source.add(
            "POST /orders", authority: authority, fields: fields, status: 201,
            answer: #"{"id":\#(number),"self":"\#(link ?? origin)/orders/\#(number)"}"#)
        source.add(
            "POST /orders/\(number)/lines", authority: authority,
            fields: fields + "Referer: \(link ?? origin)/orders/\(number)\r\n", status: 201,
            answer: #"{"id":"l\#(number + 7)","total":\#(total)}"#)
        source.add(
            "DELETE /lines/l\(number + 7)", authority: authority, fields: fields, type: "",
            answer: "")
        source.add(
            "GET /orders/\(number)/lines", authority: authority, fields: fields,
            answer: #"[{"id":\#(other ?? number),"count":2}]"#)
        return source
    }

    /// Sessions, ids and the origin's own name stand for each other; what differs besides is told,
    /// also an id that stands for another.
    @Test func letsMadeUpValuesBe() throws {
        let left = Self.shop("a.test", number: 17, token: "aB3dE6gH9kL")
        let rows: [(right: MemorySource, lines: [String])] = [
            (Self.shop("b.test:8443", number: 41, token: "zY8xW5vU2tS"), []),
            (
                Self.shop("b.test", number: 41, token: "zY8xW5vU2tS", total: 9),
                ["3 → 3: json $.total"]
            ),
            (
                Self.shop("b.test", number: 41, token: "zY8xW5vU2tS", other: 40),
                ["5 → 5: json $[0].id"]
            ),
            (Self.shop("b.test", number: 41, token: ""), ["1 → 1: json $.token"]),
            (
                Self.shop(
                    "b.test", number: 41, token: "zY8xW5vU2tS", link: "https://evil.test"),
                ["2 → 2: json $.self"]
            ),
        ]
        for row in rows {
            let report = try Self.compare(left, row.right, rules: "ignore authority\n")
            let lines = Self.lines(report)
            #expect(row.lines.allSatisfy(lines.contains), "\(lines)")
            #expect(row.lines.isEmpty == lines.isEmpty, "\(lines)")
        }
        // That the authority differs is told once.
        let told = Self.lines(try Self.compare(left, rows[0].right))
        #expect(told == (1...5).map { "\($0) → \($0): authority" })
    }

    @Test func countsMadeUpValuesIfAsked() throws {
        var configuration = ComparisonConfiguration.test
        configuration.countsMadeUpValues = true
        let report = try CaptureComparison(configuration).compare(
            .init(name: "a", source: Self.shop("a.test", number: 17, token: "aB3dE6gH9kL")),
            .init(name: "b", source: Self.shop("a.test", number: 41, token: "zY8xW5vU2tS")))
        #expect(report.counts.equal == 0)
    }

    @Test func tellsEverythingOfAnExchange() throws {
        var (left, right) = (MemorySource(), MemorySource())
        left.add("GET /users/1?a=1", fields: "X: 1\r\n", answer: #"{"a":1}"#)
        right.add(
            "GET /users/2?a=2", fields: "X: 2\r\n", status: 500, type: "text/plain", answer: "no")
        left.records[0].interimHeads = [Array("HTTP/1.1 103 Early Hints\r\n\r\n".utf8)]
        left.records[0].responseBody.trailers = Array("T: 1\r\n\r\n".utf8)
        right.records[0].error = "origin-closed"
        let report = try Self.compare(left, right)
        #expect(
            report.entries.first?.differences.map(\.title) == [
                "path", "query parameter a", "request field x", "interim response 1", "error",
                "status", "response field content-type", "response trailer t",
                "response text line 1",
            ])
    }

    @Test func isInconclusiveWithoutExchanges() throws {
        #expect(try Self.compare(Self.session(), MemorySource()).isInconclusive)
        #expect(try Self.compare(MemorySource(), MemorySource()).isInconclusive)
    }

    @Test func countsWhatItDoesNotTell() throws {
        var (left, right) = (MemorySource(), MemorySource())
        for index in 0..<20 {
            // A note comes first.
            left.add("GET /\(index)x", answer: #"{"a":[{"id":1},{"id":2}],"v":1}"#)
            right.add("GET /\(index)x", answer: #"{"a":[{"id":2},{"id":1}],"v":2}"#)
        }
        left.add("GET /order", answer: "[1,2]")
        right.add("GET /order", answer: "[1, 2]")
        var configuration = ComparisonConfiguration.test
        configuration.entryLimit = 5
        let report = try CaptureComparison(configuration).compare(
            .init(name: "a", source: left), .init(name: "b", source: right))
        #expect(report.entries.count == 5 && report.omitted == 15)
        #expect(report.counts.different == 20)
        #expect(report.counts.equal == 1 && report.counts.noted == 1)
    }

    @Test func tellsWhatCountsBeforeNotes() throws {
        var (left, right) = (MemorySource(), MemorySource())
        left.add("GET /", answer: #"{"a":[{"id":1},{"id":2}],"v":1}"#)
        right.add("GET /", answer: #"{"a":[{"id":2},{"id":1}],"v":2}"#)
        var configuration = ComparisonConfiguration.test
        let subjects = (
            CaptureComparison.Subject(name: "a", source: left),
            CaptureComparison.Subject(name: "b", source: right)
        )
        var report = try CaptureComparison(configuration).compare(subjects.0, subjects.1)
        #expect(Self.lines(report) == ["1 → 1: json $.v"])
        #expect(report.entries.first?.isCut == false && report.counts.different == 1)

        configuration.withNotes = true
        configuration.differenceLimit = 1
        report = try CaptureComparison(configuration).compare(subjects.0, subjects.1)
        #expect(Self.lines(report) == ["1 → 1: json $.v"])
        #expect(report.entries.first?.isCut == true && report.counts.different == 1)
    }

    @Test func tellsWhatBecameSlower() throws {
        var (left, right) = (MemorySource(), MemorySource())
        for index in 0..<20 {
            left.add("GET /users/\(index)", milliseconds: 10 + Int64(index) % 5)
            right.add("GET /users/\(index)", milliseconds: 30 + Int64(index) % 7)
            left.add("GET /fast", milliseconds: 10 + Int64(index) % 5)
            right.add("GET /fast", milliseconds: 10 + Int64(index) % 6)
        }
        let report = try Self.compare(left, right)
        #expect(report.timings.map(\.path) == ["/users/{}"])
        #expect(report.timings.first?.difference.isSlower == true)
        #expect(!report.isDifferent)
    }

    // MARK: Pages

    static let hostile = [
        "</pre><script>alert(1)</script>", "\"><img src=x onerror=alert(1)>", "'><svg/onload=a()>",
        "&lt;&#60;", "`javascript:x`", "]]>", "<!--", "\u{202E}\u{2066}\u{FEFF}\u{7}",
    ]

    @Test(arguments: hostile)
    func escapesWhatWasRecorded(_ text: String) throws {
        var (left, right) = (MemorySource(), MemorySource())
        left.add("GET /a?\(text)=1", fields: "X: \(text)\r\n", type: text, answer: "{}")
        right.add("GET /a?\(text)=2", fields: "\(text): 2\r\n", type: "text/plain", answer: text)
        right.add("\(text) /\(text)", authority: text, answer: text)
        var configuration = ComparisonConfiguration.test
        configuration.withSecrets = true
        let report = try CaptureComparison(configuration).compare(
            .init(name: text, source: left), .init(name: "b", source: right))
        let page = ComparisonHTML.page(report).text
        #expect(report.isDifferent)
        try expectSound(page)
    }

    @Test func isOnePageThatLoadsNothing() throws {
        var (left, right) = (Self.session(), Self.session())
        left.add("GET /d", answer: "https://evil.example/x.png")
        right.add("GET /d", answer: #"<link href="https://evil.example/x.css">"#)
        let page = ComparisonHTML.page(try Self.compare(left, right)).text
        try expectSound(page)
        #expect(page.contains("default-src 'none'"))
        for sign in ["<script", "<link", "<img", "<iframe", "src=", "href=", "url(", "@import"] {
            #expect(!page.contains(sign))
        }
    }

    /// Whether every element is one that the report writes, and closed in its order.
    private func expectSound(_ page: String) throws {
        let known: Set<String> = [
            "html", "head", "meta", "title", "style", "body", "main", "h1", "h2", "h3", "p",
            "table", "tr", "th", "td", "section", "details", "summary", "pre", "bdi", "em", "span",
        ]
        var open: [String] = []
        for piece in page.split(separator: "<").dropFirst(1) {
            let parts = piece.split(separator: ">", maxSplits: 1, omittingEmptySubsequences: false)
            try #require(parts.count == 2)
            #expect(!parts[1].contains(">"))
            let tag = String(parts[0])
            let name = String(tag.drop { $0 == "/" }.prefix { $0.isLetter || $0.isNumber })
            if tag.hasPrefix("!") { continue }
            #expect(known.contains(name), "\(tag)")
            if tag.hasPrefix("/") {
                #expect(open.popLast() == name)
            } else if name != "meta" {
                open.append(name)
            }
        }
        #expect(open.isEmpty)
        for scalar in page.unicodeScalars {
            #expect(scalar.value >= 0x20 || scalar == "\n")
            #expect(![0x202E, 0x2066, 0xFEFF].contains(scalar.value))
        }
    }

    // MARK: Details

    private static func session() -> MemorySource {
        var source = MemorySource()
        source.add("GET /a", answer: #"{"v":1}"#)
        source.add("POST /b", request: "x=1")
        source.add("GET /gone")
        source.add("GET /c")
        return source
    }

    private static func compare(
        _ left: MemorySource, _ right: MemorySource, rules: String = ""
    ) throws -> ComparisonReport {
        var configuration = ComparisonConfiguration.test
        configuration.rules = try ReplayRules(text: rules)
        return try CaptureComparison(configuration).compare(
            .init(name: "a", source: left), .init(name: "b", source: right))
    }

    private static func lines(_ report: ComparisonReport) -> [String] {
        report.entries.map { entry in
            guard let left = entry.left else {
                let repeats = entry.repeats.map { " repeats \($0)" } ?? ""
                return "added \(entry.right?.id ?? 0)\(repeats)"
            }
            guard let right = entry.right else { return "removed \(left.id)" }
            let kinds = entry.differences.filter { !$0.isNote }.map {
                $0.path.isEmpty ? $0.kind.rawValue : "\($0.kind.rawValue) \($0.path)"
            }
            return "\(left.id) → \(right.id): \(kinds.joined(separator: ", "))"
        }
    }
}
