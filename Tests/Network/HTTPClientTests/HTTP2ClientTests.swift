import Base
import HTTP2
import HTTPCodecs
import HTTPModel
import Origins
import Sockets
import Testing
import Traffic
import Transport

@testable import HTTPClient

@Suite(.timeLimit(.minutes(10))) struct HTTP2ClientTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let name: String
        /// On each connection, to each request.
        let origin: [[FrameOrigin.Act]]
        var method = "GET"
        var versions = ClientVersions.auto
        /// A status with the content, or the code of a failure; one for each request.
        let outcomes: [String]
        /// Of the exchanges, in order; those that were sent again are told of, too.
        var records: [String]?
        var testDescription: String { name }
    }

    @Test(arguments: [
        Row(
            name: "one connection for three", origin: [[.answer, .adorned, .answer]],
            outcomes: ["200 hi", "200 hi", "200 hi"], records: ["1 200", "3 200", "5 200"]),
        Row(
            name: "a refused stream", origin: [[.answer, .reset(7), .answer]], method: "POST",
            outcomes: ["200 hi", "200 hi"],
            records: ["1 200", "3 origin-reset", "5 200"]),
        Row(
            name: "refused for good", origin: [[.reset(7), .reset(7), .reset(7), .answer]],
            method: "POST", outcomes: ["origin-reset", "200 hi"],
            records: ["1 origin-reset", "3 origin-reset", "5 origin-reset", "7 200"]),
        Row(
            name: "a stream given up", origin: [[.reset(8), .answer]],
            outcomes: ["origin-reset", "200 hi"], records: ["1 origin-reset", "3 200"]),
        Row(
            name: "an end behind an answer", origin: [[.answerAndLeave], [.answer]],
            method: "POST", outcomes: ["200 hi", "200 hi"], records: ["1 200", "1 200"]),
        Row(
            name: "an end before the request", origin: [[.answer, .leave], [.answer]],
            method: "POST", outcomes: ["200 hi", "200 hi"],
            records: ["1 200", "3 origin-reset", "1 200"]),
        Row(
            name: "a used connection that breaks off", origin: [[.answer, .close], [.answer]],
            outcomes: ["200 hi", "200 hi"], records: ["1 200", "3 origin-closed", "1 200"]),
        Row(
            name: "the same for what changes something", origin: [[.answer, .close], [.answer]],
            method: "POST", outcomes: ["200 hi", "origin-closed", "200 hi"]),
        Row(name: "a new one that breaks off", origin: [[.close]], outcomes: ["origin-closed"]),
        Row(
            name: "a content that is cut", origin: [[.answer, .cut], [.answer]],
            outcomes: ["200 hi", "origin-closed", "200 hi"]),
        Row(
            name: "an answer of trailers alone", origin: [[.trailersAlone]], outcomes: ["200 "],
            records: ["1 200"]),
        Row(
            name: "too many interim responses", origin: [[.interims(65), .interims(64)]],
            outcomes: ["origin-violation", "200 hi"]),
        Row(
            name: "an origin of HTTP/1", origin: [[.http1], [.http1]],
            outcomes: ["200 hi", "200 hi"], records: ["0 200", "0 200"]),
        Row(
            name: "the same, where only HTTP/2 is allowed", origin: [[.http1]], versions: .http2,
            outcomes: ["origin-protocol"], records: ["0 origin-protocol"]),
        Row(
            name: "HTTP/1 alone", origin: [[.http1]], versions: .http1, outcomes: ["200 hi"],
            records: ["0 200"]),
        Row(
            name: "neither", origin: [[.noProtocol], [.noProtocol]],
            outcomes: ["origin-closed"], records: ["0 origin-closed"]),
    ])
    func sends(_ row: Row) async throws {
        var configuration = ClientConfiguration()
        configuration.http = row.versions
        let outcome = try await withClient(configuration) { number, stream in
            let acts = number < row.origin.count ? row.origin[number] : []
            await FrameOrigin(stream).play(acts)
        } _: { client, target in
            var outcomes: [String] = []
            for _ in row.outcomes {
                outcomes.append(await client.told(Self.request(row.method, to: target)))
            }
            return outcomes
        }
        #expect(outcome.result == row.outcomes)
        if let records = row.records {
            #expect(
                outcome.exchanges.map { "\($0.stream) \($0.error ?? String($0.status))" }
                    == records)
        }
        #expect(outcome.connections.count == row.origin.count)
        for exchange in outcome.exchanges where exchange.stream > 0 {
            #expect(exchange.protocolName == "HTTP/2")
            let head = "\(row.method) /hi HTTP/2.0\r\nhost: a.test\r\nx: y\r\n\r\n"
            #expect(exchange.requestHead.text == head)
        }
    }

    @Test func recordsWhatIsAroundAContent() async throws {
        let outcome = try await withClient { _, stream in
            await FrameOrigin(stream).play([.adorned])
        } _: { client, target in
            try await client.send(Self.request("GET", to: target)).trailers.raw.text
        }
        #expect(outcome.result == "x-sum: 2\r\n\r\n")
        let exchange = try #require(outcome.exchanges.first)
        #expect(
            exchange.interimHeads.map(\.text) == [
                "HTTP/2.0 103\r\nlink: a\r\n\r\n", "HTTP/2.0 103\r\nlink: b\r\n\r\n",
            ])
        #expect(exchange.responseHead.text == "HTTP/2.0 200\r\nkind: adorned\r\n\r\n")
        #expect(exchange.responseBody.trailers.text == "x-sum: 2\r\n\r\n")
        #expect(exchange.responseBody.bytes.text == "hi")
        #expect(outcome.connections.map(\.protocolName) == ["h2c"])
        #expect(outcome.connections.map(\.outcome) == [.completed])
        #expect(outcome.connections.map(\.exchangeCount) == [1])
    }

    @Test func waitsNoLongerThanItMay() async throws {
        var configuration = ClientConfiguration()
        configuration.readTimeout = 1
        let outcome = try await withClient(configuration) { _, stream in
            await FrameOrigin(stream).play([.silence])
        } _: { client, target in
            await client.told(Self.request("GET", to: target))
        }
        #expect(outcome.result == "timed-out")
    }

    /// More than any window, both ways at once, with trailers both ways.
    @Test func echoesUnderFlowControl() async throws {
        let size = 5 << 20
        let piece = [UInt8](repeating: 0x61, count: 200_000)
        let outcome = try await withClient { _, stream in
            await serve(stream, HTTP2Limits()) { stream in
                stream.respond(.response(status: 200), endsStream: false)
                await echo(stream)
            }
        } _: { client, target in
            var request = Self.request(
                "POST", to: target,
                content: .pieces { offset in
                    .success(Array(piece.prefix(max(0, size - Int(offset)))))
                })
            request.trailers = Self.trailers("x-sum: 5\r\n\r\n")
            let answer = try await client.send(request)
            return "\(answer.content.count) \(answer.isCut) \(answer.trailers.raw.text)"
        }
        #expect(outcome.result == "1048576 true x-sum: 5\r\n\r\n")
        let exchange = try #require(outcome.exchanges.first)
        #expect(exchange.requestBody.size == size && exchange.responseBody.size == size)
        #expect(exchange.requestBody.trailers.text == "x-sum: 5\r\n\r\n")
    }

    @Test func answersBeforeItHasReadAll() async throws {
        let outcome = try await withClient { _, stream in
            await serve(stream, HTTP2Limits()) { stream in
                stream.respond(.response(status: 413), endsStream: true)
                stream.stopReading()
            }
        } _: { client, target in
            let endless = ClientRequest.Content.pieces { _ in
                .success([UInt8](repeating: 0, count: 100_000))
            }
            return await client.told(Self.request("POST", to: target, content: endless))
        }
        #expect(outcome.result == "413 ")
    }

    @Test func tellsWhatItCouldNotRead() async throws {
        let outcome = try await withClient { _, stream in
            await serve(stream, HTTP2Limits()) { _ = await $0.count() }
        } _: { client, target in
            let broken = ClientRequest.Content.pieces { offset in
                offset == 0 ? .success([1]) : .failure(Failure("gone", party: .tool, "gone"))
            }
            return await client.told(Self.request("POST", to: target, content: broken))
        }
        #expect(outcome.result == "gone")
        #expect(outcome.exchanges.map(\.error) == ["gone"])
    }

    @Test(arguments: [1, 3, 1000])
    func keepsToTheOriginsLimit(_ limit: Int) async throws {
        let most = Most()
        var limits = HTTP2Limits()
        limits.concurrentStreams = UInt32(limit)
        let served = limits
        let outcome = try await withClient { _, stream in
            await serve(stream, served) { stream in
                most.enter()
                for _ in 0..<20 { await Task.yield() }
                most.leave()
                stream.respond(.response(status: 200), endsStream: false)
                stream.answer([0x68, 0x69])
            }
        } _: { client, target in
            await withTaskGroup(of: String.self) { group in
                for _ in 0..<40 {
                    group.addTask { await client.told(Self.request("POST", to: target)) }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
        }
        #expect(outcome.result == [String](repeating: "200 hi", count: 40))
        #expect(most.most <= limit)
        // They shared one connection, and none of them was refused.
        #expect(outcome.connections.map(\.exchangeCount) == [40])
        #expect(Set(outcome.exchanges.map(\.stream)).count == 40)
    }

    static func request(
        _ method: String, to target: OriginTarget, _ fields: String = "",
        content: ClientRequest.Content = .bytes([])
    ) -> ClientRequest {
        let head =
            "\(method) /hi HTTP/1.1\r\nHost: a.test\r\nX: y\r\nConnection: close\r\n\(fields)\r\n"
        var request = ClientRequest(
            target: target, method: method == "POST" ? .post : .get, isSafe: method != "POST",
            head: Array(head.utf8),
            content: content, isChunked: false)
        request.prefersHTTP2 = true
        return request
    }

    private static func trailers(_ text: String) -> Fields {
        let colon = text.utf8.prefix { $0 != 0x3A }.count
        let slice = FieldSlice(
            known: .other, name: 0..<colon, value: colon + 2..<text.utf8.count - 4)
        return Fields(raw: Array(text.utf8), slices: [slice])
    }
}

/// How many were there at once; used on one loop.
private final class Most: @unchecked Sendable {
    private var count = 0
    private(set) var most = 0

    func enter() {
        count += 1
        most = max(most, count)
    }

    func leave() { count -= 1 }
}

/// Serves HTTP/2 with the product's own other end.
func serve(
    _ stream: PlainStream, _ limits: HTTP2Limits = HTTP2Limits(), takesWebSockets: Bool = false,
    _ answer: @escaping @Sendable (HTTP2Stream) async -> Void
) async {
    let connection = HTTP2Connection(
        stream, role: .server, limits: limits, times: HTTP2Times(write: 5_000, idle: 60_000),
        allowsExtendedConnect: takesWebSockets)
    await connection.run { stream in
        await answer(stream)
        // As its loop does, which resets a stream whose content nobody reads.
        for _ in 0..<99 {
            await Task.yield()
            connection.sweep()
        }
    }
}

private func echo(_ stream: HTTP2Stream) async {
    let buffer = ByteBuffer(capacity: 1 << 14)
    do throws(HTTP2StreamFailure) {
        while try await stream.read(into: buffer) > 0 { try await stream.write(buffer) }
        stream.end(trailers: .trailers(stream.trailers))
    } catch {
        Issue.record("\(error)")
    }
}

extension HTTP2Stream {
    fileprivate func count() async -> Int? {
        let buffer = ByteBuffer(capacity: 1 << 14)
        var count = 0
        do throws(HTTP2StreamFailure) {
            while try await read(into: buffer) > 0 {
                count += buffer.count
                buffer.removeAll()
            }
            return count
        } catch {
            return nil
        }
    }
}
