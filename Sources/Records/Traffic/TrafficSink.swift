/// What the proxy tells whoever records.
///
/// Each payload lies behind one pointer: the records are large, and an event changes hands several
/// times.
package enum TrafficEvent: Sendable {
    /// A connection was accepted, or something about it is newly known. What a later event of the
    /// same connection leaves empty of a leg's hello, key log and chain stays as it was told.
    indirect case connection(ConnectionRecord)
    /// An exchange so far, if it lasts, and always at its end.
    case exchange(ExchangeSnapshot)
    /// A part of a content that is too long to be held until the exchange ends; in order.
    indirect case bodyChunk(exchange: Int64, direction: Direction, sequence: Int, bytes: [UInt8])
    /// A message, or a part of a long one; in the order of their numbers and parts.
    case message(MessageSnapshot)

    /// Wraps a record.
    package static func exchange(_ record: consuming ExchangeRecord) -> TrafficEvent {
        .exchange(ExchangeSnapshot(record))
    }

    package static func message(_ record: consuming MessageRecord) -> TrafficEvent {
        .message(MessageSnapshot(record))
    }

    /// About how much memory the event holds, in bytes.
    package var weight: Int {
        switch self {
        case .connection(let record):
            512 + (record.clientTLS?.weight ?? 0) + (record.originTLS?.weight ?? 0)
        case .exchange(let snapshot): snapshot.weight
        case .bodyChunk(_, _, _, let bytes): 128 + bytes.count
        case .message(let snapshot): 192 + snapshot.record.bytes.count
        }
    }
}

/// What is known of an exchange at a moment.
///
/// A class, so that whoever passes an event on retains one object and not each buffer of its record.
package final class ExchangeSnapshot: Sendable {
    package let record: ExchangeRecord

    package init(_ record: consuming ExchangeRecord) { self.record = record }

    fileprivate var weight: Int {
        512 + record.requestHead.count + record.responseHead.count
            + record.sentRequestHead.count + record.sentResponseHead.count
            + record.requestBody.bytes.count + record.responseBody.bytes.count
    }
}

/// A message, or a part of one, as it was recorded; a class for the same reason.
package final class MessageSnapshot: Sendable {
    package let record: MessageRecord

    package init(_ record: consuming MessageRecord) { self.record = record }
}

extension TLSRecord {
    fileprivate var weight: Int {
        512 + clientHello.count + keyLog.count * 192 + chain.reduce(0) { $0 + $1.count }
    }
}

package enum Direction: Int, Sendable {
    case request = 0
    case response = 1
}

/// Takes what was recorded, in order; called from the event loops.
///
/// `submit` never blocks. A loop that finds `isCongested` waits with `room` before it relays more,
/// so that a slow disk slows the proxy down and nothing is dropped.
package protocol TrafficSink: Sendable {
    func submit(_ events: [TrafficEvent])
    var isCongested: Bool { get }
    /// Calls `resume` once there is room again, from any thread.
    func whenRoom(_ resume: @escaping @Sendable () -> Void)
}
