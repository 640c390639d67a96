internal import Recording
internal import Traffic

/// A way to an origin, for one request.
enum ClientConnection {
    case http1(ClientLeg)
    /// With the right to one stream.
    case http2(HTTP2ClientLeg)

    /// What is known of it so far.
    var record: ConnectionRecord {
        get {
            switch self {
            case .http1(let leg): leg.record
            case .http2(let leg): leg.record
            }
        }
        nonmutating set {
            switch self {
            case .http1(let leg): leg.record = newValue
            case .http2(let leg): leg.record = newValue
            }
        }
    }

    /// Whether it had served another exchange before this one was given to it.
    var isUsed: Bool {
        switch self {
        case .http1(let leg): leg.isUsed
        case .http2(let leg): leg.record.exchangeCount > 1
        }
    }
}

/// Records the messages of one connection.
final class ClientMessages: MessageRecorder {
    private let connection: ClientConnection
    private let recorder: TrafficRecorder

    init(_ connection: ClientConnection, _ recorder: TrafficRecorder) {
        self.connection = connection
        self.recorder = recorder
    }

    var connectionNumber: Int64 { connection.record.id }

    var messageCount: Int64 {
        get { connection.record.messageCount }
        set { connection.record.messageCount = newValue }
    }

    var notes: [ConnectionNote] {
        get { connection.record.notes }
        set { connection.record.notes = newValue }
    }

    func write(_ message: consuming MessageRecord) { recorder.record(.message(message)) }
}
