import Base
import Sockets
import Testing
import Traffic

@testable import Proxy

extension ProxyTests {
    /// Several ways in at once.
    @Suite struct SeveralPorts {
        @Test func eachHasItsOwnMode() throws {
            let one = try ScriptedOrigin { wire, _ in try wire.greet("one") }
            let two = try ScriptedOrigin(.tls) { wire, _ in try wire.greet("two") }
            let raw = try ScriptedOrigin { wire, _ in
                try wire.send("raw")
                _ = try wire.readToEnd()
            }
            let listen = try #require(SocketAddress(literal: "127.0.0.1", port: 0))
            let listen6 = try #require(SocketAddress(literal: "::1", port: 0))
            let targets: [(ProxyPlan.ReverseTarget, SocketAddress)] = [
                (.init(.http, host: "localhost", port: one.port), listen),
                (.init(.https, host: "localhost", port: two.port), listen6),
                (.init(.tcp, host: "localhost", port: raw.port), listen),
            ]
            let ports = PlanChange { plan in
                plan.wiring.ports += targets.map { PortPlan($0.1, .reverse($0.0)) }
                plan.wiring.ports.append(PortPlan(listen, .transparent))
            }
            try withProxy(.all(.logins(("jane", "s3cret")), ports)) { proxy in
                for origin in [one, two, raw] { proxy.adopt(origin) }
                let addresses = proxy.addresses
                #expect(addresses.count == 5)
                #expect(Set(addresses.map(\.port)).count == 5)
                let plain = try Wire.connect(to: addresses[1])
                #expect(try plain.get("/").body.text == "one", "without a password")
                let secure = try Wire.connect(to: addresses[2])
                try secure.secure(ProxyUnderTest.clientSession(for: "front.test"))
                #expect(try secure.get("/").body.text == "two")
                let bare = try Wire.connect(to: addresses[3])
                #expect(try bare.read(3).text == "raw")
                let explicit = try Wire.connect(to: addresses[0])
                #expect(try explicit.get("http://\(one.authority)/").status == 407)
                for wire in [plain, secure, bare, explicit] { try wire.finish() }
                // Nobody redirected it here.
                try Wire.connect(to: addresses[4]).expectEnd()
                _ = try proxy.traffic.connection(4)
                let ends = proxy.traffic.content.finalConnections
                #expect(ends.map(\.listener) == [1, 2, 3, 0, 4].map { addresses[$0].description })
                #expect(
                    ends.map(\.mode) == [.reverse, .reverse, .reverse, .explicit, .transparent])
                #expect(ends[4].outcome == .refused)
                #expect(ends[4].cause.contains("came to the proxy itself"))
            }
        }

        /// All of the ports are the proxy's own.
        @Test func noneLeadsToAnother() throws {
            let origin = try ScriptedOrigin { wire, _ in try wire.greet() }
            let listen = try #require(SocketAddress(literal: "127.0.0.1", port: 0))
            let target = ProxyPlan.ReverseTarget(.http, host: "localhost", port: origin.port)
            try withProxy(PlanChange { $0.wiring.ports.append(PortPlan(listen, .reverse(target))) })
            {
                proxy in
                proxy.adopt(origin)
                let client = try proxy.connect()
                for address in proxy.addresses {
                    let answer = try client.get("http://\(address)/")
                    #expect(answer.status == 508)
                    #expect(answer.field("sallyport-error") == "proxy-loop")
                }
            }
        }

        @Test func placeThatIsTakenFails() throws {
            let taken = try ScriptedOrigin { _, _ in }
            defer { taken.stop() }
            #expect(throws: Failure.self) {
                _ = try ProxyUnderTest(
                    PlanChange { $0.wiring.ports.append(PortPlan(taken.address, .explicit)) })
            }
        }
    }
}
