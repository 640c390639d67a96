import Foundation
import Testing

extension RealClientTests {
    /// Every version that a client can speak with every version that an origin can: the same bytes
    /// at the client, at the origin and in the capture, in both directions.
    struct HTTP2PairingTests {
        @Test(.needs(.curl, .nghttp, .nghttpd, .node, .sqlite), arguments: OriginServer.allCases)
        func isByteIdentical(_ server: OriginServer) async throws {
            let contents = try await TestContents()
            let origin = try await RunningOrigin(server, contents)
            let pairings = Pairing.all(to: server)
            try await transfer(pairings.filter { $0.entry.isReverse }, to: origin)
            try await transfer(pairings.filter { !$0.entry.isReverse }, to: origin)
        }

        /// Many streams at once on a few connections.
        @Test(.needs(.h2load, .sqlite), arguments: OriginServer.allCases)
        func serves(_ server: OriginServer) async throws {
            try server.peer.needed(for: server.rawValue)
            let contents = try await TestContents()
            let origin = try await RunningOrigin(server, contents)
            let folder = try Folder()
            let proxy = try await ProxyProcess(
                trusting: origin.authority, reverse: origin.url, in: folder,
                ["--origin-http", server.speaksHTTP2 ? "2" : "1"])
            let count = 200
            for isHTTP2 in [true, false] {
                let way = Pairing.Way(.reverse, to: origin.url, by: proxy)
                let version = isHTTP2 ? ["--npn-list=h2", "--no-tls-proto=h2c"] : ["--h1"]
                let said = try await Program.run(
                    .h2load,
                    version + [
                        "-n", "\(count)", "-c", "4", "-m", isHTTP2 ? "25" : "1",
                        "\(way.url)/small.bin?h2load",
                    ], in: folder)
                let text = String(decoding: said, as: UTF8.self)
                let wanted = "\(count) done, \(count) succeeded, 0 failed, 0 errored, 0 timeout"
                #expect(text.contains(wanted), "\(text)")
            }
            try await proxy.end()
            let exchanges = try await proxy.capture.exchanges()
            #expect(exchanges.count == 2 * count)
            #expect(exchanges.filter { $0.protocol == "HTTP/2" }.count == count)
            #expect(exchanges.compactMap(\.error) == [])
            for exchange in exchanges {
                let isSame = try await hasRecorded(
                    exchange, "small.bin", "response", contents, proxy.capture)
                #expect(isSame, "\(exchange.id)")
            }
        }

        private func transfer(_ pairings: [Pairing], to origin: RunningOrigin) async throws {
            let folder = try Folder()
            let proxy = try await ProxyProcess(
                trusting: origin.authority,
                reverse: pairings.contains { $0.entry.isReverse } ? origin.url : nil, in: folder,
                ["--origin-http", origin.server.speaksHTTP2 ? "2" : "1"])
            var rows: [(Pairing, [Transfer])] = []
            for (index, pairing) in pairings.enumerated() {
                let transfers = try Transfer.all(to: origin, marked: "row\(index)", into: folder)
                rows.append((pairing, transfers))
                do {
                    try await pairing.run(
                        transfers, on: Pairing.Way(pairing.entry, to: origin.url, by: proxy),
                        origin.contents, in: folder)
                } catch {
                    Issue.record("\(pairing.name): \(error)")
                }
            }
            try await proxy.end()
            let exchanges = try await proxy.capture.exchanges()
            for (pairing, transfers) in rows {
                for transfer in transfers {
                    try await expect(transfer, pairing, origin, exchanges, proxy.capture)
                }
            }
            let connections = try await proxy.capture.connections()
            #expect(connections.filter { $0.outcome != "completed" }.isEmpty)
        }

        private func expect(
            _ transfer: Transfer, _ pairing: Pairing, _ origin: RunningOrigin,
            _ exchanges: [Capture.Exchange], _ capture: Capture
        ) async throws {
            let what = "\(transfer.method) \(transfer.target) of \(pairing.name)"
            func expect(_ holds: Bool, _ detail: String) {
                if !holds { Issue.record("\(detail): \(what)") }
            }
            let contents = origin.contents
            expect(contents.isEqual(transfer.answer, to: transfer.output), "client got other bytes")
            if let upload = transfer.upload, !origin.server.echoes {
                let path = origin.uploadPath(String(transfer.target.dropFirst("/upload/".count)))
                expect(contents.isEqual(upload, to: path), "origin got other bytes")
            }
            let found = exchanges.filter {
                $0.method == transfer.method && $0.target.hasSuffix(transfer.target)
            }
            guard found.count == 1, let exchange = found.first else {
                return expect(false, "\(found.count) times in the capture")
            }
            expect(exchange.error == nil, "failed (\(exchange.error ?? ""))")
            expect(exchange.status / 100 == 2, "status \(exchange.status)")
            expect(exchange.protocol == pairing.version.name, "client spoke \(exchange.protocol)")
            expect(exchange.spoke(origin.server), "origin spoke \(exchange.origin ?? "otherwise")")
            try await expect(
                hasRecorded(exchange, transfer.upload, "request", origin.contents, capture),
                "the capture's request has other bytes")
            try await expect(
                hasRecorded(exchange, transfer.answer, "response", origin.contents, capture),
                "the capture's response has other bytes")
        }

        private func hasRecorded(
            _ exchange: Capture.Exchange, _ content: String?, _ direction: String,
            _ contents: TestContents, _ capture: Capture
        ) async throws -> Bool {
            let recorded = direction == "request" ? exchange.request : exchange.response
            if recorded == contents.digest(of: content) { return true }
            guard let content, !recorded.isEmpty else { return false }
            // A content that came slowly is in other parts.
            let path = try capture.folder.write(
                "recorded.bin", await capture.show(exchange.id, "\(direction)-body"))
            return contents.isEqual(content, to: path)
        }
    }
}

extension Capture {
    /// A row of `exchange`.
    struct Exchange: Decodable, Sendable {
        let id: Int64
        let method: String
        let target: String
        let status: Int
        let `protocol`: String
        let error: String?
        /// What the origin says that it was asked in; `nil` if it does not say.
        let origin: String?
        /// The SHA-256 of each part of the content, with commas between.
        let request: String
        let response: String

        func spoke(_ server: OriginServer) -> Bool {
            guard let origin else { return server.peer.name == Peer.nghttpd.name }
            return origin.contains("2") == server.speaksHTTP2
        }
    }

    func exchanges() async throws -> [Exchange] {
        let statement = """
            SELECT id, method, target, status, protocol, error,
                (SELECT value FROM header WHERE exchange = exchange.id
                    AND direction = 'response' AND name = 'x-origin-protocol') AS origin,
                \(Self.digests("request")), \(Self.digests("response"))
            FROM exchange ORDER BY id
            """
        let output = try await Program.run(.sqlite, ["-json", path, statement], in: folder)
        return output.isEmpty ? [] : try JSONDecoder().decode([Exchange].self, from: output)
    }

    private static func digests(_ direction: String) -> String {
        """
        (SELECT coalesce(group_concat(digest), '') FROM
            (SELECT lower(hex(hash)) AS digest FROM body JOIN chunk ON chunk.id = body.chunk
            WHERE body.exchange = exchange.id AND direction = '\(direction)' ORDER BY sequence))
            AS \(direction)
        """
    }
}
