import Base
import HTTPModel
import Origins
import Sockets
import Testing
import Transport

@testable import HTTPClient

/// Answers that would keep their client for as long as the origin likes.
struct AnswerLimitTests {
    private static func request(_ target: OriginTarget) -> ClientRequest {
        ClientRequest(
            target: target, method: .get, isSafe: true,
            head: Array("GET / HTTP/1.1\r\nHost: a\r\n\r\n".utf8), content: .bytes([]),
            isChunked: false)
    }

    /// Sends content until the client leaves, or nothing behind some of it.
    private static func serve(_ stream: PlainStream, isEndless: Bool) async {
        let buffer = ByteBuffer(capacity: 1 << 16)
        do throws(StreamFailure) {
            guard try await stream.read(into: buffer) > 0 else { return }
            buffer.removeAll()
            buffer.append(Array("HTTP/1.1 200 OK\r\n\r\n".utf8))
            try await stream.write(buffer)
            repeat {
                buffer.removeAll()
                buffer.append([UInt8](repeating: 0x61, count: 1 << 15))
                try await stream.write(buffer)
            } while isEndless
            _ = try await stream.read(into: buffer)
        } catch {
            // The client has left.
            return
        }
    }

    @Test(.timeLimit(.minutes(10))) func endsBeyondWhatIsKept() async throws {
        var configuration = ClientConfiguration()
        configuration.keptContentLimit = 100_000
        configuration.endsBeyondKept = true
        let outcome = try await withClient(configuration) { _, stream in
            await Self.serve(stream, isEndless: true)
        } _: { client, target in
            let answer = try await client.send(Self.request(target))
            return (answer.content.count, answer.isCut, answer.isDeclined)
        }
        #expect(outcome.result == (100_000, true, true))
        #expect(outcome.exchanges.count == 1)
    }

    @Test(.timeLimit(.minutes(10)), arguments: [true, false])
    func endsInTime(_ isEndless: Bool) async throws {
        var configuration = ClientConfiguration()
        configuration.timeLimit = 50
        let outcome = try await withClient(configuration) { _, stream in
            await Self.serve(stream, isEndless: isEndless)
        } _: { client, target in
            await client.told(Self.request(target))
        }
        #expect(outcome.result == "timed-out")
    }

    /// The stop of who called ends it, too, before and while it runs.
    @Test(.timeLimit(.minutes(10)), arguments: [true, false])
    func isStoppedAllTheSame(_ isStopped: Bool) async throws {
        let outcome = try await withClient { _, stream in
            await Self.serve(stream, isEndless: true)
        } _: { client, target in
            let stop = ClientStop()
            var request = Self.request(target)
            request.timeLimit = 60_000
            request.stop = stop
            if isStopped { stop.stop() }
            let timer = client.loop.makeTimer { stop.stop() }
            client.loop.set(timer, due: client.loop.now + 20)
            return await client.told(request)
        }
        #expect(outcome.result == "stopped")
    }
}
