internal import Base
internal import Contents
internal import Recording
internal import Traffic

/// Takes the items of a HAR in their order and writes the records that they make.
struct HARImportMachine {
    /// A connection that no record tells of: what the entries say of it.
    private struct GuessedConnection {
        var record: ConnectionRecord
        var nextMessage: Int64 = 1
    }

    private let writer: ImportWriter
    private(set) var hasLog = false
    private(set) var entryCount: Int64 = 0
    /// Numbers of our own export, as they are in the sink.
    private var connections: [Int64: Int64] = [:]
    private var exchanges: [Int64: Int64] = [:]
    /// Of the export, those whose messages follow.
    private var talkative: Set<Int64> = []
    private var guessed: [String: GuessedConnection] = [:]
    private var creator = "another tool"
    private var lastTime = Timestamp(microseconds: 0)

    init(_ writer: ImportWriter) {
        self.writer = writer
    }

    /// Errors: `har-version`.
    mutating func take(_ item: JSONItemReader.Item) throws(Failure) {
        hasLog = hasLog || item.path.hasPrefix("log.")
        switch item.path {
        case "log.version": try checkVersion(item.value.text ?? "")
        case "log.creator": creator = Self.name(item.value)
        case "log.pages[]": writer.losses.note(.pagesLeftOut, Self.place("the page", item))
        case "log.comment": writer.losses.note(.commentsLeftOut, "the log")
        case "log.entries[]": take(entry: item)
        case "log._tlsErrors[]": take(failedHandshake: item)
        case "log._sallyport.connections[]": take(connection: item)
        case "log._sallyportMessages[]": take(message: item)
        default: break
        }
    }

    /// Writes what is held back; also after a flaw.
    mutating func finish() {
        for (_, guess) in guessed.sorted(by: { $0.value.record.id < $1.value.record.id }) {
            var record = guess.record
            record.outcome = .completed
            record.messageCount = guess.nextMessage - 1
            writer.write(.connection(record))
        }
        guessed = [:]
        writer.recorder.flush()
    }

    private func checkVersion(_ version: String) throws(Failure) {
        // An empty one is 1.1 (HAR 1.2, "log").
        guard version.isEmpty || version.hasPrefix("1.") || version == "1" else {
            throw Failure("har-version", party: .tool, "the HAR has the unknown version \(version)")
        }
    }

    private static func name(_ creator: JSONNode) -> String {
        let words = [creator["name"]?.text, creator["version"]?.text].compactMap(\.self)
        return words.isEmpty ? "another tool" : words.joined(separator: " ")
    }

    private static func place(_ what: String, _ item: JSONItemReader.Item) -> String {
        "\(what) at byte \(item.offset)"
    }

    // MARK: Connections

    private mutating func take(connection item: JSONItemReader.Item) {
        guard let old = item.value["id"]?.integer, connections[old] == nil,
            HARConnectionReader.record(item.value, id: 0) != nil
        else { return writer.losses.note(.itemUnreadable, Self.place("the connection", item)) }
        let id = writer.makeConnectionNumber()
        guard let record = HARConnectionReader.record(item.value, id: id) else { return }
        connections[old] = id
        if record.messageCount > 0 { talkative.insert(old) }
        writer.write(.connection(record))
    }

    private mutating func take(failedHandshake item: JSONItemReader.Item) {
        // Our own export has it among the connections.
        guard item.value["_sallyport"] == nil else { return }
        guard HARConnectionReader.failedHandshake(item.value, id: 0) != nil else {
            return writer.losses.note(.itemUnreadable, Self.place("the TLS error", item))
        }
        let id = writer.makeConnectionNumber()
        guard var record = HARConnectionReader.failedHandshake(item.value, id: id) else { return }
        record.notes = [note]
        writer.write(.connection(record))
    }

    private var note: ConnectionNote {
        ConnectionNote(.imported, "guessed from a HAR of \(creator)")
    }

    /// The connection of an entry, made up if no record tells of it.
    private mutating func connection(
        of entry: HAREntryReader, _ node: JSONNode, at start: Timestamp
    ) -> Int64 {
        if entry.native != nil, let old = node["connection"]?.integer {
            if let id = connections[old] { return id }
            // A capture can lack the record of a connection, and then so does its copy.
            let id = writer.makeConnectionNumber(counting: false)
            connections[old] = id
            return id
        }
        let key = entry.connectionKey
        if let known = guessed[key] { return known.record.id }
        var record = ConnectionRecord(
            id: writer.makeConnectionNumber(), openedAt: start,
            client: HARConnectionReader.unknownAddress,
            listener: HARConnectionReader.unknownAddress, mode: .explicit)
        let isSecure = entry.scheme == .https
        let (host, port) = HARConnectionText.split(entry.url.authority)
        record.originHost = port == nil ? Self.unbracketed(entry.url.authority) : host
        record.originPort = port ?? (isSecure ? 443 : 80)
        record.originAddress = entry.serverAddress.map { address in
            address.contains(":")
                ? "[\(address)]:\(record.originPort)" : "\(address):\(record.originPort)"
        }
        record.notes = [note]
        guessed[key] = GuessedConnection(record: record)
        // With its exchanges it is whole from the start, should the rest of the file be broken.
        writer.write(.connection(record))
        return record.id
    }

    private static func unbracketed(_ host: String) -> String {
        host.hasPrefix("[") ? String(host.dropFirst().prefix { $0 != "]" }) : host
    }

    /// Adds an exchange to the connection that was made up for it.
    private mutating func count(_ record: ExchangeRecord, _ key: String) {
        guard var guess = guessed[key], guess.record.id == record.connection else { return }
        guess.record.exchangeCount += 1
        guess.record.protocolName = record.protocolName == "HTTP/2" ? "h2" : "http/1.1"
        let end = Timestamp(
            recorded: record.startedAt.microseconds &+ (record.durationMicroseconds ?? 0))
        guess.record.closedAt = max(end, guess.record.closedAt ?? end)
        guessed[key] = guess
    }

    // MARK: Exchanges

    private mutating func take(entry item: JSONItemReader.Item) {
        entryCount += 1
        guard var entry = HAREntryReader(item.value) else {
            return writer.losses.note(.itemUnreadable, Self.place("the entry", item))
        }
        entry.numbersConnections = !creator.hasPrefix("Firefox")
        if let start = entry.startedAt {
            lastTime = start
        } else {
            writer.losses.note(.timeUnreadable, Self.place("the entry", item))
        }
        let connection = connection(of: entry, item.value, at: lastTime)
        let id = writer.makeExchangeNumber()
        var record = entry.record(id: id, connection: connection, startedAt: lastTime)
        if let old = entry.native?["id"]?.integer, let number = item.value["connection"]?.integer,
            talkative.contains(number)
        {
            exchanges[old] = id
        }
        entry.noteLosses("exchange \(id)", in: &writer.losses)
        record.requestBody = body(.request, of: entry, id, head: &record.requestHead)
        record.responseBody = body(.response, of: entry, id, head: &record.responseHead)
        count(record, entry.connectionKey)
        writer.write(.exchange(record))
        takeWebSocket(item.value, of: record, entry)
    }

    private func body(
        _ direction: Direction, of entry: HAREntryReader, _ id: Int64, head: inout [UInt8]
    ) -> BodyRecord {
        let content = entry.content(direction)
        let side = direction == .request ? "request" : "response"
        for loss in content.losses { writer.losses.note(loss, "the \(side) of exchange \(id)") }
        if content.isDecoded, !content.bytes.isEmpty {
            if let codings = RecordedHead(head).contentCodings, !codings.isEmpty {
                head = RecordedHead.removing("content-encoding", from: head)
                writer.losses.note(.codingUndone, "the \(side) of exchange \(id)")
            }
            if entry.native == nil, content.fullSize == nil {
                head = RecordedHead.correctingLength(content.bytes.count, in: head)
            }
        }
        var body = writer.body(content.bytes, of: id, direction)
        if let size = content.fullSize {
            body.size = max(size, body.size)
            body.isTruncated = true
        }
        body.trailers = entry.trailers(direction)
        return body
    }

    // MARK: Messages

    private mutating func takeWebSocket(
        _ entry: JSONNode, of exchange: ExchangeRecord, _ reader: HAREntryReader
    ) {
        let key = reader.connectionKey
        let messages = HARMessageReader(exchange)
        var next = guessed[key]?.nextMessage ?? 1
        for node in entry["_webSocketMessages"]?.elements ?? [] {
            if let message = messages.message(node, number: next) {
                next += 1
                writer.write(message: message)
            } else {
                writer.losses.note(.messageUnreadable, "exchange \(exchange.id)")
            }
        }
        if reader.native == nil, let close = entry["_webSocketClose"],
            let message = messages.close(close, number: next)
        {
            next += 1
            writer.write(message: message)
        }
        guessed[key]?.nextMessage = next
    }

    private func take(message item: JSONItemReader.Item) {
        guard let old = item.value["connection"]?.integer, let connection = connections[old],
            let message = HARMessageReader.kept(item.value, connection, { exchanges[$0] })
        else { return writer.losses.note(.messageUnreadable, Self.place("the message", item)) }
        writer.write(.message(message))
    }
}
