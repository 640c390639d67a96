import Base
import COpenSSL
import Testing

@testable import TLS

struct TLSAlertTests {
    private let laboratory: TLSLaboratory

    init() throws { laboratory = try TLSLaboratory() }

    @Test func noteThemOnBothSides() throws {
        let pair = TLSPair(
            client: laboratory.clientContext(.only12).makeSession(
                verifying: "a.test", serverName: "a.test", protocols: [], resumptionKey: "a"),
            server: laboratory.serverContext(.only13).makeSession(for: "a.test", protocols: []))
        #expect(!pair.handshake())
        let alert = TLSAlert(isFatal: true, code: 70)
        #expect(pair.client.alerts.map(\.alert) == [alert])
        #expect(pair.client.alerts.map(\.isOurs) == [false])
        #expect(pair.server.alerts.map(\.alert) == [alert])
        #expect(pair.server.alerts.map(\.isOurs) == [true])
        #expect(pair.clientProgress.failure?.reason == .alertReceived(alert))
        #expect(pair.clientProgress.failure?.detail == "tlsv1 alert protocol version")
        #expect(pair.serverProgress.failure?.reason == .protocolError)
        #expect(pair.serverProgress.failure?.detail == "unsupported protocol")
        #expect(pair.clientProgress.failure?.isLasting == true)
        #expect(pair.serverProgress.failure?.isLasting == true)
        #expect(alert.name == "protocol_version")
    }

    /// Whether another try would fail in the same way.
    @Test(arguments: [
        (40, true), (42, true), (48, true), (49, true), (70, true), (112, true), (120, true),
        (10, false), (20, false), (80, false), (90, false),
    ])
    func tellWhatLasts(code: UInt8, isLasting: Bool) {
        let alert = TLSAlert(isFatal: true, code: code)
        #expect(TLSFailure(.alertReceived(alert), "").isLasting == isLasting)
        for reason in [TLSFailure.Reason.peerClosed, .peerReset, .timedOut, .flood] {
            #expect(!TLSFailure(reason, "").isLasting)
        }
    }

    /// In TLS 1.3 the refusal comes after the server's end of the handshake.
    @Test(arguments: TLSSessionTests.rows)
    func tellARefusedCertificate(_ row: TLSSessionTests.Row) {
        let pair = TLSPair(
            client: TLSClientContext(versions: row.versions, trustsSystem: false).makeSession(
                verifying: "a.test", serverName: "a.test", protocols: [], resumptionKey: "a"),
            server: laboratory.serverContext(row.versions).makeSession(
                for: "a.test", protocols: []))
        unsafe SSL_set_verify(pair.client.pointer, SSL_VERIFY_PEER, nil)
        #expect(!pair.handshake())
        let failure: TLSFailure?
        if case .failed(let later) = pair.server.read(into: ByteBuffer(capacity: 100)) {
            failure = later
        } else {
            failure = pair.serverProgress.failure
        }
        guard case .alertReceived(let alert) = failure?.reason else {
            Issue.record("no alert, but \(String(describing: failure))")
            return
        }
        #expect(alert.name == "unknown_ca")
        #expect(alert.refusesCertificate)
    }

    @Test(arguments: TLSSessionTests.rows)
    func tellAnExpiredCertificate(_ row: TLSSessionTests.Row) {
        let server = laboratory.serverContext(row.versions)
        let leaf = server.leaf(for: "a.test")
        unsafe X509_gmtime_adj(X509_getm_notAfter(leaf.pointer), -86_400)
        unsafe X509_sign(leaf.pointer, laboratory.authority.key.pointer, EVP_sha256())
        let pair = TLSPair(
            client: laboratory.clientContext(row.versions).makeSession(
                verifying: "a.test", serverName: "a.test", protocols: [], resumptionKey: "a"),
            server: server.makeSession(for: "a.test", protocols: []))
        #expect(pair.handshake())
        #expect(pair.client.verifyError == "certificate has expired")
        #expect(leaf.isExpired)
    }

    @Test(arguments: TLSSessionTests.rows)
    func tellADamagedRecord(_ row: TLSSessionTests.Row) {
        let pair = laboratory.pair(row.versions)
        #expect(pair.handshake())
        _ = pair.readAll(pair.client)
        let plain = ByteBuffer(capacity: 100)
        plain.append("something")
        _ = pair.client.write(plain)
        pair.tamper = { _, bytes in
            var bytes = bytes
            bytes[bytes.count - 1] ^= 1
            return bytes
        }
        pair.carry(from: pair.client, to: pair.server)
        pair.tamper = nil
        guard case .failed(let failure) = pair.server.read(into: plain) else {
            Issue.record("the damage went unseen")
            return
        }
        #expect(failure.reason == .protocolError)
        #expect(!failure.isLasting, "another try may come through whole")
        #expect(plain.isEmpty)
        #expect(pair.server.alerts.map(\.alert.name) == ["bad_record_mac"])
        pair.carry(from: pair.server, to: pair.client)
        guard case .failed(let told) = pair.client.read(into: plain) else {
            Issue.record("the alert went unseen")
            return
        }
        #expect(told.reason == .alertReceived(TLSAlert(isFatal: true, code: 20)))
    }

    /// A server that ends in order has refused nothing.
    @Test func tellAnEndInTheHandshake() {
        let session = laboratory.clientContext(.modern).makeSession(
            verifying: "a.test", serverName: "a.test", protocols: [], resumptionKey: "a")
        session.outgoing = ByteBuffer(capacity: 16_384)
        _ = session.handshake()
        let end = ByteBuffer(capacity: 16)
        end.append([21, 3, 3, 0, 2, 1, 0])
        session.incoming = end
        guard case .failed(let failure) = session.handshake() else {
            Issue.record("the end went unseen")
            return
        }
        #expect(failure.reason == .peerClosed)
        #expect(!failure.isLasting)
    }

    /// A flood of warnings is noted up to a bound.
    @Test func areBounded() {
        let pair = laboratory.pair(.only12)
        #expect(pair.handshake())
        for code in 0..<200 as Range<UInt8> {
            pair.client.note(alert: TLSAlert(isFatal: false, code: code), isOurs: false)
            pair.client.note(keyLogLine: "LABEL 00 00")
        }
        #expect(pair.client.alerts.count == 8)
        #expect(pair.client.keyLog.count == 16)
    }

    @Test func haveTheirRegisteredNames() {
        #expect(TLSAlert(isFatal: false, code: 0).name == "close_notify")
        #expect(TLSAlert(isFatal: true, code: 48).name == "unknown_ca")
        #expect(TLSAlert(isFatal: true, code: 200).name == "alert_200")
        let refusing = (UInt8.min...UInt8.max).filter {
            TLSAlert(isFatal: true, code: $0).refusesCertificate
        }
        #expect(refusing == [42, 43, 44, 45, 46, 48, 49, 113])
    }

    // MARK: After the handshake

    /// A server that asks a client to shake hands again would make its writes wait for reads.
    @Test func refuseARenegotiation() {
        let pair = laboratory.pair(.only12)
        #expect(pair.handshake())
        unsafe SSL_renegotiate(pair.server.pointer)
        _ = pair.server.handshake()
        pair.carry(from: pair.server, to: pair.client)
        let plain = ByteBuffer(capacity: 100)
        _ = pair.client.read(into: plain)
        plain.append("still here")
        #expect(pair.client.write(plain) == .done)
        #expect(plain.isEmpty)
    }

    @Test func survivesManyKeyUpdates() {
        let pair = laboratory.pair(.only13)
        #expect(pair.handshake())
        for _ in 0..<50 {
            unsafe SSL_key_update(pair.server.pointer, SSL_KEY_UPDATE_REQUESTED)
            #expect(pair.transfer([1, 2], from: pair.server, to: pair.client) == [1, 2])
            #expect(pair.transfer([3], from: pair.client, to: pair.server) == [3])
        }
    }

    /// What another call left in the queue of this thread is no failure of a session.
    @Test(arguments: TLSSessionTests.rows)
    func areNotTakenFromElsewhere(_ row: TLSSessionTests.Row) {
        let pair = laboratory.pair(row.versions)
        #expect(pair.handshake())
        _ = pair.readAll(pair.client)
        for name in ["", "a\u{0}b", "é.test", String(repeating: "x", count: 64)] {
            _ = laboratory.serverContext().leaf(for: name)
            #expect(pair.client.read(into: ByteBuffer(capacity: 10)) == .wantRead)
        }
    }
}
