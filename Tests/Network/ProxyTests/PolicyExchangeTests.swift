import Base
import Dispatch
import Origins
import Sockets
import Synchronization
import TLS
import Testing
import Traffic

@testable import Proxy

extension ProxyTests {
    /// A policy that is exchanged while clients are there.
    @Suite struct PolicyExchanges {
        private static let blocked = [HostPattern("127.0.0.1")].compactMap(\.self)

        /// Who is there goes on by the policy that it came in under, also between two requests; who
        /// comes then is served by the new one.
        @Test(arguments: Way.allCases)
        func holdsForWhoComesThen(_ way: Way) throws {
            try withProxy { proxy in
                let origin = try proxy.greeter(way.kind)
                let former = try way.open(proxy, origin)
                #expect(try former.get(way.target("/", origin)).status == 200)
                let number = proxy.exchange { $0.disposition.blocked = Self.blocked }
                #expect(number == 1)
                #expect(try former.get(way.target("/", origin)).status == 200)
                let next = try proxy.connect()
                #expect(try next.get("http://\(origin.authority)/").status == 403)
                try next.finish()
                try former.finish()
                #expect(try proxy.policies() == [0, 1])
            }
        }

        /// A connection that was opened under another policy may have gone another way, or to an
        /// origin that is not trusted any more: it is closed, and no request goes over it.
        @Test func lendsNoConnectionOfAnother() throws {
            try withProxy { proxy in
                let ended = DispatchSemaphore(value: 0)
                let origin = try proxy.origin { wire, _ in
                    try wire.greet()
                    ended.signal()
                }
                let former = try proxy.connect()
                #expect(try former.get("http://\(origin.authority)/").status == 200)
                try former.finish()
                try former.expectEnd()
                proxy.exchange { _ in }
                // Nobody has to come for that.
                #expect(ended.wait(timeout: .now() + .seconds(Wire.patience)) == .success)
                let next = try proxy.connect()
                #expect(try next.get("http://\(origin.authority)/").status == 200)
                #expect(origin.acceptedCount == 2)
                try next.finish()
                #expect(try proxy.traffic.connection { $0.id == 2 }.originReused == false)
            }
        }

        /// Who is served by a former policy gives back what nobody gets.
        @Test func keepsNothingThatIsGivenBack() throws {
            try withProxy { proxy in
                let ended = DispatchSemaphore(value: 0)
                let origin = try proxy.origin { wire, _ in
                    try wire.greet()
                    ended.signal()
                }
                let former = try proxy.connect()
                #expect(try former.get("http://\(origin.authority)/").status == 200)
                proxy.exchange { _ in }
                let next = try proxy.connect()
                #expect(try next.get("http://\(origin.authority)/").status == 200)
                try former.finish()
                try former.expectEnd()
                #expect(ended.wait(timeout: .now() + .seconds(Wire.patience)) == .success)
            }
        }

        /// Also not by a session of TLS that is resumed.
        @Test(arguments: [Way.tunnel13, .tunnel12])
        func verifiesAsItSays(_ way: Way) throws {
            try withProxy { proxy in
                let origin = try proxy.greeter(way.kind)
                func status() throws -> Int {
                    let client = try way.open(proxy, origin)
                    defer { client.close() }
                    return try client.get(way.target("/", origin)).status
                }
                #expect(try status() == 200)
                proxy.exchange { $0.originTrust.extraAuthorities = [] }
                #expect(try status() == 502)
                proxy.exchange { $0.originTrust.servesUnverified = true }
                #expect(try status() == 200)
                proxy.exchange { $0.originTrust.extraAuthorities = [] }
                #expect(try status() == 502)
                #expect(try proxy.policies(4) == [0, 1, 2, 3])
            }
        }

        /// A client that was not asked for a certificate is asked then, although it could resume.
        @Test(arguments: [TLSVersions(.tls12, .tls12), TLSVersions(.tls13, .tls13)])
        func asksWhoResumes(_ versions: TLSVersions) throws {
            try withProxy { proxy in
                let origin = try proxy.greeter(.tls)
                let context = TLSClientContext(
                    versions: versions, extraAuthorities: [TestAuthority.proxy.certificate],
                    trustsSystem: false)
                func isResumed() throws -> Bool {
                    let client = try proxy.tunnel(to: origin.authority)
                    defer { client.close() }
                    let session = context.makeSession(
                        verifying: "localhost", serverName: "localhost", protocols: ["http/1.1"],
                        resumptionKey: "localhost")
                    try client.secure(session)
                    #expect(try client.get("/").status == 200)
                    return session.parameters.isResumed
                }
                #expect(try !isResumed())
                #expect(try isResumed())
                proxy.exchange { $0.asksForCertificates = [HostPattern("*")].compactMap(\.self) }
                #expect(try !isResumed())
                #expect(try isResumed())
            }
        }

        /// What is under way is brought to its end, however long that takes.
        @Test(arguments: Way.allCases)
        func leavesWhatIsUnderWay(_ way: Way) throws {
            try withProxy { proxy in
                let (asked, goesOn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
                let origin = try proxy.origin(way.kind) { wire, _ in
                    _ = try wire.readRequest()
                    asked.signal()
                    goesOn.wait()
                    try wire.send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nlate")
                    _ = try wire.readToEnd()
                }
                let client = try way.open(proxy, origin)
                try client.send(
                    "GET \(way.target("/", origin)) HTTP/1.1\r\nHost: localhost\r\n\r\n")
                asked.wait()
                for _ in 0..<3 { proxy.exchange { $0.disposition.blocked = Self.blocked } }
                let other = try proxy.connect()
                #expect(try other.get("http://\(origin.authority)/").status == 403)
                goesOn.signal()
                #expect(try client.readResponse().body.text == "late")
                try client.finish()
                try client.expectEnd()
            }
        }

        /// A connection of HTTP/2 begins streams under its policy for as long as it lasts.
        @Test func leavesStreams() throws {
            try withProxy { proxy in
                let origin = try proxy.http2Origin { peer, _ in try peer.serve() }
                let client = try proxy.http2Client(to: origin)
                for path in ["/a", "/b", "/c"] {
                    let stream = try client.request("GET \(path) HTTP/1.1")
                    #expect(try client.response(stream).body.text == "hello \(path)")
                    proxy.exchange { $0.disposition.blocked = Self.blocked }
                }
                client.wire.close()
                #expect(try proxy.http2Connection().policyVersion == 0)
                #expect(origin.acceptedCount == 1)
            }
        }

        /// From any thread, as often as one likes: each connection has a policy that was in force
        /// when it came in, and none is lost.
        @Test func isSafeFromAnyThread() throws {
            try withProxy { proxy in
                let origin = try proxy.greeter()
                let isOver = Atomic(false)
                let ended = DispatchSemaphore(value: 0)
                let (server, policy) = (proxy.server, proxy.firstPolicy)
                startThread(named: "exchanges") {
                    while !isOver.load(ordering: .relaxed) { server.exchange(policy) }
                    ended.signal()
                }
                for _ in 0..<200 {
                    let client = try proxy.connect()
                    #expect(try client.get("http://\(origin.authority)/").status == 200)
                    try client.finish()
                    try client.expectEnd()
                }
                isOver.store(true, ordering: .relaxed)
                ended.wait()
                let last = proxy.exchange { _ in }
                let numbers = try proxy.policies(200)
                #expect(numbers == numbers.sorted())
                #expect(numbers.allSatisfy { (0..<last).contains($0) })
            }
        }
    }
}

extension ProxyUnderTest {
    /// The numbers of the policies that connections were served by, in the order of their acceptance.
    fileprivate func policies(_ count: Int = 2) throws -> [Int64] {
        try (1...count).map { id in
            try traffic.connection { $0.id == Int64(id) }.policyVersion
        }
    }
}
