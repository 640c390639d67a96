import Base
import Testing
import Traffic

@testable import Findings

/// Clients that refuse a certificate and then try again without verification.
@Suite struct RetryDetectorTests {
    struct Connection: Sendable {
        var openedAt: Int64
        var closedAt: Int64?
        var outcome = ConnectionRecord.Outcome.completed
        var hasDoneHandshake = true
        var alert: String?
        var exchanges: Int64 = 1
        var process: Int32? = 7
        var host = "api.example"
        var client = "192.0.2.1:1000"

        static func refused(
            _ openedAt: Int64, _ closedAt: Int64, alert: String? = "unknown_ca"
        ) -> Connection {
            Connection(
                openedAt: openedAt, closedAt: closedAt, outcome: .clientRefused,
                hasDoneHandshake: false, alert: alert, exchanges: 0)
        }

        func with(_ change: (inout Connection) -> Void) -> Connection {
            var other = self
            change(&other)
            return other
        }

        func record(_ id: Int64) -> ConnectionRecord {
            var record = ConnectionRecord(
                id: id, openedAt: Timestamp(microseconds: openedAt), client: client,
                listener: "127.0.0.1:2", mode: .explicit)
            record.closedAt = closedAt.map { Timestamp(microseconds: $0) }
            record.outcome = outcome
            record.exchangeCount = exchanges
            record.originHost = host
            record.originPort = 443
            record.process = process.map {
                ProcessRecord(id: $0, executable: "/bin/app", commandLine: [])
            }
            record.clientTLS = TLSRecord()
            record.clientTLS?.sni = host
            record.clientTLS?.handshakeCompleted = hasDoneHandshake
            record.clientTLS?.alerts =
                alert.map { [AlertRecord(sender: .peer, fatal: true, name: $0)] } ?? []
            return record
        }
    }

    struct Row: Sendable, CustomTestStringConvertible {
        let name: String
        let connections: [Connection]
        let confidence: [Confidence]
        var testDescription: String { name }
    }

    private static let accepted = Connection(openedAt: 20)

    @Test(arguments: [
        Row(
            name: "refused and then accepted", connections: [.refused(1, 10), accepted],
            confidence: [.firm]),
        Row(
            name: "twice, told once", connections: [.refused(1, 10), accepted, accepted],
            confidence: [.firm]),
        Row(
            name: "refused twice before",
            connections: [.refused(1, 10), .refused(11, 15), accepted],
            confidence: [.firm]),
        Row(
            name: "without an alert", connections: [.refused(1, 10, alert: nil), accepted],
            confidence: [.tentative]),
        Row(
            name: "of a machine, not a process",
            connections: [.refused(1, 10), accepted].map { $0.with { $0.process = nil } },
            confidence: [.tentative]),
        Row(
            name: "another port of that machine",
            connections: [
                Connection.refused(1, 10).with { $0.process = nil },
                accepted.with {
                    $0.process = nil
                    $0.client = "192.0.2.1:2000"
                },
            ], confidence: [.tentative]),
        Row(name: "refused alone", connections: [.refused(1, 10)], confidence: []),
        Row(name: "accepted alone", connections: [accepted], confidence: []),
        Row(
            name: "accepted, then refused", connections: [accepted, .refused(30, 40)],
            confidence: []),
        Row(
            name: "at the same time", connections: [.refused(1, 10), Connection(openedAt: 5)],
            confidence: []),
        Row(
            name: "another host",
            connections: [.refused(1, 10), accepted.with { $0.host = "cdn.example" }],
            confidence: []),
        Row(
            name: "another process",
            connections: [.refused(1, 10), accepted.with { $0.process = 8 }], confidence: []),
        Row(
            name: "another machine",
            connections: [
                Connection.refused(1, 10).with { $0.process = nil },
                accepted.with {
                    $0.process = nil
                    $0.client = "192.0.2.2:1000"
                },
            ], confidence: []),
        Row(
            name: "accepted without a request",
            connections: [.refused(1, 10), accepted.with { $0.exchanges = 0 }], confidence: []),
        Row(
            name: "passed through the second time",
            connections: [.refused(1, 10), accepted.with { $0.outcome = .passedThrough }],
            confidence: []),
        Row(
            name: "gone after the handshake",
            connections: [
                Connection.refused(1, 10, alert: nil).with { $0.hasDoneHandshake = true }, accepted,
            ], confidence: []),
    ])
    func judges(_ row: Row) {
        var engine = FindingsEngine(FindingsLaboratory.configuration())
        for (number, connection) in row.connections.enumerated() {
            engine.observe(connection.record(Int64(number + 1)))
        }
        let found = engine.report().findings.filter { $0.rule == .tlsClientRetry }
        #expect(found.map(\.confidence) == row.confidence)
        for finding in found {
            #expect(finding.severity == .high)
            #expect(
                finding.connections == [Int64(row.connections.count)] || row.connections.count == 3)
            #expect(finding.rule.text.party == .client)
        }
    }

    /// However many refuse, memory is bounded.
    @Test func forgetsRatherThanGrow() {
        var engine = FindingsEngine(FindingsLaboratory.configuration())
        for number in 0..<10_000 {
            engine.observe(
                Connection.refused(1, 10).with { $0.host = "\(number).example" }
                    .record(Int64(number)))
        }
        engine.observe(Self.accepted.with { $0.host = "9999.example" }.record(10_000))
        #expect(engine.report().findings.contains { $0.rule == .tlsClientRetry })
    }
}
