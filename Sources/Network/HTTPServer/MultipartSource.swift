internal import Base
internal import HTTPModel

/// Streams several ranges of a representation as multipart/byteranges (RFC 9110 §14.6).
///
/// Only one part is open at a time, and nothing of it is held.
final class MultipartSource: ResponseBodySource {
    let boundary: String
    /// In bytes, with the heads of the parts.
    let length: UInt64
    /// Where the ranges stand in the content.
    let parts: [ContentPart]
    private let representation: Representation
    private let ranges: [Range<UInt64>]
    private var next = 0
    private var pending: [UInt8]
    private var part: (any ResponseBodySource)?

    /// - Parameter ranges: together not longer than the representation.
    init(_ representation: Representation, ranges: [Range<UInt64>]) {
        self.representation = representation
        self.ranges = ranges
        boundary = Self.boundary(representation, ranges)
        pending = []
        var length: UInt64 = 0
        var parts: [ContentPart] = []
        for range in ranges {
            length += UInt64(Self.head(boundary, representation, range).count)
            parts.append(ContentPart(at: length, range))
            length += range.upperBound - range.lowerBound
        }
        self.length = length + UInt64(Self.end(boundary).count)
        self.parts = parts
    }

    func read(into buffer: ByteBuffer) async throws(ResponseInterruption) -> Int {
        let before = buffer.count
        while buffer.room > 0 {
            if !pending.isEmpty {
                pending.removeFirst(buffer.appendFitting(pending, from: 0))
            } else if let part {
                // What is there goes out before the part is waited for.
                if buffer.count > before { break }
                let count = try await part.read(into: buffer)
                if count > 0 { return count }
                self.part = nil
                if next == ranges.count { pending = Self.end(boundary) }
            } else if next < ranges.count {
                openNext()
            } else {
                break
            }
        }
        return buffer.count - before
    }

    private func openNext() {
        let range = ranges[next]
        next += 1
        pending = Self.head(boundary, representation, range)
        part = representation.open(range)
    }

    private static func head(
        _ boundary: String, _ representation: Representation, _ range: Range<UInt64>
    ) -> [UInt8] {
        [UInt8](
            ("\r\n--\(boundary)\r\nContent-Type: \(representation.contentType)\r\n"
                + "Content-Range: \(representation.contentRange(range))\r\n\r\n").utf8)
    }

    private static func end(_ boundary: String) -> [UInt8] {
        [UInt8]("\r\n--\(boundary)--\r\n".utf8)
    }

    /// Names the parts by what is asked of which version, so that a replay gets the same bytes;
    /// 64 mixed bits do not occur in content by chance.
    private static func boundary(
        _ representation: Representation, _ ranges: [Range<UInt64>]
    ) -> String {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        func mix(_ byte: UInt8) { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }
        for byte in representation.validators.entityTag?.opaque ?? [] { mix(byte) }
        for range in ranges {
            for byte in "\(range.lowerBound)-\(range.upperBound),".utf8 { mix(byte) }
        }
        return "sallyport-" + padded(hash)
    }

    private static func padded(_ hash: UInt64) -> String {
        let digits = String(hash, radix: 16)
        return String(repeating: "0", count: 16 - digits.utf8.count) + digits
    }
}
