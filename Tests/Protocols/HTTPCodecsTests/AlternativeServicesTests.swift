import Base
import Testing

@testable import HTTPCodecs

@Suite struct AlternativeServicesTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let value: String
        let protocols: [String]
        /// `nil` if none remains.
        let rest: String?

        init(_ name: String, _ value: String, _ protocols: [String], rest: String?) {
            testDescription = name
            self.value = value
            self.protocols = protocols
            self.rest = rest
        }
    }

    /// What cannot be read passes on but for HTTP/3: the value, what remains, whether it is changed.
    @Test(
        arguments: [
            (#"h1="a:80", ma=1, persist=0"#, #"h1="a:80", ma=1, persist=0"#, false),
            (#"h3=":443", ma=1"#, "ma=1", true),
            (#"h2=a:443,h3=b:443; ma=1, h3-29 =":1""#, "h2=a:443", true),
            (#"h%33=":443", x"#, "x", true),
            (#""h3=":443", QUIC"#, nil, true),
            (#"h2="a, h3=":443", b""#, #"h2="a, b""#, true),
            (",,", ",,", false),
            ("h3x=1, 2", "h3x=1, 2", false),
        ] as [(String, String?, Bool)])
    func whatCannotBeReadPassesWithoutHTTP3(value: String, rest: String?, isChanged: Bool) {
        let bytes = [UInt8](value.utf8)[...]
        #expect(throws: AlternativeServicesViolation.self) { try AlternativeServices(bytes) }
        let result = AlternativeServices.withoutHTTP3(malformed: bytes)
        #expect(result.rest?.text == rest)
        #expect(result.advertisesHTTP3 == isChanged)
    }

    private static let onion =
        #"h2="cflare2nfsmlkn3pfbstjdmxjndz4iuhpm27zxjxxgtk7kvpxrd3ljyd.onion:443""#
        + "; ma=86400; persist=1"

    private static let rows: [Row] = realRows + otherRows

    /// As sites and servers send or sent them.
    private static let realRows: [Row] = [
        Row("Cloudflare, Meta, nginx", #"h3=":443"; ma=86400"#, ["h3"], rest: nil),
        Row("Caddy", #"h3=":443"; ma=2592000"#, ["h3"], rest: nil),
        Row(
            "Google", #"h3=":443"; ma=2592000,h3-29=":443"; ma=2592000"#, ["h3", "h3-29"],
            rest: nil),
        Row(
            "Google, 2021",
            #"h3=":443"; ma=2592000,h3-29=":443"; ma=2592000,h3-T051=":443"; ma=2592000,"#
                + #"h3-Q050=":443"; ma=2592000,h3-Q046=":443"; ma=2592000,"#
                + #"h3-Q043=":443"; ma=2592000,quic=":443"; ma=2592000; v="46,43""#,
            ["h3", "h3-29", "h3-T051", "h3-Q050", "h3-Q046", "h3-Q043", "quic"], rest: nil),
        Row(
            "Google, 2016", #"quic=":443"; ma=2592000; v="36,35,34""#, ["quic"], rest: nil),
        Row(
            "Google, 2015", #"quic=":443"; p="1"; ma=604800"#, ["quic"], rest: nil),
        Row(
            "Fastly", #"h3=":443";ma=86400,h3-29=":443";ma=86400,h3-27=":443";ma=86400"#,
            ["h3", "h3-29", "h3-27"], rest: nil),
        Row(
            "Akamai", #"h3=":443"; ma=93600,h3-29=":443"; ma=93600,quic=":443"; ma=93600; v="43""#,
            ["h3", "h3-29", "quic"], rest: nil),
        Row(
            "LiteSpeed",
            #"h3=":443"; ma=2592000, h3-29=":443"; ma=2592000, quic=":443"; ma=2592000; v="43,46""#,
            ["h3", "h3-29", "quic"], rest: nil),
        Row("Cloudflare's onions", onion, ["h2"], rest: onion),
        Row(
            "onions and HTTP/3", #"h3=":443"; ma=86400, "# + onion, ["h3", "h2"], rest: onion),
        Row("a draft's name", #"hq-29=":8443", hq=":1""#, ["hq-29", "hq"], rest: nil),
    ]

    private static let otherRows: [Row] = [
        Row("clear", "clear", [], rest: "clear"),
        Row("clear with blanks", " clear\t", [], rest: "clear"),
        Row(
            "RFC 7838 §3", #"h2="alt.example.com:8000", h2=":443"; ma=2592000; persist=1"#,
            ["h2", "h2"], rest: #"h2="alt.example.com:8000", h2=":443"; ma=2592000; persist=1"#),
        Row(
            "RFC 7838 §3, escapes", #"w%3Dx%3Ay%23z=":1""#, ["w=x:y#z"],
            rest: #"w%3Dx%3Ay%23z=":1""#),
        Row("an escaped h3", #"%683=":1""#, ["h3"], rest: nil),
        Row("in capitals", #"H3=":1",QUIC=":1""#, ["H3", "QUIC"], rest: nil),
        Row(
            "names that begin so", #"h3x=":1",quick=":1",hqx=":1""#, ["h3x", "quick", "hqx"],
            rest: #"h3x=":1", quick=":1", hqx=":1""#),
        Row(
            "a comma in quotes", #"h2=":1"; a="x,h3=\":1\"", h3=":2""#, ["h2", "h3"],
            rest: #"h2=":1"; a="x,h3=\":1\"""#),
        Row("empty elements", #", ,h2=":1",, h3=":1" ,"#, ["h2", "h3"], rest: #"h2=":1""#),
        Row("blanks", "h2=\":1\"\t; ma=1 ,\th3=\":1\" ", ["h2", "h3"], rest: "h2=\":1\"\t; ma=1"),
        Row(
            "a semicolon too many", #"h2=":1";, h3=":1"; ;ma=1;"#, ["h2", "h3"], rest: #"h2=":1""#),
    ]

    @Test(arguments: rows)
    func valuesAreRead(_ row: Row) throws {
        let services = try AlternativeServices(Array(row.value.utf8)[...])
        #expect(services.services.map(\.protocolName.text) == row.protocols)
        #expect(services.withoutHTTP3?.text == row.rest)
        #expect(services.isClear == row.protocols.isEmpty)
        let kept = row.rest.map { Array($0.utf8) }
        #expect(
            services.advertisesHTTP3 == (row.protocols.count > 0 && rest(kept) != row.protocols))
        guard let kept else { return }
        let again = try AlternativeServices(kept[...])
        #expect(!again.advertisesHTTP3)
        #expect(again.withoutHTTP3 == kept)
    }

    private func rest(_ value: [UInt8]?) -> [String] {
        guard let value else { return [] }
        do throws(AlternativeServicesViolation) {
            return try AlternativeServices(value[...]).services.map(\.protocolName.text)
        } catch {
            return []
        }
    }

    @Test func partsAreTold() throws {
        let value = Array(#"h2="a\.test:8000"; MA=60; v="4\"6,43";persist=1"#.utf8)
        let service = try #require(try AlternativeServices(value[...]).services.first)
        #expect(service.authority.text == "a.test:8000")
        #expect(service.parameters.map(\.name.text) == ["ma", "v", "persist"])
        #expect(service.parameters.map(\.value.text) == ["60", "4\"6,43", "1"])
        #expect(service.raw == value)
    }

    @Test(
        arguments: [
            ("", .empty), (" , ,", .empty), ("h3=:443; ma=86400", .authority), ("h3", .authority),
            ("h3=", .authority), ("h3 =\":1\"", .authority), ("clear, h3=\":1\"", .authority),
            ("Clear", .authority), ("=\":1\"", .protocolName), ("\"h3\"=\":1\"", .protocolName),
            ("h3%=\":1\"", .percentEncoding), ("h%3=\":1\"", .percentEncoding),
            ("h3=\":443", .quotedString), ("h3=\":443\\", .quotedString),
            ("h3=\":1\u{0}\"", .quotedString), ("h3=\":1\\\r\"", .quotedString),
            ("h3=\":1\"; ma", .parameter), ("h3=\":1\"; ma=", .parameter),
            ("h3=\":1\"; =1", .parameter), ("h3=\":1\" h2=\":1\"", .separator),
            ("h3=\":1\"; ma=1 2", .separator),
        ] as [(String, AlternativeServicesViolation)])
    func violationsAreNamed(value: String, violation: AlternativeServicesViolation) {
        #expect(throws: violation) { try AlternativeServices(Array(value.utf8)[...]) }
        #expect(!violation.code.isEmpty && !violation.detail.isEmpty)
    }

    @Test(arguments: 0..<4 as Range<UInt64>)
    func mutationsNeverCrash(seed: UInt64) {
        var generator = SeededGenerator(state: seed)
        var violations: Set<AlternativeServicesViolation> = []
        let marks = Array("\",;=\\% \0".utf8)
        for _ in 0..<3000 {
            var bytes = Array((Self.rows.randomElement(using: &generator)?.value ?? "").utf8)
            for _ in 0...Int.random(in: 0..<3, using: &generator) where !bytes.isEmpty {
                let place = Int.random(in: 0..<bytes.count, using: &generator)
                switch Int.random(in: 0..<4, using: &generator) {
                case 0: bytes[place] = .random(in: 0...255, using: &generator)
                case 1: bytes.insert(marks.randomElement(using: &generator) ?? 0, at: place)
                case 2: bytes.removeSubrange(place...)
                default: bytes.remove(at: place)
                }
            }
            do throws(AlternativeServicesViolation) {
                // What is before a slice must not be reached.
                let padded = Array("h3".utf8) + bytes
                let services = try AlternativeServices(padded.dropFirst(2))
                guard let kept = services.withoutHTTP3 else { continue }
                #expect(try AlternativeServices(kept[...]).withoutHTTP3 == kept)
            } catch {
                violations.insert(error)
            }
        }
        #expect(violations.count >= 5)
    }
}
