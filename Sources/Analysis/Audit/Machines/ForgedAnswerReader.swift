/// Tells, by what a client says within TLS, whether it took for an answer what came in cleartext behind
/// the server's consent to TLS.
///
/// The server within TLS answers nothing: a client that has said one thing and goes on to the next
/// has had its answer elsewhere. One that discards what came in cleartext says the first thing too.
struct ForgedAnswerReader {
    private let speaks: UpgradeProtocol?
    private var lineCount = 0
    /// What is missing of PostgreSQL's first message; `nil` before its length is known.
    private var rest: Int?
    private var header: [UInt8] = []
    /// Whether the client says several things at once, so that going on proves nothing.
    private(set) var isUnclear = false

    init(_ speaks: UpgradeProtocol?) { self.speaks = speaks }

    /// - Returns: whether the client goes on as if it had been answered.
    mutating func receive(_ bytes: [UInt8]) -> Bool {
        speaks == .postgreSQL ? receiveMessages(bytes) : receiveLines(bytes)
    }

    private mutating func receiveLines(_ bytes: [UInt8]) -> Bool {
        let before = lineCount
        let added = bytes.count { $0 == UInt8(ascii: "\n") }
        lineCount += added
        if before == 0, added > 1 { isUnclear = true }
        return before > 0 && added > 0 && !isUnclear
    }

    /// The first message has a length and no type (PostgreSQL documentation, "Message Formats").
    private mutating func receiveMessages(_ bytes: [UInt8]) -> Bool {
        var bytes = bytes[...]
        if rest == nil {
            let part = bytes.prefix(4 - header.count)
            header += part
            bytes = bytes.dropFirst(part.count)
            guard header.count == 4 else { return false }
            rest = header.reduce(0) { $0 << 8 | Int($1) } - 4
        }
        let step = min(bytes.count, max(0, rest ?? 0))
        rest = (rest ?? 0) - step
        // Terminate is how a client leaves.
        return bytes.dropFirst(step).first.map { $0 != UInt8(ascii: "X") } ?? false
    }
}
