import Base
import Testing

@testable import DNS

@Suite struct DNSAnswerRuleTests {
    typealias Verdict = DNSAnswerOutcome.Verdict

    private func query(_ name: String, _ type: DNSType, recordClass: UInt16 = 1) -> DNSMessage {
        var query = DNSMessage()
        query.id = 7
        query.flags = [.recursionDesired, .checkingDisabled]
        let name = DNSName(name) ?? .root
        query.questions = [DNSQuestion(name, type, recordClass: recordClass)]
        return query
    }

    private func answer(
        _ query: DNSMessage, _ table: NameTable = NameTable(),
        over carrier: DNSAnswerRule.Carrier = .datagram
    ) -> DNSAnswerOutcome? {
        let bytes = DNSMessageWriter.write(query)
        return DNSAnswerRule(names: table).answer(bytes.span, over: carrier)
    }

    struct Row: Sendable, CustomTestStringConvertible {
        let name: String
        let type: DNSType
        let verdict: Verdict
        let code: DNSResponseCode
        let data: DNSRecord.Data?
        var testDescription: String { "\(name) \(type)" }

        init(
            _ name: String, _ type: DNSType, _ verdict: Verdict,
            _ code: DNSResponseCode = .noError, _ data: DNSRecord.Data? = nil
        ) {
            self.name = name
            self.type = type
            self.verdict = verdict
            self.code = code
            self.data = data
        }
    }

    private static let known: [UInt8] = [198, 18, 0, 1]
    private static let other: [UInt8] = [198, 18, 0, 2]
    private static let loopback6 = [UInt8](repeating: 0, count: 15) + [1]
    private static let localhost = DNSRecord.Data.name(
        DNSName(checked: [[UInt8]("localhost".utf8)]))
    private static let reverseLoopback6 = "1." + String(repeating: "0.", count: 31) + "ip6.arpa"

    @Test(arguments: [
        Row("known.test", .a, .address(known), .noError, .address(known)),
        Row("KNOWN.Test", .a, .address(known), .noError, .address(known)),
        Row("new.test", .a, .address(other), .noError, .address(other)),
        Row("_x.test", .a, .address(other), .noError, .address(other)),
        Row("known.test", .aaaa, .noIPv6), Row("known.test", .https, .noService),
        Row("_8443._https.known.test", .https, .noService),
        Row("_dns.resolver.arpa", .svcb, .noService),
        Row("known.test", .txt, .nothing), Row("known.test", .init(rawValue: 255), .nothing),
        Row("known.test", .cname, .nothing), Row(".", .init(rawValue: 2), .nothing),
        Row("ipv4only.arpa", .aaaa, .nothing), Row("ipv4only.arpa", .a, .nothing),
        Row("192.0.2.1", .a, .noSuchName, .noSuchName),
        Row("a b.test", .a, .noSuchName, .noSuchName),
        Row("localhost", .a, .localhost, .noError, .address([127, 0, 0, 1])),
        Row("app.LocalHost", .a, .localhost, .noError, .address([127, 0, 0, 1])),
        Row("localhost.localdomain", .aaaa, .localhost, .noError, .address(loopback6)),
        Row("localhost", .https, .nothing),
        Row("use-application-dns.net", .a, .encryptedDNSDeclined, .noSuchName),
        Row("Use-Application-DNS.net", .aaaa, .encryptedDNSDeclined, .noSuchName),
        Row(
            "1.0.18.198.in-addr.arpa", .ptr, .name("known.test"), .noError,
            .name(DNSName(checked: ["known", "test"].map { [UInt8]($0.utf8) }))),
        Row("1.0.18.198.IN-ADDR.arpa", .txt, .nothing),
        Row("2.0.18.198.in-addr.arpa", .ptr, .noSuchName, .noSuchName),
        Row("1.2.0.192.in-addr.arpa", .ptr, .noSuchName, .noSuchName),
        Row("18.198.in-addr.arpa", .ptr, .noSuchName, .noSuchName),
        Row("256.0.18.198.in-addr.arpa", .ptr, .noSuchName, .noSuchName),
        Row("+1.0.18.198.in-addr.arpa", .ptr, .noSuchName, .noSuchName),
        Row("1.0.0.127.in-addr.arpa", .ptr, .localhost, .noError, localhost),
        Row(reverseLoopback6, .ptr, .localhost, .noError, localhost),
        Row("2" + reverseLoopback6.dropFirst(), .ptr, .noSuchName, .noSuchName),
        Row("ip6.arpa", .ptr, .noSuchName, .noSuchName),
    ])
    func queriesAreAnswered(_ row: Row) throws {
        let table = NameTable()
        _ = table.address(of: "known.test")
        let query = query(row.name, row.type)
        let outcome = try #require(answer(query, table))
        #expect(outcome.verdict == row.verdict)
        #expect(outcome.question == query.questions[0])
        let read = try DNSMessageReader.read(outcome.bytes.span)
        #expect(read.id == 7)
        #expect(
            read.flags == [.response, .recursionDesired, .recursionAvailable, .checkingDisabled])
        #expect(read.code == row.code)
        #expect(read.questions == query.questions)
        #expect(read.answers.map(\.data) == (row.data.map { [$0] } ?? []))
        #expect(read.answers.allSatisfy { $0.name == query.questions[0].name })
        #expect(read.options == nil)
        let isNew = row.verdict == .address(Self.other)
        #expect(table.count == (isNew ? 2 : 1))
    }

    @Test func optionsAreAnsweredInKind() throws {
        var query = query("a.test", .a)
        query.options = DNSOptions(payloadSize: 4096, dnssecOK: true, raw: [0, 10, 0, 0])
        let outcome = try #require(answer(query))
        #expect(outcome.response.options == DNSOptions(dnssecOK: true))
        #expect(outcome.byteLimit == 1232)
        #expect(answer(query, over: .stream)?.byteLimit == 65_535)
        query.options?.version = 1
        let refused = try #require(answer(query))
        #expect(refused.verdict == .refused)
        #expect(try DNSMessageReader.read(refused.bytes.span).code == .badVersion)
    }

    @Test func whatIsNoQuestionIsRefused() throws {
        var update = query("a.test", .a)
        update.operation = 5
        #expect(answer(update)?.response.code == .notImplemented)
        #expect(answer(query("version.bind", .txt, recordClass: 3))?.response.code == .refused)
        var two = query("a.test", .a)
        two.questions += [DNSQuestion(.root, .a)]
        let outcome = try #require(answer(two))
        #expect(outcome.verdict == .notOneQuestion)
        #expect(outcome.response.code == .formatError)
        #expect(outcome.response.questions.count == 1)
        two.questions = []
        #expect(answer(two)?.verdict == .notOneQuestion)
        var response = query("a.test", .a)
        response.flags.insert(.response)
        #expect(answer(response) == nil)
    }

    @Test func brokenQueriesAreAnsweredWhenTheyCanBe() throws {
        let rule = DNSAnswerRule(names: NameTable())
        let bytes = DNSMessageWriter.write(query("a.test", .a))
        for count in 0..<bytes.count {
            let outcome = rule.answer(Array(bytes.prefix(count)).span, over: .datagram)
            #expect((outcome == nil) == (count < 12))
            guard let outcome else { continue }
            #expect(outcome.verdict == .malformed(.truncatedMessage))
            #expect(outcome.bytes.count == 12)
            #expect(outcome.bytes.starts(with: [0, 7, 0x81, 0x91]))
        }
        let outcome = rule.answer((bytes + [1]).span, over: .datagram)
        #expect(outcome?.verdict == .malformed(.trailingBytes(1)))
        #expect(outcome?.question?.name.description == "a.test")
    }
}
