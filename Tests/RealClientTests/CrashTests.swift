import Foundation
import Testing

extension RealClientTests {
    /// A proxy that is killed while it records.
    struct CrashTests {
        /// Twenty times into one file: what `flows list` showed before the kill is there after it.
        @Test(.needs(.wrk, .sqlite)) func losesNothingThatWasShown() async throws {
            let origin = try await Origin()
            for kind in Body.kinds { try kind.writeTemplate(in: origin.folder) }
            let folder = try Folder()
            var lastID: Int64 = 0
            for round in 1...20 {
                let kind = Body.kinds[round % 2]
                let proxy = try await ProxyProcess(for: origin, in: folder, reverse: true)
                let load = try Load.start(on: proxy, path: kind.path(round), in: folder)
                let wanted = kind.leastCount(round)
                let shown = try await eventually("\(wanted) flows of \(load.story)") {
                    let flows = try await proxy.capture.flows(filter: "id>\(lastID)")
                    return flows.count { $0.durationMs != nil } >= wanted ? flows : nil
                }
                try await proxy.kill()
                load.send(SIGKILL)
                _ = try await load.end()

                #expect(try await proxy.capture.query("PRAGMA integrity_check") == "ok")
                let kept = try await proxy.capture.flows(filter: "id>\(lastID)")
                Self.expect(shown, in: kept, round: round)
                for flow in shown.filter({ $0.durationMs != nil }).suffix(3) {
                    let content = try await proxy.capture.show(flow.id, "response-body")
                    let path = String(flow.url.dropFirst(origin.url.count))
                    #expect(content == kind.content(of: path), "round \(round): \(flow)")
                }
                #expect(try await proxy.capture.query(Self.incomplete) == "0", "round \(round)")
                lastID = try #require(kept.last).id
            }
            try await Self.expectAllRounds(of: origin, in: folder)
        }

        /// Expects what every round showed, in a file that a proxy then completes in order.
        private static func expectAllRounds(of origin: Origin, in folder: Folder) async throws {
            let proxy = try await ProxyProcess(for: origin, in: folder, reverse: true)
            try await proxy.end()
            let all = try await proxy.capture.flows()
            #expect(Set(all.map(\.id)).count == all.count)
            for round in 1...20 {
                let kind = Body.kinds[round % 2]
                let path = origin.url + kind.path(round)
                #expect(all.count { $0.url.hasPrefix(path) } >= kind.leastCount(round))
            }
            let open = "SELECT count(*) FROM connection WHERE outcome = 'open'"
            #expect(try await proxy.capture.query(open) == "0")
        }

        /// Exchanges that came to their end and whose stored content is not as long as what passed.
        private static let incomplete = """
            SELECT count(*) FROM exchange LEFT JOIN (
                SELECT exchange, sum(chunk.size) AS size FROM body JOIN chunk ON chunk.id = chunk
                WHERE direction = 'response' GROUP BY exchange
            ) AS stored ON stored.exchange = exchange.id
            WHERE duration_us IS NOT NULL AND response_size IS NOT coalesce(stored.size, 0)
            """

        private static func expect(
            _ shown: [Capture.Flow], in kept: [Capture.Flow], round: Int
        ) {
            let flows = Dictionary(uniqueKeysWithValues: kept.map { ($0.id, $0) })
            for flow in shown {
                if flow.durationMs == nil {
                    // It may have gone on between the look and the kill.
                    #expect(flows[flow.id] != nil, "round \(round) lost \(flow)")
                } else {
                    #expect(flows[flow.id] == flow, "round \(round) lost \(flow)")
                }
            }
        }
    }
}

/// A body of its own for every path under `/unique/`, which the origin makes from a template.
private struct Body {
    let name: String
    let lineCount: Int

    /// One that is stored with its exchange, and one in many parts, while it goes on.
    static let kinds = [
        Body(name: "large", lineCount: 40_000), Body(name: "small", lineCount: 300),
    ]

    func path(_ round: Int) -> String {
        "/unique/\(name)/\(round)/"
    }

    /// How many exchanges a round waits for.
    func leastCount(_ round: Int) -> Int {
        lineCount > 1_000 ? round : 10 * round
    }

    func writeTemplate(in folder: Folder) throws {
        try folder.write("www/\(name).template", content(of: "@path@"))
    }

    func content(of path: String) -> Data {
        var content = Data()
        for line in 1...lineCount { content.append(contentsOf: "\(path), line \(line)\n".utf8) }
        return content
    }
}
