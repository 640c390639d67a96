import Base
import Testing
import Traffic

@testable import Findings

@Suite struct ConnectionDetectorTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let name: String
        let hello: [UInt8]
        let version: Severity?
        let cipher: Severity?
        var testDescription: String { name }
    }

    @Test(arguments: [
        Row(
            name: "modern", hello: hello(0x0303, [0x1301, 0x1302], [0x0304, 0x0303]), version: nil,
            cipher: nil),
        Row(
            name: "GREASE and SCSV",
            hello: hello(0x0303, [0x0A0A, 0x1301, 0x00FF], [0x2A2A, 0x0304]),
            version: nil, cipher: nil),
        Row(
            name: "TLS 1.0 at most", hello: hello(0x0301, [0xC02F], nil), version: .medium,
            cipher: nil),
        Row(
            name: "TLS 1.2 at most", hello: hello(0x0303, [0xC02F], nil), version: nil, cipher: nil),
        Row(
            name: "TLS 1.1 among others", hello: hello(0x0303, [0x1301], [0x0304, 0x0302]),
            version: .medium, cipher: nil),
        Row(name: "SSL 3.0", hello: hello(0x0300, [0xC02F], nil), version: .high, cipher: nil),
        Row(
            name: "a fallback that was provoked", hello: hello(0x0301, [0xC02F, 0x5600], nil),
            version: nil, cipher: nil),
        Row(name: "SSL 2.0 hello", hello: ssl2Hello, version: .high, cipher: .high),
        Row(
            name: "anonymous", hello: hello(0x0303, [0x0034, 0x002F], nil), version: nil,
            cipher: .high),
        Row(
            name: "RC4", hello: hello(0x0303, [0xC011, 0x002F], nil), version: nil, cipher: .medium),
        Row(name: "3DES", hello: hello(0x0303, [0x000A], nil), version: nil, cipher: .medium),
        Row(
            name: "static RSA", hello: hello(0x0303, [0x009C, 0xC013], nil), version: nil,
            cipher: .low),
        Row(
            name: "CBC with SHA-1", hello: hello(0x0303, [0xC013], nil), version: nil, cipher: .info
        ),
        Row(name: "empty", hello: [], version: nil, cipher: nil),
    ])
    func judgesHello(_ row: Row) {
        let findings = observe { $0.clientTLS?.clientHello = row.hello }
        #expect(findings.first { $0.rule == .tlsClientVersion }?.severity == row.version)
        #expect(findings.first { $0.rule == .tlsClientCipher }?.severity == row.cipher)
    }

    @Test func survivesEveryCut() {
        let whole = Self.hello(0x0301, [0x0034, 0x000A], [0x0304, 0x0301])
        for count in 0..<whole.count {
            _ = observe { $0.clientTLS?.clientHello = Array(whole.prefix(count)) }
        }
        #expect(ClientHelloOffer(whole)?.supportedVersions == [0x0304, 0x0301])
    }

    @Test(arguments: [
        ("certificate has expired", Severity.high), ("hostname mismatch", .high),
        ("unable to get local issuer certificate", .high), ("CA md too weak", .medium),
        ("something new", .medium), ("self-signed leaf", .medium),
        ("self-signed leaf; certificate has expired", .high),
    ])
    func judgesChain(_ error: String, _ severity: Severity) {
        let findings = observe { record in
            record.originTLS = TLSRecord()
            record.originTLS?.verifyError = error
        }
        let finding = findings.first { $0.rule == .tlsOriginCertificate }
        #expect(finding?.severity == severity)
        #expect(finding?.rule.text.party == .origin)
    }

    /// What a server chose: on the origin's leg, or in packets on the only one.
    @Test(
        arguments: [
            ("TLSv1.3", "TLS_AES_128_GCM_SHA256", nil),
            ("TLSv1.2", "ECDHE-RSA-AES128-GCM-SHA256", nil),
            ("TLSv1.2", "DHE-RSA-CHACHA20-POLY1305", nil), ("TLSv1.2", "0xc0ac", nil),
            ("TLSv1.2", "ECDHE-RSA-AES128-SHA256", nil),
            ("TLSv1.2", "ECDHE-RSA-AES128-SHA", .info), ("TLSv1.2", "0xc013", .info),
            ("TLSv1.2", "AES128-GCM-SHA256", .low), ("TLSv1.2", "AES128-SHA", .low),
            ("TLSv1.2", "ECDHE-RSA-DES-CBC3-SHA", .medium), ("TLSv1.2", "RC4-SHA", .medium),
            ("TLSv1.2", "0x0005", .medium), ("TLSv1.2", "NULL-SHA256", .medium),
            ("TLSv1.2", "AECDH-AES128-SHA", .medium), ("TLSv1", "ECDHE-RSA-AES128-SHA", .medium),
            ("TLSv1.1", "0xc02f", .medium), ("SSLv3", "RC4-MD5", .medium), (nil, nil, nil),
        ] as [(String?, String?, Severity?)])
    func judgesChoice(_ version: String?, _ suite: String?, _ severity: Severity?) {
        func found(_ change: @escaping (inout ConnectionRecord, TLSRecord) -> Void) -> [Finding] {
            var tls = TLSRecord()
            (tls.version, tls.cipher) = (version, suite)
            return observe { change(&$0, tls) }.filter { $0.rule == .tlsOriginParameters }
        }
        let expected = severity.map { [$0] } ?? []
        #expect(found { $0.originTLS = $1 }.map(\.severity) == expected)
        let imported = found { record, tls in
            record.clientTLS = tls
            record.notes = [ConnectionNote("imported-packets", "")]
        }
        #expect(imported.map(\.severity) == expected)
        #expect(imported.allSatisfy { $0.rule.text.party == .origin })
        // What the tool chose towards its client is nobody's fault.
        #expect(found { $0.clientTLS = $1 }.isEmpty)
    }

    @Test func acceptsChainThatVerified() {
        let findings = observe { $0.originTLS = TLSRecord() }
        #expect(!findings.contains { $0.rule == .tlsOriginCertificate })
    }

    @Test func tellsWorstSuites() {
        let findings = observe { record in
            record.clientTLS?.clientHello = Self.hello(0x0303, [0xC011, 0x002F], nil)
        }
        let notes = findings.filter { $0.rule == .tlsClientCipher }.flatMap(\.notes).map(\.text)
        #expect(
            notes == [
                "offers 2 suites: RC4, static RSA; such as TLS_ECDHE_RSA_WITH_RC4_128_SHA"
            ])
    }

    @Test(arguments: [("api.example", [Severity.high]), ("localhost", [.info])])
    func mindsLoopback(_ host: String, _ severities: [Severity]) {
        let findings = observe { record in
            record.originHost = host
            record.clientTLS?.clientHello = Self.hello(0x0300, [0xC02F], nil)
        }
        let found = findings.filter { $0.rule == .tlsClientVersion }
        #expect(found.map(\.severity) == severities)
    }

    private func observe(_ change: (inout ConnectionRecord) -> Void) -> [Finding] {
        var record = ConnectionRecord(
            id: 1, openedAt: Timestamp(microseconds: 1), client: "127.0.0.1:1",
            listener: "127.0.0.1:2", mode: .explicit)
        record.originHost = "api.example"
        record.clientTLS = TLSRecord()
        change(&record)
        var engine = FindingsEngine(FindingsLaboratory.configuration())
        engine.observe(record)
        return engine.report().findings
    }

    static func hello(_ version: UInt16, _ suites: [UInt16], _ versions: [UInt16]?) -> [UInt8] {
        func two(_ number: Int) -> [UInt8] { [UInt8(number >> 8 & 255), UInt8(number & 255)] }
        var body = two(Int(version)) + [UInt8](repeating: 9, count: 32) + [0]
        body += two(suites.count * 2) + suites.flatMap { two(Int($0)) } + [1, 0]
        if let versions {
            let list = [UInt8(versions.count * 2)] + versions.flatMap { two(Int($0)) }
            let extensions = two(0) + two(0) + two(43) + two(list.count) + list
            body += two(extensions.count) + extensions
        }
        return [1, 0] + two(body.count) + body
    }

    /// RC4 with MD5 and an SSL 2.0 cipher of its own.
    private static let ssl2Hello: [UInt8] =
        [0x80, 0x1F, 1, 3, 0, 0, 6, 0, 0, 0, 16, 0, 0, 4, 1, 0, 0x80]
        + [UInt8](repeating: 5, count: 16)
}
