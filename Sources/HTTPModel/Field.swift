internal import Base

/// The fields that the product decides on, recognised once when a head is parsed.
package enum KnownField: UInt8, Sendable {
    case other
    case acceptEncoding
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
    package init(name: Span<UInt8>) {
        let candidates: [KnownField]
        switch name.count {
        case 2: candidates = Self.two
        case 4: candidates = Self.four
        case 6: candidates = Self.six
        case 7: candidates = Self.seven
        case 10: candidates = Self.ten
        case 12: candidates = Self.twelve
        case 13: candidates = Self.thirteen
        case 14: candidates = Self.fourteen
        case 15: candidates = Self.fifteen
        case 16: candidates = Self.sixteen
        case 17: candidates = Self.seventeen
        case 18: candidates = Self.eighteen
        case 19: candidates = Self.nineteen
        default: candidates = []
        }
        self = .other
        for candidate in candidates where equals(name, ignoringCase: candidate.name) {
            self = candidate
        }
    }

    private static let two: [KnownField] = [.te]
    private static let four: [KnownField] = [.host]
    private static let six: [KnownField] = [.cookie, .expect]
    private static let seven: [KnownField] = [.upgrade, .trailer]
    private static let ten: [KnownField] = [.connection, .keepAlive, .setCookie]
    private static let twelve: [KnownField] = [.contentType]
    private static let thirteen: [KnownField] = [.authorization]
    private static let fourteen: [KnownField] = [.contentLength]
    private static let fifteen: [KnownField] = [.acceptEncoding]
    private static let sixteen: [KnownField] = [
        .contentEncoding, .proxyConnection, .wwwAuthenticate,
    ]
    private static let seventeen: [KnownField] = [.transferEncoding]
    private static let eighteen: [KnownField] = [.proxyAuthenticate]
    private static let nineteen: [KnownField] = [.proxyAuthorization]
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
        slices.first { name($0).equalsIgnoringCase(lowercased) }.map(value)
    }

    /// The values of all fields of this name in any case, in wire order.
    package func all(named lowercased: StaticString) -> [ArraySlice<UInt8>] {
        slices.filter { name($0).equalsIgnoringCase(lowercased) }.map(value)
    }

    /// Whether a comma-separated field holds `token` (RFC 9110 §5.6.1), in any case.
    package func contains(_ field: KnownField, token: StaticString) -> Bool {
        slices.contains { slice in
            slice.known == field
                && value(slice).split(separator: 0x2C).contains {
                    $0.trimmingWhitespace.equalsIgnoringCase(token)
                }
        }
    }
}

extension ArraySlice<UInt8> {
    /// Without spaces and tabs at both ends (OWS, RFC 9110 §5.6.3).
    package var trimmingWhitespace: ArraySlice<UInt8> {
        var rest = self
        while let byte = rest.first, byte == 0x20 || byte == 0x09 { rest.removeFirst() }
        while let byte = rest.last, byte == 0x20 || byte == 0x09 { rest.removeLast() }
        return rest
    }
}
