internal import Base

/// The fields that the product decides on, recognised once when a head is parsed.
package enum KnownField: UInt8, Sendable {
    case other
    case acceptEncoding
    case alternativeServices
    case authorization
    case connection
    case contentEncoding
    case contentLength
    case contentType
    case cookie
    case expect
    case host
    case keepAlive
    case proxyAuthenticate
    case proxyAuthorization
    case proxyConnection
    case setCookie
    case te
    case trailer
    case transferEncoding
    case upgrade
    case wwwAuthenticate

    /// The name in lower case, empty for `other`.
    package var name: StaticString {
        switch self {
        case .other: ""
        case .acceptEncoding: "accept-encoding"
        case .alternativeServices: "alt-svc"
        case .authorization: "authorization"
        case .connection: "connection"
        case .contentEncoding: "content-encoding"
        case .contentLength: "content-length"
        case .contentType: "content-type"
        case .cookie: "cookie"
        case .expect: "expect"
        case .host: "host"
        case .keepAlive: "keep-alive"
        case .proxyAuthenticate: "proxy-authenticate"
        case .proxyAuthorization: "proxy-authorization"
        case .proxyConnection: "proxy-connection"
        case .setCookie: "set-cookie"
        case .te: "te"
        case .trailer: "trailer"
        case .transferEncoding: "transfer-encoding"
        case .upgrade: "upgrade"
        case .wwwAuthenticate: "www-authenticate"
        }
    }

    /// Recognises a name in any case.
    ///
    /// At most one field is compared with, since length and first letter tell them all apart.
    package init(name: Span<UInt8>) {
        guard let candidate = Self.candidate(for: name), equals(name, ignoringCase: candidate.name)
        else {
            self = .other
            return
        }
        self = candidate
    }

    /// The only field that can have a name of this length and first letter.
    @inline(__always)
    private static func candidate(for name: Span<UInt8>) -> KnownField? {
        guard name.count >= 2, name.count <= 19 else { return nil }
        switch (name.count, name[0] | 0x20) {
        case (2, 0x74): return .te
        case (4, 0x68): return .host
        case (6, 0x63): return .cookie
        case (6, 0x65): return .expect
        case (7, 0x61): return .alternativeServices
        case (7, 0x74): return .trailer
        case (7, 0x75): return .upgrade
        case (10, 0x63): return .connection
        case (10, 0x6B): return .keepAlive
        case (10, 0x73): return .setCookie
        case (12, 0x63): return .contentType
        case (13, 0x61): return .authorization
        case (14, 0x63): return .contentLength
        case (15, 0x61): return .acceptEncoding
        case (16, 0x63): return .contentEncoding
        case (16, 0x70): return .proxyConnection
        case (16, 0x77): return .wwwAuthenticate
        case (17, 0x74): return .transferEncoding
        case (18, 0x70): return .proxyAuthenticate
        case (19, 0x70): return .proxyAuthorization
        default: return nil
        }
    }
}

/// Compares without the case of ASCII letters; `lowercased` must be in lower case.
package func equals(_ bytes: Span<UInt8>, ignoringCase lowercased: StaticString) -> Bool {
    guard bytes.count == lowercased.utf8CodeUnitCount else { return false }
    return lowercased.withUTF8Buffer { expected in
        for index in bytes.indices {
            guard unsafe bytes[index].asciiLowercased == expected[index] else { return false }
        }
        return true
    }
}

/// Where one field stands in the bytes of its head.
package struct FieldSlice: Sendable, Equatable {
    package let known: KnownField
    package let nameStart: Int32
    package let nameEnd: Int32
    /// Without the white space around it.
    package let valueStart: Int32
    package let valueEnd: Int32

    package init(known: KnownField, name: Range<Int>, value: Range<Int>) {
        self.known = known
        nameStart = Int32(name.lowerBound)
        nameEnd = Int32(name.upperBound)
        valueStart = Int32(value.lowerBound)
        valueEnd = Int32(value.upperBound)
    }

    package var name: Range<Int> { Int(nameStart)..<Int(nameEnd) }
    package var value: Range<Int> { Int(valueStart)..<Int(valueEnd) }
}

/// Fields in wire order and case, as offsets into the bytes that arrived (RFC 9110 §5).
package struct Fields: Sendable {
    /// The whole head or trailer section, as it came.
    package let raw: [UInt8]
    package let slices: [FieldSlice]

    package init(raw: [UInt8], slices: [FieldSlice]) {
        self.raw = raw
        self.slices = slices
    }

    package static let none = Fields(raw: [], slices: [])

    package func name(_ slice: FieldSlice) -> ArraySlice<UInt8> { raw[slice.name] }
    package func value(_ slice: FieldSlice) -> ArraySlice<UInt8> { raw[slice.value] }

    /// Every field as text, in wire order.
    package var pairs: [(name: String, value: String)] {
        slices.map { (name($0).text, value($0).text) }
    }

    package func contains(_ field: KnownField) -> Bool {
        slices.contains { $0.known == field }
    }

    /// The value of the first field of this name, `nil` if there is none.
    package func first(_ field: KnownField) -> ArraySlice<UInt8>? {
        slices.first { $0.known == field }.map(value)
    }

    /// The values of all fields of this name, in wire order.
    package func all(_ field: KnownField) -> [ArraySlice<UInt8>] {
        slices.filter { $0.known == field }.map(value)
    }

    /// The value of the first field of this name in any case, `nil` if there is none.
    package func first(named lowercased: StaticString) -> ArraySlice<UInt8>? {
        slices.first { isNamed($0, lowercased) }.map(value)
    }

    /// The values of all fields of this name in any case, in wire order.
    package func all(named lowercased: StaticString) -> [ArraySlice<UInt8>] {
        guard slices.contains(where: { isNamed($0, lowercased) }) else { return [] }
        return slices.filter { isNamed($0, lowercased) }.map(value)
    }

    /// Looks at the bytes of names of the same length alone: most fields are asked for by name many
    /// times, and are not there.
    private func isNamed(_ slice: FieldSlice, _ lowercased: StaticString) -> Bool {
        Int(slice.nameEnd - slice.nameStart) == lowercased.utf8CodeUnitCount
            && name(slice).equalsIgnoringCase(lowercased)
    }

    /// The same fields, with one at the end in the place of all of its name; `nil` leaves them out.
    package func setting(_ lowercased: StaticString, to value: [UInt8]?) -> Fields {
        var lines = FieldLines()
        for slice in slices where !name(slice).equalsIgnoringCase(lowercased) {
            lines.append(slice.known, name(slice).span, self.value(slice).span)
        }
        if let value {
            let name = lowercased.withUTF8Buffer { unsafe [UInt8]($0) }
            lines.append(KnownField(name: name.span), name.span, value.span)
        }
        return lines.finish()
    }

    /// Whether a comma-separated field holds `token` (RFC 9110 §5.6.1), in any case.
    package func contains(_ field: KnownField, token: StaticString) -> Bool {
        slices.contains { $0.known == field && lists(token, in: $0.value) }
    }

    /// Looks without slices: a connection's options are asked for several times in each exchange.
    private func lists(_ token: StaticString, in value: Range<Int>) -> Bool {
        let bytes = raw.span
        var start = value.lowerBound
        while start < value.upperBound {
            let end = bytes.firstIndex(of: 0x2C, in: start..<value.upperBound) ?? value.upperBound
            let element = bytes.extracting(bytes.trimmed(start..<end))
            if equals(element, ignoringCase: token) { return true }
            start = end + 1
        }
        return false
    }
}

extension ArraySlice<UInt8> {
    /// Compares without the case of ASCII letters; `lowercased` must be in lower case.
    ///
    /// Hides the generic one, which is not specialised across modules and costs a hundred times as
    /// much: the path of every message is paved with such comparisons.
    package func equalsIgnoringCase(_ lowercased: StaticString) -> Bool {
        equals(span, ignoringCase: lowercased)
    }

    /// Without spaces and tabs at both ends (OWS, RFC 9110 §5.6.3).
    package var trimmingWhitespace: ArraySlice<UInt8> {
        let range = span.trimmed(0..<count)
        return self[startIndex + range.lowerBound..<startIndex + range.upperBound]
    }
}
