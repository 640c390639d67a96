import Base
import Formats
import HTTPCodecs
import Recording
import Synchronization
import TLS
import Testing
import Traffic

@testable import PacketFormats

struct PacketImporterTests {
    @Test("What is exported as packets comes back: heads, contents and facts of TLS")
    func roundTrip() async throws {
        var traffic = RecordedTraffic()
        for (index, suite) in TLSSuite.all.enumerated() {
            let connection = traffic.addConnection(
                suite.version.text, suite.name, alpn: "http/1.1")
            let content = RecordedTraffic.content(UInt8(index), 30_000 + index)
            traffic.addExchange(on: connection, request: content, response: content)
            traffic.addExchange(on: connection, response: [1, 2, 3])
        }
        let sink = try await imported(exported(traffic))
        let exchanges = sink.exchanges
        #expect(exchanges.count == traffic.exchangeRecords.count)
        for (old, new) in zip(traffic.exchangeRecords, exchanges) {
            #expect(new.requestHead == old.requestHead)
            #expect(new.responseHead == old.responseHead)
            #expect(new.requestBody.bytes == old.requestBody.bytes)
            #expect(new.responseBody.bytes == old.responseBody.bytes)
            #expect(new.error == nil)
            #expect(new.startedAt == old.startedAt)
        }
        for (old, new) in zip(traffic.connectionRecords, sink.connections) {
            #expect(new.clientTLS?.version == old.clientTLS?.version)
            #expect(new.clientTLS?.cipher == old.clientTLS?.cipher)
            #expect(new.clientTLS?.alpn == "http/1.1")
            #expect(new.clientTLS?.alerts == old.clientTLS?.alerts)
            #expect(new.clientTLS?.keyLog.sorted() == old.clientTLS?.keyLog.sorted())
            #expect(new.originHost == "origin.example")
            #expect(new.outcome == .completed)
        }
    }

    @Test("Exchanges of HTTP/2 come back, with all that is in their streams")
    func http2() async throws {
        var traffic = RecordedTraffic()
        for suite in [TLSSuite.all[0], TLSSuite.all[3]] {
            let connection = traffic.addConnection(suite.version.text, suite.name, alpn: "h2")
            for stream in [1, 3, 5, 7] as [Int32] {
                let content = RecordedTraffic.content(UInt8(stream), 150_000 * Int(stream - 1) + 9)
                traffic.addExchange(
                    on: connection, http2: stream, request: content.reversed(), response: content)
            }
            let last = traffic.exchangeRecords.count - 1
            traffic.exchangeRecords[last].interimHeads = [
                [UInt8]("HTTP/2.0 103\r\nlink: </a.css>\r\n\r\n".utf8)
            ]
            traffic.exchangeRecords[last].requestBody.trailers = [UInt8]("x-a: 1\r\n\r\n".utf8)
            traffic.exchangeRecords[last].responseBody.trailers = [UInt8]("x-b: 2\r\n\r\n".utf8)
            // Given up before its end.
            traffic.exchangeRecords[last - 1].responseBody.bytes.removeLast()
            traffic.exchangeRecords[last - 1].error = "origin-reset"
        }
        let writer = try await read(exported(traffic))
        let exchanges = writer.sink.exchanges.sorted { $0.id < $1.id }
        #expect(exchanges.count == traffic.exchangeRecords.count)
        for (old, new) in zip(traffic.exchangeRecords, exchanges) {
            #expect(new.requestHead == old.requestHead)
            #expect(new.interimHeads == old.interimHeads)
            #expect(new.responseHead.text == old.responseHead.text)
            #expect(writer.sink.body(of: new, .request) == old.requestBody.bytes)
            #expect(writer.sink.body(of: new, .response) == old.responseBody.bytes)
            #expect(new.requestBody.trailers == old.requestBody.trailers)
            #expect(new.responseBody.trailers == old.responseBody.trailers)
            #expect(new.startedAt == old.startedAt)
            #expect(new.firstByteMicroseconds == old.firstByteMicroseconds)
            #expect(new.durationMicroseconds == old.durationMicroseconds)
            #expect(new.stream == old.stream)
            #expect(new.protocolName == old.protocolName)
            #expect(new.status == old.status)
            #expect(new.error == old.error)
            #expect(new.authority == old.authority)
            #expect(new.scheme == .https)
        }
        #expect(writer.sink.connections.map(\.protocolName) == ["h2", "h2"])
        #expect(writer.sink.connections.map(\.exchangeCount) == [4, 4])
        #expect(writer.sink.connections.map(\.cause) == ["", ""])
        #expect(writer.losses.losses.map(\.kind) == [.sameInOtherForm])
    }

    @Test("Messages come back, and what goes on as HTTP/2", arguments: ["http/1.1", "h2", nil])
    func messages(_ alpn: String?) async throws {
        var traffic = RecordedTraffic()
        let connection = traffic.addConnection("TLSv1.3", TLSSuite.all[0].name, alpn: alpn ?? "")
        if alpn == nil {
            traffic.connectionRecords[0].clientTLS = nil
            traffic.connectionRecords[0].originTLS = nil
        }
        let stream: Int32? = alpn == "h2" ? 1 : nil
        if alpn == nil {
            traffic.addChangeover(on: connection)
            traffic.addExchange(on: connection, http2: 2, response: [1])
            traffic.addExchange(on: connection, http2: 3, response: [2, 3])
        }
        traffic.addStreams(on: connection, http2: alpn == nil ? 5 : stream)
        if alpn != nil { traffic.addWebSocket(on: connection, http2: stream.map { _ in 5 }) }
        let (sink, losses) = try await read(exported(traffic))
        let exchanges = sink.exchanges.sorted { $0.id < $1.id }
        try #require(exchanges.count == traffic.exchangeRecords.count)
        for (old, new) in zip(traffic.exchangeRecords, exchanges) {
            #expect(new.requestHead.text == old.requestHead.text)
            #expect(new.interimHeads.map(\.text) == old.interimHeads.map(\.text))
            #expect(new.responseHead.text == old.responseHead.text)
            #expect(new.requestBody.bytes == old.requestBody.bytes)
            #expect(new.responseBody.bytes == old.responseBody.bytes)
            #expect(new.stream == old.stream)
            #expect(new.protocolName == old.protocolName)
            // A tunnel lasts as long as its connection.
            let lasts = old.status == 101 ? 89_000 : old.durationMicroseconds
            #expect(new.durationMicroseconds == lasts)
            #expect(new.error == nil)
        }
        let told = sink.messages.map(RecordedTraffic.told)
        #expect(told == traffic.messageRecords.map(RecordedTraffic.told))
        #expect(losses.losses.map(\.kind) == [.sameInOtherForm])
        #expect(sink.connections.map(\.messageCount) == [traffic.messageRecords.last?.number])
    }

    @Test("Compressed WebSockets fill neither memory nor disk")
    func bomb() throws {
        let writer = ImportWriter(sink: RecordingSink(), nextConnection: 1, nextExchange: 1)
        let messages = ImportedMessages(
            writer, connection: 1, at: RecordedTraffic.start, WebSocketRoom())
        let head =
            "HTTP/1.1 101 \r\nUpgrade: websocket\r\n"
            + "Sec-WebSocket-Extensions: permessage-deflate\r\n\r\n"
        let response = try #require(try ResponseReader.read([UInt8](head.utf8).span)).head
        func begin() -> WebSocketRecorder? {
            messages.webSocket(begunBy: response, asked: nil, exchange: 1)
        }
        let webSocket = try #require(begin())
        let content = ContentEncoder.encode([UInt8](repeating: 0, count: 160 << 20))
        let packed = content.dropFirst(10).dropLast(8)
        let length = (0..<8).map { UInt8(truncatingIfNeeded: packed.count >> (56 - 8 * $0)) }
        messages.observe(.response, [0xC2, 127] + length + packed, webSocket)
        #expect(webSocket.recordedBytes == 64 << 20 + 64 * (packed.count + 10))
        #expect(writer.losses.losses.map(\.kind) == [.contentCut])
        let others = (0..<WebSocketRoom.limit).compactMap { _ in begin() }
        #expect(others.count == WebSocketRoom.limit - 1)
        #expect(writer.losses.count(of: .tooManyWebSockets) == 1)
        messages.finish(webSocket)
        #expect(begin() != nil)
    }

    @Test("Without keys a connection is told with the reason")
    func withoutKeys() async throws {
        var traffic = RecordedTraffic()
        let connection = traffic.addConnection(
            "TLSv1.3", TLSSuite.all[0].name, alpn: "http/1.1")
        traffic.addExchange(on: connection, response: [1, 2, 3])
        let file = try exported(traffic).withoutSecrets
        let sink = try await imported(file)
        #expect(sink.exchanges.isEmpty)
        #expect(sink.connections.map(\.outcome) == [.passedThrough])
        #expect(sink.connections.map(\.cause) == ["not decrypted: its keys are not known"])
        let keys = traffic.connectionRecords[0].clientTLS?.keyLog.joined(separator: "\n") ?? ""
        let opened = try await imported(file, keyLog: [UInt8](keys.utf8))
        #expect(opened.exchanges.map(\.responseBody.bytes) == [[1, 2, 3]])
    }

    @Test(
        "An import cut anywhere ends with what came before, and says so",
        arguments: ["http/1.1", "h2"])
    func cuts(_ name: String) async throws {
        var traffic = RecordedTraffic()
        let connection = traffic.addConnection(
            "TLSv1.2", TLSSuite.all[3].name, alpn: name)
        traffic.addExchange(
            on: connection, http2: name == "h2" ? 1 : nil, response: [1, 2, 3])
        let file = try exported(traffic)
        for end in 0..<file.count {
            let sink = RecordingSink()
            let writer = ImportWriter(sink: sink, nextConnection: 1, nextExchange: 1)
            var rest: [UInt8]? = [UInt8](file[..<end])
            do {
                try await PacketImporter().read({ rest.take() ?? [] }, into: writer)
            } catch let failure as Failure {
                #expect(failure.code == "packets-malformed")
            }
            #expect(sink.connections.filter { $0.listener != "ip" }.count <= 1)
        }
    }

    @Test("Bytes that are changed anywhere do no harm")
    func changes() async throws {
        var traffic = RecordedTraffic()
        let connection = traffic.addConnection(
            "TLSv1.3", TLSSuite.all[2].name, alpn: "http/1.1")
        traffic.addExchange(on: connection, request: [4, 5], response: [1, 2, 3])
        let file = try exported(traffic)
        for place in file.indices {
            var changed = file
            changed[place] ^= UInt8(truncatingIfNeeded: 1 << (place % 8))
            do { _ = try await imported(changed) } catch is Failure {}
        }
    }

    @Test("Datagrams come back, each as it was", arguments: ["192.0.2.9", "2001:db8::9"])
    func datagrams(_ host: String) async throws {
        var traffic = RecordedTraffic()
        var record = ConnectionRecord(
            id: 1, openedAt: RecordedTraffic.start, client: "10.0.0.1:40000",
            listener: ConnectionRecord.datagramListener, mode: .captured)
        record.originHost = host
        record.originPort = 53
        record.closedAt = RecordedTraffic.start.later(milliseconds: 9)
        record.messageCount = 3
        traffic.connectionRecords = [record]
        for number in 1...3 {
            var message = MessageRecord(
                connection: 1, exchange: nil, number: Int64(number),
                at: RecordedTraffic.start.later(milliseconds: Int64(number)),
                direction: number == 2 ? .response : .request, kind: .datagram)
            message.bytes = RecordedTraffic.content(UInt8(number), 100 * number)
            message.size = Int64(message.bytes.count)
            traffic.messageRecords.append(message)
        }
        let sink = try await imported(exported(traffic))
        #expect(
            sink.messages.map(RecordedTraffic.told)
                == traffic.messageRecords.map(RecordedTraffic.told))
        #expect(sink.messages.map(\.at) == traffic.messageRecords.map(\.at))
        let found = try #require(sink.connections.first)
        #expect(sink.connections.count == 1)
        #expect(found.originHost == host)
        #expect(found.originPort == 53)
    }

    @Test("A file is read compressed as well, and its end is missed")
    func packed() async throws {
        var traffic = RecordedTraffic()
        let connection = traffic.addConnection("TLSv1.3", TLSSuite.all[2].name, alpn: "http/1.1")
        traffic.addExchange(on: connection, response: [1, 2, 3])
        let file = ContentEncoder.encode(try exported(traffic))
        #expect(PacketImporter.recognizes(file))
        #expect(!PacketImporter.recognizes(ContentEncoder.encode([UInt8]("{}".utf8))))
        #expect(try await imported(file).exchanges.map(\.responseBody.bytes) == [[1, 2, 3]])
        await #expect(throws: Failure.self) { try await imported(file.dropLast(9)) }
    }

    @Test("Of a file that ends within a packet the rest is read, and the packet is told")
    func cutFile() async throws {
        var traffic = RecordedTraffic()
        let connection = traffic.addConnection("TLSv1.3", TLSSuite.all[2].name, alpn: "http/1.1")
        traffic.addExchange(on: connection, response: [1, 2, 3])
        let file = try exported(traffic)
        let sink = try await imported(file.dropLast(3))
        #expect(sink.exchanges.map(\.responseBody.bytes) == [[1, 2, 3]])
        #expect(sink.connections.map(\.cause) == ["", "not read: 1 packet cut short"])
    }

    // MARK: Tools

    private func exported(_ traffic: RecordedTraffic) throws -> [UInt8] {
        var options = ExportOptions()
        options.withSecrets = true
        var bytes: [UInt8] = []
        _ = try PacketExporter().export(traffic, options) { bytes += $0 }
        return bytes
    }

    private func imported(
        _ bytes: some Collection<UInt8>, keyLog: [UInt8] = []
    ) async throws -> RecordingSink {
        try await read([UInt8](bytes), keyLog: keyLog).sink
    }

    private func read(
        _ bytes: [UInt8], keyLog: [UInt8] = []
    ) async throws -> (sink: RecordingSink, losses: LossReport) {
        let sink = RecordingSink()
        let writer = ImportWriter(sink: sink, nextConnection: 1, nextExchange: 1)
        var rest = bytes[...]
        try await PacketImporter(keyLog: keyLog).read(
            {
                let piece = rest.prefix(1000)
                rest = rest.dropFirst(piece.count)
                return [UInt8](piece)
            }, into: writer)
        return (sink, writer.losses)
    }
}

extension [UInt8] {
    /// The file without its blocks of secrets.
    fileprivate var withoutSecrets: [UInt8] {
        var result: [UInt8] = []
        var rest = self[...]
        while rest.count >= 8 {
            let length = rest.dropFirst(4).prefix(4).reversed().reduce(0) { $0 << 8 | Int($1) }
            if rest.first != 0x0A || rest[rest.startIndex + 1] != 0 {
                result += rest.prefix(length)
            }
            rest = rest.dropFirst(length)
        }
        return result
    }
}

/// Keeps what is told.
final class RecordingSink: TrafficSink {
    private let events = Mutex<[TrafficEvent]>([])

    func submit(_ events: [TrafficEvent]) { self.events.withLock { $0 += events } }
    var isCongested: Bool { false }
    func whenRoom(_ resume: @escaping @Sendable () -> Void) { resume() }

    var connections: [ConnectionRecord] {
        events.withLock {
            $0.compactMap { if case .connection(let record) = $0 { record } else { nil } }
        }
    }

    var exchanges: [ExchangeRecord] {
        events.withLock {
            $0.compactMap { if case .exchange(let snapshot) = $0 { snapshot.record } else { nil } }
        }
    }

    var messages: [MessageRecord] {
        events.withLock {
            $0.compactMap { if case .message(let snapshot) = $0 { snapshot.record } else { nil } }
        }
    }

    /// The content of an exchange, also of one that went ahead.
    func body(of exchange: ExchangeRecord, _ direction: Direction) -> [UInt8] {
        let record = direction == .request ? exchange.requestBody : exchange.responseBody
        return record.chunkCount > 0
            ? chunks(of: exchange, direction).flatMap(\.self) : record.bytes
    }

    /// What went ahead of an exchange's record.
    func chunks(of exchange: ExchangeRecord, _ direction: Direction) -> [[UInt8]] {
        events.withLock {
            $0.compactMap { event in
                guard case .bodyChunk(exchange.id, direction, _, let bytes) = event else {
                    return nil
                }
                return bytes
            }
        }
    }
}
