import Base
import Dispatch
import Glibc
import Sockets
import Testing
import Traffic

@testable import Proxy

extension ProxyTests {
    /// Tunnels in which something else than HTTP is spoken.
    @Suite struct Tunnels {
        @Test func unknownProtocolPassesBothWays() throws {
            try withProxy { proxy in
                let origin = try proxy.origin { wire, _ in
                    let question = try wire.read(4)
                    try check(question == [1, 2, 3, 0xF0], "\(question)")
                    try wire.send([9, 8, 7])
                    let rest = try wire.readToEnd()
                    try check(rest == [5], "\(rest)")
                    // The client has ended its direction and still listens.
                    try wire.send([6, 6])
                }
                let client = try proxy.tunnel(to: origin.authority)
                try client.send([1, 2, 3, 0xF0])
                #expect(try client.read(3) == [9, 8, 7])
                try client.send([5])
                try client.finish()
                #expect(try client.readToEnd() == [6, 6])
                let connection = try proxy.traffic.connection()
                #expect(connection.outcome == .passedThrough)
                #expect(connection.protocolName == "unknown")
                #expect(connection.closedBy == .client)
                #expect(
                    connection.cause == "neither TLS nor HTTP was spoken; its bytes are recorded")
                #expect(connection.originBytes == ByteCount(received: 5, sent: 5))
                #expect(connection.exchangeCount == 0)
            }
        }

        /// A tunnel that rests is ended in order by a shutdown; an answer that is owed may come as long as
        /// the grace lasts, and is cut then.
        @Test(arguments: [false, true])
        func aShutdownCutsWhatIsOwed(_ isOwed: Bool) throws {
            let proxy = try ProxyUnderTest(grace: isOwed ? 1_000 : 20_000)
            let (hasHeard, isOver) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
            let origin = try proxy.origin { wire, _ in
                _ = try wire.read(4)
                try wire.send([9])
                if isOwed { _ = try wire.readToEnd() }
                hasHeard.signal()
                isOver.wait()
            }
            let client = try proxy.tunnel(to: origin.authority)
            try client.send([1, 2, 3, 0xF0])
            #expect(try client.read(1) == [9])
            if isOwed { try client.finish() }
            hasHeard.wait()
            proxy.requestShutdown()
            _ = try client.readToEnd()
            isOver.signal()
            #expect(proxy.stop() == !isOwed)
            #expect(client.end == (isOwed ? .reset : .inOrder))
        }

        /// A namespace with nothing in it, for which ::1 is 127.0.0.1 as well: a host with two
        /// addresses, whatever the machine says of its names.
        private static var bridgesLoopback: PlanChange {
            PlanChange {
                $0.wiring.captured = CapturedNetwork(
                    diagnosis: SocketDiagnosis(descriptor: -1), processID: getpid(),
                    name: { _ in nil }, insideSocket: { _ in .success(nil) })
            }
        }

        /// FTP's ABOR comes so; the byte stands where it was said (RFC 9293 §3.8.5). The first of
        /// several addresses that answers is reached in another way than the only one.
        @Test(arguments: ["127.0.0.1", "[::1]"])
        func urgentDataPassesBothWays(_ host: String) throws {
            try withProxy(Self.bridgesLoopback) { proxy in
                let origin = try proxy.origin { wire, _ in
                    let command = try wire.read(8)
                    try check(command.text == "xyABOR\r\n", command.text)
                    try wire.transmitUrgent([UInt8]("226 ok\r\n".utf8))
                    try wire.send("z")
                    try wire.expectEnd()
                }
                let client = try proxy.tunnel(to: "\(host):\(origin.port)")
                try client.send("xy")
                try client.transmitUrgent([UInt8]("ABOR\r\n".utf8))
                #expect(try client.read(9).text == "226 ok\r\nz")
                client.close()
                #expect(try proxy.traffic.segments()[.request]?.text == "xyABOR\r\n")
                #expect(try proxy.traffic.connection().originAddress == origin.authority)
            }
        }

        @Test func earlyBytesPassToo() throws {
            try withProxy { proxy in
                let origin = try proxy.origin { wire, _ in
                    let all = try wire.read(6)
                    try check(all == [1, 2, 3, 4, 5, 6], "\(all)")
                    try wire.send([7])
                }
                let client = try proxy.connect()
                let head =
                    "CONNECT \(origin.authority) HTTP/1.1\r\nHost: \(origin.authority)\r\n\r\n"
                try client.send([UInt8](head.utf8) + [1, 2, 3, 4, 5, 6])
                #expect(try client.readHead().hasPrefix("HTTP/1.1 200 "))
                #expect(try client.readToEnd() == [7])
                try client.finish()
                #expect(try proxy.traffic.connection().closedBy == .origin)
            }
        }

        @Test func originMaySpeakFirst() throws {
            try withProxy { proxy in
                let origin = try proxy.origin { wire, _ in
                    try wire.send("220 ready\r\n")
                    let line = try wire.read(through: "\r\n").text
                    try check(line == "QUIT\r\n", line)
                    try wire.send("221 bye\r\n")
                }
                let client = try proxy.tunnel(to: origin.authority)
                #expect(try client.read(through: "\r\n").text == "220 ready\r\n")
                try client.send("QUIT\r\n")
                #expect(try client.readToEnd().text == "221 bye\r\n")
                try client.finish()
                let connection = try proxy.traffic.connection()
                #expect(connection.outcome == .passedThrough)
                #expect(connection.cause.contains("its bytes are recorded"))
                #expect(connection.messageCount == 3)
            }
        }

        @Test func tunnelLivesWhileOneSideTalks() throws {
            try withProxy(.limit(\.responseTimeout, 1_500)) { proxy in
                let origin = try proxy.origin { wire, _ in
                    _ = try wire.read(1)
                    for number in 1...20 {
                        pause(milliseconds: 100)
                        try wire.send([UInt8(number)])
                    }
                }
                let client = try proxy.tunnel(to: origin.authority)
                try client.send([1])
                #expect(try client.readToEnd() == [UInt8](1...20))
                try client.finish()
                #expect(try proxy.traffic.connection().outcome == .passedThrough)
            }
        }

        @Test func silentTunnelEnds() throws {
            try withProxy(.limit(\.responseTimeout, 200)) { proxy in
                let origin = try proxy.origin { wire, _ in
                    _ = try wire.read(1)
                    try wire.expectEnd()
                }
                let client = try proxy.tunnel(to: origin.authority)
                try client.send([1])
                try client.expectEnd()
                _ = try proxy.traffic.connection()
            }
        }

        /// What a client can do with a fresh tunnel, and the outcome.
        static let earlyEnds: [(String, [UInt8], ConnectionRecord.Outcome)] = [
            ("nothing", [], .completed),
            ("half a TLS record", [0x16, 3, 1, 1, 0, 1, 0], .broken),
            ("no TLS hello", [0x16, 3, 1, 0, 1, 9, 9], .refused),
            ("half an HTTP/2 preface", [UInt8]("PRI * HT".utf8), .broken),
        ]

        @Test(arguments: earlyEnds)
        func originIsLetGo(
            _ name: String, _ bytes: [UInt8], _ outcome: ConnectionRecord.Outcome
        ) throws {
            try withProxy { proxy in
                // The script ends when the proxy has closed the connection, and fails if not.
                let origin = try proxy.origin { wire, _ in try wire.expectEnd() }
                let client = try proxy.tunnel(to: origin.authority)
                try client.send(bytes)
                try client.finish()
                _ = try client.readToEnd()
                let connection = try proxy.traffic.connection()
                #expect(connection.outcome == outcome)
                #expect(!connection.cause.isEmpty)
                origin.stop()
            }
        }
    }
}
