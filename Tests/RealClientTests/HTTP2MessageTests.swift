import Foundation
import Testing

extension RealClientTests {
    /// What is in a message beside its content, through every version on either leg.
    struct HTTP2MessageTests {
        /// A version with TLS or without, on one leg.
        enum Leg: String, CaseIterable, Sendable {
            case http1
            case http1TLS
            case http2
            case http2TLS

            var version: Pairing.Version { self == .http1 || self == .http1TLS ? .http1 : .http2 }
            var isSecure: Bool { self == .http1TLS || self == .http2TLS }

            var server: OriginServer {
                switch self {
                case .http1: .node
                case .http1TLS: .nodeTLS
                case .http2: .nodeHTTP2
                case .http2TLS: .nodeHTTP2TLS
                }
            }

            /// The way on which such a client comes to such an origin.
            func entry(to origin: Leg) -> Pairing.Entry {
                if origin.isSecure { return isSecure ? .connect : .absolute }
                return isSecure ? .reverseWithTLS : .reverse
            }
        }

        /// Origins of Node.js, and a proxy in front of each.
        private struct Bench {
            let contents: TestContents
            let ports: NodeOrigin
            let origin: Program
            let folder: Folder

            init() async throws {
                contents = try await TestContents()
                (origin, ports) = try await NodeOrigin.start(contents)
                folder = try Folder()
            }

            func url(of leg: Leg) -> String {
                "\(leg.isSecure ? "https" : "http")://localhost:\(ports[leg.server])"
            }

            func proxy(to leg: Leg) async throws -> ProxyProcess {
                try await ProxyProcess(
                    trusting: contents.authority, reverse: leg.isSecure ? nil : url(of: leg),
                    in: folder, capture: "\(leg.rawValue).sallyport",
                    ["--origin-http", leg.version == .http1 ? "1" : "2"])
            }

            func run(
                _ jobs: [NodeJob], _ client: Leg, to origin: Leg, by proxy: ProxyProcess
            ) async throws -> [NodeResult] {
                let pairing = Pairing(.node, client.version, client.entry(to: origin))
                let way = Pairing.Way(pairing.entry, to: url(of: origin), by: proxy)
                return try await pairing.runNode(jobs, on: way, in: folder)
            }

            /// Without a proxy.
            func run(_ jobs: [NodeJob], to origin: Leg) async throws -> [NodeResult] {
                try await NodePlan(
                    url: url(of: origin), version: origin.version == .http1 ? 1 : 2,
                    ca: contents.authority.certificatePath, jobs: jobs
                ).run(in: folder)
            }
        }

        @Test(.needs(.node, .sqlite), arguments: Leg.allCases)
        func passesHintsAndTrailers(_ origin: Leg) async throws {
            let bench = try await Bench()
            let proxy = try await bench.proxy(to: origin)
            for client in Leg.allCases {
                let results = try await bench.run(
                    [
                        NodeJob(path: "/hints"),
                        NodeJob(
                            method: "POST", path: "/echo", fields: ["trailer": "x-checksum"],
                            upload: bench.contents.path(of: "small.bin"),
                            trailers: ["x-checksum": "of \(client)"],
                            output: bench.folder.path("echo.bin")),
                        NodeJob(
                            method: "POST", path: "/echo", fields: ["trailer": "x-checksum"],
                            upload: bench.contents.path(of: "empty.bin"),
                            trailers: ["x-checksum": "of nothing"],
                            output: bench.folder.path("nothing.bin")),
                    ], client, to: origin, by: proxy)
                try expect(results, client, bench)
            }
            try await proxy.end()
            let hints = try await proxy.capture.query(
                "SELECT count(*) FROM interim WHERE CAST(head AS TEXT) LIKE '% 103%'")
            #expect(hints == "\(2 * Leg.allCases.count)")
            let trailers = try await proxy.capture.query(
                """
                SELECT count(*) FROM exchange WHERE CAST(request_trailers AS TEXT) LIKE '%of %'
                AND CAST(response_trailers AS TEXT) LIKE '%of %' AND error IS NULL
                """)
            #expect(trailers == "\(2 * Leg.allCases.count)")
        }

        private func expect(_ results: [NodeResult], _ client: Leg, _ bench: Bench) throws {
            try #require(results.map(\.status) == [200, 200, 200], "\(client)")
            let links = ["</one.css>; rel=preload; as=style", "</two.css>; rel=preload; as=style"]
            let hints = links.map { NodeResult.Interim(status: 103, link: $0) }
            #expect(results[0].interims == hints, "\(client)")
            #expect(results[0].text == "after the hints", "\(client)")
            let checksums = results.map { $0.trailers["x-request-trailer"] }
            #expect(checksums == [nil, "of \(client)", "of nothing"], "\(client)")
            let echo = bench.folder.path("echo.bin")
            #expect(bench.contents.isEqual("small.bin", to: echo), "\(client)")
            // Small enough for one part, so that the capture's digest is the content's.
            let digests = results.map { $0.trailers["x-sha256"] }
            #expect(digests[1] == bench.contents.digest(of: "small.bin"), "\(client)")
        }

        @Test(.needs(.node), arguments: Leg.allCases)
        func delaysNoEvent(_ origin: Leg) async throws {
            let bench = try await Bench()
            let proxy = try await bench.proxy(to: origin)
            for client in [Leg.http1TLS, .http2TLS, .http2] {
                // The machine may be busy with something else: a real delay is there every time.
                var added: [Duration] = []
                repeat {
                    let direct = try await delay(bench.run(Self.events, to: origin))
                    let proxied = try await delay(
                        bench.run(Self.events, client, to: origin, by: proxy))
                    added.append(proxied - direct)
                } while added.count < 3 && added.last ?? .zero >= .milliseconds(5)
                #expect(added.last ?? .zero < .milliseconds(5), "\(client): \(added)")
            }
            try await proxy.end()
        }

        private static let events = [NodeJob(path: "/events?count=50", timed: true)]

        /// The median time from when an event is sent to when it has come.
        private func delay(_ results: [NodeResult]) throws -> Duration {
            let times = try #require(results.first).times
            // An event that comes in one piece with others tells by its own time how late it is.
            let delays = times.flatMap { time -> [Int64] in
                let sent = time[1].split(separator: "\n").compactMap { Int64($0.dropFirst(6)) }
                return sent.map { (Int64(time[0]) ?? .max) - $0 }
            }
            try #require(delays.count == 50)
            return .nanoseconds(delays.sorted()[delays.count / 2])
        }
    }
}
