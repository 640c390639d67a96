internal import Base

/// Percent-encoding (RFC 3986 §2.1), as paths, queries and forms have it.
enum PercentText {
    /// A broken `%` stays as it is.
    ///
    /// - Parameter plusIsSpace: as in queries and forms.
    static func decoded(_ bytes: ArraySlice<UInt8>, plusIsSpace: Bool) -> [UInt8] {
        guard bytes.contains(where: { $0 == 0x25 || plusIsSpace && $0 == 0x2B }) else {
            return Array(bytes)
        }
        var result: [UInt8] = []
        var index = bytes.startIndex
        while index < bytes.endIndex {
            let byte = bytes[index]
            if byte == 0x25, index + 2 < bytes.endIndex, let high = bytes[index + 1].hexDigitValue,
                let low = bytes[index + 2].hexDigitValue
            {
                result.append(high << 4 | low)
                index += 3
            } else {
                result.append(plusIsSpace && byte == 0x2B ? 0x20 : byte)
                index += 1
            }
        }
        return result
    }

    /// All but the unreserved characters encoded, which every reader understands.
    static func encoded(_ bytes: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        for byte in bytes {
            let isPlain =
                byte.isASCIILetter || byte.isASCIIDigit || byte == 0x2D || byte == 0x2E
                || byte == 0x5F || byte == 0x7E
            if isPlain {
                result.append(byte)
            } else {
                result += [0x25, digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return result
    }

    private static let digits = [UInt8]("0123456789ABCDEF".utf8)
}

/// The pieces of a URL, or of a path with a query, by their places in its bytes.
struct URLPieces {
    /// Between slashes; the first segment is number 1.
    private(set) var segments: [Range<Int>] = []
    private(set) var parameters: [(name: String, value: Range<Int>)] = []

    init(_ bytes: ArraySlice<UInt8>) {
        var path = bytes
        let scheme = bytes.prefix { $0.isASCIILetter }
        if !scheme.isEmpty, bytes.dropFirst(scheme.count).starts(with: "://".utf8) {
            path = bytes.dropFirst(scheme.count + 3).drop { $0 != 0x2F && $0 != 0x3F }
        }
        path = path.prefix { $0 != 0x23 }
        let query = path.drop { $0 != 0x3F }
        path = path.prefix { $0 != 0x3F }
        for segment in path.split(separator: 0x2F) {
            segments.append(segment.startIndex..<segment.endIndex)
        }
        parameters = Self.parameters(query.dropFirst())
    }

    static func parameters(_ query: ArraySlice<UInt8>) -> [(name: String, value: Range<Int>)] {
        query.split(separator: 0x26).map { item in
            let name = item.prefix { $0 != 0x3D }
            let value = item.dropFirst(name.count + 1)
            return (
                PercentText.decoded(name, plusIsSpace: true).text,
                value.startIndex..<value.endIndex
            )
        }
    }

    /// Whether a text is a URL, or a path from the root.
    static func isURL(_ bytes: ArraySlice<UInt8>) -> Bool {
        bytes.first == 0x2F || bytes.starts(with: "http://".utf8)
            || bytes.starts(with: "https://".utf8)
    }
}
