import Base
import Testing

@testable import CommandSyntax

struct ValueSyntaxTests {
    struct Row: CustomTestStringConvertible, Sendable {
        let text: String
        /// What it means; `nil` if it is refused.
        let meaning: String?
        var testDescription: String { text }

        init(_ text: String, _ meaning: String?) {
            self.text = text
            self.meaning = meaning
        }
    }

    static let hostPortRows: [Row] = [
        Row("127.0.0.1:8080", "127.0.0.1 8080"),
        Row("localhost:0", "localhost 0"),
        Row("[::1]:443", "::1 443"),
        Row("[fe80::1%eth0]:65535", "fe80::1%eth0 65535"),
        Row("[::ffff:192.0.2.1]:1", "::ffff:192.0.2.1 1"),
        Row("a-b_c.example:80", "a-b_c.example 80"),
        Row("", nil),
        Row(":8080", nil),
        Row("8080", nil),
        Row("host", nil),
        Row("host:", nil),
        Row("host:65536", nil),
        Row("host:-1", nil),
        Row("host:+1", nil),
        Row("host:8o8o", nil),
        Row("::1:8080", nil),
        Row("[host]:80", nil),
        Row("[::1]", nil),
        Row("[::1]x:80", nil),
        Row("[]:80", nil),
        Row("http://host:80", nil),
        Row("user@host:80", nil),
        Row("ho st:80", nil),
    ]

    @Test(arguments: hostPortRows)
    func hostPort(_ row: Row) {
        let value = HostPort(row.text)
        #expect(value.map { "\($0.host) \($0.port)" } == row.meaning)
        if let value { #expect(value.description == row.text) }
    }

    static let byteCountRows: [Row] = [
        Row("0", "0"), Row("512", "512"), Row("512b", "512"), Row("64k", "65536"),
        Row("64K", "65536"), Row("1.5m", "1572864"), Row("2g", "2147483648"),
        Row("0.001k", "1"),
        Row("8589934591g", "9223372035781033984"),
        Row("8589934592g", nil), Row("9223372036854775808", nil), Row("", nil), Row("k", nil),
        Row("-1", nil), Row("1kb", nil), Row("1.k", nil), Row("1.2.3k", nil), Row("1 k", nil),
        Row(".5k", nil), Row("1.0001k", nil), Row("१k", nil),
    ]

    @Test(arguments: byteCountRows)
    func byteCount(_ row: Row) {
        #expect(read(.byteCount, row.text) == row.meaning)
    }

    static let durationRows: [Row] = [
        Row("0", "0.0 seconds"), Row("500ms", "0.5 seconds"), Row("250us", "0.00025 seconds"),
        Row("10s", "10.0 seconds"), Row("1.5s", "1.5 seconds"), Row("2m", "120.0 seconds"),
        Row("1h", "3600.0 seconds"), Row("10", nil), Row("", nil), Row("s", nil), Row("-1s", nil),
        Row("1d", nil), Row("99999999999999h", nil),
    ]

    @Test(arguments: durationRows)
    func duration(_ row: Row) {
        #expect(read(.duration, row.text) == row.meaning)
    }

    static let countRows: [Row] = [
        Row("1", "1"), Row("9223372036854775807", "9223372036854775807"), Row("0", nil),
        Row("-1", nil), Row("+1", nil), Row("", nil), Row("1.0", nil),
        Row("9223372036854775808", nil),
    ]

    @Test(arguments: countRows)
    func count(_ row: Row) {
        #expect(read(.count(from: 1), row.text) == row.meaning)
    }

    enum Level: String, CaseIterable {
        case low
        case high
    }

    @Test func choices() throws {
        let syntax = ValueSyntax<Level>.choice("LEVEL")
        #expect(syntax.choices == ["low", "high"])
        #expect(try syntax.read("high") == .high)
        #expect(
            throws: UsageFailure(
                "low or high is needed, not 'hihg'", hint: "did you mean 'high'?")
        ) {
            try syntax.read("hihg")
        }
        #expect(throws: UsageFailure("low or high is needed, not 'zzzz'")) {
            try ValueSyntax<Level>.choice("LEVEL").read("zzzz")
        }
    }

    @Test func pathsAreNotEmpty() {
        #expect(read(.path("FILE"), "") == nil)
        #expect(read(.path("FILE"), " ") == " ")
    }

    private func read<Value>(_ syntax: ValueSyntax<Value>, _ text: String) -> String? {
        do throws(UsageFailure) {
            return "\(try syntax.read(text))"
        } catch {
            return nil
        }
    }
}
