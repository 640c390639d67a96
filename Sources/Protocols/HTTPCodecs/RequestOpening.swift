internal import Base

/// Whether a client's first bytes begin a request of HTTP/1 where it may speak anything.
///
/// IRC, RTSP, SIP, Redis and others begin with a word and a space too, so that the line decides.
package enum RequestOpening {
    /// - Parameter start: where the first line begins.
    /// - Returns: `nil` if more bytes are needed.
    package static func judge(_ bytes: Span<UInt8>, from start: Int = 0) -> Bool? {
        var line: [UInt8] = []
        var isWhole = false
        for index in start..<max(start, min(bytes.count, start + lineLimit)) {
            isWhole = bytes[index] == 0x0A
            if isWhole { break }
            line.append(bytes[index])
        }
        let method = line.prefix { $0 != 0x20 }
        guard method.count <= methodLimit, method.allSatisfy(\.isTokenByte) else { return false }
        guard method.count < line.count else {
            return !isWhole && mayBeMethod(method) ? nil : false
        }
        guard !method.isEmpty, mayBeMethod(method) else { return false }
        let isCut = !isWhole && line.count == lineLimit
        let target = line.dropFirst(method.count + 1)
        guard let first = target.first else { return isWhole ? false : nil }
        // Its target is an authority; Go's net/rpc greets with a path.
        if method.equalsIgnoringCase("connect") { return first != UInt8(ascii: "/") }
        let isKnown = methods.contains { method.equalsIgnoringCase($0) }
        if isKnown, !first.isASCIILetter { return true }
        guard isKnown || first == UInt8(ascii: "/") || first == UInt8(ascii: "*") || isURL(target)
        else { return false }
        // Of a line that is too long to wait for its end, the beginning decides.
        if isCut { return true }
        return isWhole ? names(version: line) : nil
    }

    /// Words in lower case begin too many protocols: only known methods are waited for.
    private static func mayBeMethod(_ word: ArraySlice<UInt8>) -> Bool {
        guard let first = word.first, (0x61...0x7A).contains(first) else { return true }
        return methods.contains { method in
            let length = method.utf8CodeUnitCount
            return word.count <= length
                && (0..<word.count).allSatisfy { offset in
                    let expected = unsafe method.utf8Start[offset]
                    return word[word.startIndex + offset].asciiLowercased == expected
                }
        }
    }

    /// Whether it is a URL of HTTP as far as it goes.
    private static func isURL(_ target: ArraySlice<UInt8>) -> Bool {
        ["http://", "https://"].contains {
            target.prefix($0.utf8.count).map(\.asciiLowercased).elementsEqual(
                $0.utf8.prefix(target.count))
        }
    }

    private static func names(version line: [UInt8]) -> Bool {
        let last = line.reversed().drop { $0 == 0x0D || $0 == 0x20 }.prefix { $0 != 0x20 }
        return last.count > 5 && last.reversed().starts(with: "HTTP/".utf8)
    }

    private static let methods: [StaticString] = [
        "get", "head", "post", "put", "delete", "connect", "options", "trace", "patch",
    ]
    /// In bytes: the longest registered method has 17.
    private static let methodLimit = 64
    /// In bytes: of a longer line, its beginning decides.
    private static let lineLimit = 8192
}
