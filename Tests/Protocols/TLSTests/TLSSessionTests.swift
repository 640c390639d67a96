import Base
import COpenSSL
import Testing

@testable import TLS

struct TLSSessionTests {
    private let laboratory: TLSLaboratory

    init() throws { laboratory = try TLSLaboratory() }

    struct Row: CustomTestStringConvertible, Sendable {
        let versions: TLSVersions
        let name: String
        var testDescription: String { name }
    }

    static let rows = [
        Row(versions: .only12, name: "TLSv1.2"), Row(versions: .only13, name: "TLSv1.3"),
    ]

    // MARK: Handshakes

    @Test(arguments: rows)
    func agreesOnAVersion(_ row: Row) {
        let pair = laboratory.pair(row.versions)
        #expect(pair.handshake())
        #expect(pair.client.isHandshakeDone && pair.server.isHandshakeDone)
        #expect(pair.client.parameters.version == row.name)
        #expect(pair.client.parameters == pair.server.parameters)
        #expect(!pair.client.parameters.cipher.isEmpty)
        #expect(!pair.client.parameters.isResumed)
        #expect(pair.client.verifyError == nil)
        #expect(pair.client.alerts.isEmpty && pair.server.alerts.isEmpty)
    }

    @Test func takesTheHighestVersion() {
        let pair = laboratory.pair()
        #expect(pair.handshake())
        #expect(pair.server.parameters.version == "TLSv1.3")
    }

    @Test(arguments: rows, [1, 2, 3, 5, 17, 1000])
    func takesBytesAsTheyCome(_ row: Row, chunk: Int) {
        let pair = laboratory.pair(row.versions)
        pair.chunk = chunk
        #expect(pair.handshake())
        let message = [UInt8]("hello, origin".utf8)
        #expect(pair.transfer(message, from: pair.client, to: pair.server) == message)
        #expect(pair.transfer(message, from: pair.server, to: pair.client) == message)
    }

    /// The flights are larger than the buffers, so that each end must stop in the middle.
    @Test(arguments: rows, [1, 7, 64, 300])
    func stopsWhenThereIsNoRoom(_ row: Row, bufferSize: Int) {
        let pair = laboratory.pair(row.versions, bufferSize: bufferSize)
        #expect(pair.handshake())
        let message = (0..<40_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        #expect(pair.transfer(message, from: pair.client, to: pair.server) == message)
        #expect(pair.transfer(message, from: pair.server, to: pair.client) == message)
    }

    /// Who sends without end what costs time and brings nothing is cut off, before the library has
    /// worked through all of it.
    @Test(arguments: Flood.allCases, [true, false])
    func endsAFlood(_ flood: Flood, byClient: Bool) throws {
        // Only servers send tickets; a client asks once, and then waits for the answer.
        if byClient, flood == .ticket || flood == .renegotiation { return }
        let pair = laboratory.pair(flood == .renegotiation ? .only12 : .only13)
        #expect(pair.handshake())
        let (peer, session) = byClient ? (pair.client, pair.server) : (pair.server, pair.client)
        #expect(pair.transfer([1], from: peer, to: session) == [1])
        let count = session.lateMessageCount
        var sent = 0
        while sent < 200, peer.outgoing?.room ?? 0 > 500, flood.isSent(by: peer) { sent += 1 }
        #expect(sent > 70)
        pair.carry(from: peer, to: session)
        let plain = ByteBuffer(capacity: 100)
        let outcome = session.read(into: plain)
        guard case .failed(let failure) = outcome else {
            Issue.record("went on: \(outcome)")
            return
        }
        #expect(failure == TLSFailure(.flood, "too many handshake messages after the handshake"))
        #expect(session.isFlooded)
        // The library takes no more of them, whatever its own buffer holds.
        #expect(session.lateMessageCount - count < 70)
        #expect(session.read(into: plain) == .failed(failure))
    }

    /// New keys now and then are what the protocol asks for.
    @Test func takesNewKeysNowAndThen() {
        let pair = laboratory.pair(.only13)
        #expect(pair.handshake())
        for round in 0..<500 {
            pair.server.now = UInt64(round) * 100
            #expect(Flood.keyUpdate.isSent(by: pair.client))
            #expect(pair.transfer([1, 2], from: pair.client, to: pair.server) == [1, 2])
        }
        #expect(!pair.server.isFlooded)
    }

    enum Flood: String, CaseIterable, CustomTestStringConvertible {
        case keyUpdate
        case keyUpdateThatAsksForOne
        case ticket
        case renegotiation

        var testDescription: String { rawValue }

        /// Puts one more into `outgoing`.
        func isSent(by peer: TLSSession) -> Bool {
            switch self {
            case .keyUpdate, .keyUpdateThatAsksForOne:
                let kind =
                    self == .keyUpdate ? SSL_KEY_UPDATE_NOT_REQUESTED : SSL_KEY_UPDATE_REQUESTED
                guard unsafe SSL_key_update(peer.pointer, Int32(kind)) == 1 else { return false }
            case .ticket:
                guard unsafe SSL_new_session_ticket(peer.pointer) == 1 else { return false }
            case .renegotiation:
                unsafe openssl_allow_renegotiation(peer.pointer)
                guard unsafe SSL_renegotiate(peer.pointer) == 1 else { return false }
            }
            return peer.handshake() == .done
        }
    }

    @Test(arguments: rows)
    func saysWantWriteAndGoesOn(_ row: Row) {
        let pair = laboratory.pair(row.versions)
        #expect(pair.handshake())
        pair.client.outgoing = ByteBuffer(capacity: 100)
        let plain = ByteBuffer(capacity: 50_000)
        plain.append([UInt8](repeating: 7, count: 50_000))
        #expect(pair.client.write(plain) == .wantWrite)
        #expect(pair.client.outgoing?.room == 0)
        var received = 0
        var isDone = false
        while !isDone {
            pair.carry(from: pair.client, to: pair.server)
            received += pair.readAll(pair.server).count
            isDone = pair.client.write(plain) == .done && pair.client.outgoing?.isEmpty == true
        }
        pair.carry(from: pair.client, to: pair.server)
        received += pair.readAll(pair.server).count
        #expect(received == 50_000)
    }

    @Test func needsNoBufferToWait() {
        let pair = laboratory.pair()
        #expect(pair.handshake())
        pair.client.incoming = nil
        pair.client.outgoing = nil
        #expect(pair.client.read(into: ByteBuffer(capacity: 100)) == .wantRead)
        let plain = ByteBuffer(capacity: 1)
        plain.append([1])
        #expect(pair.client.write(plain) == .wantWrite)
    }

    // MARK: Names

    struct ProtocolRow: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let offered: [String]
        let accepted: [String]
        let chosen: String?
    }

    static let protocolRows = [
        ProtocolRow(testDescription: "none", offered: [], accepted: ["h2"], chosen: nil),
        ProtocolRow(
            testDescription: "ours first", offered: ["http/1.1", "h2"],
            accepted: ["h2", "http/1.1"], chosen: "h2"),
        ProtocolRow(
            testDescription: "what both speak", offered: ["h2", "http/1.1"],
            accepted: ["http/1.1"], chosen: "http/1.1"),
        ProtocolRow(
            testDescription: "nothing in common", offered: ["h2"], accepted: ["http/1.1"],
            chosen: nil),
        ProtocolRow(
            testDescription: "a name that begins alike", offered: ["http/1.11", "http/1.1"],
            accepted: ["http/1.1"], chosen: "http/1.1"),
    ]

    @Test(arguments: rows, protocolRows)
    func choosesAProtocol(_ row: Row, _ protocols: ProtocolRow) {
        let pair = TLSPair(
            client: laboratory.clientContext(row.versions).makeSession(
                verifying: "a.test", serverName: "a.test", protocols: protocols.offered,
                resumptionKey: "a"),
            server: laboratory.serverContext(row.versions).makeSession(
                for: "a.test", protocols: protocols.accepted))
        #expect(pair.handshake())
        #expect(pair.client.parameters.alpn == protocols.chosen)
        #expect(pair.server.parameters.alpn == protocols.chosen)
    }

    @Test(
        arguments: [
            ([2, 0x68, 0x32], 1..<3), ([0, 2, 0x68, 0x32], 2..<4),
            ([1, 0x68, 2, 0x68, 0x32], 3..<5),
            ([], nil), ([2], nil), ([2, 0x68], nil), ([255, 0x68, 0x32], nil), ([0], nil),
            ([0, 0, 0], nil), ([3, 0x68, 0x32, 0x63], nil), ([1, 0x68, 0x32], nil),
        ] as [([UInt8], Range<Int>?)])
    func findsAProtocolInAnyOffer(_ offered: [UInt8], _ place: Range<Int>?) {
        #expect(offsetOfProtocol(["h2"], offered: offered) == place)
    }

    struct NameRow: CustomTestStringConvertible, Sendable {
        let presented: String
        let verified: String
        let error: String?
        var testDescription: String { "\(presented) for \(verified)" }
    }

    static let nameRows = [
        NameRow(presented: "a.test", verified: "a.test", error: nil),
        NameRow(presented: "a.test", verified: "A.TEST", error: nil),
        NameRow(presented: "a.test", verified: "b.test", error: "hostname mismatch"),
        NameRow(presented: "a.test", verified: "sub.a.test", error: "hostname mismatch"),
        NameRow(presented: "*.a.test", verified: "sub.a.test", error: nil),
        NameRow(presented: "*.a.test", verified: "a.b.a.test", error: "hostname mismatch"),
        NameRow(presented: "_dmarc.a.test", verified: "_dmarc.a.test", error: nil),
        NameRow(presented: "127.0.0.1", verified: "127.0.0.1", error: nil),
        NameRow(presented: "127.0.0.1", verified: "127.0.0.2", error: "IP address mismatch"),
        NameRow(presented: "::1", verified: "::1", error: nil),
        NameRow(presented: "::1", verified: "0:0:0:0:0:0:0:1", error: nil),
        NameRow(presented: "a.test", verified: "127.0.0.1", error: "IP address mismatch"),
        NameRow(presented: longName, verified: longName, error: nil),
        // What OpenSSL would take for any name, for all below a domain, or for a shorter name.
        NameRow(presented: "a.test", verified: "", error: unnamed),
        NameRow(presented: "sub.a.test", verified: ".a.test", error: unnamed),
        NameRow(presented: "a.test", verified: "a.test\0.b.test", error: unnamed),
        NameRow(presented: "a.test", verified: "a.test\0", error: unnamed),
        NameRow(presented: "a.test", verified: "a.test.", error: "hostname mismatch"),
        NameRow(presented: "127.0.0.1", verified: "127.0.0.1.", error: "hostname mismatch"),
    ]

    private static let unnamed = "there is no name to verify the certificate for"

    private static let longName =
        (0..<4).map { "\($0)" + String(repeating: "x", count: 50) }.joined(separator: ".")
        + ".test"

    @Test(arguments: rows, nameRows)
    func verifiesNames(_ row: Row, _ names: NameRow) throws {
        let pair = TLSPair(
            client: laboratory.clientContext(row.versions).makeSession(
                verifying: names.verified, serverName: nil, protocols: [], resumptionKey: "a"),
            server: laboratory.serverContext(row.versions).makeSession(
                for: names.presented, protocols: []))
        #expect(pair.handshake())
        #expect(pair.client.verifyError == names.error)
    }

    /// A root needs no sending (RFC 8446 §4.4.2): who trusts it has it.
    @Test(arguments: rows)
    func presentsALeafForEachName(_ row: Row) {
        let server = laboratory.serverContext(row.versions)
        for name in ["a.test", "b.test", "a.test"] {
            let pair = TLSPair(
                client: laboratory.clientContext(row.versions).makeSession(
                    verifying: name, serverName: name, protocols: [], resumptionKey: name),
                server: server.makeSession(for: name, protocols: []))
            #expect(pair.handshake())
            #expect(pair.client.peerChain == [server.leaf(for: name).der])
            #expect(pair.server.peerChain == [])
        }
        #expect(server.leaf(for: "a.test").der != server.leaf(for: "b.test").der)
    }

    /// Clients that trust the root alone need what lies between.
    @Test(arguments: rows)
    func presentsAnIntermediateAuthorityToo(_ row: Row) throws {
        let path = laboratory.folder.path
        let made = shell(
            """
            cd \(path) && openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes \
            -subj /CN=Root -keyout root.key -out root.pem -days 9 && \
            openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=Middle \
            -keyout middle.key -out middle.csr && \
            printf 'basicConstraints=critical,CA:TRUE\\nsubjectKeyIdentifier=hash' >middle.ext && \
            openssl x509 -req -in middle.csr -CA root.pem -CAkey root.key -CAcreateserial \
            -extfile middle.ext -days 9 -out middle.pem
            """)
        #expect(made.status == 0, "\(made.output)")
        let middle = try CertificateAuthority.load(
            certificatePath: "\(path)/middle.pem", keyPath: "\(path)/middle.key", password: nil)
        let root = try Certificate(pem: try Files.read("\(path)/root.pem"), name: "root.pem")
        let server = TLSServerContext(
            authority: middle, versions: row.versions, ticketKey: TLSLaboratory.ticketKey)
        let client = TLSClientContext(
            versions: row.versions, extraAuthorities: [root], trustsSystem: false)
        let pair = TLSPair(
            client: client.makeSession(
                verifying: "a.test", serverName: "a.test", protocols: [], resumptionKey: "a"),
            server: server.makeSession(for: "a.test", protocols: []))
        #expect(pair.handshake())
        #expect(pair.client.verifyError == nil)
        #expect(pair.client.peerChain == [server.leaf(for: "a.test").der, middle.certificate.der])
    }

    @Test(arguments: rows)
    func tellsWhoIsNotTrusted(_ row: Row) {
        let pair = TLSPair(
            client: TLSClientContext(versions: row.versions, trustsSystem: false).makeSession(
                verifying: "a.test", serverName: "a.test", protocols: [], resumptionKey: "a"),
            server: laboratory.serverContext(row.versions).makeSession(
                for: "a.test", protocols: []))
        #expect(pair.handshake())
        #expect(pair.client.verifyError == "unable to get local issuer certificate")
    }

    // MARK: Key log

    @Test func logsTheKeysOfTLS13() {
        let pair = laboratory.pair(.only13)
        #expect(pair.handshake())
        let lines = pair.client.takeKeyLog()
        let labels = lines.map { String($0.prefix { $0 != " " }) }
        #expect(
            labels.sorted() == [
                "CLIENT_HANDSHAKE_TRAFFIC_SECRET", "CLIENT_TRAFFIC_SECRET_0", "EXPORTER_SECRET",
                "SERVER_HANDSHAKE_TRAFFIC_SECRET", "SERVER_TRAFFIC_SECRET_0",
            ])
        #expect(Set(pair.server.takeKeyLog()) == Set(lines))
        #expect(pair.client.keyLog.isEmpty)
        for line in lines {
            let parts = line.split(separator: " ", omittingEmptySubsequences: false)
            #expect(parts.count == 3)
            #expect(parts[1].count == 64)
            #expect(bytes(fromHex: parts[1]) != nil && bytes(fromHex: parts[2]) != nil)
        }
    }

    @Test func logsTheKeyOfTLS12() {
        let pair = laboratory.pair(.only12)
        #expect(pair.handshake())
        let lines = pair.client.takeKeyLog()
        #expect(lines.map { String($0.prefix { $0 != " " }) } == ["CLIENT_RANDOM"])
        #expect(pair.server.takeKeyLog() == lines)
    }

    // MARK: Data

    @Test(arguments: rows)
    func carriesALotThroughSmallBuffers(_ row: Row) {
        let pair = laboratory.pair(row.versions, bufferSize: 20_000)
        #expect(pair.handshake())
        var random = SeededGenerator(state: 5)
        let block = (0..<(1 << 20)).map { _ in UInt8.random(in: 0...255, using: &random) }
        for round in 0..<10 {
            let (source, target) =
                round % 2 == 0 ? (pair.client, pair.server) : (pair.server, pair.client)
            guard pair.transfer(block, from: source, to: target, readSize: 3_000) == block else {
                Issue.record("megabyte \(round) was changed on its way")
                return
            }
        }
    }

    @Test(arguments: rows)
    func carriesBothWaysAtOnce(_ row: Row) {
        let pair = laboratory.pair(row.versions, bufferSize: 8_000)
        #expect(pair.handshake())
        let size = 5 << 20
        let sides = [(pair.client, pair.server), (pair.server, pair.client)]
        let block = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ $0 >> 11) }
        let sent = sides.map { _ in
            let buffer = ByteBuffer(capacity: size)
            buffer.append(block)
            return buffer
        }
        var received: [[UInt8]] = [[], []]
        for _ in 0..<1_000_000 where received.contains(where: { $0.count < size }) {
            for (index, (source, target)) in sides.enumerated() {
                _ = source.write(sent[index])
                pair.carry(from: source, to: target)
                received[index] += pair.readAll(target, readSize: 2_000)
            }
        }
        #expect(received == [block, block])
    }

    @Test(arguments: rows)
    func tellsWhatWaitsInside(_ row: Row) {
        let pair = laboratory.pair(row.versions)
        #expect(pair.handshake())
        _ = pair.readAll(pair.client)
        #expect(!pair.client.hasPending)
        let plain = ByteBuffer(capacity: 100)
        plain.append([UInt8](repeating: 1, count: 100))
        _ = pair.server.write(plain)
        plain.append([UInt8](repeating: 2, count: 100))
        _ = pair.server.write(plain)
        pair.carry(from: pair.server, to: pair.client)
        let small = ByteBuffer(capacity: 60)
        #expect(pair.client.read(into: small) == .bytes(60))
        #expect(pair.client.incoming?.isEmpty == true)
        #expect(pair.client.hasPending)
        small.removeAll()
        #expect(pair.client.read(into: small) == .bytes(40))
        #expect(pair.client.hasPending, "the second record is inside")
        small.removeAll()
        #expect(pair.client.read(into: small) == .bytes(60))
        small.removeAll()
        #expect(pair.client.read(into: small) == .bytes(40))
        #expect(!pair.client.hasPending)
        #expect(pair.client.read(into: small) == .wantRead)
    }

    @Test(arguments: rows)
    func saysGoodbyeOnce(_ row: Row) {
        let pair = laboratory.pair(row.versions)
        #expect(pair.handshake())
        let plain = ByteBuffer(capacity: 10)
        plain.append("bye")
        _ = pair.client.write(plain)
        pair.client.close()
        let size = pair.client.outgoing?.count
        pair.client.close()
        #expect(pair.client.outgoing?.count == size)
        pair.carry(from: pair.client, to: pair.server)
        let read = ByteBuffer(capacity: 10)
        #expect(pair.server.read(into: read) == .bytes(3))
        #expect(pair.server.read(into: read) == .ended)
        #expect(pair.server.read(into: read) == .ended)
        #expect(pair.server.alerts.map(\.alert.name) == ["close_notify"])
        #expect(pair.server.alerts.map(\.isOurs) == [false])
        #expect(pair.client.alerts.map(\.isOurs) == [true])
        #expect(pair.client.alerts.map(\.alert.isFatal) == [false])
        // The other direction is still open.
        #expect(pair.transfer([1, 2], from: pair.server, to: pair.client) == [1, 2])
    }

    @Test func saysNoGoodbyeBeforeTheHandshakeIsDone() {
        let pair = laboratory.pair()
        _ = pair.client.handshake()
        let size = pair.client.outgoing?.count
        pair.client.close()
        #expect(pair.client.outgoing?.count == size)
    }
}
