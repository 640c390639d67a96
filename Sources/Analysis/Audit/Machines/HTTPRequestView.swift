internal import Base

/// As much of an HTTP/1.1 request as a probe's server has to know.
struct HTTPRequestView {
    enum State: Equatable {
        /// It may become one.
        case partial
        /// It is none.
        case foreign
        /// The head is whole, and has this size; so long a body follows, for which the client waits
        /// to be asked or not.
        case head(size: Int, body: Int, isWaiting: Bool)
    }

    let state: State
    /// What stands between the method and the version; empty until the head is whole.
    let target: String
    private let fields: [(name: String, value: String)]

    init(_ bytes: [UInt8]) {
        let size = Self.headSize(bytes)
        guard Self.mayBegin(bytes) else {
            (state, target, fields) = (.foreign, "", [])
            return
        }
        guard let size else {
            (state, target, fields) = (.partial, "", [])
            return
        }
        let lines = bytes[..<size].split(separator: UInt8(ascii: "\n")).map { line in
            (line.last == UInt8(ascii: "\r") ? line.dropLast() : line).text
        }
        let fields = lines.dropFirst().compactMap(Self.field)
        let words = (lines.first ?? "").split(separator: " ")
        self.fields = fields
        target = words.count > 1 ? String(words[1]) : ""
        let length = fields.first { $0.name == "content-length" }?.value
        state = .head(
            size: size, body: max(0, length.flatMap { Int($0) } ?? 0),
            isWaiting: fields.contains { $0.name == "expect" })
    }

    /// The target without the scheme and the host that a proxy is told.
    var path: String {
        guard let scheme = target.firstRange(of: "://") else { return target }
        let rest = target[scheme.upperBound...]
        return rest.firstIndex(of: "/").map { String(rest[$0...]) } ?? "/"
    }

    /// Whether it is for a list of revoked certificates, the status of one or its issuer, which are
    /// fetched in cleartext (RFC 5280 §8, RFC 6960 §A.1).
    var fetchesStatus: Bool {
        let file = path.prefix { $0 != "?" }.lowercased()
        return values("content-type").contains("application/ocsp-request")
            || [".crl", ".crt", ".cer", ".der", ".p7c"].contains { file.hasSuffix($0) }
    }

    func values(_ name: String) -> [String] {
        fields.filter { $0.name == name }.map(\.value)
    }

    private static func field(_ line: String) -> (name: String, value: String)? {
        guard let colon = line.firstIndex(of: ":") else { return nil }
        let value = line[line.index(after: colon)...].drop { $0 == " " || $0 == "\t" }
        return (line[..<colon].lowercased(), String(value))
    }

    private static func headSize(_ bytes: [UInt8]) -> Int? {
        let end = Array("\r\n\r\n".utf8)
        guard bytes.count >= end.count else { return nil }
        return (end.count...bytes.count).first { bytes[($0 - end.count)..<$0].elementsEqual(end) }
    }

    /// Whether the bytes begin a request line, as far as they reach (RFC 9112 §3).
    private static func mayBegin(_ bytes: [UInt8]) -> Bool {
        let line = bytes.prefix { $0 != UInt8(ascii: "\n") }
        let method = line.prefix { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) }
        guard method.count < line.count else { return method.count <= 20 }
        guard !method.isEmpty, line[method.endIndex] == UInt8(ascii: " ") else { return false }
        guard line.count < bytes.count else { return true }
        return line.text.contains(" HTTP/1.")
    }
}
