import Base
import HTTP2
import HTTPCodecs
import HTTPModel
import Sockets
import Testing
import Traffic
import Transport

@testable import HTTPClient

/// WebSockets over streams of HTTP/2 (RFC 8441).
@Suite(.timeLimit(.minutes(10))) struct HTTP2WebSocketTests {
    /// What an origin does with an extended CONNECT.
    enum Act: Sendable {
        case echo
        case packedEcho
        case refuse
        case reset
        case resetInTheMiddle
        case silence
        /// It answers the client's close, and does not end its direction.
        case stayOpen
        /// It closes and then says more than anybody wants to hear.
        case talkOn
        /// What it says unpacks to much more.
        case swell
    }

    struct Row: Sendable, CustomTestStringConvertible {
        let name: String
        var act = Act.echo
        var takesWebSockets = true
        var versions = ClientVersions.auto
        var prefersHTTP2 = true
        var offer = ""
        let outcome: String
        /// Of the connections, in order.
        var protocols = ["h2c"]
        /// `nil` for not looked at.
        var messages: [String]? = []
        var testDescription: String { name }
    }

    @Test(arguments: [
        Row(name: "an echo", outcome: "200 whole 2", messages: ClientWebSocketTests.echo),
        Row(
            name: "packed", act: .packedEcho, offer: "permessage-deflate",
            outcome: "200 whole 2", messages: ClientWebSocketTests.echo),
        Row(
            name: "asked for", versions: .http2, prefersHTTP2: false, outcome: "200 whole 2",
            messages: ClientWebSocketTests.echo),
        Row(
            name: "not preferred", prefersHTTP2: false, outcome: "101 whole 2",
            protocols: ["http/1.1"], messages: ClientWebSocketTests.echo),
        Row(
            name: "not taken", takesWebSockets: false, outcome: "101 whole 2",
            protocols: ["http/1.1", "h2c"], messages: ClientWebSocketTests.echo),
        Row(
            name: "not taken, where only HTTP/2 is allowed", takesWebSockets: false,
            versions: .http2, outcome: "origin-protocol"),
        Row(name: "not offered", act: .packedEcho, outcome: "origin-violation"),
        Row(name: "refused", act: .refuse, outcome: "403 no"),
        Row(name: "reset", act: .reset, outcome: "origin-reset"),
        Row(name: "no answer", act: .silence, outcome: "timed-out"),
        Row(
            name: "reset in the middle", act: .resetInTheMiddle, outcome: "200 short 0",
            messages: ["request text one"]),
        Row(
            name: "an origin that does not end", act: .stayOpen, outcome: "200 whole 2",
            messages: ClientWebSocketTests.echo),
        Row(
            name: "an origin that talks on", act: .talkOn, outcome: "200 short 0",
            messages: ["request text one", "response close 1001", "request close 1001"]),
        Row(
            name: "an origin that swells", act: .swell, offer: "permessage-deflate",
            outcome: "200 short 0", messages: nil),
    ])
    func converses(_ row: Row) async throws {
        var configuration = ClientConfiguration()
        configuration.http = row.versions
        if row.act == .silence { configuration.readTimeout = 300 }
        let outcome = try await withClient(configuration) { _, stream in
            await Self.serveEither(stream, row)
        } _: { client, target in
            let machine = WebSocketClientMachine(Self.script)
            var request = ClientWebSocketTests.request(to: target, offering: row.offer)
            request.prefersHTTP2 = row.prefersHTTP2
            return await ClientWebSocketTests.told(client, request, machine)
        }
        #expect(outcome.result == row.outcome)
        #expect(outcome.connections.map(\.protocolName).sorted() == row.protocols.sorted())
        #expect(outcome.exchanges.count == 1)
        if let messages = row.messages {
            // What comes with a close, and is none of it, is a segment.
            #expect(outcome.messages.filter { !$0.contains("segment") } == messages)
            let count = Int64(outcome.messages.count)
            #expect(outcome.connections.map(\.messageCount).max() == count && count < 10)
        }
        for exchange in outcome.exchanges where exchange.stream > 0 {
            #expect(
                exchange.requestHead.text.hasPrefix(
                    "CONNECT / HTTP/2.0\r\nhost: a\r\n:protocol: websocket\r\n"
                        + "sec-websocket-version: 13\r\n"))
            #expect(!exchange.requestHead.text.contains("sec-websocket-key"))
        }
    }

    /// Their messages are told apart, and the connection goes on.
    @Test func sharesAConnection() async throws {
        let row = Row(name: "", outcome: "")
        let outcome = try await withClient { _, stream in
            await Self.serveEither(stream, row)
        } _: { client, target in
            await withTaskGroup(of: String.self) { group in
                for _ in 0..<10 {
                    group.addTask(executorPreference: client.loop) {
                        var request = ClientWebSocketTests.request(to: target)
                        request.prefersHTTP2 = true
                        return await ClientWebSocketTests.told(
                            client, request, WebSocketClientMachine(Self.script))
                    }
                }
                return await group.reduce(into: Set()) { $0.insert($1) }
            }
        }
        #expect(outcome.result == ["200 whole 2"])
        #expect(outcome.connections.map(\.messageCount) == [60])
        let numbers = outcome.records.compactMap { event -> Int64? in
            if case .message(let snapshot) = event { snapshot.record.number } else { nil }
        }
        #expect(Set(numbers) == Set(1...60))
    }

    private static var script: WebSocketScript {
        var script = WebSocketScript()
        script.lines = [
            .init(.text, Array("one".utf8), awaited: 0, patience: 30_000),
            .init(.text, Array("two".utf8), awaited: 1, patience: 30_000),
        ]
        script.awaited = 2
        script.patience = 30_000
        script.heardLimit = 1 << 20
        return script
    }

    /// Speaks what the client begins with.
    private static func serveEither(_ stream: PlainStream, _ row: Row) async {
        guard row.prefersHTTP2 || row.versions == .http2 else { return await serveHTTP1(stream) }
        do throws(StreamFailure) {
            try await stream.waitReadable()
        } catch {
            return
        }
        guard stream.channel.peek(1) != Array("G".utf8) else { return await serveHTTP1(stream) }
        await serve(stream, takesWebSockets: row.takesWebSockets) { stream in
            await stream.play(row.act)
        }
    }

    private static func serveHTTP1(_ stream: PlainStream) async {
        await stream.echo(ClientWebSocketTests.agreement + "\r\n", answers: 9)
    }
}

extension HTTP2Stream {
    fileprivate func play(_ act: HTTP2WebSocketTests.Act) async {
        let packed = "sec-websocket-extensions: permessage-deflate"
        do throws(HTTP2StreamFailure) {
            switch act {
            case .echo: try await echo(nil)
            case .packedEcho: try await echo(packed)
            case .refuse:
                respond(.response(status: 403), endsStream: false)
                answer(Array("no".utf8))
            case .reset: reset(HTTP2ErrorCode.cancel)
            case .resetInTheMiddle:
                agree(nil)
                try await hear()
                reset(HTTP2ErrorCode.cancel)
            case .silence: while try await hear() {}
            case .stayOpen: try await echo(nil, ends: false)
            case .talkOn:
                agree(nil)
                try await hear()
                var bytes: [UInt8] = []
                WebSocketWriter.writeClose(code: 1001, reason: Span(), into: &bytes)
                try await say(bytes)
                let noise = [UInt8](repeating: 0x61, count: 10_000)
                while true { try await say(noise) }
            case .swell:
                agree(packed)
                let writer = WebSocketMessageWriter(
                    role: .server, extensions: PerMessageDeflate())
                let zeros = [UInt8](repeating: 0, count: 8 << 20)
                var bytes: [UInt8] = []
                writer.write(.binary, zeros.span, maskingKey: nil, into: &bytes)
                try await say(bytes)
                while try await hear() {}
            }
        } catch {
            // The client has left.
        }
    }

    private func agree(_ line: String?) {
        let parts = line.map { $0.split(separator: " ").map(String.init) } ?? []
        let pairs = parts.isEmpty ? [] : [(String(parts[0].dropLast()), Array(parts[1].utf8))]
        respond(.response(status: 200, pairs), endsStream: false)
    }

    private func echo(_ line: String?, ends: Bool = true) async throws(HTTP2StreamFailure) {
        agree(line)
        let echo = Echo(line)
        let buffer = ByteBuffer(capacity: 1 << 14)
        while try await read(into: buffer) > 0 {
            let answer = echo.answer(buffer.readable)
            buffer.removeAll()
            try await say(answer)
        }
        if ends { end() }
    }

    @discardableResult
    private func hear() async throws(HTTP2StreamFailure) -> Bool {
        let buffer = ByteBuffer(capacity: 1 << 14)
        return try await read(into: buffer) > 0
    }

    private func say(_ bytes: [UInt8]) async throws(HTTP2StreamFailure) {
        let buffer = ByteBuffer(capacity: max(1, bytes.count))
        buffer.append(bytes)
        try await write(buffer)
    }
}
