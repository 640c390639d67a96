import Base
import Testing
import Traffic

@testable import Findings

/// What a client's hello lacks or has, besides versions and suites.
@Suite struct ClientOfferDetectorTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let name: String
        let rule: RuleID
        let hello: Hello
        var host = "api.example"
        var mode = ConnectionRecord.Mode.explicit
        var exchangeCount: Int64 = 1
        /// What is told, the worst first; `nil` if the rule must be silent.
        let severity: Severity?
        var notes: [OfferFlaw] = []
        var testDescription: String { "\(rule.rawValue): \(name)" }
    }

    @Test(arguments: serverNameRows + signatureRows + extensionRows)
    func judges(_ row: Row) {
        var record = ConnectionRecord(
            id: 1, openedAt: Timestamp(microseconds: 1), client: "127.0.0.1:1",
            listener: "127.0.0.1:2", mode: row.mode)
        record.originHost = row.host
        record.exchangeCount = row.exchangeCount
        record.clientTLS = TLSRecord()
        record.clientTLS?.clientHello = row.hello.bytes
        record.clientTLS?.sni = row.hello.serverName
        var engine = FindingsEngine(FindingsLaboratory.configuration())
        engine.observe(record)
        let found = engine.report().findings.filter { $0.rule == row.rule }
        #expect(found.map(\.severity) == (row.severity.map { [$0] } ?? []))
        #expect(found.flatMap(\.notes) == row.notes.map { .offer($0) })
        #expect(found.allSatisfy { $0.severity <= $0.rule.text.worst ?? .info })
    }
}

/// A ClientHello in short hand; what it is made of by default is without a flaw.
struct Hello: Sendable {
    var version: UInt16 = 0x0303
    var suites: [UInt16] = [0x1301, 0xC02F]
    var compression: [UInt8] = [0]
    var serverName: String? = "api.example"
    var versions: [UInt16] = [0x0304, 0x0303]
    var signatures: [UInt16]? = [0x0403, 0x0804]
    /// Those without a content, by their numbers.
    var others: [UInt16] = [16, 23, 0xFF01]

    var bytes: [UInt8] {
        func two(_ number: Int) -> [UInt8] { [UInt8(number >> 8 & 255), UInt8(number & 255)] }
        func list(_ numbers: [UInt16]) -> [UInt8] { numbers.flatMap { two(Int($0)) } }
        func field(_ type: Int, _ content: [UInt8]) -> [UInt8] {
            two(type) + two(content.count) + content
        }
        var extensions = serverName.map { field(0, [0, 0, 0] + Array($0.utf8)) } ?? []
        if !versions.isEmpty {
            extensions += field(43, [UInt8(versions.count * 2)] + list(versions))
        }
        if let signatures { extensions += field(13, two(signatures.count * 2) + list(signatures)) }
        extensions += others.flatMap { field(Int($0), []) }
        var body = two(Int(version)) + [UInt8](repeating: 9, count: 32) + [0]
        body += two(suites.count * 2) + list(suites)
        body += [UInt8(compression.count)] + compression + two(extensions.count) + extensions
        return [1, 0] + two(body.count) + body
    }
}

private typealias Row = ClientOfferDetectorTests.Row

private let serverNameRows: [Row] = [
    Row(
        name: "none", rule: .tlsClientServerName, hello: Hello(serverName: nil), severity: .low,
        notes: [.namesNoHost]),
    Row(
        name: "none after SOCKS", rule: .tlsClientServerName, hello: Hello(serverName: nil),
        mode: .socks, severity: .low, notes: [.namesNoHost]),
    Row(
        name: "another", rule: .tlsClientServerName, hello: Hello(serverName: "cdn.example"),
        severity: .medium, notes: [.namesAnotherHost]),
    Row(name: "the same", rule: .tlsClientServerName, hello: Hello(), severity: nil),
    Row(
        name: "in another case, with a dot", rule: .tlsClientServerName,
        hello: Hello(serverName: "API.example."), severity: nil),
    Row(
        name: "of an address", rule: .tlsClientServerName, hello: Hello(serverName: nil),
        host: "192.0.2.1", severity: nil),
    Row(
        name: "of an address of IPv6", rule: .tlsClientServerName, hello: Hello(serverName: nil),
        host: "2001:db8::1", severity: nil),
    Row(
        name: "hidden", rule: .tlsClientServerName,
        hello: Hello(serverName: "public.example", others: [16, 23, 0xFF01, 0xFE0D]),
        severity: nil),
    Row(
        name: "whom it wanted is not known", rule: .tlsClientServerName,
        hello: Hello(serverName: nil), mode: .transparent, severity: nil),
]

private let signatureRows: [Row] = [
    Row(
        name: "MD5", rule: .tlsClientSignatures,
        hello: Hello(signatures: [0x0403, 0x0101, 0x0201]),
        severity: .medium, notes: [.md5Signatures, .sha1Signatures]),
    Row(
        name: "SHA-1", rule: .tlsClientSignatures, hello: Hello(signatures: [0x0804, 0x0203]),
        severity: .low, notes: [.sha1Signatures]),
    Row(
        name: "nothing told", rule: .tlsClientSignatures, hello: Hello(signatures: nil),
        severity: .low, notes: [.noSignatureAlgorithms]),
    Row(
        name: "DSA", rule: .tlsClientSignatures,
        hello: Hello(suites: [0x1301, 0x00A2], signatures: [0x0403, 0x0402]),
        severity: .info, notes: [.dsaSignatures]),
    Row(
        name: "DSA without a suite for it", rule: .tlsClientSignatures,
        hello: Hello(signatures: [0x0403, 0x0402]), severity: nil),
    Row(
        name: "modern, with GREASE", rule: .tlsClientSignatures,
        hello: Hello(signatures: [0x0A0A, 0x0403, 0x0804, 0x0401, 0x0807]), severity: nil),
    Row(
        name: "nothing told in TLS 1.0", rule: .tlsClientSignatures,
        hello: Hello(version: 0x0301, versions: [], signatures: nil), severity: nil),
]

private let extensionRows: [Row] = [
    Row(
        name: "compression", rule: .tlsClientExtensions, hello: Hello(compression: [1, 0]),
        severity: .high, notes: [.compression]),
    Row(
        name: "heartbeat", rule: .tlsClientExtensions, hello: Hello(others: [15, 16, 23, 0xFF01]),
        severity: .medium, notes: [.heartbeat]),
    Row(
        name: "renegotiation", rule: .tlsClientExtensions, hello: Hello(others: [16, 23]),
        severity: .medium, notes: [.noRenegotiationInfo]),
    Row(
        name: "renegotiation by its suite", rule: .tlsClientExtensions,
        hello: Hello(suites: [0xC02F, 0x00FF], others: [16, 23]), severity: nil),
    Row(
        name: "master secret", rule: .tlsClientExtensions, hello: Hello(others: [16, 0xFF01]),
        severity: .low, notes: [.noExtendedMasterSecret]),
    Row(
        name: "versions of HTTP", rule: .tlsClientExtensions, hello: Hello(others: [23, 0xFF01]),
        severity: .info, notes: [.noApplications]),
    Row(
        name: "no HTTP", rule: .tlsClientExtensions, hello: Hello(others: [23, 0xFF01]),
        exchangeCount: 0, severity: nil),
    Row(
        name: "TLS 1.3 alone", rule: .tlsClientExtensions,
        hello: Hello(versions: [0x0304], others: [16]), severity: nil),
    Row(name: "modern", rule: .tlsClientExtensions, hello: Hello(), severity: nil),
]
