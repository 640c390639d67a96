import Foundation
import Testing

extension RealClientTests {
    /// A client of another machine, and an upstream proxy on the proxy's own, in a network of their
    /// own.
    @Suite(
        .enabled(if: geteuid() == 0 || Peer.isRequired, "only root can lay a table of its own"),
        .needs(.unshare, .python))
    struct ElsewhereTests {
        /// The upstream proxy would lead where the client must not go, by whatever name it asks.
        @Test func upstreamHereLeadsNobodyToLoopback() async throws {
            let folder = try Folder()
            let program = try Program(
                .unshare,
                [
                    "--mount", "--net", "--pid", "--fork", "--kill-child",
                    Peer.python.path ?? "", Peer.script("elsewhere.py"), Peer.sallyport.path ?? "",
                ], in: folder)
            #expect(try await program.end() == 0, "\(program.story)")
            let said = String(decoding: program.output, as: UTF8.self).split(separator: "\n")
            let refused = "403 loopback-origin"
            let answers = [
                "by_absolute_form": (refused, "400 invalid-target"),
                "by_connect": (refused, "400 invalid-target"),
                // Not allowed, and no host at all (RFC 1928 §6).
                "by_socks": ("reply 2", "reply 1"),
            ]
            for (way, (loopback, number)) in answers {
                let expected = [
                    "\(way) 127.0.0.1: \(loopback)", "\(way) localhost: \(loopback)",
                    "\(way) loop.test: \(loopback)", "\(way) 127.1: \(number)",
                    "\(way) far.test: asked for far.test:80",
                ]
                let lines = said.filter { $0.hasPrefix("\(way) ") }.map(String.init)
                #expect(lines == expected, "\(program.story)")
            }
        }
    }
}
