import Audit
import Base
import Catalogue
import Proxy
import TLS
import TestConditions
import Testing

/// Clients that send what no client should: no machine ends the tool, or holds more than a bound.
@Suite(.ownThread) struct HostileClientTests {
    private static func machine(
        _ behaviour: ProbeBehaviour, upgrade: UpgradeProtocol? = nil
    ) -> (any AuditMachine)? {
        var description = ProbeDescription(identifier: "hostile", family: .handshake)
        description.behaviour = behaviour
        var configuration = ProbeTrial.configuration()
        configuration.upgrade = upgrade
        let chains = ProbeChains.shared
        do {
            return try ProbeMachines.makeMachine(
                description, chains.rsa, second: chains.wrongName, configuration)
        } catch {
            return nil
        }
    }

    /// Every kind of machine.
    static let kinds: [(ProbeBehaviour, UpgradeProtocol?)] =
        ProbeBehaviour.allCases.map { ($0, nil) }
        + UpgradeProtocol.allCases.flatMap { one in
            [.serve, .stripStartTLS, .injectAfterStartTLS, .preauthenticated].map { ($0, one) }
        }

    private static func noise(_ count: Int, seed: UInt64) -> [UInt8] {
        var state = seed | 1
        return (0..<count).map { _ in
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return UInt8(truncatingIfNeeded: state >> 33)
        }
    }

    private static let hello = MemoryClient.hello(TLSVersions(.tls12, .tls13))

    /// What follows the hello, or comes instead of it.
    static let rows: [(name: String, bytes: [UInt8])] = [
        ("nothing", []),
        ("noise", noise(1 << 17, seed: 7)),
        ("zeros", [UInt8](repeating: 0, count: 1 << 17)),
        ("lines without an end", [UInt8](repeating: 0x41, count: 1 << 17)),
        ("empty lines", [UInt8](repeating: 0x0A, count: 1 << 15)),
        ("empty records", (0..<4_000).flatMap { _ -> [UInt8] in [22, 3, 1, 0, 0] }),
        ("a record that never ends", [22, 3, 1, 0xFF, 0xFF] + noise(1 << 15, seed: 9)),
        ("alerts", (0..<4_000).flatMap { _ -> [UInt8] in [21, 3, 3, 0, 2, 1, 90] }),
        ("heartbeats", (0..<4_000).flatMap { _ -> [UInt8] in [24, 3, 3, 0, 3, 1, 0x40, 0] }),
        ("hellos", (0..<20).flatMap { _ in hello }),
        ("records of data", (0..<20).flatMap { _ in [23, 3, 3, 0x10, 0] + noise(4096, seed: 3) }),
    ]

    @Test(arguments: rows.map(\.name), [false, true])
    func nothingIsHeldBeyondABound(name: String, afterHello: Bool) throws {
        let bytes = try #require(Self.rows.first { $0.name == name }).bytes
        for (behaviour, upgrade) in Self.kinds {
            guard let machine = Self.machine(behaviour, upgrade: upgrade) else { continue }
            if afterHello { machine.receive(Self.hello.span) }
            var place = 0
            while place < bytes.count, !machine.isOver {
                let end = min(bytes.count, place + 16_000)
                machine.receive(Array(bytes[place..<end]).span)
                place = end
            }
            #expect(machine.takeOutgoing().count <= 1 << 19)
            #expect(machine.observation.firstBytes.count <= 16 * 1024)
            #expect(machine.takePlaintext().map(\.bytes.count).reduce(0, +) <= 64 * 1024)
            if !machine.isOver { machine.noteSilence() }
            #expect(machine.isOver, "\(behaviour) \(String(describing: upgrade))")
            machine.noteEnd(.reset)
            _ = (machine.tls, machine.outcome, machine.observation)
        }
    }

    @Test(arguments: [
        ProbeBehaviour.serve, .downgradeSentinel, .exportKey, .refuseTLS, .httpOnTLSPort,
    ])
    func aHelloMayEndAnywhere(behaviour: ProbeBehaviour) throws {
        let hello = Self.hello
        for cut in 0...hello.count {
            let machine = try #require(Self.machine(behaviour))
            machine.receive(Array(hello[..<cut]).span)
            #expect(machine.observation.sawOpening == (cut == hello.count))
            if cut < hello.count { #expect(machine.takeOutgoing().isEmpty) }
            machine.noteEnd(.closed)
            _ = (machine.tls, machine.outcome)
        }
    }

    @Test(arguments: [1, 2, 3, 7, 100])
    func aHandshakeComesInPieces(chunk: Int) throws {
        let machine = try #require(Self.machine(.serve))
        let client = MemoryClient(machine)
        #expect(client.handshake(chunk: chunk) == .done)
        client.send(Array("GET / HTTP/1.1\r\n\r\n".utf8))
        #expect(machine.observation.acceptedBytes == 18)
        #expect(machine.isOver)
    }

    @Test
    func aMegabyteOfNoiseEndsAConnection() throws {
        let noise = Self.noise(1 << 20, seed: 5)
        for behaviour in [ProbeBehaviour.serve, .exportKey, .httpOnTLSPort] {
            let machine = try #require(Self.machine(behaviour))
            machine.receive(noise.span)
            if !machine.isOver { machine.noteSilence() }
            #expect(machine.isOver)
            #expect(machine.takeOutgoing().count < 1 << 16)
        }
    }

    @Test
    func aStormOfRenegotiationsIsAnsweredWithinABound() async throws {
        // openssl s_client asks for another handshake when it reads an R; the server says no.
        let run = try await ProbeTrial(
            .tls12, ProbeChains.shared.rsa, patience: 500,
            input: String(repeating: "R\n", count: 200),
            "openssl s_client -connect 127.0.0.1:PORT -tls1_2")
        let seen = run.seen[0]
        #expect(seen.isHandshakeDone && seen.acceptedBytes == 0, "\(seen) \(run.client)")
        #expect(seen.end != nil)
    }

    @Test
    func aLongSpeechIsCountedAndNotKept() throws {
        let machine = try #require(Self.machine(.serve))
        let client = MemoryClient(machine)
        #expect(client.handshake() == .done)
        client.send(Array("POST / HTTP/1.1\r\ncontent-length: 900000\r\n\r\n".utf8))
        for _ in 0..<9 { client.send([UInt8](repeating: 0x42, count: 100_000)) }
        #expect(machine.observation.acceptedBytes > 900_000)
        #expect(machine.observation.firstBytes.count == 16 * 1024)
        #expect(machine.isOver)
    }
}
