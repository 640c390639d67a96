internal import Base

/// Reads the records of a journal: `length | kind | payload | CRC32C`, one behind the other. The
/// length, of four bytes, is that of the payload; the checksum is of all before it; numbers have
/// their lowest byte first.
struct JournalReader {
    private let bytes: [UInt8]
    /// Where the last whole record ends: what stands behind it is a torn tail, or no record at all.
    private(set) var end = 0

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// The next record that is known; `nil` behind the last whole one.
    mutating func next() -> JournalRecord? {
        while let (kind, payload) = nextFrame() {
            if let record = JournalRecord(kind: kind, payload: payload) { return record }
        }
        return nil
    }

    private mutating func nextFrame() -> (kind: UInt8, payload: [UInt8])? {
        var cursor = ByteCursor(bytes[end...])
        guard let length = cursor.littleEndian(4), length <= Self.payloadLimit,
            let kind = cursor.bytes(1)?.first, let payload = cursor.bytes(length),
            let sum = cursor.bytes(4)
        else { return nil }
        let size = Self.frameSize + length
        guard sum.elementsEqual(Self.checksum(Array(bytes[end..<end + size - 4]))) else {
            return nil
        }
        end += size
        return (kind, Array(payload))
    }

    /// Whether a record is there in full, with more behind it, and not as it was written: no crash tears it
    /// so.
    var isDamaged: Bool {
        var cursor = ByteCursor(bytes[end...])
        guard let length = cursor.littleEndian(4) else { return false }
        return length > Self.payloadLimit || bytes.count - end > Self.frameSize + length
    }

    /// A record as it is appended.
    static func frame(_ record: JournalRecord) -> [UInt8] {
        let (kind, payload) = record.coded
        precondition(payload.count <= payloadLimit, "a record that no reader takes")
        let length = (0..<4).map { UInt8(truncatingIfNeeded: payload.count >> ($0 * 8)) }
        let frame = length + [kind] + payload
        return frame + checksum(frame)
    }

    private static func checksum(_ bytes: [UInt8]) -> [UInt8] {
        let sum = RunningChecksum(.crc32c)
        sum.update(bytes)
        return sum.finish().reversed()
    }

    /// In bytes, without the payload.
    private static let frameSize = 9
    /// In bytes: more than a head of an origin brings in.
    static let payloadLimit = 1 << 20
}
