import Foundation
import Testing

extension RealClientTests {
    /// Clients of `sallyport content` that speak bytes: what no real client would be made to send.
    struct ContentConnectionTests {
        @Test(.needs()) func answersPipelinedRequestsInOrder() async throws {
            let folder = try Folder()
            let content = try await ContentProcess(in: folder)
            let connection = try RawConnection(port: content.port)
            var requests = ""
            for count in 1...50 {
                requests += "GET /assets/\(count)/\(count) HTTP/1.1\r\nHost: a\r\n\r\n"
                requests += "HEAD /assets/\(count)/1g HTTP/1.1\r\nHost: a\r\n\r\n"
            }
            requests += "POST /api/echo HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nabcd"
            requests += "GET /stream/2 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
            requests += "GET /never HTTP/1.1\r\nHost: a\r\n\r\n"
            try await connection.send(requests)
            for count in 1...50 {
                let head = try await connection.receiveHead()
                #expect(head.contains("\r\nContent-Length: \(count)\r\n"))
                _ = try await connection.receive(exactly: count)
                let bodiless = try await connection.receiveHead()
                #expect(bodiless.contains("\r\nContent-Length: 1073741824\r\n"))
            }
            let rest = String(decoding: try await connection.receiveAll(), as: UTF8.self)
            #expect(rest.contains("\"body\":\"abcd\""))
            #expect(rest.hasSuffix("0\r\nLine-Count: 2\r\n\r\n"), "\(rest)")
            try await content.end()
        }

        /// Fifty clients that read only the start of a gigabyte, while others are served.
        @Test(.needs(.curl, .memoryFigures)) func holdsLittleForSlowClients() async throws {
            let folder = try Folder()
            let content = try await ContentProcess(in: folder)
            let download = [
                "-sS", "-o", "/dev/null", "-w", "%{size_download}",
                "\(content.url)/assets/2/200m",
            ]
            try await Program.run(.curl, download, in: folder)
            let before = try content.memory
            var clients: [RawConnection] = []
            for seed in 1...50 {
                let client = try RawConnection(port: content.port, window: 4096)
                try await client.send("GET /assets/\(seed)/1g HTTP/1.1\r\nHost: a\r\n\r\n")
                _ = try await client.receive(exactly: 20_000)
                clients.append(client)
            }
            #expect(
                try await Program.run(.curl, download, in: folder) == Data("209715200".utf8))
            let growth = try content.memory.peak - before.peak
            // A buffer of 64 KiB each, and what a task costs.
            #expect(growth < 8 << 20, "\(growth) bytes")
            for client in clients {
                _ = try await client.receive(exactly: 20_000)
            }
            clients = []
            try await content.end()
        }

        struct Row: Sendable, CustomStringConvertible {
            let description: String
            let request: String
            let status: Int
        }

        private static let malformed: [Row] = [
            Row(description: "no request line", request: "hello\r\n\r\n", status: 400),
            Row(description: "no host", request: "GET / HTTP/1.1\r\n\r\n", status: 400),
            Row(
                description: "two hosts",
                request: "GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n", status: 400),
            Row(description: "bare LF", request: "GET / HTTP/1.1\nHost: a\n\n", status: 400),
            Row(
                description: "obs-fold", request: "GET / HTTP/1.1\r\nHost: a\r\nA: b\r\n c\r\n\r\n",
                status: 400),
            Row(
                description: "space before the colon",
                request: "GET / HTTP/1.1\r\nHost : a\r\n\r\n", status: 400),
            Row(
                description: "NUL in a value",
                request: "GET / HTTP/1.1\r\nHost: a\r\nA: \0\r\n\r\n", status: 400),
            Row(
                description: "CR in a value",
                request: "GET / HTTP/1.1\r\nHost: a\r\nA: b\rc\r\n\r\n", status: 400),
            Row(
                description: "length and chunks",
                request: "POST /api/echo HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n"
                    + "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", status: 400),
            Row(
                description: "two lengths",
                request: "POST /api/echo HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n"
                    + "Content-Length: 4\r\n\r\nabcd", status: 400),
            Row(
                description: "negative length",
                request: "POST /api/echo HTTP/1.1\r\nHost: a\r\nContent-Length: -3\r\n\r\n",
                status: 400),
            Row(
                description: "length of 2^64",
                request: "POST /api/echo HTTP/1.1\r\nHost: a\r\n"
                    + "Content-Length: 18446744073709551616\r\n\r\n", status: 400),
            Row(
                description: "chunk of 2^64",
                request: "POST /api/echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
                    + "10000000000000000\r\n", status: 400),
            Row(
                description: "chunk that is too long for the route",
                request: "POST /api/echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
                    + "7FFFFFFFFFFFFFFF\r\n" + String(repeating: "a", count: 1_100_000),
                status: 413),
            Row(
                description: "broken escape", request: "GET /%zz HTTP/1.1\r\nHost: a\r\n\r\n",
                status: 400),
            Row(
                description: "escape that ends early",
                request: "GET /assets/1/%3 HTTP/1.1\r\nHost: a\r\n\r\n", status: 400),
            Row(description: "no path", request: "GET a HTTP/1.1\r\nHost: a\r\n\r\n", status: 400),
            Row(
                description: "long target",
                request: "GET /\(String(repeating: "a", count: 100_000)) HTTP/1.1\r\n\r\n",
                status: 414),
            Row(
                description: "long target without an end",
                request: "GET /\(String(repeating: "a", count: 100_000))", status: 414),
            Row(
                description: "long field",
                request: "GET / HTTP/1.1\r\nHost: a\r\nA: \(String(repeating: "a", count: 90_000))",
                status: 431),
            Row(
                description: "many fields",
                request: "GET / HTTP/1.1\r\nHost: a\r\n\(String(repeating: "A:\r\n", count: 9000))",
                status: 431),
            Row(
                description: "long trailers",
                request: "POST /api/echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
                    + "0\r\n" + String(repeating: "A: b\r\n", count: 30_000), status: 400),
            Row(
                description: "empty lines without an end",
                request: String(repeating: "\r\n", count: 100_000), status: 400),
            Row(
                description: "half a preface of HTTP/2", request: "PRI * HTTP/2.0\r\n\r\n",
                status: 505),
            Row(
                description: "version 3.0", request: "GET / HTTP/3.0\r\nHost: a\r\n\r\n",
                status: 505),
            Row(
                description: "version 0.9", request: "GET /\r\n\r\n", status: 400),
            Row(
                description: "CONNECT", request: "CONNECT a:443 HTTP/1.1\r\nHost: a\r\n\r\n",
                status: 501),
            Row(
                description: "TLS to a plain port",
                request: "\u{16}\u{3}\u{1}\u{0}\u{5}\u{1}\u{0}\u{0}\u{1}\u{0}\r\n\r\n",
                status: 400),
        ]

        @Test(.needs()) func refusesMalformedRequests() async throws {
            let folder = try Folder()
            let content = try await ContentProcess(in: folder)
            for row in Self.malformed {
                let connection = try RawConnection(port: content.port)
                try await connection.send(row.request)
                connection.finish()
                let response = try RawResponse(try await connection.receiveAll())
                #expect(response.status == row.status, "\(row)")
                #expect(response["Connection"] == "close", "\(row)")
                #expect(response["Content-Length"] == "\(response.body.count)", "\(row)")
            }
            let next = try await RawResponse(from: content.port, "GET", "/assets/1/10")
            #expect(next.status == 200)
            try await content.end()
        }

        /// Nothing outside of the folder, however it is asked for, and no way through a link.
        @Test(.needs()) func staysInItsFolder() async throws {
            let folder = try Folder()
            try folder.write("secret.txt", "secret")
            try folder.write("www/sub/a.txt", "public")
            let links = [
                ("www/out.txt", folder.path("secret.txt")), ("www/up", ".."), ("www/in", "sub"),
            ]
            for (name, target) in links {
                try FileManager.default.createSymbolicLink(
                    atPath: folder.path(name), withDestinationPath: target)
            }
            let content = try await ContentProcess(in: folder, root: folder.path("www"))
            for path in [
                "/../secret.txt", "/%2e%2e/secret.txt", "/..%2fsecret.txt", "/..%5csecret.txt",
                "/sub/../../secret.txt", "/%252e%252e/secret.txt", "//secret.txt", "/out.txt",
                "/up/secret.txt", "/in/a.txt", "/sub/a.txt%00", "/sub/..%c0%af..%c0%afsecret.txt",
                "http://localhost/../secret.txt", "/\(folder.path("secret.txt"))",
            ] {
                let response = try await RawResponse(from: content.port, "GET", path)
                #expect(response.status == 404, "\(path)")
                #expect(!response.body.elementsEqual("secret".utf8), "\(path)")
            }
            let inside = try await RawResponse(from: content.port, "GET", "/%73ub/a.txt")
            #expect(inside.status == 200)
            #expect(inside.body.elementsEqual("public".utf8))
            try await content.end()
        }
    }
}
