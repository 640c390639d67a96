import Base
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

    @Test(arguments: [
        "multipart/form-data; boundary=-", "multipart/form-data", "application/json", "text/xml",
        "application/x-www-form-urlencoded", "text/html", "",
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
