import Base
import LoginRows
import Testing
import Traffic

@testable import Findings
@testable import Logins

/// What streams of no known protocol show, and what nobody may say of them.
@Suite struct UnknownStreamTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let name: String
        let stream: [UInt8]
        /// Such as `BIN-PLAINTEXT medium certain`; empty if nothing is told.
        let found: [String]
        /// The first note.
        var note = ""
        var testDescription: String { name }
    }

    @Test(arguments: plainRows + packedRows + randomRows)
    func judges(_ row: Row) {
        let sample = DialogueSample.said("unknown", .client(row.stream))
        let found = sample.report().findings.filter { $0.rule.rawValue.hasPrefix("BIN-") }
        let told = found.map {
            "\($0.rule.rawValue) \($0.severity.rawValue) \($0.confidence.rawValue)"
        }
        #expect(told == row.found)
        if !row.note.isEmpty { #expect(found.last?.notes.first?.text == row.note) }
        for finding in found {
            #expect(!finding.notes.contains { $0.text.contains("encrypted") })
            #expect(finding.urlTemplate.text == "tcp://mail.example:25")
            #expect(finding.severity <= finding.rule.text.worst ?? .info)
        }
    }

    @Test func hidesWhatItFound() {
        let secret = "Pr0be-S3cret!x"
        let report = DialogueSample.said(
            "unknown", .client(#"{"user":"nora","password":"\#(secret)","to":"the other one"}"#)
        ).report()
        let texts = [
            FindingsJSON.document(report).line.text, FindingsText.render(report, color: false),
        ]
        #expect(report.findings.first?.value?.kind == .password)
        for text in texts { #expect(!text.contains(secret)) }
    }

    /// Inside of TLS, of a known protocol, or of one that shows a login, nothing is unknown.
    @Test func leavesTheKnownAlone() {
        var secured = DialogueSample.said(
            "unknown", .client(String(repeating: "hello ", count: 20)))
        secured.isTLS = true
        let known = DialogueSample.said(
            "smtp", .client("EHLO a.example\r\n" + String(repeating: "hello ", count: 20)))
        let login = DialogueSample.said(
            "unknown", .origin("220 mail\r\n"), .client("EHLO a.example\r\n"),
            .origin("250 mail\r\n"),
            .client("AUTH PLAIN AG5vcmEAdHIwdWI0ZG9yJjM=\r\n"), .origin("235 ok\r\n"))
        for sample in [secured, known, login] {
            let found = sample.report().findings.map(\.rule.rawValue)
            #expect(!found.contains { $0.hasPrefix("BIN-") }, "\(found)")
        }
    }

    /// How many of a hundred streams look random, by size (facts §3.h.1).
    @Test(arguments: [(256, 95...100), (512, 95...100), (1024, 95...100), (4096, 95...100)])
    func knowsRandomBytes(_ size: Int, _ share: ClosedRange<Int>) {
        let count = (0..<100).count { RandomTest(noise(size, seed: $0)[...]).looksRandom == true }
        #expect(share.contains(count))
        let text = Array(String(repeating: "the quick brown fox ", count: size / 20 + 1).utf8)
        for key in [0, 0x5A, 0xFF] as [UInt8] {
            let hidden = text.prefix(size).map { $0 ^ key }
            #expect(RandomTest(hidden[...]).looksRandom == false)
        }
        #expect(RandomTest(noise(255, seed: 1)[...]).looksRandom == nil)
    }

    /// A run of sixteen printable bytes comes once in some seven million.
    @Test func provesNothingOfNoise() {
        for seed in 0..<400 {
            let proof = PlaintextProof(of: noise(32 + seed, seed: seed))
            #expect(proof == nil, "\(seed) \(proof?.form.rawValue ?? "")")
        }
    }

    @Test(
        arguments: [
            ("one keystream", (0..<2).map { overlaid(text: $0) }, true),
            (
                "the same block thrice",
                (0..<3).map { noise(200, seed: $0) + noise(400, seed: 99) }, true
            ),
            (
                "the same block twice",
                (0..<2).map {
                    noise(200, seed: $0) + noise(16, seed: 99) + noise(300, seed: $0 + 50)
                }, false
            ),
            ("keys of their own", (0..<8).map { noise(600, seed: $0) }, false),
            ("the same head", (0..<8).map { noise(64, seed: 99) + noise(600, seed: $0) }, false),
        ] as [(String, [[UInt8]], Bool)])
    func tellsRepetition(_ name: String, _ streams: [[UInt8]], _ isFound: Bool) {
        var engine = FindingsEngine(FindingsLaboratory.configuration())
        for (index, stream) in streams.enumerated() {
            let sample = DialogueSample.said("unknown", .client(stream))
            var connection = sample.connection
            connection.id = Int64(index + 1)
            engine.observe(connection, messages: sample.gathered())
        }
        let found = engine.report().findings.filter { $0.rule == .streamReuse }
        #expect(found.map(\.severity) == (isFound ? [.high] : []))
        #expect(found.allSatisfy { $0.confidence == .tentative })
    }

    @Test func boundsKeystreams() {
        var engine = FindingsEngine(FindingsLaboratory.configuration())
        for number in 0..<300 {
            var sample = DialogueSample.said("unknown", .client(noise(600, seed: number)))
            sample.host = "h\(number % 100).example"
            engine.observe(sample.connection, messages: sample.gathered())
        }
        #expect(engine.report().findings.allSatisfy { $0.rule != .streamReuse })
    }
}

func noise(_ count: Int, seed: Int) -> [UInt8] {
    var state = UInt64(seed) &* 0x9E37_79B9_7F4A_7C15 | 1
    return (0..<count).map { _ in
        state ^= state >> 12
        state ^= state << 25
        state ^= state >> 27
        return UInt8(truncatingIfNeeded: (state &* 0x2545_F491_4F6C_DD1D) >> 40)
    }
}

/// One of several texts under one keystream.
private func overlaid(text: Int) -> [UInt8] {
    let words = ["the quick brown fox jumps over ", "a lazy dog that sleeps all day. "]
    let plain = Array(String(repeating: words[text], count: 30).utf8)
    return zip(plain, noise(plain.count, seed: 7)).map { $0 ^ $1 }
}

private typealias Row = UnknownStreamTests.Row
private let plain = ["BIN-PLAINTEXT medium certain"]

private let plainRows: [Row] = [
    Row(
        name: "JSON", stream: Array(#"{"t":"hi","to":"everybody who listens"}"#.utf8), found: plain,
        note: "JSON from the client's side, at byte 0"),
    Row(
        name: "JSON with a password",
        stream: Array(#"{"user":"nora","password":"tr0ub4dor&3"}      "#.utf8),
        found: ["BIN-PLAINTEXT high certain", "BIN-PLAINTEXT medium certain"]),
    Row(
        name: "JSON behind its length",
        stream: [0, 0, 0, 39] + Array(#"{"t":"hi","to":"everybody who listens"}"#.utf8),
        found: plain, note: "JSON from the client's side, at byte 4"),
    Row(
        name: "text", stream: Array("HELO THERE WORLD AND EVERYBODY\nIN IT\n".utf8), found: plain,
        note: "text from the client's side, at byte 0"),
    Row(
        name: "Chinese", stream: Array("敏捷的棕色狐狸跳过了懒狗敏捷的棕色狐狸".utf8), found: plain),
    Row(
        name: "XML", stream: Array("<message to='nora'><body>hello there</body></message>".utf8),
        found: plain, note: "XML from the client's side, at byte 0"),
    Row(
        name: "words among bytes",
        stream: noise(20, seed: 3) + Array("user=nora&to=everybody".utf8) + noise(20, seed: 4),
        found: plain),
    Row(
        name: "MessagePack",
        stream: [0x82, 0xA4] + Array("user".utf8) + [0xA4] + Array("nora".utf8) + [0xA4]
            + Array("text".utf8) + [0xAF] + Array("hello everyone!".utf8),
        found: plain, note: "MessagePack from the client's side, at byte 0"),
    Row(
        name: "Protocol Buffers",
        stream: [0x0A, 4] + Array("nora".utf8) + [0x10, 7, 0x18, 9, 0x22, 0x16]
            + Array("hello there, you\u{2019}all".utf8) + [0x2A, 1, 0x41],
        found: ["BIN-PLAINTEXT medium firm"]),
    Row(
        name: "a picture",
        stream: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A] + noise(60, seed: 5), found: plain,
        note: "a file of a known format from the client's side, at byte 0"),
    Row(name: "too short", stream: Array(#"{"t":"hi"}"#.utf8), found: []),
    Row(
        name: "TLS", stream: [0x16, 3, 1, 2, 0] + Array(String(repeating: "a", count: 600).utf8),
        found: []),
]

private let packedRows: [Row] = [
    Row(
        name: "deflate",
        stream: Base64.decode(
            Array("q1YqLU4tUrJSyssvSlTSUSpJrSgB8koyUhUKSzOTsxWSivLL8xTS8isUhrOYUi0A".utf8)) ?? [],
        found: plain, note: "compressed text from the client's side, at byte 0"),
    Row(
        name: "zlib behind four bytes",
        stream: [0, 0, 0, 54]
            + (Base64.decode(
                Array(
                    "eNqrViotTi1SslLKyy9KVNJRKkmtKAHySjJSFQpLM5OzFZKK8svzFNLyKxSGs5hSLQBddF/B".utf8)
            ) ?? []),
        found: plain, note: "compressed text from the client's side, at byte 4"),
]

private let randomRows: [Row] = [
    Row(
        name: "random", stream: noise(1000, seed: 11), found: ["BIN-RANDOM info tentative"],
        note: "no plaintext found in 512 bytes or more from the client's side; not TLS"),
    Row(name: "too few to tell", stream: noise(255, seed: 12), found: []),
    Row(
        name: "numbers of a table",
        stream: (0..<600).map { UInt8(truncatingIfNeeded: $0 % 7 == 0 ? 0x80 | $0 : $0 % 5) },
        found: []),
]
