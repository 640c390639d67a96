import Base
import HTTPCodecs
import HTTPModel
import Testing
import Traffic

@testable import Replay

/// Streams are played as scripts: the origin's next word waits for the client's.
struct ReplayStreamTests {
    @Test func framesMessagesOfAWebSocketAnew() {
        var script = DialogueScript()
        let source = MemorySource()
        source.add(.response, .text, [UInt8]("welcome".utf8), exchange: 1)
        source.add(.request, .text, [UInt8]("one".utf8), exchange: 1)
        source.add(.response, .binary, [1], exchange: 1)
        source.add(.response, .close, [UInt8]("bye".utf8), exchange: 1, detail: "1000 bye")
        for message in source.messageRecords { script.add(message) }
        let dialogue = WebSocketDialogue(script, ReplayOptions())
        #expect(dialogue.next() == .send([0x81, 7] + [UInt8]("welcome".utf8)))
        #expect(dialogue.next() == .needMore)
        var frames: [UInt8] = []
        WebSocketWriter.write(.ping, [9].span, maskingKey: 0x0102_0304, into: &frames)
        WebSocketWriter.write(
            .text, [UInt8]("uno".utf8).span, maskingKey: 0x0506_0708, into: &frames)
        dialogue.receive(frames.span)
        #expect(dialogue.next() == .send([0x8A, 1, 9]))
        #expect(dialogue.next() == .send([0x82, 1, 1]))
        #expect(dialogue.next() == .send([0x88, 5, 3, 0xE8] + [UInt8]("bye".utf8)))
        #expect(dialogue.next() == .end)
    }

    /// One message each way, twice, as a call of gRPC that streams both ways.
    @Test func answersMessagesOfGRPCAsTheyCome() throws {
        let source = MemorySource()
        let (first, second): ([UInt8], [UInt8]) = (
            [0, 0, 0, 0, 2, 8, 1], [0, 0, 0, 0, 2, 8, 2]
        )
        let head = "POST /s/m HTTP/1.1\nhost: example.com\ncontent-type: application/grpc\n\n"
        source.add(
            head, first + second, to: "example.com",
            "HTTP/2.0 200\ncontent-type: application/grpc\n\n", second + first)
        source.exchangeRecords[0].responseBody.trailers = [UInt8]("grpc-status: 0\r\n\r\n".utf8)
        source.add(.request, .grpc, [8, 1], exchange: 1, offset: 0)
        source.add(.response, .grpc, [8, 2], exchange: 1, offset: 0)
        source.add(.request, .grpc, [8, 2], exchange: 1, offset: 7)
        source.add(.response, .grpc, [8, 1], exchange: 1, offset: 7)
        let recording = try ReplayRecording(source, options: ReplayOptions(), digests: .forTests)
        let exchange = try recording.ask(head)
        let (start, rest) = (Array(first[..<4]), Array(first[4...]))
        exchange.receive(start.span)
        #expect(exchange.next().isNeedMore)
        exchange.receive(rest.span)
        guard case .head(let answer, isAll: false) = exchange.next() else {
            Issue.record("no head")
            return
        }
        #expect(answer.status == 200)
        #expect(exchange.next().content == second)
        #expect(exchange.next().isNeedMore)
        exchange.receive(second.span)
        #expect(exchange.next().content == first)
        #expect(exchange.next().isNeedMore)
        exchange.noteEnd()
        guard case .end(let trailers) = exchange.next() else {
            Issue.record("no end")
            return
        }
        #expect(trailers.pairs.map(\.name) == ["grpc-status"])
    }

    @Test func breaksOffWhereTheOriginDid() throws {
        let source = MemorySource()
        source.add(
            "GET / HTTP/1.1\nhost: example.com\n\n", to: "example.com",
            "HTTP/1.1 200 OK\ncontent-length: 9\n\n", [1, 2])
        source.exchangeRecords[0].error = "origin-closed"
        let recording = try ReplayRecording(source, options: ReplayOptions(), digests: .forTests)
        let exchange = try recording.ask("GET / HTTP/1.1\nhost: example.com\n\n")
        exchange.noteEnd()
        guard case .head(_, isAll: false) = exchange.next() else {
            Issue.record("no head")
            return
        }
        #expect(exchange.next().content == [1, 2])
        guard case .broken = exchange.next() else {
            Issue.record("it went on")
            return
        }
    }

    @Test func shiftsDates() throws {
        let text =
            "HTTP/1.1 200 OK\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\nExpires: 0\r\n"
            + "Set-Cookie: a=b; Expires=Sun, 06-Nov-1994 08:49:37 GMT; Path=/\r\nX: y\r\n\r\n"
        let head = try #require(RecordedHeads.response([UInt8](text.utf8)))
        let shifted = HeadEdit.refreshed(head, by: 86_400)
        #expect(
            shifted.raw.text
                == "HTTP/1.1 200 OK\r\nDate: Mon, 07 Nov 1994 08:49:37 GMT\r\nExpires: 0\r\n"
                + "Set-Cookie: a=b; Expires=Mon, 07 Nov 1994 08:49:37 GMT; Path=/\r\nX: y\r\n\r\n")
    }
}

extension ReplayStep {
    fileprivate var isNeedMore: Bool {
        if case .needMore = self { return true }
        return false
    }

    fileprivate var content: [UInt8]? {
        if case .content(let bytes) = self { return bytes }
        return nil
    }
}
