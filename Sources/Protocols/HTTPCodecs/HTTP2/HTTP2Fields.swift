internal import Base
package import HTTPModel

/// A header block on its way out: what HTTP/2 says of a head, in its own spelling.
///
/// - Pseudo-header fields come first (RFC 9113 §8.3), names are in lower case (§8.2.1).
/// - Fields that concern one connection of HTTP/1 are left out (§8.2.2), and TE but for `trailers`.
package struct HTTP2Fields: Sendable {
    private(set) var bytes: [UInt8] = []
    private(set) var entries: [Entry] = []
    /// Whether what a client and a proxy of its own say to each other stays.
    private let keepsProxyFields: Bool

    struct Entry: Sendable {
        let name: Int
        let nameCount: Int
        let value: Int
        let valueCount: Int
        let isSensitive: Bool
    }

    private init(capacity: Int, count: Int, keepsProxyFields: Bool = false) {
        self.keepsProxyFields = keepsProxyFields
        bytes.reserveCapacity(capacity)
        entries.reserveCapacity(count)
    }

    /// The head of a request.
    ///
    /// - Parameters:
    ///   - method: the one that goes out, `nil` for as it came.
    ///   - target: the path with its query; `nil` for as it came. Left out for a plain CONNECT.
    ///   - protocolName: what an extended CONNECT asks for (RFC 8441 §4); `nil` for other requests.
    package static func request(
        _ head: RequestHead, method: [UInt8]? = nil, scheme: StaticString,
        authority: ArraySlice<UInt8>,
        target: [UInt8]?, protocolName: [UInt8]? = nil, dropping: [StaticString] = [],
        keepsProxyFields: Bool = false
    ) -> HTTP2Fields {
        var fields = HTTP2Fields(
            capacity: head.raw.count + 64, count: head.fields.slices.count + 5,
            keepsProxyFields: keepsProxyFields)
        let method = method.map { $0[...] } ?? head.method
        fields.add(":method", method)
        let isPlainConnect =
            protocolName == nil && method.count == 7 && method.elementsEqual("CONNECT".utf8)
        if !isPlainConnect {
            fields.add(":scheme", scheme)
            fields.add(":path", target.map { $0[...] } ?? head.target)
        }
        if !authority.isEmpty { fields.add(":authority", authority) }
        if let protocolName { fields.add(":protocol", protocolName[...]) }
        fields.addFields(of: head.fields, isRequest: true, dropping)
        return fields
    }

    package static func response(
        _ head: ResponseHead, dropping: [StaticString] = [],
        keepsProxyFields: Bool = false
    ) -> HTTP2Fields {
        var fields = HTTP2Fields(
            capacity: head.raw.count + 32, count: head.fields.slices.count + 1,
            keepsProxyFields: keepsProxyFields)
        fields.addStatus(head.status)
        fields.addFields(of: head.fields, isRequest: false, dropping)
        return fields
    }

    /// A response of our own.
    package static func response(
        status: Int, _ pairs: [(String, [UInt8])] = []
    ) -> HTTP2Fields {
        var fields = HTTP2Fields(capacity: 128, count: pairs.count + 1)
        fields.addStatus(status)
        for (name, value) in pairs {
            fields.add([UInt8](name.utf8)[...], value[...], isSensitive: false)
        }
        return fields
    }

    /// A block of our own: a head with this status, or trailers without one.
    ///
    /// - Parameter addAll: is given what adds a field; names may be in any case.
    package static func own(
        status: Int?, _ addAll: (_ add: (_ name: String, _ value: String) -> Void) -> Void
    ) -> HTTP2Fields {
        var fields = HTTP2Fields(capacity: 512, count: 12)
        if let status { fields.addStatus(status) }
        addAll { name, value in
            fields.add(
                [UInt8](name.utf8)[...], [UInt8](value.utf8)[...],
                isSensitive: false)
        }
        return fields
    }

    /// The trailers that may pass on.
    package static func trailers(_ trailers: Fields) -> HTTP2Fields {
        let passing = TrailerFields.passing(trailers)
        var fields = HTTP2Fields(capacity: passing.raw.count, count: passing.slices.count)
        fields.addFields(of: passing, isRequest: false, [])
        return fields
    }

    package var isEmpty: Bool { entries.isEmpty }

    /// Whether they are more than is sent as one header block, as nghttp2 bounds it beforehand: each
    /// field with the most that its two lengths take.
    package var isTooLarge: Bool { bytes.count + 12 * (entries.count + 2) > Self.blockLimit }

    /// A header block on its way out, in bytes: longer ones are taken by hardly any recipient, and
    /// hold up all other streams of their connection.
    package static let blockLimit = 512 << 10

    private mutating func addStatus(_ status: Int) {
        switch status {
        case 200: add(":status", "200")
        case 204: add(":status", "204")
        case 304: add(":status", "304")
        default: add(":status", [UInt8](String(status).utf8)[...])
        }
    }

    private mutating func addFields(
        of fields: Fields, isRequest: Bool, _ dropping: [StaticString]
    ) {
        let named = Self.connectionNames(in: fields)
        var hasTE = false
        for slice in fields.slices {
            let name = fields.name(slice)
            guard stays(slice.known, name, isRequest), name.first != 0x3A else { continue }
            let value = fields.value(slice)
            if !named.isEmpty, named.contains(where: { $0.equalsIgnoringCase(name) }) { continue }
            if dropping.contains(where: { name.equalsIgnoringCase($0) }) { continue }
            if case .te = slice.known {
                if !hasTE, fields.contains(.te, token: "trailers") { add("te", "trailers") }
                hasTE = true
                continue
            }
            add(
                name, value,
                isSensitive: slice.known == .authorization || slice.known == .proxyAuthorization)
        }
    }

    private func stays(
        _ known: KnownField, _ name: ArraySlice<UInt8>, _ isRequest: Bool
    ) -> Bool {
        switch known {
        case let known where known.isOfConnection: false
        case .host: !isRequest
        case .te: isRequest
        case .proxyAuthorization: keepsProxyFields || !isRequest
        case .proxyAuthenticate: keepsProxyFields || isRequest
        case .other: !name.equalsIgnoringCase("http2-settings")
        default: true
        }
    }

    /// The fields that Connection names; those that are known stay, as `HeadWriter` has it.
    private static func connectionNames(in fields: Fields) -> [ArraySlice<UInt8>] {
        guard fields.contains(.connection) else { return [] }
        return fields.all(.connection).flatMap { value in
            value.split(separator: 0x2C).prefix(16).map(\.trimmingWhitespace)
        }.filter { KnownField(name: $0.span) == .other }
    }

    private mutating func add(_ name: StaticString, _ value: StaticString) {
        let start = bytes.count
        HeadWriter.append(name, to: &bytes)
        let valueStart = bytes.count
        HeadWriter.append(value, to: &bytes)
        append(start, valueStart, false)
    }

    private mutating func add(_ name: StaticString, _ value: ArraySlice<UInt8>) {
        let start = bytes.count
        HeadWriter.append(name, to: &bytes)
        let valueStart = bytes.count
        bytes += value
        append(start, valueStart, false)
    }

    private mutating func add(
        _ name: ArraySlice<UInt8>, _ value: ArraySlice<UInt8>, isSensitive: Bool
    ) {
        let start = bytes.count
        for byte in name { bytes.append(byte.asciiLowercased) }
        let valueStart = bytes.count
        bytes += value
        append(start, valueStart, isSensitive)
    }

    private mutating func append(_ start: Int, _ valueStart: Int, _ isSensitive: Bool) {
        entries.append(
            Entry(
                name: start, nameCount: valueStart - start, value: valueStart,
                valueCount: bytes.count - valueStart, isSensitive: isSensitive))
    }
}

extension ArraySlice<UInt8> {
    fileprivate func equalsIgnoringCase(_ other: ArraySlice<UInt8>) -> Bool {
        count == other.count
            && zip(self, other).allSatisfy { $0.asciiLowercased == $1.asciiLowercased }
    }
}
