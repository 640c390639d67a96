import Base
import Testing

@testable import TLS

/// Whatever comes over the wire, a session fails or waits, and never ends the process.
struct TLSMutationTests {
    private let laboratory: TLSLaboratory

    init() throws { laboratory = try TLSLaboratory() }

    @Test(arguments: TLSSessionTests.rows, 0..<6)
    func survivesEveryDamagedFlight(_ row: TLSSessionTests.Row, target: Int) {
        let client = laboratory.clientContext(row.versions)
        let server = laboratory.serverContext(row.versions)
        for seed in 0..<60 as Range<UInt64> {
            var random = SeededGenerator(state: seed &* 1_000 &+ UInt64(target))
            let pair = TLSPair(
                client: client.makeSession(
                    verifying: "a.test", serverName: "a.test", protocols: ["h2"],
                    resumptionKey: "\(seed)"),
                server: server.makeSession(for: "a.test", protocols: ["h2"]))
            var damage = Damage.none
            pair.tamper = { flight, bytes in
                guard flight == target else { return bytes }
                damage = Damage.allCases.randomElement(using: &random) ?? .none
                return damage.applied(to: bytes, &random)
            }
            pair.handshake()
            pair.tamper = nil
            let message: [UInt8] = [1, 2, 3]
            for (source, target) in [(pair.client, pair.server), (pair.server, pair.client)] {
                let received = pair.transfer(message, from: source, to: target)
                #expect(received == message || received.isEmpty, "seed \(seed), \(damage)")
            }
        }
    }

    @Test(arguments: TLSSessionTests.rows)
    func refusesGarbage(_ row: TLSSessionTests.Row) {
        let texts: [[UInt8]] = [
            Array("GET / HTTP/1.1\r\nHost: a.test\r\n\r\n".utf8), Array("SSH-2.0-x\r\n".utf8),
            [UInt8](repeating: 0, count: 100), [UInt8](repeating: 255, count: 70_000),
            [22, 3, 1, 0, 0], [22, 3, 1, 255, 255] + [UInt8](repeating: 1, count: 20_000),
            [21, 3, 3, 0, 2, 2, 40], [23, 3, 3, 0, 1, 0], [20, 3, 3, 0, 1, 1],
        ]
        for text in texts {
            for isServer in [false, true] {
                let pair = laboratory.pair(row.versions, bufferSize: 80_000)
                let session = isServer ? pair.server : pair.client
                _ = session.handshake()
                session.incoming?.append(text)
                let progress = session.handshake()
                #expect(progress.isFailure || progress == .wantRead)
                // It has failed for good.
                if progress.isFailure { #expect(session.handshake().isFailure) }
            }
        }
    }

    enum Damage: CaseIterable {
        case none, flip, cut, double, insert, random, swap

        func applied(to bytes: [UInt8], _ random: inout SeededGenerator) -> [UInt8] {
            var bytes = bytes
            let place = Int.random(in: 0..<bytes.count, using: &random)
            switch self {
            case .none: break
            case .flip:
                for _ in 0..<Int.random(in: 1...4, using: &random) {
                    let place = Int.random(in: 0..<bytes.count, using: &random)
                    bytes[place] ^= UInt8.random(in: 1...255, using: &random)
                }
            case .cut: bytes.removeSubrange(place...)
            case .double: bytes += bytes
            case .insert:
                bytes.insert(
                    contentsOf: (0..<9).map { _ in UInt8.random(in: 0...255, using: &random) },
                    at: place)
            case .random:
                bytes = bytes.map { _ in UInt8.random(in: 0...255, using: &random) }
            case .swap: bytes = Array(bytes[place...] + bytes[..<place])
            }
            return bytes
        }
    }
}
