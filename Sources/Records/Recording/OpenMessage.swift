package import Traffic

/// A message whose content comes piece by piece; a long one is recorded in parts of one size.
package struct OpenMessage {
    /// The part under way.
    package var record: MessageRecord

    /// In bytes.
    private static let partSize = BodyRecorder.pieceSize

    package init(_ record: MessageRecord) {
        self.record = record
    }

    /// Takes the next bytes of the content.
    ///
    /// - Parameters:
    ///   - keptCount: how many of them are recorded; the rest is counted.
    ///   - write: called with each part that is full.
    package mutating func append(
        _ bytes: Span<UInt8>, keeping keptCount: Int, _ write: (MessageRecord) -> Void
    ) {
        var taken = 0
        while taken < bytes.count {
            let end = taken + min(bytes.count - taken, Self.partSize - Int(record.size))
            // A part behind the first will most likely be full.
            if record.part > 0, record.bytes.isEmpty { record.bytes.reserveCapacity(Self.partSize) }
            let kept = max(taken, min(end, keptCount))
            unsafe bytes.extracting(taken..<kept).withUnsafeBufferPointer {
                unsafe record.bytes.append(contentsOf: $0)
            }
            record.isTruncated = record.isTruncated || kept < end
            record.size += Int64(end - taken)
            taken = end
            if record.size >= Self.partSize { spill(write) }
        }
    }

    private mutating func spill(_ write: (MessageRecord) -> Void) {
        record.isLast = false
        write(record)
        record.part += 1
        record.isLast = true
        record.size = 0
        record.bytes = []
    }
}
