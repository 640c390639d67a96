import Testing

@testable import Filters

struct FilterReaderTests {
    struct Row: CustomTestStringConvertible, Sendable {
        let text: String
        /// The filter fully parenthesised.
        let meaning: String
        var testDescription: String { text }

        init(_ text: String, _ meaning: String) {
            self.text = text
            self.meaning = meaning
        }
    }

    static let rows = [
        Row("login", "?~login"),
        Row("example.com/a:b?c", "?~example.com/a:b?c"),
        Row("'a and b'", "?~a and b"),
        Row("\"it's\"", "?~it's"),
        Row("host=a", "host=a"),
        Row("host==a", "host=a"),
        Row(" host = a ", "host=a"),
        Row("HOST!=A", "host!=A"),
        Row("url~x=y", "url~x=y"),
        Row("url='a b&c'", "url=a b&c"),
        Row("error=''", "error="),
        Row("status=404", "status=404"),
        Row("status>=400", "status>=400"),
        Row("status=4XX", "status=4xx"),
        Row("status!=5xx", "status!=5xx"),
        Row("size>10k", "size>10240"),
        Row("request-size<=1", "request-size<=1"),
        Row("duration<1.5s", "duration<1500000"),
        Row("id=7", "id=7"),
        Row("header:X-Y~z", "header:x-y~z"),
        Row("header:Accept", "header:accept"),
        Row("a or b and c", "(?~a | (?~b & ?~c))"),
        Row("a and b or c", "((?~a & ?~b) | ?~c)"),
        Row("(a or b) and c", "((?~a | ?~b) & ?~c)"),
        Row("not a and b", "(!?~a & ?~b)"),
        Row("not (a and b)", "!(?~a & ?~b)"),
        Row("not not a", "?~a"),
        Row("!a", "!?~a"),
        Row("!host!=a", "!host!=a"),
        Row("a&b|!c", "((?~a & ?~b) | !?~c)"),
        Row("a && b || c", "((?~a & ?~b) | ?~c)"),
        Row("a AND b Or NOT c", "((?~a & ?~b) | !?~c)"),
        Row("a and(b)", "(?~a & ?~b)"),
        Row("android or order or notes", "(?~android | ?~order | ?~notes)"),
        Row("((a))", "?~a"),
        Row("host=漢字.example and é", "(host=漢字.example & ?~é)"),
    ]

    @Test(arguments: rows)
    func reads(_ row: Row) throws {
        #expect(try FilterReader.read(row.text, for: .exchanges).written == row.meaning)
    }

    struct BadRow: CustomTestStringConvertible, Sendable {
        let text: String
        let violation: FilterViolation
        var testDescription: String { text }

        init(_ text: String, _ column: Int, _ message: String, hint: String? = nil) {
            self.text = text
            violation = FilterViolation(column: column, message, hint: hint)
        }
    }

    static let badRows = [
        BadRow("", 1, "a condition is missing here"),
        BadRow("   ", 4, "a condition is missing here"),
        BadRow("a and", 6, "a condition is missing here"),
        BadRow("a and )", 7, "a condition is needed"),
        BadRow("= x", 1, "a condition is needed"),
        BadRow("a b", 3, "'and' or 'or' is needed here"),
        BadRow("a not b", 3, "'and' or 'or' is needed here"),
        BadRow("a)", 2, "nothing is open here"),
        BadRow("(a", 1, "the group that starts here does not end"),
        BadRow("x and (a or (b)", 7, "the group that starts here does not end"),
        BadRow("a and 'b", 7, "the quote that starts here does not end"),
        BadRow("host=", 6, "a value is needed after '='"),
        BadRow("host= & a", 7, "a value is needed after '='"),
        BadRow(
            "and a", 1, "a condition is needed before 'and'",
            hint: "put the word in quotes to look for it"),
        BadRow("a and hots=b", 7, "unknown field 'hots'", hint: "did you mean 'host'?"),
        BadRow(
            "a?b=c", 1, "unknown field 'a?b'",
            hint: "put text with signs in quotes to look for it"),
        BadRow(
            "colour=red", 1, "unknown field 'colour'",
            hint: "exchanges have host, path, url, method, status, scheme, size, request-size,"
                + " duration, id, client, protocol, error, header:NAME"),
        BadRow("host>a", 5, "'host' is text, which goes with =, != or ~"),
        BadRow(
            "size ~ 3", 6, "'size' is a number, which goes with =, !=, <, <=, > or >="),
        BadRow("status=4x", 8, "'status' needs a status like 404 or 4xx, not '4x'"),
        BadRow("status<4xx", 8, "a status class goes with = or !="),
        BadRow("size>lots", 6, "'size' needs a size like 512 or 10k, not 'lots'"),
        BadRow("duration>5", 10, "'duration' needs a duration like 200ms or 1.5s, not '5'"),
        BadRow("id=x", 4, "'id' needs a number, not 'x'"),
        BadRow("header:=x", 1, "the name of the header is missing: header:NAME"),
        BadRow(
            String(repeating: "(", count: 60) + "a", 51,
            "more than 50 groups inside of one another"),
    ]

    @Test(arguments: badRows)
    func refuses(_ row: BadRow) {
        #expect(throws: row.violation) { try FilterReader.read(row.text, for: .exchanges) }
    }

    @Test func connectionsHaveTheirOwnFields() throws {
        let filter = try FilterReader.read("sni=*.a and outcome!=completed", for: .connections)
        #expect(filter.written == "(sni=*.a & outcome!=completed)")
        #expect(throws: FilterViolation(column: 1, "connections have no headers")) {
            try FilterReader.read("header:x=y", for: .connections)
        }
        #expect(throws: FilterViolation.self) {
            try FilterReader.read("sni=a", for: .exchanges)
        }
    }

    @Test func manyConditionsNeedNoStack() throws {
        let text = Array(repeating: "not a", count: 20_000).joined(separator: " or ")
        let negations = String(repeating: "!", count: 100_001) + "a"
        #expect(try FilterReader.read(text, for: .exchanges).written.count > 20_000)
        #expect(try FilterReader.read(negations, for: .exchanges).written == "!?~a")
    }
}

extension Filter {
    /// The filter in one spelling, for comparing.
    fileprivate var written: String {
        switch self {
        case .all(let filters): "(" + filters.map(\.written).joined(separator: " & ") + ")"
        case .any(let filters): "(" + filters.map(\.written).joined(separator: " | ") + ")"
        case .not(let filter): "!" + filter.written
        case .test(let test):
            (test.field == .bare ? "?" : test.field.title) + test.condition.written
        }
    }
}

extension Filter.Condition {
    fileprivate var written: String {
        switch self {
        case .matches(let value): "=\(value)"
        case .differs(let value): "!=\(value)"
        case .contains(let value): "~\(value)"
        case .isPresent: ""
        case .compares(let comparison, let value): "\(comparison.rawValue)\(value)"
        case .hasClass(let digit): "=\(digit)xx"
        case .lacksClass(let digit): "!=\(digit)xx"
        }
    }
}
