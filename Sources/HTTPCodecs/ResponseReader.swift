internal import Base
package import HTTPModel

/// Reads the head of a response (RFC 9112 §4): strict wherever framing depends on it, and lenient
/// with the reason phrase, which may be missing, with or without the space before it.
package enum ResponseReader {
    /// Reads one head from the start of `bytes`.
    ///
    /// - Parameter alreadyScanned: how many of `bytes` an earlier call saw that returned `nil`.
    /// - Returns: `nil` if the head has not come whole yet.
    package static func read(
        _ bytes: Span<UInt8>, limits: HeadLimits = HeadLimits(), alreadyScanned: Int = 0
    ) throws(HTTP1Violation) -> (head: ResponseHead, consumed: Int)? {
        guard LineReader.isWorthReading(bytes, alreadyScanned: alreadyScanned) else { return nil }
        var reader = LineReader(bytes, blockLimit: limits.blockLimit)
        do {
            let head = try read(&reader, limits)
            return (head, reader.position)
        } catch {
            if let violation = error.violation { throw violation }
            return nil
        }
    }

    @inline(__always)
    private static func read(
        _ reader: inout LineReader, _ limits: HeadLimits
    ) throws(ReaderStop) -> ResponseHead {
        reader.beginLine(limit: limits.startLineLimit, violation: .startLineTooLong)
        let version = try reader.version(else: .invalidStatusLine)
        try reader.expect(space, else: .invalidStatusLine)
        let hundreds = try reader.digit(else: .invalidStatusLine)
        guard hundreds > 0 else { throw .violation(.invalidStatusLine) }
        let tens = try reader.digit(else: .invalidStatusLine)
        let ones = try reader.digit(else: .invalidStatusLine)
        var reason = reader.position..<reader.position
        if try reader.peek() == space {
            try reader.expect(space, else: .invalidStatusLine)
            reason = try reader.restOfLine(else: .invalidStatusLine)
        }
        try reader.endLine(else: .invalidStatusLine)
        let slices = try reader.fields(limits: limits)
        return ResponseHead(
            version: version, status: hundreds * 100 + tens * 10 + ones, reasonRange: reason,
            fields: Fields(raw: reader.copyOfSection(), slices: slices))
    }
}
