import Foundation
import Testing

extension RealClientTests {
    /// FTP by SOCKS, where the files go over connections of their own.
    struct FileTransferTests {
        static let contents: [(name: String, content: [UInt8])] = [
            ("no bytes", []),
            ("text that might be a method", Array("hello\n".utf8)),
            ("capitals", Array("NOTE TO ALL\n".utf8)),
            ("a picture", [0xFF, 0xD8, 0xFF, 0xE0, 0, 1]),
            ("high bytes", [0x80, 0x05, 0x04, 0, 2]),
            ("like a TLS record", [0x16, 0, 3, 4]),
            ("much", (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }),
        ]
        /// With TLS 1.3, curl 7.88 loses the end of an upload, also without a proxy: it closes with
        /// the server's tickets unread, which resets the connection.
        private static let secured = ["--ssl-reqd", "--tls-max", "1.2"]
        static let modes = [[], ["--disable-epsv"], secured, secured + ["--disable-epsv"]]

        /// Up and down again, and a listing that is empty.
        @Test(.needs(.python, .curl), arguments: modes)
        func filesPass(_ options: [String]) async throws {
            let server = try await MailServer()
            let folder = try Folder()
            let proxy = try await ProxyProcess(trusting: server.authority, reverse: nil, in: folder)
            let common =
                [
                    "-sS", "--max-time", "30", "--cacert", proxy.authorityPath,
                    "--socks5-hostname", proxy.address, "-u", "\(Login.user):\(Login.password)",
                ] + options
            let url = "ftp://\(server.address("ftp"))"
            for (name, content) in Self.contents {
                let file = try folder.write("up", Data(content))
                try await Program.run(.curl, common + ["-T", file, "\(url)/file"], in: folder)
                // The server confirms the upload once it has all of it.
                let arrived = try Data(
                    contentsOf: URL(fileURLWithPath: server.folder.path("files/file")))
                #expect(arrived == Data(content), "\(name), up")
                let fetched = try await Program.run(.curl, common + ["\(url)/file"], in: folder)
                #expect(fetched == Data(content), "\(name), down")
            }
            let listing = try await Program.run(.curl, common + ["-l", "\(url)/"], in: folder)
            #expect(listing.isEmpty)
            try await proxy.end()
            try await Self.expectConnections(
                proxy.capture, isSecured: options.contains("--ssl-reqd"))
        }

        private static func expectConnections(
            _ capture: Capture, isSecured: Bool
        ) async throws {
            let transfers = contents.count * 2 + 1
            let connections = try await capture.connections()
            #expect(connections.count == transfers * 2)
            let controls = connections.filter { $0.protocol == "ftp" }
            #expect(controls.count == transfers)
            #expect(controls.allSatisfy { $0.outcome == "completed" })
            #expect(controls.allSatisfy { ($0.upgrade != nil) == isSecured })
            let flows = try await capture.flows()
            #expect(flows.isEmpty, "a file was taken for HTTP: \(flows)")
            #expect(connections.allSatisfy { ($0.tlsVersion != nil) == isSecured })
            // A client that sends a file of no bytes over TLS, and goes without having said a word,
            // looks like one that refuses the certificate.
            let isMistaken = connections.filter { $0.outcome == "client-refused" }
            #expect(isMistaken.count == (isSecured ? 1 : 0), "\(isMistaken)")
            let outcomes = Set(connections.map(\.outcome)).subtracting(["client-refused"])
            #expect(outcomes.isSubset(of: ["completed", "passed-through"]), "\(outcomes)")
        }
    }
}
