internal import Base
internal import Recording
internal import Traffic

/// Takes the flows of a dump in their order and writes the records that they make.
struct MitmproxyImportMachine {
    private struct Connection {
        /// Without what is long of it, which was written.
        var record: ConnectionRecord
        let isNative: Bool
        let server: String
    }

    private let writer: ImportWriter
    private(set) var flowCount: Int64 = 0
    private var connections: [String: Connection] = [:]
    /// Of versions before 12, where the messages of a WebSocket are a flow of their own.
    private var handshakes: [String: ExchangeRecord] = [:]

    init(_ writer: ImportWriter) {
        self.writer = writer
    }

    /// Errors: `mitmproxy-version`.
    mutating func take(_ item: TnetstringReader.Item) throws(Failure) {
        let place = "the flow at byte \(item.offset)"
        guard let value = item.value else { return writer.losses.note(.flowTooLong, place) }
        guard value["version"] != nil, value["client_conn"] != nil else {
            return writer.losses.note(.itemUnreadable, place)
        }
        try checkVersion(value["version"], place)
        flowCount += 1
        let flow = MitmproxyFlowReader(value)
        switch value["type"]?.text {
        case "http":
            guard flow.isReadable else { return writer.losses.note(.itemUnreadable, place) }
            take(exchange: flow)
        case "tcp": take(stream: flow)
        case "websocket": take(webSocket: flow, place)
        default: return writer.losses.note(.flowLeftOut, place)
        }
        flow.noteLosses(place, in: &writer.losses)
    }

    /// Writes what is held back; also after a flaw.
    mutating func finish() {
        for (_, connection) in connections.sorted(by: { $0.value.record.id < $1.value.record.id }) {
            writer.write(.connection(connection.record))
        }
        connections = [:]
        writer.recorder.flush()
    }

    private func checkVersion(_ version: TnetstringValue?, _ place: String) throws(Failure) {
        if let number = version?.integer, number >= 7 {
            if number > 21 { writer.losses.note(.versionUnknown, place) }
            return
        }
        throw Failure(
            "mitmproxy-version", party: .tool,
            "\(place) is of a version of mitmproxy before 5",
            hint: "'mitmdump -nr FILE -w NEW' writes it in a later one")
    }

    // MARK: Connections

    /// The number of a flow's connection.
    private mutating func connection(of flow: MitmproxyFlowReader) -> (key: String, id: Int64) {
        let key = flow.connectionKey
        let server = flow.value["server_conn"]?["id"]?.text ?? ""
        if let known = connections[key] {
            if known.server != server {
                writer.losses.note(.connectionsMerged, "connection \(known.record.id)")
            }
            return (key, known.record.id)
        }
        let reader = MitmproxyConnectionReader(flow)
        let id = writer.makeConnectionNumber()
        let (record, isNative) = reader.record(id: id)
        // With its exchanges it is whole from the start, should the rest of the file be broken.
        writer.write(.connection(record))
        connections[key] = Connection(
            record: record.withoutLongParts, isNative: isNative, server: server)
        return (key, id)
    }

    private mutating func update(
        _ key: String, endedAt end: Timestamp, _ change: (inout ConnectionRecord) -> Void
    ) {
        guard var connection = connections[key] else { return }
        change(&connection.record)
        if !connection.isNative {
            connection.record.closedAt = max(end, connection.record.closedAt ?? end)
        }
        connections[key] = connection
    }

    // MARK: Flows

    private mutating func take(exchange flow: MitmproxyFlowReader) {
        let (key, connection) = connection(of: flow)
        let id = writer.makeExchangeNumber()
        var record = flow.record(id: id, connection: connection)
        flow.noteHeadLosses("exchange \(id)", in: &writer.losses)
        record.requestBody = body(.request, of: flow, id)
        record.responseBody = body(.response, of: flow, id)
        writer.write(.exchange(record))
        let end = Timestamp(
            recorded: record.startedAt.microseconds &+ (record.durationMicroseconds ?? 0))
        let name = record.protocolName == "HTTP/2" ? "h2" : "http/1.1"
        update(key, endedAt: end) { connection in
            connection.exchangeCount += 1
            if connection.protocolName.isEmpty { connection.protocolName = name }
        }
        if let socket = flow.value["websocket"] {
            take(messages: socket, of: record, key)
        } else if flow.value["metadata"]?["websocket"] != nil, let id = flow.value["id"]?.text {
            record.requestBody = BodyRecord()
            record.responseBody = BodyRecord()
            handshakes[id] = record
        }
    }

    private func body(
        _ direction: Direction, of flow: MitmproxyFlowReader, _ id: Int64
    ) -> BodyRecord {
        let content = flow.content(direction)
        if content.isMissing {
            let side = direction == .request ? "request" : "response"
            writer.losses.note(.contentMissing, "the \(side) of exchange \(id)")
        }
        var body = writer.body(content.bytes, of: id, direction)
        if let size = content.fullSize {
            body.size = max(size, body.size)
            body.isTruncated = true
        }
        body.trailers = flow.trailers(direction)
        return body
    }

    private mutating func take(webSocket flow: MitmproxyFlowReader, _ place: String) {
        let start = flow.value["metadata"]?["websocket_handshake"]?.text ?? ""
        if let exchange = handshakes.removeValue(forKey: start) {
            return take(messages: flow.value, of: exchange, flow.connectionKey)
        }
        writer.losses.note(.handshakeMissing, place)
        let (key, id) = connection(of: flow)
        let made = ExchangeRecord(
            id: 0, connection: id, startedAt: flow.createdAt, scheme: .http, authority: "")
        take(messages: flow.value, of: made, key)
    }

    private mutating func take(
        messages socket: TnetstringValue, of exchange: ExchangeRecord, _ key: String
    ) {
        let reader = MitmproxyMessageReader(
            connection: exchange.connection, exchange: exchange.id > 0 ? exchange.id : nil,
            fallback: exchange.startedAt)
        var number = connections[key]?.record.messageCount ?? 0
        var end = exchange.startedAt
        for element in socket["messages"]?.elements ?? [] {
            guard let message = reader.webSocketMessage(element, number: number + 1) else {
                writer.losses.note(.messageUnreadable, "exchange \(exchange.id)")
                continue
            }
            if MitmproxyMessageReader.isChanged(element) {
                writer.losses.note(.messageChanged, "exchange \(exchange.id)")
            }
            number += 1
            end = max(end, message.at)
            writer.write(message: message)
        }
        if let close = reader.close(socket, number: number + 1) {
            number += 1
            end = max(end, close.at)
            writer.write(message: close)
        }
        update(key, endedAt: end) { $0.messageCount = number }
    }

    private mutating func take(stream flow: MitmproxyFlowReader) {
        let (key, id) = connection(of: flow)
        let reader = MitmproxyMessageReader(
            connection: id, exchange: nil, fallback: flow.createdAt)
        var number = connections[key]?.record.messageCount ?? 0
        var end = flow.createdAt
        for element in flow.value["messages"]?.elements ?? [] {
            guard let message = reader.segment(element, number: number + 1) else {
                writer.losses.note(.messageUnreadable, "connection \(id)")
                continue
            }
            number += 1
            end = max(end, message.at)
            writer.write(message: message)
        }
        update(key, endedAt: end) { connection in
            connection.messageCount = number
            if connection.protocolName.isEmpty { connection.protocolName = "unknown" }
        }
    }
}

extension ConnectionRecord {
    /// Without what a capture keeps from an earlier record.
    fileprivate var withoutLongParts: ConnectionRecord {
        var record = self
        record.clientTLS?.clientHello = []
        record.clientTLS?.chain = []
        record.clientTLS?.keyLog = []
        record.originTLS?.chain = []
        record.originTLS?.keyLog = []
        return record
    }
}
