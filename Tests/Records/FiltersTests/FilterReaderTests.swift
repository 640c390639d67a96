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
        Row("url!~x", "url!~x"),
        Row("path=~'^/a|b$'", "path=~^/a|b$"),
        Row("path!=~x", "path!=~x"),
        Row("port=443", "port=443"),
        Row("wait>1ms", "wait>1000"),
        Row("finding:URL-TOKEN", "finding=URL-TOKEN"),
        Row("finding=url-*", "finding=url-*"),
        Row("finding.severity>=HIGH", "finding.severity>=3"),
        Row("body:~x", "body~x"),
        Row("request-header:a=b", "request-header:a=b"),
        Row("response-header:A", "response-header:a"),
        Row("localhost:8080", "?~localhost:8080"),
        Row("'host:x'", "?~host:x"),
        Row("~u a", "url=~a"),
        Row("~u a ~m b", "(url=~a & method=~b)"),
        Row("~u a b", "(url=~a & ?~b)"),
        Row("~u 'a b' | ~c 404", "(status=404 | url=~a b)"),
        Row("~c 4xx & !~d x", "(status=4xx & !host=~x)"),
        Row("~d a !~d b or ~q", "((host=~a & !host=~b) | !status>0)"),
        Row("(~d a) ~s", "(host=~a & status>0)"),
        Row("~u a and b", "(url=~a & ?~b)"),
        Row(
            "~h 'x: y' & ~hq z & ~hs q",
            "(headers=~x: y & request-headers=~z & response-headers=~q)"),
        Row("~tq a & ~ts b & ~t c", "(request-type=~a & response-type=~b & type=~c)"),
        Row("~websocket | ~e", "(error=* | upgrade=websocket)"),
        Row("~all", "id>=0"),
        Row("!~tcp", "!!id>=0"),
        // What is cheap to know goes first, else the order stays.
        Row("body~x and url~y and status=200 and id=1", "(status=200 & id=1 & url~y & body~x)"),
        Row("~b x or finding=* or tls=* or ~m GET", "(method=~GET | tls=* | finding=* | body=~x)"),
        Row("(body~x or a) and not body~y and b", "(?~b & (?~a | body~x) & !body~y)"),
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
        BadRow(
            "url=~(?=x)", 6, "a value is needed after '=~'",
            hint: "quote a value that holds spaces or any of ( ) & |"),
        BadRow(
            "host= & a", 7, "a value is needed after '='",
            hint: "quote a value that holds spaces or any of ( ) & |"),
        BadRow(
            "and a", 1, "a condition is needed before 'and'",
            hint: "put the word in quotes to look for it"),
        BadRow("a and hots=b", 7, "unknown field 'hots'", hint: "did you mean 'host'?"),
        BadRow(
            "a?b=c", 1, "unknown field 'a?b'",
            hint: "put text with signs in quotes to look for it"),
        BadRow(
            "host:x", 1, "'host:' is compared with =, like host=x",
            hint: "put the word in quotes to look for it"),
        BadRow("host>a", 5, "'host' is text, which goes with =, !=, ~, !~, =~ or !=~"),
        BadRow("time=7", 6, "'time' needs \(time), not '7'"),
        BadRow("time>2026-02-30", 6, "'time' needs \(time), not '2026-02-30'"),
        BadRow(
            "finding.severity=bad", 18,
            "'finding.severity' needs one of info, low, medium, high, critical, not 'bad'"),
        BadRow(
            "finding.severity~h", 17,
            "'finding.severity' is a level, which goes with =, !=, <, <=, > or >="),
        BadRow(
            "a and finding:B", 15, "no rule is called 'B'",
            hint: "'*' stands for anything; the rules are A-RULE"),
        BadRow("finding=A-RUL", 9, "no rule is called 'A-RUL'", hint: "did you mean 'A-RULE'?"),
        BadRow(
            "path=~a+*", 9, "there is nothing to repeat before '*'",
            hint: "'~' looks for text as it is"),
        BadRow(
            "path=~'a[b'", 9, "the class that starts here does not end",
            hint: "'~' looks for text as it is"),
        BadRow(
            "~u x & ~b '(a'", 12, "the group that starts here does not end",
            hint: "'~' looks for text as it is"),
        BadRow("~u", 3, "a value is needed after '~u'"),
        BadRow("~c x", 4, "'status' needs a status like 404 or 4xx, not 'x'"),
        BadRow("~m GET or", 10, "a condition is missing here"),
        BadRow("~d x )", 6, "nothing is open here"),
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

    static let time = "a time like 07:05, 2026-03-09 or 2026-03-09T07:05:01Z, in UTC"

    @Test(arguments: badRows)
    func refuses(_ row: BadRow) {
        #expect(throws: row.violation) {
            try FilterReader.read(row.text, for: .exchanges, rules: ["A-RULE"])
        }
    }

    @Test(arguments: rows.map(\.text) + badRows.map(\.text))
    func endsOrRefusesWhereverItIsCut(_ text: String) {
        for length in 0...text.count {
            for subject in FilterField.Subject.allCases {
                let cut = String(text.prefix(length))
                do throws(FilterViolation) {
                    _ = try FilterReader.read(cut, for: subject)
                } catch {
                    #expect((1...(length + 1)).contains(error.column))
                }
            }
        }
    }

    @Test func namesWhatThereIs() {
        for subject in FilterField.Subject.allCases {
            do throws(FilterViolation) {
                _ = try FilterReader.read("colour=red", for: subject)
                Issue.record("a field of that name")
            } catch {
                let names = subject.names.map(\.rawValue).joined(separator: ", ")
                #expect(error.hint?.hasPrefix("\(subject.words) have \(names)") == true)
            }
            do throws(FilterViolation) {
                _ = try FilterReader.read("~meta x", for: subject)
                Issue.record("a shorthand of that name")
            } catch {
                #expect(error.message == "unknown shorthand '~meta'")
            }
        }
    }

    @Test func connectionsHaveTheirOwnFields() throws {
        let filter = try FilterReader.read("sni=*.a and outcome!=completed", for: .connections)
        #expect(filter.written == "(sni=*.a & outcome!=completed)")
        #expect(throws: FilterViolation(column: 1, "connections have no headers")) {
            try FilterReader.read("header:x=y", for: .connections)
        }
        #expect(throws: FilterViolation.self) {
            try FilterReader.read("kind=text", for: .exchanges)
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
        case .matches(let pattern): pattern.sign + pattern.text
        case .differs(let pattern): "!" + pattern.sign + pattern.text
        case .lies(let comparison, _): "\(comparison.rawValue)…"
        case .isPresent: ""
        case .compares(let comparison, let value): "\(comparison.rawValue)\(value)"
        case .hasClass(let digit): "=\(digit)xx"
        case .lacksClass(let digit): "!=\(digit)xx"
        }
    }
}

extension TextPattern {
    fileprivate var sign: String {
        switch kind {
        case .glob: "="
        case .part: "~"
        case .expression: "=~"
        }
    }
}
