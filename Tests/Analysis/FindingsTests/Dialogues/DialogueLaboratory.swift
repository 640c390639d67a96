import Base
import LoginRows
import Traffic

@testable import Findings
@testable import Logins

/// A connection without HTTP in short hand.
struct DialogueSample: Sendable {
    var host = "mail.example"
    var port: UInt16 = 25
    var protocolName = "unknown"
    var notes: [ConnectionNote] = []
    var upgrade: String?
    var isTLS = false
    var isDatagrams = false
    var said: [Said] = []

    static func noted(
        _ protocolName: String, upgrade: String? = nil, _ notes: String...
    ) -> DialogueSample {
        DialogueSample(
            protocolName: protocolName,
            notes: notes.map { note in
                let parts = note.split(separator: ":", maxSplits: 1)
                return ConnectionNote(String(parts[0]), parts.count > 1 ? String(parts[1]) : "")
            }, upgrade: upgrade)
    }

    /// What was said in datagrams of UDP, to a host that is no name.
    static func datagrams(_ protocolName: String, _ said: Said...) -> DialogueSample {
        DialogueSample(
            host: "10.0.0.7", port: 161, protocolName: protocolName, isDatagrams: true, said: said)
    }

    static func said(_ protocolName: String, _ said: Said...) -> DialogueSample {
        DialogueSample(protocolName: protocolName, said: said)
    }

    var connection: ConnectionRecord {
        var record = ConnectionRecord(
            id: 1, openedAt: Timestamp(microseconds: 1), client: "10.0.0.2:1",
            listener: isDatagrams ? ConnectionRecord.datagramListener : "10.0.0.1:1080",
            mode: .transparent)
        record.originHost = host
        record.originPort = port
        record.protocolName = protocolName
        record.notes = notes
        record.upgrade = upgrade
        record.clientTLS = isTLS ? TLSRecord() : nil
        record.messageCount = Int64(said.count)
        return record
    }

    func gathered(
        _ kind: MessageRecord.Kind = .segment, exchange: Int64? = nil, step: Int = .max
    ) -> GatheredMessages {
        var messages = GatheredMessages()
        for record in records(kind, exchange: exchange, step: step) {
            guard messages.add(record) else { break }
        }
        return messages
    }

    /// - Parameter step: how many bytes of what was said make a segment.
    func records(
        _ kind: MessageRecord.Kind = .segment, exchange: Int64? = nil, step: Int = .max
    ) -> [MessageRecord] {
        var records: [MessageRecord] = []
        for item in said {
            for start in stride(from: 0, to: max(1, item.bytes.count), by: step) {
                let number = Int64(records.count + 1)
                var record = MessageRecord(
                    connection: 1, exchange: exchange, number: number,
                    at: Timestamp(microseconds: number), direction: item.direction, kind: kind)
                record.bytes = Array(item.bytes.dropFirst(start).prefix(step))
                record.size = Int64(record.bytes.count)
                records.append(record)
            }
        }
        return records
    }

    func report(
        profile: SubjectProfile? = nil, loopbackAsRemote: Bool = false, step: Int = .max
    ) -> FindingsReport {
        var engine = FindingsEngine(
            FindingsLaboratory.configuration(profile: profile, loopbackAsRemote: loopbackAsRemote))
        let connection = connection
        if engine.wantsMessages(of: connection) {
            engine.observe(
                connection, messages: gathered(isDatagrams ? .datagram : .segment, step: step))
        } else {
            engine.observe(connection)
        }
        return engine.report()
    }
}

/// The messages of one WebSocket in short hand.
struct WebSocketSample: Sendable {
    var scheme = ExchangeRecord.Scheme.http
    var kind = MessageRecord.Kind.text
    var said: [Said] = []

    static func clear(_ said: Said...) -> WebSocketSample { WebSocketSample(said: said) }
    static func secure(_ said: Said...) -> WebSocketSample {
        WebSocketSample(scheme: .https, said: said)
    }
    static func binary(_ said: Said...) -> WebSocketSample {
        WebSocketSample(kind: .binary, said: said)
    }

    func report(profile: SubjectProfile? = nil) -> FindingsReport {
        var engine = FindingsEngine(FindingsLaboratory.configuration(profile: profile))
        var connection = DialogueSample(host: "chat.example", said: said).connection
        connection.protocolName = "http/1.1"
        if scheme == .https { connection.clientTLS = TLSRecord() }
        var exchange = ExchangeRecord(
            id: 7, connection: 1, startedAt: Timestamp(microseconds: 1), scheme: scheme,
            authority: "chat.example:8080")
        exchange.requestHead = Array(
            "GET /socket/17 HTTP/1.1\r\nHost: chat.example\r\nUpgrade: websocket\r\n\r\n".utf8)
        exchange.status = 101
        let messages = DialogueSample(said: said).gathered(kind, exchange: 7)
        engine.observe(connection, messages: messages)
        for id in messages.exchanges where id == 7 {
            engine.observe(messages, of: exchange, on: connection)
        }
        return engine.report()
    }
}
