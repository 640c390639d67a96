internal import Base
internal import Formats
internal import HTTPModel
internal import Recording
internal import Traffic

/// An exchange that goes on.
struct OpenExchange {
    let recorder: ExchangeRecorder
    let method: KnownMethod
    /// As the request named it.
    let target: String
    /// Whether the response has no other end.
    var endsWithConnection = false

    init(
        _ record: ExchangeRecord, method: KnownMethod, target: String = "",
        to writer: ImportWriter, _ messages: ImportedMessages
    ) {
        recorder = ExchangeRecorder(record, to: writer.recorder, messages: messages)
        self.method = method
        self.target = target
    }

    var record: ExchangeRecord {
        get { recorder.record }
        nonmutating set { recorder.record = newValue }
    }

    /// Ends with what carried it.
    func finish(at time: Timestamp, _ end: ExchangeEnd) {
        if record.error == nil, !endsWithConnection || end != .orderly {
            (record.error, record.errorDetail) = end.words
        }
        write(at: time)
    }

    /// - Parameter time: of the last byte of the response.
    func write(at time: Timestamp) {
        // A CONNECT is told by its connection.
        guard record.id != 0 else { return }
        recorder.finish(at: time)
    }
}

/// Why an exchange ended before its response did.
enum ExchangeEnd: Equatable {
    /// With the connection.
    case orderly
    case broken
    /// The rest was not caught.
    case missing
    /// Another protocol is spoken from here on.
    case changedOver
    /// Its stream, or the connection, was ended for a reason that is known.
    case told(code: String, detail: String)

    /// For the record.
    var words: (code: String, detail: String) {
        switch self {
        case .orderly: ("origin-closed", "the connection ended before the response did")
        case .broken: ("origin-closed", "the connection was broken off")
        case .missing: ("packets-missing", "the packets of the rest are missing")
        case .changedOver: ("origin-closed", "the connection changed over before the response")
        case .told(let code, let detail): (code, detail)
        }
    }
}
