internal import Base

/// A request target or another URL, taken apart leniently (RFC 9112 §3.2, RFC 3986 §3).
struct RequestTarget {
    /// `user:password` as it stands, without the `@`; empty if there is none.
    private(set) var userinfo: [UInt8] = []
    private(set) var authority: [UInt8] = []
    private(set) var path: [UInt8] = []
    /// Names are decoded, values as they stand.
    private(set) var query: [Parameter] = []
    /// What stands behind `;` in a segment of the path.
    private(set) var pathParameters: [Parameter] = []

    struct Parameter {
        let name: [UInt8]
        let value: [UInt8]
    }

    init(_ target: [UInt8]) {
        var rest = target[...]
        if let start = Self.afterScheme(target) {
            let end = target[start...].firstIndex { [0x2F, 0x3F, 0x23].contains($0) }
            readAuthority(target[start..<(end ?? target.endIndex)])
            rest = target[(end ?? target.endIndex)...]
        } else if target.first != 0x2F, target.first != 0x2A, target.first != 0x3F {
            readAuthority(rest)
            return
        }
        rest = rest.prefix { $0 != 0x23 }
        let question = rest.firstIndex(of: 0x3F) ?? rest.endIndex
        path = Array(rest[..<question])
        readPathParameters()
        query = Self.parameters(rest[question...].dropFirst(), separator: 0x26)
    }

    private mutating func readAuthority(_ bytes: ArraySlice<UInt8>) {
        if let at = bytes.lastIndex(of: 0x40) {
            userinfo = Array(bytes[..<at])
            authority = Array(bytes[(at + 1)...])
        } else {
            authority = Array(bytes)
        }
    }

    private mutating func readPathParameters() {
        guard path.contains(0x3B) else { return }
        for segment in path.split(separator: 0x2F) {
            guard let semicolon = segment.firstIndex(of: 0x3B) else { continue }
            let room = Self.parameterLimit - pathParameters.count
            let found = Self.parameters(segment[(semicolon + 1)...], separator: 0x3B)
            pathParameters += found.prefix(room)
        }
    }

    /// Where the authority begins, `nil` if the target has no scheme.
    private static func afterScheme(_ target: [UInt8]) -> Int? {
        guard target.first?.isASCIILetter == true,
            let colon = target.prefix(16).firstIndex(of: 0x3A),
            target[colon...].starts(with: [0x3A, 0x2F, 0x2F])
        else { return nil }
        return colon + 3
    }

    /// Splits `a=1&b=2`.
    static func parameters(_ bytes: ArraySlice<UInt8>, separator: UInt8) -> [Parameter] {
        var result: [Parameter] = []
        var start = bytes.startIndex
        while start < bytes.endIndex, result.count < parameterLimit {
            let end = bytes[start...].firstIndex(of: separator) ?? bytes.endIndex
            let part = bytes[start..<end]
            start = end + 1
            guard !part.isEmpty else { continue }
            let equals = part.firstIndex(of: 0x3D) ?? part.endIndex
            let name = Array(part[..<equals].prefix(nameLimit))
            let value = Array(part[equals...].dropFirst().prefix(MessageField.valueLimit))
            result.append(
                Parameter(
                    name: PercentCoding.decode(name, plusIsSpace: true) ?? name, value: value))
        }
        return result
    }

    static let parameterLimit = 1024
    private static let nameLimit = 256
}
