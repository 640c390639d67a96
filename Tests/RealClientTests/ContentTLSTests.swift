import Foundation
import Testing

extension RealClientTests {
    /// The TLS port of `sallyport content`, as `openssl s_client` sees it.
    struct ContentTLSTests {
        struct Row: Sendable, CustomStringConvertible {
            let description: String
            let options: [String]
            /// What the report of the client must hold.
            let expected: [String]
        }

        private static let rows: [Row] = [
            Row(
                description: "1.3", options: ["-tls1_3", "-servername", "localhost"],
                expected: ["Verify return code: 0 (ok)", "Protocol  : TLSv1.3"]),
            Row(
                description: "1.2", options: ["-tls1_2", "-servername", "localhost"],
                expected: ["Verify return code: 0 (ok)", "Protocol  : TLSv1.2"]),
            Row(
                description: "a name of its own",
                options: ["-servername", "a.b.test", "-verify_hostname", "a.b.test"],
                expected: ["Verified peername: a.b.test", "Verify return code: 0 (ok)"]),
            Row(
                description: "no name", options: ["-noservername", "-verify_ip", "127.0.0.1"],
                expected: ["Verify return code: 0 (ok)"]),
            Row(
                description: "ALPN", options: ["-alpn", "http/1.1"],
                expected: ["ALPN protocol: http/1.1", "Verify return code: 0 (ok)"]),
            Row(
                description: "a long name",
                options: [
                    "-servername", longName, "-verify_hostname", longName,
                ], expected: ["Verify return code: 0 (ok)"]),
        ]

        /// 253 bytes: as long as a name can be, and too long for a common name.
        private static let longName =
            String(repeating: String(repeating: "a", count: 60) + ".", count: 4) + "123456.io"

        @Test(.needs()) func servesOpenSSL() async throws {
            let folder = try Folder()
            let content = try await ContentProcess(in: folder)
            for row in Self.rows {
                let report = try await Self.ask(content, row.options, in: folder)
                for text in row.expected {
                    #expect(report.contains(text), "\(row.description): \(report)")
                }
                #expect(report.contains("HTTP/1.1 200 OK"), "\(row.description): \(report)")
                #expect(report.contains("\"scheme\":\"https\""), "\(row.description)")
            }
            try await content.end()
        }

        /// Names that are none get a handshake or an alert, and leave the server as it was.
        @Test(
            .needs(),
            arguments: [
                "*", "*.test", "a b", "a\n.test", "..", ".", "-", "a,DNS:b", "127.0.0.1", "::1",
                "xn--", "Ü.test", String(repeating: "a", count: 255),
                String(repeating: "a.", count: 127),
            ]) func survivesOddNames(_ name: String) async throws
        {
            let folder = try Folder()
            let content = try await ContentProcess(in: folder)
            let client = try Self.client(content, ["-servername", name], in: folder)
            _ = try await client.end()
            let report = try await Self.ask(content, ["-servername", "localhost"], in: folder)
            #expect(report.contains("HTTP/1.1 200 OK"), "\(report)")
            try await content.end()
        }

        private static func ask(
            _ content: ContentProcess, _ options: [String], in folder: Folder
        ) async throws -> String {
            let client = try client(content, options, in: folder)
            let code = try await client.end()
            #expect(code == 0, "\(client.story)")
            return client.story
        }

        private static func client(
            _ content: ContentProcess, _ options: [String], in folder: Folder
        ) throws -> Program {
            let request = try folder.write(
                "request", "GET /api/echo HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
            return try Program(
                .openssl,
                [
                    "s_client", "-connect", "127.0.0.1:\(content.securePort)", "-ign_eof",
                    "-CAfile", content.authorityPath,
                ] + options, in: folder,
                input: try FileHandle(forReadingFrom: URL(fileURLWithPath: request)))
        }
    }
}
