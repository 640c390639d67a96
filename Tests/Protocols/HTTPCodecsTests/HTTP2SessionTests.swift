import Base
import HTTP2Frames
import HTTPModel
import Testing

@testable import HTTPCodecs

/// Two ends in memory: what one says is moved to the other until nobody has more to say.
final class HTTP2Pair {
    let client: HTTP2Session
    let server: HTTP2Session
    private(set) var clientViolation: HTTP2Violation?
    private(set) var serverViolation: HTTP2Violation?
    /// Streams of either end that may take more content, in the order told.
    private(set) var drained: [Int32] = []
    /// What has happened, as text, without settings.
    private(set) var atClient: [String] = []
    private(set) var atServer: [String] = []

    init(
        client: HTTP2Limits = HTTP2Limits(), server: HTTP2Limits = HTTP2Limits(),
        allowsExtendedConnect: Bool = false
    ) {
        self.client = HTTP2Session(role: .client, limits: client)
        self.server = HTTP2Session(
            role: .server, limits: server, allowsExtendedConnect: allowsExtendedConnect)
    }

    /// - Parameter piece: how many bytes are moved at once.
    func run(piece: Int = 16384) {
        var isQuiet = false
        while !isQuiet {
            let up = move(client, server, piece, &serverViolation)
            let down = move(server, client, piece, &clientViolation)
            isQuiet = !up && !down
            take()
        }
    }

    /// Bytes that no session of ours says.
    func sayToServer(_ bytes: [UInt8]) { say(bytes, server, &serverViolation) }
    func sayToClient(_ bytes: [UInt8]) { say(bytes, client, &clientViolation) }

    private func say(_ bytes: [UInt8], _ to: HTTP2Session, _ violation: inout HTTP2Violation?) {
        do throws(HTTP2Violation) {
            try to.receive(bytes.span, now: 0)
        } catch {
            violation = error
        }
        take()
    }

    private func move(
        _ from: HTTP2Session, _ to: HTTP2Session, _ piece: Int,
        _ violation: inout HTTP2Violation?
    ) -> Bool {
        guard from.wantsToSend else { return false }
        let buffer = ByteBuffer(capacity: piece)
        drained += from.send(into: buffer)
        guard !buffer.isEmpty else { return false }
        say(buffer.copy, to, &violation)
        return true
    }

    private func take() {
        atClient += client.takeEvents().compactMap(Self.text)
        atServer += server.takeEvents().compactMap(Self.text)
    }

    func takeAtClient() -> [String] {
        defer { atClient = [] }
        return atClient
    }
    func takeAtServer() -> [String] {
        defer { atServer = [] }
        return atServer
    }

    static func text(_ event: HTTP2Event) -> String? {
        switch event {
        case .head(let stream, let head):
            let raw: [UInt8]
            if head.status > 0 {
                raw = head.responseHead().raw
            } else {
                do throws(HTTP1Violation) {
                    raw = try head.requestHead().raw
                } catch {
                    return "\(stream) \(error.code)"
                }
            }
            return "\(stream) head " + raw.text.replacing("\r\n", with: "|")
        case .content(let stream, let bytes): return "\(stream) content \(bytes.count)"
        case .trailers(let stream, let fields):
            return "\(stream) trailers " + fields.raw.text.replacing("\r\n", with: "|")
        case .ended(let stream): return "\(stream) ended"
        case .closed(let stream, let code): return "\(stream) closed \(code)"
        case .settings: return nil
        case .goAway(let last, let code): return "goaway \(last) \(code)"
        case .violated(let stream, let detail): return "\(stream) violated: \(detail)"
        case .unsent(let stream): return "\(stream) unsent"
        case .promise(let stream, _, _): return "\(stream) promise"
        case .malformed(let stream, _, let detail): return "\(stream) malformed \(detail)"
        }
    }
}

func request(_ lines: String = "GET / HTTP/1.1|Host: a.test") throws -> HTTP2Fields {
    let host = lines.contains("Host:") ? "" : "\r\nHost: a.test"
    let head = try requestHead(lines.replacing("|", with: "\r\n") + host + "\r\n\r\n")
    return .request(head, scheme: "https", authority: Array("a.test".utf8)[...], target: nil)
}

func response(_ lines: String = "HTTP/1.1 200 OK") throws -> HTTP2Fields {
    .response(try responseHead(lines.replacing("|", with: "\r\n") + "\r\n\r\n"))
}

@Suite struct HTTP2SessionTests {
    static let pieces = [1, 7, 16384]

    /// What the library drops without a word ends the stream, and no other one.
    @Test func whatIsTooLargeIsNotDroppedInSilence() throws {
        let pair = HTTP2Pair()
        let streams = try (0..<3).map { _ in
            try #require(pair.client.request(try request(), endsStream: true))
        }
        pair.run()
        _ = pair.takeAtServer()
        let large = Self.fields(above: 16)
        #expect(large.isTooLarge)
        pair.server.respond(streams[0], large, endsStream: false)
        _ = pair.server.append([UInt8](repeating: 1, count: 40).span, to: streams[0])
        pair.server.end(streams[0])
        pair.server.respond(streams[1], try response(), endsStream: false)
        pair.server.end(streams[1], trailers: large)
        pair.server.respond(streams[2], try response(), endsStream: true)
        pair.run()
        #expect(
            pair.takeAtServer().filter { !$0.hasSuffix("0") } == [
                "1 unsent", "1 closed 2", "3 unsent", "3 closed 2",
            ])
        #expect(
            pair.takeAtClient() == [
                "3 head HTTP/2.0 200||", "5 head HTTP/2.0 200||", "5 ended", "5 closed 0",
                "1 closed 2", "3 closed 2",
            ])
        #expect(try #require(pair.client.request(large, endsStream: true)) == 7)
        pair.run()
        #expect(pair.takeAtClient() == ["7 unsent", "7 closed 7"])
        let last = try #require(pair.client.request(try request(), endsStream: true))
        pair.run()
        #expect(pair.takeAtServer().count == 2)
        pair.server.respond(last, Self.fields(above: 0), endsStream: true)
        let buffer = ByteBuffer(capacity: 2 << 20)
        _ = pair.server.send(into: buffer)
        #expect(buffer.count > 100_000)
        #expect(pair.server.takeEvents().compactMap(HTTP2Pair.text) == ["9 closed 0"])
        #expect(pair.clientViolation == nil && pair.serverViolation == nil)
    }

    /// So many bytes above what is sent at most.
    private static func fields(above excess: Int) -> HTTP2Fields {
        let names = ":status200x".utf8.count
        let count = HTTP2Fields.blockLimit + excess - names - 12 * 4
        return .response(status: 200, [("x", [UInt8](repeating: 0x61, count: count))])
    }

    @Test(arguments: pieces)
    func anExchangePasses(piece: Int) throws {
        let pair = HTTP2Pair()
        let stream = try #require(
            pair.client.request(try request("GET /x HTTP/1.1|A: 1"), endsStream: true))
        pair.run(piece: piece)
        #expect(pair.takeAtServer() == ["1 head GET /x HTTP/2.0|host: a.test|a: 1||", "1 ended"])
        pair.server.inform(stream, try response("HTTP/1.1 103 Early|Link: b"))
        pair.server.respond(stream, try response("HTTP/1.1 200 OK|B: 2"), endsStream: false)
        _ = pair.server.append([UInt8](repeating: 1, count: 40).span, to: stream)
        pair.server.end(stream, trailers: .trailers(head(["x-sum: 1"]).trailers()))
        pair.run(piece: piece)
        #expect(
            pair.takeAtClient().filter { !$0.contains("content") } == [
                "1 head HTTP/2.0 103|link: b||", "1 head HTTP/2.0 200|b: 2||",
                "1 trailers x-sum: 1||", "1 ended", "1 closed 0",
            ])
        #expect(pair.takeAtServer() == ["1 closed 0"])
        #expect(pair.clientViolation == nil && pair.serverViolation == nil)
    }

    @Test(arguments: pieces)
    func contentAndTrailersOfARequestPass(piece: Int) throws {
        let pair = HTTP2Pair()
        let stream = try #require(
            pair.client.request(try request("POST / HTTP/1.1|A: 1"), endsStream: false))
        pair.run(piece: piece)
        #expect(pair.takeAtServer() == ["1 head POST / HTTP/2.0|host: a.test|a: 1||"])
        let mayContinue = pair.client.append([UInt8](repeating: 1, count: 300).span, to: stream)
        #expect(mayContinue)
        pair.run(piece: piece)
        let content = pair.takeAtServer().map { Int($0.split(separator: " ")[2]) ?? 0 }
        #expect(content.reduce(0, +) == 300)
        pair.client.end(stream, trailers: .trailers(head(["x-sum: 1"]).trailers()))
        pair.run(piece: piece)
        #expect(pair.takeAtServer() == ["1 trailers x-sum: 1||", "1 ended"])
    }

    @Test func emptyContentsEnd() throws {
        let pair = HTTP2Pair()
        let stream = try #require(pair.client.request(try request(), endsStream: false))
        pair.client.end(stream)
        pair.run()
        pair.server.respond(stream, try response("HTTP/1.1 204 No"), endsStream: true)
        pair.run()
        #expect(pair.takeAtServer().suffix(2) == ["1 ended", "1 closed 0"])
        #expect(pair.takeAtClient().suffix(2) == ["1 ended", "1 closed 0"])
    }

    // MARK: Windows

    /// Appends until the session says that there is enough; how much that was.
    private func fill(_ session: HTTP2Session, _ stream: Int32, _ pair: HTTP2Pair) -> Int {
        let piece = [UInt8](repeating: 1, count: 16384)
        var count = 0
        while count < 8 << 20 {
            let mayContinue = session.append(piece.span, to: stream)
            count += piece.count
            pair.run()
            if !mayContinue, !pair.drained.contains(stream) { return count }
        }
        return count
    }

    private func received(_ events: [String]) -> Int {
        events.filter { $0.contains("content") }
            .reduce(0) { $0 + (Int($1.split(separator: " ")[2]) ?? 0) }
    }

    @Test func nothingOpensAWindowButConsuming() throws {
        let pair = HTTP2Pair()
        let stream = try #require(
            pair.client.request(try request("POST / HTTP/1.1"), endsStream: false))
        pair.run()
        let piece = [UInt8](repeating: 1, count: 1 << 16)
        for _ in 0..<10 { _ = pair.client.append(piece.span, to: stream) }
        pair.run()
        #expect(received(pair.takeAtServer()) == 256 << 10)
        // Less than half of the window is not worth a frame.
        pair.server.consume(stream, 200 << 10)
        pair.run()
        #expect(received(pair.takeAtServer()) == 200 << 10)
        pair.server.consume(stream, 0)
        pair.server.consume(stream, -5)
        pair.run()
        #expect(received(pair.takeAtServer()) == 0)
    }

    @Test func manyStreamsAreBoundedByTheConnection() throws {
        let pair = HTTP2Pair()
        let piece = [UInt8](repeating: 1, count: 256 << 10)
        for _ in 0..<10 {
            let stream = try #require(
                pair.client.request(try request("POST / HTTP/1.1"), endsStream: false))
            _ = pair.client.append(piece.span, to: stream)
        }
        pair.run()
        #expect(received(pair.takeAtServer()) == 1 << 20)
        // What a closed stream held opens the connection's window all the same.
        pair.client.reset(1, 8)
        pair.run()
        pair.server.consume(1, 256 << 10)
        pair.server.consume(3, 256 << 10)
        pair.run()
        #expect(received(pair.takeAtServer()) == 512 << 10)
    }

    @Test func aFullStreamTellsWhenItHasRoom() throws {
        let pair = HTTP2Pair()
        let stream = try #require(
            pair.client.request(try request("POST / HTTP/1.1"), endsStream: false))
        pair.run()
        let count = fill(pair.client, stream, pair)
        // 64 KiB wait to be sent when the window is shut; the last piece may come on top.
        #expect(count <= (256 << 10) + HTTP2Session.outgoingLimit + 16384)
        pair.server.consume(stream, 256 << 10)
        pair.run()
        #expect(pair.drained.contains(stream))
    }

    // MARK: Settings

    @Test func extendedConnectIsAllowedFromTheStartOrLater() throws {
        let early = HTTP2Pair(allowsExtendedConnect: true)
        early.run()
        #expect(early.client.peerSettings.allowsExtendedConnect)
        let late = HTTP2Pair()
        late.run()
        #expect(!late.client.peerSettings.allowsExtendedConnect)
        #expect(late.client.peerSettings.concurrentStreamLimit == 128)
        late.server.allowExtendedConnect()
        late.run()
        #expect(late.client.peerSettings.allowsExtendedConnect)
        let head = try requestHead("GET /chat HTTP/1.1\r\nHost: a\r\n\r\n")
        let fields = HTTP2Fields.request(
            head, method: Array("CONNECT".utf8), scheme: "https", authority: Array("a".utf8)[...],
            target: nil, protocolName: Array("websocket".utf8))
        #expect(late.client.request(fields, endsStream: false) != nil)
        late.run()
        #expect(
            late.takeAtServer() == [
                "1 head CONNECT /chat HTTP/2.0|host: a|:protocol: websocket||"
            ])
    }

    @Test func streamsAboveTheLimitWait() throws {
        var limits = HTTP2Limits()
        limits.concurrentStreams = 2
        let pair = HTTP2Pair(server: limits)
        pair.run()
        for _ in 0..<3 { _ = pair.client.request(try request(), endsStream: true) }
        pair.run()
        #expect(pair.takeAtServer().filter { $0.contains("head") }.count == 2)
        pair.server.respond(1, try response(), endsStream: true)
        pair.run()
        #expect(pair.takeAtServer().contains { $0.hasPrefix("5 head") })
    }

    // MARK: Ends

    @Test func aResetEndsOneStream() throws {
        let pair = HTTP2Pair()
        for _ in 0..<2 { _ = pair.client.request(try request(), endsStream: false) }
        pair.run()
        pair.client.reset(1, HTTP2ErrorCode.cancel)
        pair.server.reset(3, HTTP2ErrorCode.refusedStream)
        pair.run()
        #expect(pair.takeAtServer().suffix(2) == ["1 closed 8", "3 closed 7"])
        #expect(pair.takeAtClient() == ["1 closed 8", "3 closed 7"])
        // Whoever is late with an answer harms nobody.
        pair.server.respond(1, try response(), endsStream: false)
        _ = pair.server.append([1, 2, 3].span, to: 1)
        pair.server.end(1)
        pair.server.inform(1, try response("HTTP/1.1 103 x"))
        pair.run()
        #expect(pair.takeAtClient() == [])
        #expect(pair.serverViolation == nil && pair.server.failure == nil)
    }

    @Test func anAnswerAheadOfTheContentResetsWhenItHasEnded() throws {
        let pair = HTTP2Pair()
        let stream = try #require(
            pair.client.request(try request("POST / HTTP/1.1"), endsStream: false))
        pair.run()
        pair.server.resetAtEnd(stream)
        pair.server.respond(stream, try response("HTTP/1.1 413 x"), endsStream: true)
        pair.run()
        #expect(pair.takeAtClient() == ["1 head HTTP/2.0 413||", "1 ended"])
        for _ in 0..<3 {
            pair.run()
            #expect(pair.takeAtClient() == [])
            pair.server.sweep()
        }
        pair.run()
        #expect(pair.takeAtClient() == ["1 closed 0"])
        #expect(pair.takeAtServer().last == "1 closed 0")
    }

    @Test func goAwayLetsOpenStreamsEnd() throws {
        let pair = HTTP2Pair()
        _ = pair.client.request(try request(), endsStream: true)
        pair.run()
        pair.server.announceEnd()
        pair.run()
        #expect(pair.takeAtClient() == ["goaway 2147483647 0", "goaway 1 0"])
        #expect(!pair.client.isOver && !pair.server.isOver)
        // One that was on its way is refused, so that it can be asked for elsewhere.
        #expect(pair.client.request(try request(), endsStream: true) == 3)
        pair.run()
        #expect(pair.takeAtClient() == ["3 closed 7"])
        pair.server.respond(1, try response(), endsStream: true)
        pair.run()
        #expect(pair.takeAtClient().last == "1 closed 0")
        #expect(pair.server.isOver)
    }

    @Test func streamsAboveTheLastOneWereRefused() throws {
        let pair = HTTP2Pair()
        for _ in 0..<3 { _ = pair.client.request(try request(), endsStream: true) }
        pair.run()
        pair.sayToClient(Frame.goAway(last: 1).bytes)
        #expect(pair.takeAtClient() == ["goaway 1 0", "3 closed 7", "5 closed 7"])
    }

    @Test func terminatingEndsItAll() throws {
        let pair = HTTP2Pair()
        _ = pair.client.request(try request(), endsStream: true)
        pair.run()
        pair.server.terminate(HTTP2ErrorCode.enhanceYourCalm)
        pair.run()
        #expect(pair.takeAtClient().last == "goaway 1 11")
        #expect(pair.server.isOver)
        #expect(pair.server.failure != nil)
    }

    /// nghttp2 takes each read that ends inside of the head of a CONTINUATION for one more of them.
    @Test(arguments: [1, 2, 8, 9, 16_384])
    func aContinuationInPiecesIsNoFlood(piece: Int) {
        let pair = HTTP2Pair()
        let block = Frame.block([
            (":method", "GET"), (":scheme", "http"), (":authority", "a"), (":path", "/"),
        ])
        let frames: [Frame] = [
            .settings(), Frame(1, flags: 1, stream: 1, Array(block[..<4])),
            Frame(9, flags: 0, stream: 1, Array(block[4..<9])),
            Frame(9, flags: 4, stream: 1, Array(block[9...])),
        ]
        let bytes = HTTP2DirectionReader.preface + frames.flatMap(\.bytes)
        for start in stride(from: 0, to: bytes.count, by: piece) {
            pair.sayToServer(Array(bytes[start..<min(start + piece, bytes.count)]))
        }
        #expect(pair.serverViolation == nil)
        #expect(pair.takeAtServer().count == 2)
    }

    @Test func badPrefaceIsToldApart() {
        let pair = HTTP2Pair()
        pair.sayToServer(Array("GET / HTTP/1.1\r\nHost: a.test\r\n\r\n".utf8))
        #expect(pair.serverViolation == .badPreface)
    }

    /// What was under way when we reset a stream may come, and no more: nothing else would stop an
    /// origin whose stream is over.
    @Test(arguments: [0, 1], [0, 1])
    func boundsWhatComesForStreamsThatAreOver(type: UInt8, resets: Int) throws {
        let pair = HTTP2Pair()
        let stream = try #require(pair.client.request(try request(), endsStream: true))
        pair.run()
        let number = UInt32(stream)
        if resets == 1 {
            pair.client.reset(stream, HTTP2ErrorCode.cancel)
        } else {
            pair.server.respond(stream, try response(), endsStream: true)
        }
        pair.run()
        let block = Frame.block([("x", String(repeating: "a", count: 4000))])
        let frame =
            type == 0
            ? Frame(0, stream: number, [UInt8](repeating: 0, count: 16_000))
            : Frame(1, flags: 4, stream: number, block)
        let bytes = frame.bytes
        var count = 0
        while count < 4 << 20, pair.clientViolation == nil {
            pair.sayToClient(bytes)
            count += bytes.count
        }
        let credit = (64 << 10) + resets * ((256 << 10) + (128 << 10))
        guard case .flood(let flood) = pair.clientViolation else {
            Issue.record("\(count) bytes came: \(String(describing: pair.clientViolation))")
            return
        }
        #expect(flood.code == "h2-stray-flood")
        #expect((credit...credit + 2 * bytes.count).contains(count))
    }

    // MARK: Upgrade

    @Test func anUpgradeOpensStreamOne() throws {
        let pair = HTTP2Pair()
        // SETTINGS_MAX_CONCURRENT_STREAMS 7 (RFC 9113 §6.5.1).
        #expect(pair.server.upgrade(settings: [0, 3, 0, 0, 0, 7], isHead: false))
        #expect(pair.client.upgrade(settings: [], isHead: false))
        pair.server.respond(1, try response(), endsStream: false)
        _ = pair.server.append([1, 2].span, to: 1)
        pair.server.end(1)
        pair.run()
        #expect(
            pair.takeAtClient() == [
                "1 head HTTP/2.0 200||", "1 content 2", "1 ended", "1 closed 0",
            ])
        #expect(pair.client.request(try request(), endsStream: true) == 3)
        pair.run()
        #expect(pair.takeAtServer().contains("3 ended"))
    }

    @Test(arguments: [[1], [0, 4, 0xFF, 0xFF, 0xFF, 0xFF], [0, 2, 0, 0, 0, 9]])
    func brokenSettingsUpgradeNothing(settings: [UInt8]) {
        #expect(!HTTP2Pair().server.upgrade(settings: settings, isHead: false))
    }
}
