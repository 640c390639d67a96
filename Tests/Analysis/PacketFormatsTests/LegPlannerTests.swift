import Base
import Testing
import Traffic

@testable import PacketFormats

struct LegPlannerTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var client = "127.0.0.1:0"
        var listener = "127.0.0.1:0"
        var origin: String?
        var originPort: UInt16 = 443
        var isTLS = false
        var exchangeCount: Int64 = 1
        /// Of the client's leg.
        let port: UInt16

        func connection(_ id: Int64) -> ConnectionRecord {
            var record = ConnectionRecord(
                id: id, openedAt: RecordedTraffic.start, client: client, listener: listener,
                mode: .explicit)
            record.originAddress = origin
            record.originPort = originPort
            record.exchangeCount = exchangeCount
            if isTLS { record.clientTLS = TLSRecord() }
            return record
        }
    }

    static let rows = [
        Row(testDescription: "in plain", port: 80),
        Row(testDescription: "in TLS", isTLS: true, port: 443),
        Row(
            testDescription: "in TLS, to no port that is known", originPort: 0, isTLS: true,
            port: 443),
        Row(testDescription: "to no port that is known", originPort: 0, exchangeCount: 0, port: 80),
        Row(testDescription: "IPv6", client: "[::1]:0", listener: "[::1]:0", port: 80),
        Row(testDescription: "an origin", origin: "203.0.113.7:443", isTLS: true, port: 443),
        Row(testDescription: "an origin nearby", origin: "127.0.0.1:443", isTLS: true, port: 443),
        Row(testDescription: "an origin nearby by IPv6", origin: "[::1]:443", port: 80),
        Row(testDescription: "an origin by IPv6", origin: "[2001:db8:1::7]:443", port: 80),
    ]

    @Test(
        "Ends that nobody recorded have ports, and no two connections share theirs", arguments: rows
    )
    func madeUpEnds(_ row: Row) {
        var seen: Set<[PacketEndpoint]> = []
        var count = 0
        // Ports come again after 16,000 connections.
        let ids = [2, 16_002] + (0..<760).map { Int64($0) * 16_000 + 1 }
        for id in ids {
            for plan in LegPlanner(row.connection(id), isRedacted: false).plans {
                // The decrypted leg and the client's are on interfaces of their own.
                guard plan.role != .decrypted else { continue }
                count += 1
                seen.insert([plan.client, plan.origin])
                #expect(plan.client.port != 0)
                #expect(plan.role != .client || plan.origin.port == row.port)
            }
        }
        #expect(seen.count == count)
    }

    @Test("A client that was recorded keeps its address")
    func recordedEnds() throws {
        let row = Row(testDescription: "", client: "198.51.100.9:5000", port: 80)
        let plan = try #require(LegPlanner(row.connection(40_000), isRedacted: false).plans.first)
        #expect(plan.client.text == "198.51.100.9:5000")
    }
}
