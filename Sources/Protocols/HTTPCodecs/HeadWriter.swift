internal import Base
package import HTTPModel

/// Writes heads for the next hop (RFC 9110 §7.6.1), always as HTTP/1.1.
///
/// - Fields that only concern one hop are left out: Connection, Keep-Alive, Proxy-Connection,
///   Proxy-Authorization in requests, Proxy-Authenticate in responses, TE but for `trailers`,
///   Upgrade unless it is kept. Those of a proxy stay where the client has one of its own.
/// - So are the fields that Connection names, with one exception: those of `KnownField` that
///   reach from end to end stay. A peer that names Host, Content-Length, Authorization or Cookie
///   wants the next hop to see another message than this one.
/// - All others go out byte for byte, in wire order and case.
///
/// The head must be one that a reader of this target returned, or of the same shape.
package enum HeadWriter {
    /// Appends the head of a request.
    ///
    /// - Parameters:
    ///   - method: the method to write, `nil` for the one that came.
    ///   - target: the request target to write, `nil` for the one that came.
    package static func writeRequest(
        _ head: RequestHead, method: ArraySlice<UInt8>? = nil, target: ArraySlice<UInt8>? = nil,
        forwarding: Forwarding = Forwarding(), into output: inout [UInt8]
    ) {
        if output.isEmpty { output.reserveCapacity(head.raw.count + 64) }
        output.append(contentsOf: method ?? head.method)
        output.append(space)
        output.append(contentsOf: target ?? head.target)
        append(version(head.version, forwarding, " HTTP/1.0\r\n", " HTTP/1.1\r\n"), to: &output)
        if let host = forwarding.host, !head.fields.contains(.host) {
            append("Host: ", to: &output)
            output.append(contentsOf: host)
            append("\r\n", to: &output)
        }
        var writer = FieldsWriter(head.fields, forwarding, hop: .request)
        writer.write(into: &output)
    }

    /// Appends the head of a response; the status line stays as it came but for the version, and
    /// for the space that must stand before a reason that is missing.
    package static func writeResponse(
        _ head: ResponseHead, forwarding: Forwarding = Forwarding(), into output: inout [UInt8]
    ) {
        if output.isEmpty { output.reserveCapacity(head.raw.count + 64) }
        append(version(head.version, forwarding, "HTTP/1.0", "HTTP/1.1"), to: &output)
        output.append(contentsOf: head.fields.raw[versionLength..<head.reasonRange.upperBound])
        if head.reasonRange.upperBound == bareStatusLength { output.append(space) }
        // HTTP/2 has none, but in what a browser saved; and some clients of HTTP/1 overlook a status
        // without.
        if case .http2 = head.version, head.reasonRange.isEmpty {
            output.append(contentsOf: reasonPhrase(of: head.status).utf8)
        }
        append("\r\n", to: &output)
        var writer = FieldsWriter(head.fields, forwarding, hop: .response)
        writer.write(into: &output)
    }

    private static func version(
        _ came: HTTPVersion, _ forwarding: Forwarding, _ old: StaticString, _ own: StaticString
    ) -> StaticString {
        if forwarding.keepsVersion, case .http10 = came { return old }
        return own
    }

    /// Of `HTTP/1.1`, in bytes.
    private static let versionLength = 8
    /// Of `HTTP/1.1 200`, in bytes.
    private static let bareStatusLength = 12

    static func append(_ text: StaticString, to output: inout [UInt8]) {
        text.withUTF8Buffer { unsafe output.append(contentsOf: $0) }
    }
}
