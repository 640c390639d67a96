import HTTPModel
import Testing

@testable import HTTPCodecs

/// One head and what it comes to.
struct RequestRow: Sendable, CustomTestStringConvertible {
    var name: String
    var input: String
    var expected: String
    var testDescription: String { name }

    init(_ name: String, _ input: String, _ expected: String) {
        self.name = name
        self.input = input
        self.expected = expected
    }
}

@Suite struct RequestReaderTests {
    /// `method|target|version|fields|consumed`.
    static let sound: [RequestRow] = [
        .init("smallest", "GET / HTTP/1.1\r\nHost: a\r\n\r\n", "GET|/|http11|Host=a|27"),
        .init("HTTP/1.0 without Host", "GET / HTTP/1.0\r\n\r\n", "GET|/|http10||18"),
        .init("HTTP/1.0 with Host", "GET / HTTP/1.0\r\nhost: a\r\n\r\n", "GET|/|http10|host=a|27"),
        .init("body behind", "POST /x HTTP/1.1\r\nHost: a\r\n\r\nbody", "POST|/x|http11|Host=a|29"),
        .init(
            "next request behind", "GET / HTTP/1.1\r\nHost: a\r\n\r\nGET / HT",
            "GET|/|http11|Host=a|27"),
        .init(
            "empty line before", "\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", "GET|/|http11|Host=a|29"),
        .init(
            "four empty lines", "\r\n\r\n\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n",
            "GET|/|http11|Host=a|35"),
        .init("no white space", "GET / HTTP/1.1\r\nHost:a\r\n\r\n", "GET|/|http11|Host=a|26"),
        .init(
            "white space around a value", "GET / HTTP/1.1\r\nHost: \t a b \t \r\n\r\n",
            "GET|/|http11|Host=a b|34"),
        .init(
            "tab in a value", "GET / HTTP/1.1\r\nHost: a\tb\r\n\r\n", "GET|/|http11|Host=a\tb|29"),
        .init(
            "many tabs in a value", "GET / HTTP/1.0\r\nX: 12345678\t\t12345678\t1\r\n\r\n",
            "GET|/|http10|X=12345678\t\t12345678\t1|43"),
        .init("empty Host", "GET / HTTP/1.1\r\nHost:\r\n\r\n", "GET|/|http11|Host=|25"),
        .init("blank value", "GET / HTTP/1.1\r\nHost:   \t\r\n\r\n", "GET|/|http11|Host=|29"),
        .init(
            "colon in a value", "GET / HTTP/1.1\r\nHost: a:80\r\nX: :\r\n\r\n",
            "GET|/|http11|Host=a:80,X=:|36"),
        .init(
            "obs-text in a value", "GET / HTTP/1.1\r\nHost: a\r\nX: \u{FC}\r\n\r\n",
            "GET|/|http11|Host=a,X=\u{FC}|34"),
        .init(
            "every token byte in a name", "GET / HTTP/1.0\r\n!#$%&'*+-.^_`|~09azAZ: 1\r\n\r\n",
            "GET|/|http10|!#$%&'*+-.^_`|~09azAZ=1|44"),
        .init(
            "every token byte in a method", "!#$%&'*+-.^_`|~09 / HTTP/1.0\r\n\r\n",
            "!#$%&'*+-.^_`|~09|/|http10||32"),
        .init("lower-case method", "get / HTTP/1.0\r\n\r\n", "get|/|http10||18"),
        .init("absolute form", "GET http://a/b?c HTTP/1.0\r\n\r\n", "GET|http://a/b?c|http10||29"),
        .init(
            "authority form", "CONNECT a:443 HTTP/1.1\r\nHost: a:443\r\n\r\n",
            "CONNECT|a:443|http11|Host=a:443|39"),
        .init("asterisk form", "OPTIONS * HTTP/1.0\r\n\r\n", "OPTIONS|*|http10||22"),
        .init("UTF-8 in a target", "GET /\u{FC} HTTP/1.0\r\n\r\n", "GET|/\u{FC}|http10||20"),
        .init(
            "order and case stay", "GET / HTTP/1.1\r\nb: 1\r\nHOST: a\r\nB: 2\r\na: 3\r\n\r\n",
            "GET|/|http11|b=1,HOST=a,B=2,a=3|45"),
    ]

    @Test(arguments: sound)
    func readsSoundHeads(row: RequestRow) {
        let (whole, deviations) = readings(of: Array(row.input.utf8)) {
            readRequest($0, alreadyScanned: $1)
        }
        #expect(deviations.isEmpty)
        guard case .head(let parts, let consumed) = whole else {
            Issue.record("\(whole)")
            return
        }
        let fields = parts.fields.joined(separator: ",")
        #expect(
            "\(parts.method)|\(parts.target)|\(parts.version)|\(fields)|\(consumed)" == row.expected
        )
        let head = Array(row.input.utf8.prefix(consumed))
        #expect(parts.raw == Array(head.drop { $0 == 0x0D || $0 == 0x0A }))
    }

    @Test(arguments: [
        ("GET", KnownMethod.get), ("HEAD", .head), ("POST", .post), ("CONNECT", .connect),
        ("PUT", .other), ("get", .other), ("GETS", .other), ("CONNECTS", .other), ("G", .other),
    ])
    func knowsMethods(method: String, known: KnownMethod) throws {
        #expect(try requestHead("\(method) / HTTP/1.0\r\n\r\n").knownMethod == known)
    }

    @Test func knowsFieldsInAnyCase() throws {
        let known = (1...UInt8.max).compactMap(KnownField.init(rawValue:))
        #expect(known.count == 20)
        for field in known {
            let name = "\(field.name)"
            for spelling in [
                name, name.uppercased(), name.prefix(1).uppercased() + name.dropFirst(),
            ] {
                let head = try requestHead("GET / HTTP/1.0\r\n\(spelling): x\r\n\r\n")
                #expect(head.fields.slices.map(\.known) == [field])
            }
            let last = name.last == "x" ? "y" : "x"
            for other in ["x\(name.dropFirst())", name.dropLast() + last, "\(name)x", "x\(name)"] {
                let head = try requestHead("GET / HTTP/1.0\r\n\(other): x\r\n\r\n")
                #expect(head.fields.slices.map(\.known) == [.other], "\(other)")
            }
        }
    }

    @Test(arguments: refusedRequests)
    func refuses(row: RequestRow) {
        let (whole, deviations) = readings(of: wire(row.input)) {
            readRequest($0, alreadyScanned: $1)
        }
        #expect(deviations.isEmpty)
        guard case .violation(let violation) = whole else {
            Issue.record("\(whole)")
            return
        }
        #expect("\(violation.code) \(violation.status)" == row.expected)
    }

    @Test(arguments: ["", "\r", "\r\n", "G", "GET ", "GET / HTTP/1.1\r\n", "GET / HTTP/1.0\r\n\r"])
    func waitsForMore(input: String) {
        let (whole, deviations) = readings(of: Array(input.utf8)) {
            readRequest($0, alreadyScanned: $1)
        }
        #expect(whole == .incomplete)
        #expect(deviations.isEmpty)
    }

    @Test func refusesEveryControlCharacterInAValue() {
        for byte in UInt8.min...UInt8.max {
            let input =
                Array("GET / HTTP/1.0\r\nX: 1234567890".utf8) + [byte] + Array("1\r\n\r\n".utf8)
            let isControl = (byte < 0x20 && byte != 0x09) || byte == 0x7F
            switch readRequest(input) {
            case .head: #expect(!isControl, "\(byte)")
            case .incomplete: Issue.record("\(byte)")
            case .violation: #expect(isControl, "\(byte)")
            }
        }
    }

    @Test func refusesEveryByteThatIsNoTokenInAName() {
        let token = Set(
            "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ".utf8)
        for byte in UInt8.min...UInt8.max where byte != 0x3A {
            let input = Array("GET / HTTP/1.0\r\nX".utf8) + [byte] + Array("1: 1\r\n\r\n".utf8)
            if case .head = readRequest(input) {
                #expect(token.contains(byte), "\(byte)")
            } else {
                #expect(!token.contains(byte), "\(byte)")
            }
        }
    }

    @Test func survivesAWrongHint() {
        let input = Array("GET / HTTP/1.0\r\n\r\n".utf8)
        #expect(readRequest(input, alreadyScanned: -5) == readRequest(input))
        #expect(readRequest(input, alreadyScanned: 5000) == readRequest(input))
    }
}

/// A head that reaches a limit and one that passes it by a byte.
@Suite struct HeadLimitsTests {
    private static let limits = HeadLimits(
        startLineLimit: 20, fieldLineLimit: 12, blockLimit: 50, fieldCountLimit: 3)

    @Test(arguments: [
        ("start line at the limit", "GET /45 HTTP/1.0\r\n\r\n", nil),
        ("start line of the limit", "GET /4567 HTTP/1.0\r\n\r\n", nil),
        ("start line over it", "GET /45678 HTTP/1.0\r\n\r\n", HTTP1Violation.startLineTooLong),
        ("start line without end", "GET /45678901234567890123", .startLineTooLong),
        ("method without end", "GETGETGETGETGETGETGETGET", .startLineTooLong),
        ("field line of the limit", "GET / HTTP/1.0\r\nA: 4567890\r\n\r\n", nil),
        ("field line over it", "GET / HTTP/1.0\r\nA: 45678901\r\n\r\n", .fieldLineTooLong),
        ("field line without end", "GET / HTTP/1.0\r\nA: 456789012345", .fieldLineTooLong),
        ("name without end", "GET / HTTP/1.0\r\nAAAAAAAAAAAAAAA", .fieldLineTooLong),
        ("blanks without end", "GET / HTTP/1.0\r\nA:            ", .fieldLineTooLong),
        ("three fields", "GET / HTTP/1.0\r\nA:1\r\nB:1\r\nC:1\r\n\r\n", nil),
        ("four fields", "GET / HTTP/1.0\r\nA:1\r\nB:1\r\nC:1\r\nD:1\r\n\r\n", .tooManyFields),
        ("block of the limit", "GET / HTTP/1.0\r\nA: 4567890\r\nB: 4567890\r\nCC:12\r\n\r\n", nil),
        (
            "block over it", "GET / HTTP/1.0\r\nA: 4567890\r\nB: 4567890\r\nCCC:123\r\n\r\n",
            .headTooLarge
        ),
        (
            "block without end", "GET / HTTP/1.0\r\nA: 4567890\r\nB: 4567890\r\nA: 4567890",
            .headTooLarge
        ),
        ("empty lines do not count", "\r\n\r\n\r\n\r\nGET /4567 HTTP/1.0\r\n\r\n", nil),
        (
            "an earlier violation comes first", "GET / HTTP/1.0\r\nA~: 45678901\r\n",
            .fieldLineTooLong
        ),
        ("the first violation counts", "GET / HTTP/1.0\r\nA@: 45678901\r\n", .invalidFieldName),
    ])
    func holds(name: String, input: String, expected: HTTP1Violation?) {
        let (whole, deviations) = readings(of: Array(input.utf8)) {
            readRequest($0, limits: Self.limits, alreadyScanned: $1)
        }
        // With the hint, a limit is seen within a KiB: those deviations are incomplete.
        #expect(deviations.allSatisfy { $0.hasSuffix("incomplete") })
        switch whole {
        case .head: #expect(expected == nil)
        case .incomplete: Issue.record("incomplete")
        case .violation(let violation): #expect(violation == expected)
        }
    }

    @Test func refusesAnEndlessLineWithinAKiB() {
        var input: [UInt8] = Array("GET /".utf8)
        var scanned = 0
        while input.count < 20_000 {
            let reading = readRequest(input, alreadyScanned: scanned)
            if reading != .incomplete {
                #expect(reading == .violation(.startLineTooLong))
                #expect(input.count < 8192 + 1024)
                return
            }
            scanned = input.count
            input.append(0x61)
        }
        Issue.record("never refused")
    }

    @Test func clampsSillyLimits() {
        let limits = HeadLimits(
            startLineLimit: .max, fieldLineLimit: .max, blockLimit: .max, fieldCountLimit: -1)
        #expect(limits.blockLimit == 1 << 30)
        #expect(
            readRequest(Array("GET / HTTP/1.0\r\nA: 1\r\n\r\n".utf8), limits: limits)
                == .violation(.tooManyFields))
    }
}
