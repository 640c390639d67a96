import Base
import Testing
import Traffic

@testable import Findings

/// Hosts that a client pins, told from clients that trust nobody.
@Suite struct PinningDetectorTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let name: String
        /// Hosts in order; those that were refused begin with a minus sign, those that were left
        /// without an alert with a question mark.
        let connections: [String]
        let pinned: [String]
        var testDescription: String { name }
    }

    @Test(arguments: [
        Row(name: "one of two", connections: ["a.test", "-b.test", "-b.test"], pinned: ["b.test"]),
        Row(name: "before the others", connections: ["-b.test", "a.test"], pinned: ["b.test"]),
        Row(name: "all refused", connections: ["-a.test", "-b.test"], pinned: []),
        Row(name: "taken later", connections: ["a.test", "-b.test", "b.test"], pinned: []),
        Row(name: "without a word", connections: ["a.test", "?b.test"], pinned: []),
        Row(
            name: "two of three", connections: ["-c.test", "a.test", "-b.test"],
            pinned: ["c.test", "b.test"]),
    ])
    func judges(_ row: Row) {
        var engine = FindingsEngine(FindingsLaboratory.configuration())
        for (index, text) in row.connections.enumerated() {
            engine.observe(Self.connection(text, id: Int64(index + 1)))
        }
        let found = engine.report().findings.filter { $0.rule == .tlsClientPinned }
        #expect(Set(found.map(\.party.text)) == Set(row.pinned))
        #expect(found.allSatisfy { $0.severity == .info && $0.confidence == .firm })
    }

    private static func connection(_ text: String, id: Int64) -> ConnectionRecord {
        var record = ConnectionRecord(
            id: id, openedAt: Timestamp(microseconds: id), client: "127.0.0.1:\(id)",
            listener: "127.0.0.1:2", mode: .explicit)
        record.originHost = text.filter { $0 != "-" && $0 != "?" }
        record.clientTLS = TLSRecord()
        guard text.hasPrefix("-") || text.hasPrefix("?") else {
            record.clientTLS?.handshakeCompleted = true
            record.exchangeCount = 1
            return record
        }
        record.outcome = .clientRefused
        if text.hasPrefix("-") {
            record.clientTLS?.alerts = [
                AlertRecord(sender: .peer, fatal: true, name: "bad_certificate")
            ]
        }
        return record
    }
}
