import Base

/// A message as a test's peer read it, with a reader that has nothing of the product's in it.
struct HTTPMessage {
    let head: String
    /// Without transfer coding.
    var body: [UInt8] = []
    /// With the last empty line; empty if there were none.
    var trailers = ""

    var startLine: String { String(head.prefix { $0 != "\r\n" }) }

    /// Of a response.
    var status: Int { Int(startLine.split(separator: " ").dropFirst().first ?? "") ?? 0 }

    var fields: [(name: String, value: String)] {
        [UInt8](head.utf8)[...].lines.dropFirst().map { line in
            let parts = line.text.split(
                separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            let value = parts.count > 1 ? parts[1] : ""
            return (String(parts[0]), value.trimmingBlanks)
        }
    }

    func field(_ name: String) -> String? {
        fields.first { $0.name.lowercased() == name }?.value
    }
}

extension Substring {
    fileprivate var trimmingBlanks: String {
        var rest = self.drop { $0 == " " || $0 == "\t" }
        while let last = rest.last, last == " " || last == "\t" { rest.removeLast() }
        return String(rest)
    }
}

extension Wire {
    func readHead() throws -> String {
        try read(through: "\r\n\r\n").text
    }

    /// A request with its content.
    func readRequest() throws -> HTTPMessage {
        try readContent(of: HTTPMessage(head: try readHead()), untilEnd: false)
    }

    /// A response with its content.
    ///
    /// - Parameter toHEAD: whether no content follows in any case.
    func readResponse(toHEAD: Bool = false) throws -> HTTPMessage {
        let message = HTTPMessage(head: try readHead())
        let isBare = toHEAD || message.status < 200 || [204, 304].contains(message.status)
        return isBare ? message : try readContent(of: message, untilEnd: true)
    }

    private func readContent(of head: HTTPMessage, untilEnd: Bool) throws -> HTTPMessage {
        var message = head
        if message.field("transfer-encoding") == "chunked" {
            (message.body, message.trailers) = try readChunks()
        } else if let length = message.field("content-length").flatMap(Int.init) {
            message.body = try read(length)
        } else if untilEnd {
            message.body = try readToEnd()
        }
        return message
    }

    private func readChunks() throws -> (body: [UInt8], trailers: String) {
        var body: [UInt8] = []
        while true {
            let line = try read(through: "\r\n").text
            let digits = line.prefix { $0.isHexDigit }
            guard let size = Int(digits, radix: 16) else { throw WireFailure("bad chunk \(line)") }
            guard size > 0 else { break }
            body += try read(size)
            guard try read(2).text == "\r\n" else { throw WireFailure("no CRLF behind a chunk") }
        }
        var trailers = ""
        while true {
            let line = try read(through: "\r\n").text
            if line == "\r\n" { return (body, trailers.isEmpty ? "" : trailers + line) }
            trailers += line
        }
    }
}

/// Bytes that depend on the seed only, and in which nothing repeats.
func sampleBytes(_ count: Int, seed: UInt64 = 1) -> [UInt8] {
    var state = seed &* 0x9E37_79B9_7F4A_7C15 | 1
    var bytes = [UInt8](repeating: 0, count: count)
    for index in bytes.indices {
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        bytes[index] = UInt8(truncatingIfNeeded: state >> 24)
    }
    return bytes
}

/// Content in chunks whose sizes vary, with an extension on some.
func chunked(_ bytes: [UInt8], trailers: String = "", hasExtensions: Bool = true) -> [UInt8] {
    let sizes = [1, 7, 4096, 3, 65_537, 16, 100_000]
    var output: [UInt8] = []
    var place = 0
    var turn = 0
    while place < bytes.count {
        let size = min(sizes[turn % sizes.count], bytes.count - place)
        var line =
            turn % 2 == 0 ? String(size, radix: 16) : "0" + String(size, radix: 16).uppercased()
        if hasExtensions, turn % 3 == 1 { line += ";name=\"value\"" }
        output += [UInt8]("\(line)\r\n".utf8) + bytes[place..<place + size] + [13, 10]
        place += size
        turn += 1
    }
    return output + [UInt8]("0\r\n\(trailers)\r\n".utf8)
}
