import Base
import Catalogue
import Findings
import TLS
import Testing

@testable import Audit

struct OfferRuleTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let hello: [UInt8]
        /// What it shows.
        let traits: Set<ClientTrait>
    }

    /// Of a client that shows nothing: TLS 1.3 and 1.2, with all that it should have.
    private static let modern: [(UInt16, [UInt8])] = [
        (0, [0]), (13, [0, 4, 8, 4, 4, 3]), (23, []), (43, [4, 3, 4, 3, 3]), (0xFF01, [0]),
    ]

    private static func sound(without type: UInt16, _ more: (UInt16, [UInt8])...) -> [UInt8] {
        hello(extensions: modern.filter { $0.0 != type } + more)
    }

    static let rows: [Row] = [
        Row(testDescription: "modern", hello: hello(extensions: modern), traits: []),
        Row(
            testDescription: "GREASE first",
            hello: hello([0x0A0A, 0x1301, 0xC02F], extensions: modern + [(0x2A2A, [])]), traits: []),
        Row(
            testDescription: "TLS 1.3 alone",
            hello: hello(
                [0x1301], extensions: [(0, [0]), (13, [0, 2, 8, 4]), (43, [2, 3, 4])]), traits: []),
        Row(
            testDescription: "no name", hello: sound(without: 0), traits: [.noServerName]),
        Row(
            testDescription: "no extended_master_secret", hello: sound(without: 23),
            traits: [.noExtendedMasterSecret]),
        Row(
            testDescription: "no renegotiation_info", hello: sound(without: 0xFF01),
            traits: [.noRenegotiationInfo]),
        Row(
            testDescription: "the suite that stands for renegotiation_info",
            hello: hello([0x00FF, 0xC02F], extensions: modern.filter { $0.0 != 0xFF01 }),
            traits: []),
        Row(
            testDescription: "heartbeat", hello: sound(without: 15, (15, [1])),
            traits: [.heartbeat]),
        Row(
            testDescription: "compression",
            hello: hello(compression: [1, 0], extensions: modern), traits: [.compression]),
        Row(
            testDescription: "SHA-1 for ECDSA and RSA",
            hello: sound(without: 13, (13, [0, 6, 4, 3, 2, 3, 2, 1])), traits: [.sha1Signatures]),
        Row(
            testDescription: "MD5", hello: sound(without: 13, (13, [0, 4, 4, 3, 1, 1])),
            traits: [.md5Signatures]),
        Row(
            testDescription: "a code of TLS 1.3 that begins like SHA-1's",
            hello: sound(without: 13, (13, [0, 4, 4, 3, 2, 9])), traits: []),
        Row(
            testDescription: "no signatures", hello: sound(without: 13), traits: [.sha1Signatures]),
        Row(
            testDescription: "anonymous", hello: hello([0xC02F, 0x00A7], extensions: modern),
            traits: [.anonymousSuites]),
        Row(
            testDescription: "anonymous and for export",
            hello: hello([0xC02F, 0x0017], extensions: modern),
            traits: [.anonymousSuites, .exportSuites, .rc4Suites]),
        Row(
            testDescription: "unencrypted", hello: hello([0xC02F, 0x003B], extensions: modern),
            traits: [.nullSuites]),
        Row(
            testDescription: "neither encrypted nor authenticated",
            hello: hello([0xC02F, 0xC015], extensions: modern),
            traits: [.nullSuites, .anonymousSuites]),
        Row(
            testDescription: "RC4 with MD5", hello: hello([0xC02F, 0x0004], extensions: modern),
            traits: [.rc4Suites]),
        Row(
            testDescription: "DES", hello: hello([0xC02F, 0x0015], extensions: modern),
            traits: [.desSuites]),
        Row(
            testDescription: "3DES", hello: hello([0xC02F, 0xC012], extensions: modern),
            traits: [.tripleDESSuites]),
        Row(
            testDescription: "static RSA behind others",
            hello: hello([0x1301, 0xC02F, 0x009C], extensions: modern), traits: []),
        Row(
            testDescription: "static RSA first",
            hello: hello([0x1301, 0x00FF, 0x009C, 0xC02F], extensions: modern),
            traits: [.staticRSAFirst]),
        Row(
            testDescription: "TLS 1.1 at most",
            hello: hello(version: 0x0302, extensions: modern.filter { $0.0 != 43 }),
            traits: [.oldVersion]),
        Row(
            testDescription: "TLS 1.1 beside others",
            hello: sound(without: 43, (43, [4, 3, 4, 3, 2])), traits: []),
        Row(
            testDescription: "TLS 1.1 after a failure",
            hello: hello(
                [0xC02F, 0x5600], version: 0x0302, extensions: modern.filter { $0.0 != 43 }),
            traits: []),
        Row(
            testDescription: "SSL 3.0 without extensions",
            hello: hello([0x0005, 0x000A], version: 0x0300),
            traits: [
                .ssl, .oldVersion, .rc4Suites, .tripleDESSuites, .staticRSAFirst, .noServerName,
                .noExtendedMasterSecret, .noRenegotiationInfo,
            ]),
    ]

    @Test(arguments: rows, ClientTrait.allCases)
    func tellsWhatAClientShows(_ row: Row, _ trait: ClientTrait) throws {
        let offer = try #require(ClientHelloOffer(row.hello))
        let (outcome, evidence) = OfferRule.judge(trait, [offer], host: "a.test")
        #expect(outcome == (row.traits.contains(trait) ? .shown : .notShown), "\(evidence)")
        #expect(!evidence.hasSuffix("."))
    }

    /// SSL 2.0's message, as it comes and as it is recorded.
    @Test func knowsMessagesOfSSL2() throws {
        let wire: [UInt8] =
            [0x80, 31, 1, 3, 1, 0, 6, 0, 0, 0, 16, 0, 0, 4, 7, 0, 0xC0]
            + [UInt8](repeating: 5, count: 16)
        let hello = try #require(try ClientHelloReader.read(wire.span))
        #expect(hello.format == .ssl2)
        for bytes in [wire, hello.raw] {
            let offer = try #require(ClientHelloOffer(bytes))
            #expect(offer.isSSL2 && offer.suites == [4])
            #expect(OfferRule.judge(.ssl, [offer], host: "a").outcome == .shown)
            #expect(OfferRule.judge(.rc4Suites, [offer], host: "a").outcome == .shown)
        }
    }

    @Test func oneOfSeveralMessagesIsEnough() throws {
        let offers = try [Self.hello(extensions: Self.modern), Self.hello([0xC02F, 0x00A7])].map {
            try #require(ClientHelloOffer($0))
        }
        let (outcome, evidence) = OfferRule.judge(.anonymousSuites, offers, host: "a.test")
        #expect(outcome == .shown)
        #expect(evidence == "the client offers TLS_DH_anon_WITH_AES_256_GCM_SHA384")
    }

    /// One that tries again with less has shown more before.
    @Test func anOldVersionIsOneOfAllMessages() throws {
        let old = Self.hello(version: 0x0302, extensions: Self.modern.filter { $0.0 != 43 })
        let offers = try [Self.hello(extensions: Self.modern), old].map {
            try #require(ClientHelloOffer($0))
        }
        #expect(OfferRule.judge(.oldVersion, offers, host: "a.test").outcome == .notShown)
        #expect(OfferRule.judge(.oldVersion, [offers[1]], host: "a.test").outcome == .shown)
    }

    @Test func tellsWhatWasNotSeen() throws {
        #expect(OfferRule.judge(.ssl, [], host: "a.test").outcome == .notSeen)
        let offer = try #require(ClientHelloOffer(Self.hello(extensions: [])))
        for host in ["127.0.0.1", "::1"] {
            #expect(OfferRule.judge(.noServerName, [offer], host: host).outcome == .notPossible)
        }
    }

    @Test func isJudgedWhereverAMessageEnds() {
        let whole = Self.hello([0x0005, 0xC02F], compression: [1, 0], extensions: Self.modern)
        for count in 0..<whole.count {
            guard let offer = ClientHelloOffer(Array(whole.prefix(count))) else { continue }
            for trait in ClientTrait.allCases {
                let (outcome, evidence) = OfferRule.judge(trait, [offer], host: "a.test")
                #expect(outcome == .shown || outcome == .notShown)
                #expect(!evidence.isEmpty)
            }
        }
    }

    @Test func isSeenByOneProbeEach() {
        let probes = Catalogue.builtIn().entries.filter { $0.trait != nil }
        #expect(Set(probes.compactMap(\.trait)) == Set(ClientTrait.allCases))
        #expect(probes.count == ClientTrait.allCases.count)
        for probe in probes {
            let name =
                probe.trait == .clearRequest
                ? "plaintext-initial-http" : "passive-\(probe.trait?.rawValue ?? "")"
            #expect(probe.identifier == name)
            #expect([.warn, .inform].contains(probe.expectation) && probe.profile == .full)
        }
    }

    static func hello(
        _ suites: [UInt16] = [0x1301, 0xC02F], version: UInt16 = 0x0303,
        compression: [UInt8] = [0], extensions: [(UInt16, [UInt8])] = []
    ) -> [UInt8] {
        func two(_ number: Int) -> [UInt8] { [UInt8(number >> 8 & 255), UInt8(number & 255)] }
        var body = two(Int(version)) + [UInt8](repeating: 9, count: 32) + [0]
        body += two(suites.count * 2) + suites.flatMap { two(Int($0)) }
        body += [UInt8(compression.count)] + compression
        let list = extensions.flatMap { two(Int($0.0)) + two($0.1.count) + $0.1 }
        if !list.isEmpty { body += two(list.count) + list }
        return [1, 0] + two(body.count) + body
    }
}
