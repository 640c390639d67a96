import Base
import HTTPModel
import Origins
import Recording
import Sockets
import Synchronization
import Traffic
import Transport

@testable import HTTPClient

/// What came of a test's requests.
struct ClientOutcome<Result: Sendable>: Sendable {
    let result: Result
    let records: [TrafficEvent]

    var exchanges: [ExchangeRecord] {
        records.compactMap { if case .exchange(let snapshot) = $0 { snapshot.record } else { nil } }
    }

    /// `request text one`, a close with its code.
    var messages: [String] {
        records.compactMap { event -> String? in
            guard case .message(let snapshot) = event else { return nil }
            let message = snapshot.record
            let what = message.kind == .close ? message.detail : message.bytes.text
            return "\(message.direction) \(message.kind) \(what)"
        }
    }

    /// As they were in the end.
    var connections: [ConnectionRecord] {
        records.compactMap { event in
            if case .connection(let record) = event, record.closedAt != nil { record } else { nil }
        }
    }
}

/// Runs `body` with a client, against an origin on a port of its own.
///
/// - Parameter serve: serves a connection; they are counted from 0.
func withClient<Result: Sendable>(
    _ configuration: ClientConfiguration = ClientConfiguration(),
    _ serve: @escaping @Sendable (Int, PlainStream) async -> Void,
    _ body: @escaping @Sendable (HTTPClient, OriginTarget) async throws -> Result
) async throws -> ClientOutcome<Result> {
    let loop = try EventLoop(index: 0)
    startThread(named: "test loop") { loop.run() }
    defer { loop.stop() }
    let sink = EventList()
    return try await Task(executorPreference: loop) {
        defer { loop.closeAllChannels() }
        let loopback = SocketAddress(address: [127, 0, 0, 1], port: 0)
        let bound = try Listener.bind(loopback, sharesPort: false)
        let listener = try Listener(
            descriptor: bound.descriptor, address: bound.address, loop: loop)
        let entrance = Entrance(listener)
        async let origin: Void = entrance.accept(serve)
        let client = HTTPClient(configuration, on: loop, recorder: TrafficRecorder(sink: sink))
        let target = OriginTarget(isSecure: false, host: "127.0.0.1", port: bound.address.port)
        let result = try await client.run { try await body(client, target) }
        listener.close()
        await origin
        return ClientOutcome(result: result, records: sink.events.withLock { $0 })
    }.value
}

/// `@unchecked Sendable`: used on its loop alone.
private final class Entrance: @unchecked Sendable {
    private let listener: Listener

    init(_ listener: Listener) {
        self.listener = listener
    }

    func accept(_ serve: @escaping @Sendable (Int, PlainStream) async -> Void) async {
        await withDiscardingTaskGroup { group in
            var count = 0
            while let (channel, _) = await listener.accept() {
                let number = count
                let opened = OpenedStream(stream: PlainStream(channel))
                group.addTask {
                    await serve(number, opened.stream)
                    opened.stream.close()
                }
                count += 1
            }
        }
    }
}

/// `@unchecked Sendable`: used on its loop alone.
private struct OpenedStream: @unchecked Sendable {
    let stream: PlainStream
}

final class EventList: TrafficSink {
    let events = Mutex<[TrafficEvent]>([])
    func submit(_ new: [TrafficEvent]) { events.withLock { $0 += new } }
    var isCongested: Bool { false }
    func whenRoom(_ resume: @escaping @Sendable () -> Void) { resume() }
}

extension HTTPClient {
    /// The status with the content, or the failure's code.
    func told(_ request: ClientRequest) async -> String {
        do throws(Failure) {
            let answer = try await send(request)
            return "\(answer.head.status) \(answer.content.text)"
        } catch {
            return error.code
        }
    }
}
