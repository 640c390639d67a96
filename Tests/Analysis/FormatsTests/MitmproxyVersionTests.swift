import Base
import Testing
import Traffic

@testable import Formats

/// Flows as earlier versions of mitmproxy wrote them.
struct MitmproxyVersionTests {
    private typealias Members = [(name: String, value: TnetstringText)]

    /// The versions between which a flow changed in what is read of it.
    @Test(arguments: [7, 8, 9, 10, 11, 12, 17, 18, 19, 20, 21])
    func readsAnExchange(_ version: Int64) async throws {
        let (copy, lost) = try await read([Self.exchange(version)])
        let record = try #require(try copy.exchange(1))
        #expect(record.requestHead.text == "GET /a HTTP/1.1\r\nX: y\r\n\r\n")
        #expect(record.responseHead.text == "HTTP/1.1 204 No Content\r\n\r\n")
        #expect(record.authority == "x.example")
        #expect(record.scheme == .https)
        #expect(record.startedAt.microseconds == 1_500_000_000_250_000)
        #expect(record.durationMicroseconds == 500_000)
        #expect(record.firstByteMicroseconds == 250_000)
        #expect(copy.content(1, .request).text == "sent")
        let connection = try #require(try copy.connection(1))
        #expect(connection.client == "192.0.2.7:1055")
        #expect(connection.originHost == "x.example")
        #expect(connection.originPort == 443)
        #expect(connection.originAddress == "192.0.2.1:443")
        #expect(connection.clientTLS?.version == "TLSv1.3")
        #expect(connection.clientTLS?.alpn == "http/1.1")
        #expect(connection.clientTLS?.sni == "x.example")
        #expect(connection.clientTLS?.cipher == "AES")
        #expect(connection.clientTLS?.handshakeCompleted == true)
        #expect(connection.originTLS?.chain == [[0x30, 0x00]])
        #expect(connection.originTLS?.sni == "x.example")
        #expect(connection.exchangeCount == 1)
        #expect(connection.mode == (version >= 18 ? .reverse : .explicit))
        #expect(MitmproxyRoundTripTests.counts(lost) == ["head-rebuilt 2"])
    }

    @Test(arguments: [7, 11, 12, 14, 15])
    func readsAWebSocket(_ version: Int64) async throws {
        let injected: [TnetstringText] = version >= 15 ? [.boolean(true)] : []
        let messages: TnetstringText = .list([
            .list(
                [
                    .integer(1), .boolean(true), .string("hi"), .float(1_500_000_001),
                    .boolean(false),
                ]
                    + injected),
            .list([
                .integer(2), .boolean(false), .bytes([0xFF]), .float(1_500_000_002),
                .boolean(false),
            ]),
            .list([.integer(9), .boolean(false), .bytes([]), .float(0), .boolean(false)]),
        ])
        let close: Members = [
            ("messages", messages), ("close_code", .integer(1001)),
            ("close_reason", .string("gone")),
        ]
        let isApart = version < 12
        var start = Self.exchange(version, id: "s")
        start.removeAll { $0.name == "metadata" }
        start.append(("metadata", .dictionary(isApart ? [("websocket", .boolean(true))] : [])))
        var flows = [start]
        if isApart {
            var apart = Self.common(version, "websocket", id: "w")
            apart.removeAll { $0.name == "metadata" }
            apart.append(("metadata", .dictionary([("websocket_handshake", .string("s"))])))
            flows.append(apart + close + [("close_sender", .string("client"))])
        } else {
            let more: Members = [
                ("closed_by_client", .boolean(true)), ("timestamp_end", .float(1_500_000_003)),
            ]
            flows[0].append(("websocket", .dictionary(close + more)))
        }
        let (copy, lost) = try await read(flows)
        var told: [String] = []
        try copy.messages(ofConnection: 1, exchange: 1) { part in
            told.append("\(part.number) \(part.kind) \(part.direction) \(part.bytes.hex)")
            return true
        }
        #expect(
            told == ["1 text request 6869", "2 binary response ff", "3 close request 676f6e65"])
        #expect(try copy.connection(1)?.messageCount == 3)
        #expect(
            MitmproxyRoundTripTests.counts(lost)
                == ["head-rebuilt 2"] + (version >= 15 ? ["message-changed 1"] : [])
                + ["message-unreadable 1"])
    }

    @Test func countsWhatItDoesNotKeep() async throws {
        var edited = Self.exchange(21)
        edited.removeAll { ["comment", "marked", "backup"].contains($0.name) }
        edited += [
            ("comment", .string("look")), ("marked", .string(":default:")),
            ("backup", .dictionary([])),
        ]
        let newer = Self.exchange(22)
        let kinds = ["dns", "udp"].map { Self.common(21, $0, id: $0) }
        let (_, lost) = try await read([edited, newer, [("a", .null)]] + kinds)
        #expect(
            MitmproxyRoundTripTests.counts(lost) == [
                "comments-left-out 1", "edits-left-out 1", "flow-left-out 2", "head-rebuilt 4",
                "item-unreadable 1", "marks-left-out 1", "version-unknown 1",
            ])
    }

    @Test(arguments: [[6], [3, 0, 0]] as [[Int64]])
    func refusesWhatIsTooOld(_ numbers: [Int64]) async throws {
        var old = Self.exchange(7)
        old.removeAll { $0.name == "version" }
        let version = numbers.map { TnetstringText.integer($0) }
        old.append(("version", version.count == 1 ? version[0] : .list(version)))
        let failure = await #expect(throws: Failure.self) { try await read([old]) }
        #expect(failure?.code == "mitmproxy-version")
    }

    // MARK: Flows

    private static func common(_ version: Int64, _ type: String, id: String) -> Members {
        var flow: Members = [
            ("version", .integer(version)), ("type", .string(type)), ("id", .string(id)),
            ("error", .null), ("intercepted", .boolean(false)), ("metadata", .dictionary([])),
            ("client_conn", .dictionary(client(version))),
            ("server_conn", .dictionary(server(version))),
            ("marked", version < 13 ? .boolean(false) : .string("")),
        ]
        if version >= 9 { flow.append(("is_replay", .null)) }
        if version >= 14 { flow.append(("comment", .string(""))) }
        if version >= 16 { flow.append(("timestamp_created", .float(1_500_000_000.25))) }
        if version < 17 { flow.append(("mode", .string("regular"))) }
        return flow
    }

    private static func leg(_ version: Int64) -> Members {
        let alpn: TnetstringText = .bytes(Array("http/1.1".utf8))
        let name: TnetstringText =
            version < 11 ? .bytes(Array("x.example".utf8)) : .string("x.example")
        return [
            ("timestamp_start", .float(1_500_000_000)), ("timestamp_end", .null),
            ("timestamp_tls_setup", .float(1_500_000_000.1)), ("tls_version", .string("TLSv1.3")),
            ("sni", name), (version < 11 ? "alpn_proto_negotiated" : "alpn", alpn),
            (version < 19 ? "cipher_name" : "cipher", .string("AES")),
            (version < 10 ? "tls_established" : "tls", .boolean(true)),
        ]
    }

    private static func client(_ version: Int64) -> Members {
        let peer: TnetstringText = .list([.string("192.0.2.7"), .integer(1055)])
        var client = leg(version) + [("id", .string("c"))]
        client.append((version < 19 ? "address" : "peername", peer))
        if version >= 18 { client.append(("proxy_mode", .string("reverse:https://x@443"))) }
        return client
    }

    private static func server(_ version: Int64) -> Members {
        let peer: TnetstringText = .list([.string("192.0.2.1"), .integer(443)])
        let certificate: TnetstringText = .bytes(PEMText.encode([0x30, 0x00]))
        return leg(version) + [
            ("id", .string("o")), ("via", .null),
            ("address", .list([.string("x.example"), .integer(443)])),
            (version < 19 ? "ip_address" : "peername", peer),
            version < 10 ? ("cert", certificate) : ("certificate_list", .list([certificate])),
        ]
    }

    private static func exchange(_ version: Int64, id: String = "f") -> Members {
        let word: TnetstringText = .bytes(Array("HTTP/1.1".utf8))
        var request: Members = [
            ("http_version", word), ("content", .bytes(Array("sent".utf8))),
            ("headers", .list([.list([.bytes([0x58]), .bytes([0x79])])])),
            ("timestamp_start", .float(1_500_000_000.25)), ("timestamp_end", .null),
            ("host", .string("x.example")), ("port", .integer(443)),
            ("method", .bytes(Array("GET".utf8))), ("scheme", .bytes(Array("https".utf8))),
            ("path", .bytes(Array("/a".utf8))),
        ]
        if version < 9 {
            request += [
                ("first_line_format", .string("relative")), ("is_replay", .boolean(false)),
            ]
        } else {
            request.append(("authority", .bytes([])))
        }
        let response: Members = [
            ("http_version", word), ("headers", .list([])), ("content", .bytes([])),
            ("status_code", .integer(204)), ("reason", .bytes(Array("No Content".utf8))),
            ("timestamp_start", .float(1_500_000_000.5)),
            ("timestamp_end", .float(1_500_000_000.75)),
        ]
        return common(version, "http", id: id) + [
            ("request", .dictionary(request)), ("response", .dictionary(response)),
        ]
    }

    private func read(
        _ flows: [Members]
    ) async throws -> (copy: MemoryTraffic, lost: LossReport) {
        let copy = MemoryTraffic()
        let writer = ImportWriter(sink: copy, nextConnection: 1, nextExchange: 1)
        var pieces = [flows.flatMap { TnetstringText.dictionary($0).held }]
        try await MitmproxyImporter().read({ pieces.popLast() ?? [] }, into: writer)
        return (copy, writer.losses)
    }
}
