internal import Base
package import HTTPModel

/// Reads the head of a request (RFC 9112 §3), strictly.
package enum RequestReader {
    /// How many empty lines may stand before the request line; old clients send one after a POST.
    private static let emptyLineLimit = 4

    /// Reads one head from the start of `bytes`.
    ///
    /// Empty lines before it are part of `consumed` and not of the head. The bytes of the request
    /// target are checked and its form is not: see `RequestTarget`. Bytes above 0x7F, which
    /// RFC 3986 does not know but clients send, stay in it as they came.
    ///
    /// - Parameter alreadyScanned: how many of `bytes` an earlier call saw that returned `nil`;
    ///   without it, reading byte by byte is quadratic up to the block limit.
    /// - Returns: `nil` if the head has not come whole yet.
    package static func read(
        _ bytes: Span<UInt8>, limits: HeadLimits = HeadLimits(), alreadyScanned: Int = 0
    ) throws(HTTP1Violation) -> (head: RequestHead, consumed: Int)? {
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
    ) throws(ReaderStop) -> RequestHead {
        try reader.skipEmptyLines(limit: emptyLineLimit)
        reader.beginLine(limit: limits.startLineLimit, violation: .startLineTooLong)
        let method = try method(&reader)
        let target = try target(&reader)
        let version = try reader.version(else: .invalidRequestLine)
        try reader.endLine(else: .invalidRequestLine)
        let slices = try reader.fields(limits: limits)
        try checkHost(slices, version)
        let known = knownMethod(
            reader.bytes.extracting(
                reader.start + method.lowerBound..<reader.start + method.upperBound))
        return RequestHead(
            version: version, knownMethod: known, methodRange: method, targetRange: target,
            fields: Fields(raw: reader.copyOfSection(), slices: slices))
    }

    private static func method(_ reader: inout LineReader) throws(ReaderStop) -> Range<Int> {
        let method = try reader.token()
        let byte = try reader.peek()
        guard byte != lineFeed || !method.isEmpty else { throw .violation(.bareLF) }
        guard byte != carriageReturn, byte != lineFeed, byte != space || !method.isEmpty else {
            throw .violation(.invalidRequestLine)
        }
        try reader.expect(space, else: .invalidMethod)
        return method
    }

    private static func target(_ reader: inout LineReader) throws(ReaderStop) -> Range<Int> {
        let target = try reader.target()
        let byte = try reader.peek()
        guard byte != carriageReturn, byte != lineFeed else {
            throw .violation(.invalidRequestLine)
        }
        guard !target.isEmpty else { throw .violation(.invalidTarget) }
        try reader.expect(space, else: .invalidTarget)
        return target
    }

    /// RFC 9112 §3.2: exactly one Host; a client of HTTP/1.0 may do without.
    private static func checkHost(
        _ slices: [FieldSlice], _ version: HTTPVersion
    ) throws(ReaderStop) {
        var count = 0
        // Matched and not compared: `==` of another module's enum is a call through a witness.
        for slice in slices {
            if case .host = slice.known { count += 1 }
        }
        guard count <= 1 else { throw .violation(.duplicateHost) }
        if count == 1 { return }
        if case .http10 = version { return }
        throw .violation(.missingHost)
    }

    private static func knownMethod(_ method: Span<UInt8>) -> KnownMethod {
        switch method.count {
        case 3 where isExactly(method, "GET"): .get
        case 4 where isExactly(method, "HEAD"): .head
        case 4 where isExactly(method, "POST"): .post
        case 7 where isExactly(method, "CONNECT"): .connect
        default: .other
        }
    }

    /// Compares with case: methods have it. Both are of the same length.
    private static func isExactly(_ method: Span<UInt8>, _ expected: StaticString) -> Bool {
        expected.withUTF8Buffer { expected in
            for index in method.indices {
                guard unsafe method[index] == expected[index] else { return false }
            }
            return true
        }
    }
}
