import Base
import Glibc
import Synchronization
import Testing

@testable import Sockets

@Suite(.timeLimit(.minutes(10)))
struct ResolverTests {
    private static func address(_ last: UInt8) -> SocketAddress {
        SocketAddress(address: [10, 0, 0, last], port: 0)
    }

    private static func six(_ last: UInt8) -> SocketAddress {
        SocketAddress(address: [0x20] + [UInt8](repeating: 0, count: 14) + [last], port: 0)
    }

    struct Row: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let given: [SocketAddress]
        let expected: [SocketAddress]
    }

    static let rows = [
        Row(testDescription: "none", given: [], expected: []),
        Row(
            testDescription: "one family", given: [address(1), address(2)],
            expected: [address(1), address(2)]),
        Row(
            testDescription: "IPv6 first", given: [six(1), six(2), address(1), address(2)],
            expected: [six(1), address(1), six(2), address(2)]),
        Row(
            testDescription: "IPv4 first", given: [address(1), six(1), six(2), six(3)],
            expected: [address(1), six(1), six(2), six(3)]),
        Row(
            testDescription: "more of the first", given: [six(1), six(2), six(3), address(1)],
            expected: [six(1), address(1), six(2), six(3)]),
    ]

    @Test(arguments: rows)
    func takesFamiliesInTurn(_ row: Row) {
        #expect(Resolver.interleaved(row.given) == row.expected)
    }

    @Test func asksNobodyForALiteral() async throws {
        let asked = Notes()
        let resolver = Resolver { host in
            asked.add(host)
            return .success([])
        }
        let found = try await withLoop { _ in try await resolver.addresses(of: "::1", port: 443) }
        #expect(found.map(\.description) == ["[::1]:443"])
        #expect(asked.all == [])
    }

    @Test func remembersAnAnswerForItsLifetime() async throws {
        let asked = Notes()
        let resolver = Resolver(lifetime: .seconds(3600)) { host in
            asked.add(host)
            return .success([Self.address(1)])
        }
        try await withLoop { _ in
            for port in [80, 443, 80] as [UInt16] {
                let found = try await resolver.addresses(of: "a.test", port: port)
                #expect(found == [Self.address(1).withPort(port)])
            }
            _ = try await resolver.addresses(of: "b.test", port: 80)
        }
        #expect(asked.all == ["a.test", "b.test"])
    }

    @Test func asksAgainWhenTheLifetimeIsOver() async throws {
        let asked = Notes()
        let resolver = Resolver(lifetime: .zero) { host in
            asked.add(host)
            return .success([Self.address(1)])
        }
        try await withLoop { _ in
            for _ in 0..<3 { _ = try await resolver.addresses(of: "a.test", port: 80) }
        }
        #expect(asked.all.count == 3)
    }

    /// Half a second is no whole one, and not nothing.
    @Test func keepsAShortLifetime() async throws {
        let asked = Notes()
        let resolver = Resolver(lifetime: .milliseconds(999)) { host in
            asked.add(host)
            return .success([Self.address(1)])
        }
        try await withLoop { _ in
            let start = MonotonicTime.now()
            var count = 0
            while count < 3 {
                _ = try await resolver.addresses(of: "a.test", port: 80)
                count += 1
            }
            let passed = MonotonicTime.now().nanoseconds - start.nanoseconds
            #expect(asked.all.count == 1 || passed > 900_000_000)
        }
    }

    @Test func remembersNoFailure() async throws {
        let asked = Notes()
        let resolver = Resolver(lifetime: .seconds(3600)) { host in
            asked.add(host)
            return asked.all.count == 1
                ? .failure(Failure("name-not-found", party: .origin, "cannot resolve \(host)"))
                : .success([Self.address(1)])
        }
        try await withLoop { _ in
            do throws(Failure) {
                _ = try await resolver.addresses(of: "a.test", port: 80)
                Issue.record("an answer of nowhere")
            } catch {
                #expect(error.code == "name-not-found")
            }
            let found = try await resolver.addresses(of: "a.test", port: 80)
            #expect(found.count == 1)
        }
    }

    @Test func asksOnSeveralThreadsButNotMore() async throws {
        let inside = Crowd()
        let resolver = Resolver(workerLimit: 3) { host in
            inside.enter()
            // Three must be inside at once before any may go on.
            while inside.most < 3 { sched_yield() }
            inside.leave()
            return .success([Self.address(UInt8(host.utf8.count))])
        }
        try await withLoop { loop in
            let sizes = await withTaskGroup(of: [UInt8].self) { group in
                for length in 1...40 {
                    group.addTask(executorPreference: loop) {
                        let host = String(repeating: "a", count: length)
                        do {
                            let found = try await resolver.addresses(of: host, port: 1)
                            #expect(loop.isCurrent)
                            return found.map { $0.address[3] }
                        } catch {
                            return []
                        }
                    }
                }
                return await group.reduce(into: [UInt8]()) { $0 += $1 }
            }
            #expect(sizes.sorted() == [UInt8](1...40))
        }
        #expect(inside.most == 3)
    }

    @Test func refusesWhenTooManyWait() async throws {
        let gate = Crowd()
        let resolver = Resolver(workerLimit: 1) { _ in
            while gate.most == 0 { sched_yield() }
            return .success([Self.address(1)])
        }
        let codes = try await withLoop { loop in
            await withTaskGroup(of: String.self) { group in
                for number in 0..<4_200 {
                    group.addTask(executorPreference: loop) {
                        do throws(Failure) {
                            _ = try await resolver.addresses(of: "host\(number)", port: 1)
                            return "found"
                        } catch {
                            return error.code
                        }
                    }
                }
                group.addTask(executorPreference: loop) {
                    gate.enter()
                    return "opened"
                }
                return await group.reduce(into: [String: Int]()) { $0[$1, default: 0] += 1 }
            }
        }
        // One is being looked up, or not taken yet by the thread that does.
        #expect([103, 104].contains(codes["name-lookup-failed"]))
        #expect((codes["found"] ?? 0) + (codes["name-lookup-failed"] ?? 0) == 4_200)
    }

    @Test func asksTheSystem() async throws {
        let found = try await withLoop { _ in
            try await Resolver().addresses(of: "localhost", port: 8080)
        }
        #expect(!found.isEmpty)
        for address in found {
            #expect(address.isLoopback)
            #expect(address.port == 8080)
        }
    }

    /// RFC 6761 §6.4: nobody may answer for it. A resolver that is out of reach says so otherwise.
    @Test(arguments: ["localhost\u{0}.example.com", "", "a b", String(repeating: "a", count: 300)])
    func findsNoAddressOfWhatIsNoName(_ host: String) async throws {
        let failure = try await withLoop { _ -> Failure? in
            do throws(Failure) {
                _ = try await Resolver().addresses(of: host, port: 80)
                return nil
            } catch {
                return error
            }
        }
        #expect(["name-not-found", "name-lookup-failed"].contains(failure?.code))
        #expect(failure?.party == .origin)
    }
}

/// How many are inside, and how many have been at once.
private final class Crowd: Sendable {
    private let counts = Mutex((running: 0, most: 0))

    var most: Int { counts.withLock { $0.most } }

    func enter() {
        counts.withLock { counts in
            counts.running += 1
            counts.most = max(counts.most, counts.running)
        }
    }

    func leave() { counts.withLock { $0.running -= 1 } }
}
