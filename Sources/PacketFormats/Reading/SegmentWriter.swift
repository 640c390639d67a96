internal import Base
internal import Formats
internal import Traffic

/// Tells the bytes of a connection that nothing here understands, one piece after the other.
final class SegmentWriter {
    private let writer: ImportWriter
    private let connection: Int64
    private(set) var count: Int64 = 0

    init(_ writer: ImportWriter, connection: Int64) {
        self.writer = writer
        self.connection = connection
    }

    func write(_ bytes: [UInt8], _ direction: Direction, exchange: Int64?, at time: Timestamp) {
        guard !bytes.isEmpty else { return }
        count += 1
        var message = MessageRecord(
            connection: connection, exchange: exchange, number: count, at: time,
            direction: direction, kind: .segment)
        message.bytes = bytes
        message.size = Int64(bytes.count)
        writer.write(message: message)
    }
}
