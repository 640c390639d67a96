import Foundation
import Testing

extension RealClientTests {
    /// A session as its user goes through it: recorded, replayed offline, sent to a new build of its
    /// server, and compared.
    @Suite(.needs(.python))
    struct SessionTests {
        /// A build of the server, on a port of its own.
        private struct Build {
            let program: Program
            let port: UInt16

            /// - Parameter words: the number that it counts from, and what is wrong with it.
            init(_ words: [String], in folder: Folder) async throws {
                program = try Program(.python, [Peer.server("shop.py")] + words, in: folder)
                port = try await program.ready(as: UInt16.self)
            }

            func end() async throws {
                program.send(SIGKILL)
                _ = try await program.end()
            }
        }

        @Test func isReplayedAndCompared() async throws {
            let folder = try Folder()
            let build = try await Build(["16"], in: folder)
            let origin = "http://localhost:\(build.port)"
            let python = Peer.python.path ?? ""
            let client = [python, Peer.script("shopper.py"), origin]
            let session = folder.path("session.sallyport")
            let recorded = try Gate(client, in: folder, capture: "session")
            #expect(try await recorded.program.end() == 0, "\(recorded.program.story)")
            #expect(String(decoding: recorded.program.output, as: UTF8.self) == "17\n8\n")
            try await build.end()

            let offline = try Gate(client, in: folder, ["--replay", session], capture: "offline")
            #expect(try await offline.program.end() == 0, "\(offline.program.story)")
            #expect(offline.program.output == recorded.program.output)

            // Another build counts from elsewhere; one of them has forgotten how to add.
            let builds: [(words: [String], code: Int32, says: String)] = [
                (["40"], 0, "0 different, 0 added, 0 removed, 9 equal"),
                (["40", "total"], 1, "    response JSON $.total: 17 → 8\n\n1 different, 0 added"),
            ]
            for row in builds {
                let build = try await Build(row.words, in: folder)
                let live = folder.path("live-\(row.code).sallyport")
                let sent = try Program(
                    .sallyport,
                    [
                        "replay", "client", session, "--to", "http://127.0.0.1:\(build.port)",
                        "--capture", live,
                    ], in: folder)
                #expect(try await sent.end() == 0, "\(sent.story)")
                try await build.end()
                let diff = try Program(
                    .sallyport, ["replay", "diff", session, live, "--ignore", "authority"],
                    in: folder)
                #expect(try await diff.end() == row.code, "\(diff.story)")
                #expect(
                    String(decoding: diff.output, as: UTF8.self).contains(row.says), "\(diff.story)"
                )
            }
        }
    }
}
