import Base
import Sockets
import TLS
import Testing
import Traffic

@testable import Proxy

extension ProxyTests {
    /// How dialogues end; with each, the proxy itself has to end, so that no task is stuck.
    @Suite struct DialogueEnds {
        /// The client waits behind STARTTLS for an answer that does not come.
        @Test(arguments: [false, true])
        func originEndsWithoutAnAnswer(_ resets: Bool) throws {
            try withProxy { proxy in
                let origin = try proxy.origin { wire, _ in
                    try wire.send("220 mx ESMTP\r\n")
                    try wire.expect("STARTTLS\r\n".wire)
                    if resets { wire.reset() }
                }
                let client = try proxy.tunnel(to: origin.authority)
                try client.expect("220 mx ESMTP\r\n".wire)
                try client.send("STARTTLS\r\nEHLO a\r\n")
                #expect(try client.readToEnd() == [])
                client.close()
                let connection = try proxy.traffic.connection()
                #expect(connection.closedBy == .origin)
                #expect(connection.outcome == (resets ? .broken : .completed))
                #expect(connection.upgrade == nil)
                // The loop goes on with others.
                let other = try proxy.greeter()
                #expect(try proxy.connect().get("http://\(other.authority)/").status == 200)
            }
        }

        @Test(arguments: [DialogueScript.mail[0], DialogueScript.mail[7]])
        func silenceEnds(_ script: DialogueScript) throws {
            try withProxy(.limit(\.responseTimeout, 300)) { proxy in
                let origin = try proxy.origin { wire, _ in
                    try script.playOrigin(wire)
                }
                let client = try proxy.tunnel(to: origin.authority)
                var open = script
                open.originEnds = true
                try open.playClient(client)
                let connection = try proxy.traffic.connection()
                #expect(connection.outcome == .timedOut)
                #expect(connection.closedBy == .tool)
            }
        }

        @Test func halfClosedDialogueGoesOn() throws {
            try withProxy { proxy in
                let origin = try proxy.origin { wire, _ in
                    try wire.send("220 mx ESMTP\r\n")
                    let said = try wire.readToEnd()
                    try check(said == "QUIT\r\n".wire, said.text)
                    try wire.send("221 bye\r\n")
                }
                let client = try proxy.tunnel(to: origin.authority)
                try client.expect("220 mx ESMTP\r\n".wire)
                try client.send("QUIT\r\n")
                try client.finish()
                #expect(try client.readToEnd().text == "221 bye\r\n")
                #expect(try proxy.traffic.connection().outcome == .completed)
            }
        }

        @Test func clientThatResetsIsToldOf() throws {
            try withProxy { proxy in
                let origin = try proxy.origin { wire, _ in
                    try wire.send("220 mx ESMTP\r\n")
                    _ = try wire.readToEnd()
                }
                let client = try proxy.tunnel(to: origin.authority)
                try client.expect("220 mx ESMTP\r\n".wire)
                client.reset()
                let connection = try proxy.traffic.connection()
                #expect(connection.outcome == .broken)
                #expect(connection.closedBy == .client)
                #expect(connection.cause == "client broke the connection off")
            }
        }

        /// Where a dialogue may be when the proxy is asked to stop.
        enum Place: String, CaseIterable {
            case plain
            case awaitingTheAnswer
            case awaitingTheHello
            case secured
        }

        @Test(arguments: Place.allCases)
        func isCutByAShutdown(_ place: Place) throws {
            let proxy = try ProxyUnderTest(grace: 20_000)
            let origin = try proxy.origin { wire, _ in
                try wire.send("220 mx ESMTP\r\n")
                if place != .plain { try wire.expect("STARTTLS\r\n".wire) }
                if place == .awaitingTheHello || place == .secured { try wire.send("220 go\r\n") }
                if place == .secured {
                    try wire.secure(
                        TLSServerContext(
                            authority: TestAuthority.origin, versions: .modern,
                            ticketKey: [UInt8](repeating: 1, count: 80)
                        ).makeSession(for: "localhost", protocols: []))
                    try wire.send("x")
                }
                _ = try wire.readToEnd()
            }
            let client = try proxy.tunnel(to: origin.authority)
            try client.expect("220 mx ESMTP\r\n".wire)
            let isHeld = place == .awaitingTheAnswer
            if place != .plain { try client.send("STARTTLS\r\n" + (isHeld ? "EHLO a\r\n" : "")) }
            if place == .awaitingTheHello || place == .secured {
                try client.expect("220 go\r\n".wire)
            }
            if place == .secured {
                try client.secure(ProxyUnderTest.clientSession(for: "localhost", protocols: []))
                try client.expect([0x78])
            }
            if isHeld {
                _ = try proxy.traffic.wait(for: "the command") { content in
                    content.messages.values.joined().contains { $0.direction == .request }
                        ? true : nil
                }
            }
            let start = MonotonicTime.now().nanoseconds
            #expect(proxy.stop() == true)
            #expect(MonotonicTime.now().nanoseconds - start < 5_000_000_000)
            #expect(proxy.contradictions == [])
            let connection = try proxy.traffic.connection()
            #expect(connection.outcome == .cut)
            #expect(connection.closedBy == .tool)
        }

        /// A file of no bytes, as FTP sends it over TLS: the origin ends without a word, and a
        /// client that only listens is told.
        @Test func originThatEndsWithoutAWordInsideTLS() throws {
            try withProxy { proxy in
                let origin = try proxy.origin(.tls) { wire, _ in
                    try wire.finish()
                    _ = try wire.readToEnd()
                }
                let client = try proxy.tunnel(to: origin.authority)
                try client.secure(ProxyUnderTest.clientSession(for: "localhost", protocols: []))
                #expect(try client.readToEnd() == [])
                try client.finish()
                let connection = try proxy.traffic.connection()
                #expect(connection.outcome == .completed)
                #expect(connection.closedBy == .origin)
            }
        }

        /// The client waits for the greeting of an origin that it is not given.
        @Test func originOfAListenerIsNotTrusted() throws {
            try withProxy { proxy in
                let kind = ScriptedOrigin.Kind.tls(name: "localhost", by: TestAuthority.stranger)
                let origin = try proxy.origin(kind) { wire, _ in _ = try wire.readToEnd() }
                let client = try proxy.tunnel(to: origin.authority)
                try client.secure(ProxyUnderTest.clientSession(for: "localhost", protocols: []))
                #expect(try client.readToEnd() == [])
                client.close()
                let connection = try proxy.traffic.connection()
                #expect(connection.outcome == .originUntrusted)
                #expect(connection.closedBy == .tool)
            }
        }

        /// Random bytes of either side, and scripts that are broken off: whatever comes, there is an
        /// outcome, and what passes is what was sent.
        @Test func noiseHasAnOutcome() throws {
            try withProxy { proxy in
                var generator = SeededGenerator(state: 11)
                let scripts = DialogueScript.mail + DialogueScript.others
                let turns = scripts.map { script in
                    [Direction.request, .response].map { script.said($0) }
                }
                let noise = Noise(turns.joined().map { $0 }, seed: 5)
                let origin = try proxy.origin { wire, number in
                    try wire.sendIfTaken(noise.bytes(number * 2))
                    if number % 3 == 0 { try wire.finish() }
                    wire.drain()
                }
                for number in 0..<60 {
                    let client = try proxy.tunnel(to: origin.authority)
                    try client.sendIfTaken(noise.bytes(number * 2 + 1))
                    if Bool.random(using: &generator) {
                        client.hangUp()
                        client.drain()
                        client.close()
                    } else {
                        client.reset()
                    }
                }
                let ended = try proxy.traffic.wait(for: "60 ends") { content in
                    content.finalConnections.count == 60 ? content.finalConnections : nil
                }
                #expect(ended.allSatisfy { $0.outcome != .open })
            }
        }
    }
}

/// Bytes that begin as a dialogue might and go on as none does.
private struct Noise: Sendable {
    let starts: [[UInt8]]
    let seed: UInt64

    init(_ starts: [[UInt8]], seed: UInt64) {
        self.starts = starts
        self.seed = seed
    }

    func bytes(_ number: Int) -> [UInt8] {
        var generator = SeededGenerator(state: seed &+ UInt64(number) &* 7919)
        var bytes = starts.randomElement(using: &generator) ?? []
        bytes = Array(bytes.prefix(Int.random(in: 0...bytes.count, using: &generator)))
        for _ in 0..<Int.random(in: 0...200, using: &generator) {
            bytes.append(UInt8.random(in: 0...255, using: &generator))
        }
        return bytes
    }
}

/// A generator whose sequence depends on the seed only.
private struct SeededGenerator: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed >> 31
    }
}

extension Wire {
    /// Reads until the peer's end, however it comes.
    fileprivate func drain() {
        do {
            _ = try readToEnd()
        } catch {
            close()
        }
    }
}
