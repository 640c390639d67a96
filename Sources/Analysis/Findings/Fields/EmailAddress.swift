internal import Base

/// A value that is an e-mail address and nothing else (RFC 5321 §4.1.2, without quoted names).
struct EmailAddress {
    let domain: [UInt8]

    init?(_ value: [UInt8]) {
        guard (6...254).contains(value.count), let at = value.firstIndex(of: 0x40),
            (1...64).contains(at)
        else { return nil }
        let local = value[..<at]
        let domain = value[(at + 1)...].lowercasedBytes
        guard local.allSatisfy(Self.isLocalByte), local.first != 0x2E, local.last != 0x2E,
            domain.count <= 253, Self.isDomain(domain)
        else { return nil }
        self.domain = domain
    }

    /// Two labels or more, of which the last is none of a file's (`icon@2x.png`) and none that is
    /// kept for examples (RFC 2606).
    private static func isDomain(_ domain: [UInt8]) -> Bool {
        let labels = domain.split(separator: 0x2E, omittingEmptySubsequences: false)
        guard labels.count >= 2, let last = labels.last,
            labels.allSatisfy({ label in
                (1...63).contains(label.count) && label.first != 0x2D && label.last != 0x2D
                    && label.allSatisfy { $0.isASCIILetter || $0.isASCIIDigit || $0 == 0x2D }
            })
        else { return false }
        let top = Array(last)
        guard top.count >= 2, top.contains(where: \.isASCIILetter) else { return false }
        let isExample = labels[labels.count - 2].elementsEqual(Array("example".utf8))
        return !isExample && !unreal.contains(top.text)
    }

    private static func isLocalByte(_ byte: UInt8) -> Bool {
        byte.isASCIILetter || byte.isASCIIDigit || byte == 0x2E
            || [0x2B, 0x2D, 0x5F, 0x25, 0x27, 0x7E].contains(byte)
    }

    private static let unreal: Set<String> = [
        "example", "invalid", "localhost", "avif", "bmp", "css", "gif", "heic", "htm", "html",
        "ico", "jpeg", "jpg", "js", "json", "map", "mjs", "mp3", "mp4", "pdf", "png", "svg", "ttf",
        "txt", "webm", "webp", "woff", "woff2", "xml",
    ]
}
