internal import Base
package import HTTPModel

/// Reads the head of a response (RFC 9112 §4): strict wherever framing depends on it, and lenient
/// with the reason phrase, which may be missing, with or without the space before it, and with what
/// `HeadLimits.leniency` names.
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
        let head: ResponseHead
        do {
            head = try read(&reader, limits)
        } catch {
            guard let violation = error.violation else { return nil }
            guard limits.leniency.canMend(violation) else { throw violation }
            return try readMended(bytes, limits, violation)
        }
        return (try settled(head, limits), reader.position)
    }

    /// Reads a head that the strict reader has refused.
    @inline(never)
    private static func readMended(
        _ bytes: Span<UInt8>, _ limits: HeadLimits, _ violation: HTTP1Violation
    ) throws(HTTP1Violation) -> (head: ResponseHead, consumed: Int)? {
        let repair = try ResponseHeadRepair(bytes, hasStatusLine: true, limits: limits)
        guard let repair else { return nil }
        guard limits.leniency.isSuperset(of: repair.used) else { throw violation }
        let received = unsafe bytes.extracting(..<repair.consumed).withUnsafeBufferPointer {
            unsafe [UInt8]($0)
        }
        let head = try read(repair.output, limits, received, repair.used)
        return (try settled(head, limits), repair.consumed)
    }

    /// Settles what a head says of its length in two ways, or in an old one.
    private static func settled(
        _ head: ResponseHead, _ limits: HeadLimits
    ) throws(HTTP1Violation) -> ResponseHead {
        guard !limits.leniency.isEmpty,
            let (section, used) = ResponseLengthRepair.settle(head, limits.leniency)
        else { return head }
        return try read(section, limits, head.raw, head.leniency.union(used))
    }

    /// Reads a head that was mended, strictly.
    private static func read(
        _ section: [UInt8], _ limits: HeadLimits, _ received: [UInt8], _ used: HeadLeniency
    ) throws(HTTP1Violation) -> ResponseHead {
        var reader = LineReader(section.span, blockLimit: limits.blockLimit)
        do {
            let head = try read(&reader, limits)
            return ResponseHead(
                version: head.version, status: head.status, reasonRange: head.reasonRange,
                fields: head.fields, received: received, leniency: used)
        } catch {
            throw error.violation ?? .headTooLarge
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

extension HeadLeniency {
    /// Whether a strict reader that stops for this may be helped.
    func canMend(_ violation: HTTP1Violation) -> Bool {
        switch violation {
        case .bareLF: contains(.bareLF)
        case .obsoleteFold: contains(.obsoleteFold)
        case .spaceBeforeColon: contains(.spaceBeforeColon)
        case .unsupportedVersion: contains(.higherVersion)
        default: false
        }
    }
}
