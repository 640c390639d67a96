import Foundation
import Testing

extension RealClientTests {
    /// What programs do with their languages' own clients, against `sallyport content`.
    struct ContentLibraryTests {
        struct Row: Sendable, CustomTestStringConvertible {
            let name: String
            let peer: Peer
            /// With HTTP, HTTPS and CA in the places of the server's URLs and the CA's file.
            let arguments: [String]
            let checks: Int

            var testDescription: String { name }
        }

        private static let rows: [Row] =
            ["requests", "httpx"].map { library in
                Row(
                    name: library, peer: .python,
                    arguments: [Peer.script("content-client.py"), library, "HTTP", "HTTPS", "CA"],
                    checks: library == "httpx" ? 59 : 58)
            } + [
                Row(
                    name: "Node", peer: .node,
                    arguments: [Peer.script("content-client.cjs"), "HTTP", "HTTPS"], checks: 30),
                Row(
                    name: "Java", peer: .java,
                    arguments: [
                        "-XX:TieredStopAtLevel=1", Peer.script("Content.java"), "CA", "HTTP",
                        "HTTPS",
                    ], checks: 15),
            ]

        @Test(.needs(.python, .httpx, .node, .java), arguments: rows)
        func isServed(_ row: Row) async throws {
            let folder = try Folder()
            let content = try await ContentProcess(in: folder)
            let places = [
                "HTTP": content.url, "HTTPS": content.secureURL, "CA": content.authorityPath,
            ]
            let output = try await Program.run(
                row.peer, row.arguments.map { places[$0] ?? $0 }, in: folder,
                variables: ["NODE_EXTRA_CA_CERTS": content.authorityPath])
            let said = String(decoding: output, as: UTF8.self)
            #expect(said.trimmingCharacters(in: .newlines) == "checks \(row.checks)")
            try await content.end()
        }
    }
}
