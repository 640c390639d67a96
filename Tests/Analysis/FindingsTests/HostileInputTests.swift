import Base
import TestConditions
import Testing
import Traffic

@testable import Findings

@Suite struct HostileInputTests {
    @Test func boundsDeepJSON() {
        let deep = [UInt8](repeating: 0x5B, count: 100_000)
        #expect(!JSONScalars.read(deep) { _, _, _ in true })
        var object: [UInt8] = []
        for _ in 0..<20_000 { object += Array(#"{"a":"#.utf8) }
        #expect(!JSONScalars.read(object) { _, _, _ in true })
        let legal = [UInt8](repeating: 0x5B, count: 64) + [UInt8](repeating: 0x5D, count: 64)
        #expect(JSONScalars.read(legal) { _, _, _ in true })
    }

    @Test(arguments: [
        (
            #"{"a":1,"b":[true,"x"],"c":{"d":-1.5e3}}"#, true,
            ["a=1", "b.*=true", "b.*=x", "c.d=-1.5e3"]
        ),
        (#""a\u00e9\ud83d\ude00\"\\\n""#, true, ["=a\u{E9}\u{1F600}\"\\\n"]),
        (#"{"a":1,}"#, false, ["a=1"]), (#"[1 2]"#, false, ["*=1"]), ("", false, []),
        (#"{"a":1}}"#, false, ["a=1"]), (#"{"a" 1}"#, false, []),
        (#""\ud800""#, true, ["=\u{FFFD}"]),
        ("[]", true, []), ("{}", true, []), ("nul", false, []), ("\"\u{01}\"", false, []),
        ("\u{FEFF}{\"a\":1}", true, ["a=1"]), ("[[],{}]", true, []), ("[1}", false, ["*=1"]),
        (#""\u12"#, false, []), ("{\"a\":1}\n\u{1E}{\"b\":2}", true, ["a=1", "b=2"]),
        (")]}',\n[3]", true, ["*=3"]),
    ])
    func readsJSON(_ text: String, _ isWhole: Bool, _ scalars: [String]) {
        var seen: [String] = []
        let result = JSONScalars.read(Array(text.utf8)) { path, _, value in
            seen.append(path.map(\.text).joined(separator: ".") + "=" + value.text)
            return true
        }
        #expect(result == isWhole)
        #expect(seen == scalars)
    }

    @Test func boundsHugeForms() {
        let body = String(repeating: "password=a1b2&", count: 20_000)
        let report = FindingsLaboratory.run([.post(body, "application/x-www-form-urlencoded")])
        let form = report.findings.first { $0.rule == .plainHTTPForm }
        #expect(form?.occurrences ?? 0 > 0 && form?.occurrences ?? 0 <= 128)
        #expect(report.findings.contains { $0.rule == .clearHTTP })
    }

    @Test func boundsNestedEncodings() {
        var text = #"{"password":"tototo"}"#
        for _ in 0..<8 { text = "{\"a\":\"\(base64(text))\"}" }
        var reader = FieldReader(byteLimit: 1 << 16)
        reader.read(body: Array(text.utf8), contentType: Array("application/json".utf8))
        #expect((1...64).contains(reader.fields.count))
        #expect(reader.fields.allSatisfy { $0.steps.count <= 8 })
    }

    @Test func stopsAtByteLimit() {
        var reader = FieldReader(byteLimit: 100)
        let body = "[" + (0..<50).map { _ in "\"abcdefgh\"" }.joined(separator: ",") + "]"
        reader.read(body: Array(body.utf8), contentType: Array("application/json".utf8))
        #expect(reader.isTruncated)
        #expect(reader.fields.count == 12)
    }

    /// 4 GiB of zeros, in gzip three times over: 294 bytes.
    @Test func boundsBombs() {
        let bomb = Base64.decode(Array(Self.bomb.utf8)) ?? []
        #expect(bomb.count == 294)
        var request = Sample.post("", "application/json")
        request.body = bomb
        request.headers.append("Content-Encoding: gzip, gzip, gzip")
        let response = Sample(
            responseHeaders: ["Content-Encoding: gzip, gzip, gzip", "Content-Type: text/html"],
            responseBody: bomb)
        let report = FindingsLaboratory.run([request, response])
        #expect(report.coverage.partlyReadBodies == 2)
        #expect(report.coverage.undecodableBodies == 0)
        var reader = FieldReader()
        let inside = #"{"a":"\#(base64Bytes(bomb))"}"#
        reader.read(body: Array(inside.utf8), contentType: Array("application/json".utf8))
        #expect(reader.fields.map(\.steps.count).max() == 0)
    }

    /// Two thousand of them in one content share one bound.
    @Test(.processorTime(below: .seconds(60))) func boundsManyBombs() {
        let bomb = Base64.decode(Array(Self.bomb.utf8)) ?? []
        let piece = [0xC5, UInt8(bomb.count >> 8), UInt8(bomb.count & 255)] + bomb
        let body = [0xDC, 0x07, 0xD0] + [[UInt8]](repeating: piece, count: 2000).joined()
        var reader = FieldReader()
        reader.read(body: body, contentType: Array("application/msgpack".utf8))
        #expect(reader.isTruncated && reader.fields.isEmpty)
    }

    @Test(arguments: unread)
    func tellsWhatWasLeftOut(_ row: Unread) {
        // Of an answer, rules look for values where its type tells that it has some.
        let isStructured = !row.type.hasPrefix("multipart")
        let answer = Sample(
            scheme: .https, responseHeaders: ["Content-Type: \(row.type)"], responseBody: row.body)
        #expect(FindingsLaboratory.run([answer]).coverage.partlyReadBodies == 1 || !isStructured)
        var request = Sample.post("", row.type, over: .https)
        request.body = row.body
        let report = FindingsLaboratory.run([request])
        #expect(report.coverage.partlyReadBodies == 1)
        let text = FindingsText.render(report, color: false)
        #expect(text.contains("1 body not looked into to the end"))
    }

    /// A gigabyte of zeros by the other codings, each in a few kilobytes.
    @Test(
        .processorTime(below: .seconds(60)),
        arguments: [
            ("br", Base64.decode(Array(brotliBomb.utf8)) ?? []), ("zstd", zstdBomb),
        ])
    func boundsOtherBombs(_ coding: String, _ body: [UInt8]) {
        var request = Sample.post("", "application/json", over: .https)
        request.body = body
        request.headers.append("Content-Encoding: \(coding)")
        let report = FindingsLaboratory.run([request])
        #expect(report.coverage.partlyReadBodies == 1)
    }

    struct Unread: Sendable, CustomTestStringConvertible {
        let type: String
        let body: [UInt8]
        var testDescription: String { "\(type), \(body.count) bytes" }

        init(_ type: String, _ body: [UInt8]) {
            self.type = type
            self.body = body
        }
    }

    private static let unread: [Unread] = [
        Unread("application/json", bytes(#"{"a":"#, 10_000)),
        Unread("application/json", bytes("[", 10_000)),
        Unread("application/msgpack", bytes("\u{01}\u{01}", 9000)),
        Unread("application/msgpack", [UInt8](repeating: 0x91, count: 10_000) + [0xC0]),
        Unread("application/msgpack", [0xDD, 0xFF, 0xFF, 0xFF, 0xFF, 0xA1, 0x61]),
        Unread("application/msgpack", [0xDB, 0x7F, 0xFF, 0xFF, 0xFF, 0x61]),
        Unread("application/cbor", [UInt8](repeating: 0x81, count: 10_000) + [0x01]),
        Unread("application/cbor", [0x9B] + [UInt8](repeating: 0xFF, count: 8)),
        Unread("application/cbor", [0x7B] + [UInt8](repeating: 0x7F, count: 8) + [0x61]),
        Unread("application/x-protobuf", bytes("\u{0A}\u{02}\u{08}\u{01}", 9000)),
        Unread("application/x-plist", propertyList(count: 14, references: 1)),
        Unread("application/x-plist", propertyList(count: 15, references: 0xFF)),
        Unread(
            "multipart/form-data; boundary=b",
            bytes("--b\r\nContent-Disposition: form-data; name=a\r\n\r\n1\r\n", 100_000)
        ),
        Unread("text/plain", bytes("a password is no word. ", 1 << 17)),
    ]

    private static func bytes(_ text: String, _ count: Int) -> [UInt8] {
        Array(String(repeating: text, count: count).utf8)
    }

    /// A binary property list of one array that holds itself, or says that it is larger than it is.
    private static func propertyList(count: Int, references: UInt8) -> [UInt8] {
        let array: [UInt8] =
            count < 15
            ? [0xA0 | 1, 0] : [0xAF, 0x13] + [UInt8](repeating: references, count: 8) + [0]
        let offset = UInt8(8 + array.count)
        return bytes("bplist00", 1) + array + [8] + [0, 0, 0, 0, 0, 0, 1, 1]
            + [0, 0, 0, 0, 0, 0, 0, 1] + [UInt8](repeating: 0, count: 8) + [
                0, 0, 0, 0, 0, 0, 0, offset,
            ]
    }

    private static let brotliBomb =
        "z///fwAkAOKxQHLv//n//w+ABEAcFoDu/T////8BkACIwwLQvf/n//8/ABIAcVgAuvf//P//B0ACIA4L"
        + "QPf+n////wBIAMRhAeje//P//x8ACYA4LADd+3/+//8DIAEQhwWge//P//9/ACQA4rAAdO//+f//D4AE"
        + "QBwWgO79P////wGQAIjDAtC9/+f//z8AEgBxWAC69//8//8HQAIgDgtA9/6f////AEgAxGEB6N7/8///"
        + "HwAJgDgsAN37f/7//wMgARCHBaB7/8///38AJADisAB07//5//8PgARAHBaA7v0/////AZAAiMMC0L3/"
        + "5///PwASAHFYALr3//z//wdAAiAOC0D3/p////8ASADEYQHo3v/z//8fAAmAOCwA3ft//v//AyABEIcF"
        + "oHv/z///fwAkAOKwAHTv//n//w+ABEAcFoDu/T////8BkACIwwLQvf/n//8/ABIAcVgAuvf//P//B0AC"
        + "IA4LQPf+n////wBIAMRhAeje//P//x8ACYA4LADd+3/+//8DIAEQhwWge//P//9/ACQA4rAAdO//+f//"
        + "D4AEQBwWgO79P////wGQAIjDAtC9/+f//z8AEgBxWAC69//8//8HQAIgDgtA9/6f////AEgAxGEB6N7/"
        + "8///HwAJgDgsAN37f/7//wMgARCHBaB7/8///38AJADisAB07//5//8PgARAHBaA7v0/////AZAAiMMC"
        + "0L3/5///PwASAHFYALr3//z//wdAAiAOC0D3/p////8ASADEYQHo3v/z//8fAAmAOCwA3ft//v//AyAB"
        + "EIcFoHv/z///fwAkAOKwAHTv//n//w+ABEAcFoDu/T////8BkACIwwLQvf/n//8/ABIAcVgAuvf//P//"
        + "B0ACIA4LQPf+n////wBIAMRhAeje//P//x8ACYA4LADd+3/+//8DIAEQhwWge//P//9/ACQA4rAAdO//"
        + "+f//D4AEQBwWgO79P////wGQAIjDAtC9/+f//z8AEgBxWAC69//8//8HQAIgDgtA9/6f////AEgAxGEB"
        + "6N7/8///HwAJgDgsAN37//z//wcgARCHBaB7/w8="

    /// Blocks of zeros (RFC 8878 §3.1.1.2), which say their length alone.
    private static let zstdBomb: [UInt8] =
        [0x28, 0xB5, 0x2F, 0xFD, 0, 0x58]
        + (0..<8192).flatMap { number -> [UInt8] in
            let head = UInt32(1 << 17) << 3 | 2 | (number == 8191 ? 1 : 0)
            return [0, 8, 16].map { UInt8(truncatingIfNeeded: head >> $0) } + [0]
        }

    /// Ten entities, each ten times the one before: 10¹⁰ characters if anybody believed them.
    @Test func boundsEntities() {
        var body = "<?xml version=\"1.0\"?><!DOCTYPE a [<!ENTITY e0 \"lol\">"
        for number in 1...10 {
            let last = String(repeating: "&e\(number - 1);", count: 10)
            body += "<!ENTITY e\(number) \"\(last)\">"
        }
        body += "<!ENTITY x SYSTEM \"file:///etc/passwd\">]><a><b>&e10;&x;</b></a>"
        var reader = FieldReader()
        reader.read(body: Array(body.utf8), contentType: Array("text/xml".utf8))
        #expect(reader.fields.map(\.value.text) == ["&e10;&x;"])
    }

    /// A content without an end is asked for no more than is looked into.
    @Test func stopsReadingLargeContents() throws {
        let source = EndlessSource()
        let report = try CaptureInspection.report(
            on: source, configuration: FindingsLaboratory.configuration())
        #expect(report.coverage.exchanges == 1)
        #expect(report.coverage.partlyReadBodies == 1)
        #expect(report.findings.contains { $0.rule == .plainHTTPForm })
    }

    /// Each of many secrets is looked for in what is shown of a path, and in no more.
    @Test(.processorTime(below: .seconds(60))) func boundsLongPathsWithManySecrets() {
        let body = (0..<128).map { "password\($0)=zzzzzzzz\($0)Q" }.joined(separator: "&")
        var sample = Sample.post(body, "application/x-www-form-urlencoded")
        sample.target = "/" + String(repeating: "z", count: 60_000) + "/x"
        let report = FindingsLaboratory.run([sample])
        let found = report.findings.filter { $0.rule == .plainHTTPForm }
        #expect(!found.isEmpty && found.allSatisfy { $0.urlTemplate.path.utf8.count < 16 })
    }

    @Test(.processorTime(below: .seconds(60))) func boundsManyCardNumbers() {
        let card = #"{"no":4539578763621486}"#
        let body = "[" + [String](repeating: card, count: 4000).joined(separator: ",") + "]"
        let report = FindingsLaboratory.run([.post(body, "application/json", over: .https)])
        #expect(report.coverage.partlyReadBodies == 0)
    }

    private static let bomb =
        "H4sIAAAAAAACA5Pv5mAAASbmt3cU8y4nyhx/WLY2QyCHQyRJJrntgqQJ05emg7o3ebelzIzyyLJgz2KfMTvGQHYdu8"
        + "IEnxDBXVuP/6if5773l/r+ys+We+b1bvumtj//+OPnx48++t9vv1lcGWh0wgO9uli/bckHXrxN+/nwcTpI6MW+N/"
        + "vnvHNrrFfP75vLDBRhe//q7sWD79oPPP758oolSMmHuPXhn++KFWzfWfn1pC1YRI4FpFTB1QDk4igwZwGEk4TMGZ"
        + "UZlRmVGZUZlRmVGZUZlRmVGZUZlRmVGZUZlRmVGZUZlRmVGZUZlRmVGZUZlRmVGZWhgczT31Vbb/gxfv599tPr34"
        + "Kx6Y/z67/X5cX7m+y8HbB3kz0DAI810T95GgAA"

    @Test(arguments: [
        "multipart/form-data; boundary=-", "multipart/form-data", "application/json", "text/xml",
        "application/x-www-form-urlencoded", "text/html", "", "application/x-protobuf",
        "application/grpc", "application/msgpack", "application/cbor", "application/x-plist",
        "application/graphql", "text/event-stream",
    ])
    func survivesRandomBytes(_ type: String) throws {
        let profile = try SubjectProfile.parse("password.main = Pr0be-S3cret!x")
        var engine = FindingsEngine(FindingsLaboratory.configuration(profile: profile))
        var random = SeededNumbers(state: 0x5EED)
        let alphabet = Array("{}[]\":,\\u%&=;<>!-/ \r\nabAB01.@\u{7F}\0".utf8)
        for number in 0..<150 {
            func noise(_ count: Int) -> [UInt8] {
                (0..<count).map { _ in
                    let value = random.next()
                    return value & 0x700 == 0
                        ? UInt8(truncatingIfNeeded: value)
                        : alphabet[
                            Int(value >> 32 % UInt64(alphabet.count)) % alphabet.count]
                }
            }
            var record = ExchangeRecord(
                id: Int64(number), connection: 1, startedAt: Timestamp(microseconds: 1),
                scheme: number.isMultiple(of: 2) ? .http : .https, authority: noise(9).text)
            let typed = Array("POST / HTTP/1.1\r\nContent-Type: \(type)\r\nAuthorization: ".utf8)
            record.requestHead = number.isMultiple(of: 3) ? noise(300) : typed + noise(80)
            record.responseHead = number.isMultiple(of: 5) ? noise(200) : typed + noise(40)
            record.status = 200
            engine.observe(
                record, on: nil, requestBody: noise(400), responseBody: noise(400))
        }
        #expect(engine.report().coverage.exchanges == 150)
    }

    @Test(arguments: [
        "", "\r\n", "GET", "GET \r\n", "\n\n\n", ": \r\n\r\n", " folded\r\n",
        "GET / HTTP/1.1\r\nnocolon",
        ":method: POST\r\n:path: /x\r\nauthorization: Basic dGVzdDoxOjM0\r\n\r\n",
    ])
    func survivesMalformedHeads(_ head: String) {
        var record = ExchangeRecord(
            id: 1, connection: 1, startedAt: Timestamp(microseconds: 1), scheme: .http,
            authority: "a.example")
        record.requestHead = Array(head.utf8)
        var engine = FindingsEngine(FindingsLaboratory.configuration())
        engine.observe(record, on: nil, requestBody: [], responseBody: [])
        let isPseudo = head.hasPrefix(":method")
        #expect(engine.report().findings.contains { $0.rule == .plainHTTPBasic } == isPseudo)
    }
}

/// A fixed sequence of numbers (xorshift64*).
private struct SeededNumbers {
    var state: UInt64

    mutating func next() -> UInt64 {
        state ^= state >> 12
        state ^= state << 25
        state ^= state >> 27
        return state &* 0x2545_F491_4F6C_DD1D
    }
}

/// One exchange in cleartext whose request has a content of a terabyte.
private struct EndlessSource: TrafficSource {
    private let size: Int64 = 1 << 40

    func connections(_ visit: (ConnectionRecord) throws -> Bool) throws {}

    func exchanges(_ visit: (ExchangeRecord) throws -> Bool) throws {
        var record = ExchangeRecord(
            id: 1, connection: 1, startedAt: Timestamp(microseconds: 1), scheme: .http,
            authority: "api.example")
        let type = "Content-Type: application/x-www-form-urlencoded"
        record.requestHead = Array("POST / HTTP/1.1\r\nHost: api.example\r\n\(type)\r\n\r\n".utf8)
        record.requestBody.size = size
        _ = try visit(record)
    }

    func exchange(_ id: Int64) throws -> ExchangeRecord? { nil }

    func body(
        ofExchange id: Int64, _ direction: Direction, _ visit: ([UInt8]) throws -> Bool
    ) throws {
        guard try visit(Array("password=tototo&x=".utf8)) else { return }
        let part = [UInt8](repeating: 0x61, count: 1 << 16)
        for _ in 0..<(size >> 16) { guard try visit(part) else { return } }
    }

    func messages(
        ofConnection id: Int64, exchange: Int64?, _ visit: (MessageRecord) throws -> Bool
    ) throws {}
}
