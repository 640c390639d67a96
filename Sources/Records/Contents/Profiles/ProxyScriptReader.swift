internal import Base

extension ProxyScriptProgram {
    /// Reads a script.
    package init(_ bytes: [UInt8]) throws(ProxyScriptViolation) {
        guard bytes.count <= Self.byteLimit else { throw .tooLong }
        var reader = ProxyScriptReader(try ProxyScriptToken.all(in: bytes))
        statements = try reader.program()
    }

    /// In bytes: browsers take 1 MiB.
    package static let byteLimit = 1 << 20
}

/// A part of a proxy script.
private struct ProxyScriptToken {
    enum Kind: Equatable {
        case word(String)
        case text(String)
        case mark(String)
        case end
    }

    let kind: Kind
    let line: Int

    var shown: String {
        switch kind {
        case .word(let text), .mark(let text): text
        case .text(let text): "\"\(text)\""
        case .end: "the end"
        }
    }

    static func all(in bytes: [UInt8]) throws(ProxyScriptViolation) -> [ProxyScriptToken] {
        var lexer = Lexer(rest: bytes[...])
        var tokens: [ProxyScriptToken] = []
        while true {
            tokens.append(try lexer.next())
            if tokens.last?.kind == .end { return tokens }
        }
    }

    private struct Lexer {
        var rest: ArraySlice<UInt8>
        var line = 1

        mutating func next() throws(ProxyScriptViolation) -> ProxyScriptToken {
            try skipBlank()
            guard let byte = rest.first else { return ProxyScriptToken(kind: .end, line: line) }
            let start = line
            if Self.isWordByte(byte) {
                let word = rest.prefix(while: Self.isWordByte)
                rest = rest[word.endIndex...]
                return ProxyScriptToken(kind: .word(word.text), line: start)
            }
            if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
                return ProxyScriptToken(kind: .text(try text(in: byte)), line: start)
            }
            let mark = Self.marks.first { rest.starts(with: $0.utf8) } ?? rest.prefix(1).text
            rest = rest.dropFirst(max(1, mark.utf8.count))
            return ProxyScriptToken(kind: .mark(mark), line: start)
        }

        /// In bytes: a text names hosts and a few proxies.
        private static let textLimit = 1024

        /// Those of more than one character, the longest first.
        private static let marks = ["===", "==", "&&", "||"]

        private static func isWordByte(_ byte: UInt8) -> Bool {
            byte.isASCIILetter || byte.isASCIIDigit || byte == UInt8(ascii: "_")
                || byte == UInt8(ascii: "$")
        }

        private mutating func skipBlank() throws(ProxyScriptViolation) {
            while let byte = rest.first {
                if byte == 0x0A { line += 1 }
                if byte == 0x20 || (0x09...0x0D).contains(byte) {
                    rest = rest.dropFirst()
                } else if rest.starts(with: "//".utf8) {
                    rest = rest.drop { $0 != 0x0A }
                } else if rest.starts(with: "/*".utf8) {
                    guard let end = rest.dropFirst(2).firstRange(of: [0x2A, 0x2F][...]) else {
                        throw .unexpected("a comment without an end", line: line)
                    }
                    line += rest[..<end.lowerBound].count { $0 == 0x0A }
                    rest = rest[end.upperBound...]
                } else {
                    return
                }
            }
        }

        private mutating func text(in quote: UInt8) throws(ProxyScriptViolation) -> String {
            rest = rest.dropFirst()
            var bytes: [UInt8] = []
            while let byte = rest.first, byte != 0x0A, bytes.count <= Self.textLimit {
                rest = rest.dropFirst()
                if byte == quote { return bytes.text }
                guard byte == UInt8(ascii: "\\") else {
                    bytes.append(byte)
                    continue
                }
                // Of the escapes, those that stand for the character itself.
                guard let escaped = rest.first, !Self.isWordByte(escaped), escaped != 0x0A else {
                    throw .unexpected("an escape in a text", line: line)
                }
                bytes.append(escaped)
                rest = rest.dropFirst()
            }
            throw .unexpected("a text without an end", line: line)
        }
    }
}

/// Reads the tokens of a proxy script by descent, with a bound on its depth.
private struct ProxyScriptReader {
    private let tokens: [ProxyScriptToken]
    private var place = 0
    private var depth = 0
    /// The texts that `var` gave a name, and the parameters.
    private var names: [String: ProxyScriptProgram.Text] = [:]

    init(_ tokens: [ProxyScriptToken]) { self.tokens = tokens }

    mutating func program() throws(ProxyScriptViolation) -> [ProxyScriptProgram.Statement] {
        while takes("var") { try declaration() }
        try expect(word: "function")
        try expect(word: "FindProxyForURL")
        try expect("(")
        names[try word()] = .url
        try expect(",")
        names[try word()] = .host
        try expect(")")
        let statements = try block()
        _ = takes(mark: ";")
        guard current.kind == .end else { throw unexpected }
        return statements
    }

    // MARK: Statements

    private mutating func block() throws(ProxyScriptViolation) -> [ProxyScriptProgram.Statement] {
        try expect("{")
        var statements: [ProxyScriptProgram.Statement] = []
        while !takes(mark: "}") { statements += try statement() }
        return statements
    }

    private mutating func statement() throws(ProxyScriptViolation) -> [ProxyScriptProgram.Statement]
    {
        try deeper()
        defer { depth -= 1 }
        if takes(mark: ";") { return [] }
        if current.kind == .mark("{") { return try block() }
        if takes("var") {
            try declaration()
            return []
        }
        if takes("return") {
            let text = try text()
            try endStatement()
            return [.result(text)]
        }
        try expect(word: "if")
        try expect("(")
        let condition = try any()
        try expect(")")
        let then = try statement()
        let otherwise = takes("else") ? try statement() : []
        return [.choice(condition, then, otherwise: otherwise)]
    }

    private mutating func declaration() throws(ProxyScriptViolation) {
        let name = try word()
        guard names[name] == nil else { throw .unsupported("variables that change") }
        try expect("=")
        names[name] = try text()
        try endStatement()
    }

    /// A semicolon may be left out ahead of a brace or on the line's end.
    private mutating func endStatement() throws(ProxyScriptViolation) {
        guard !takes(mark: ";") else { return }
        let isOver = place > 0 && tokens[place - 1].line < current.line
        guard isOver || current.kind == .mark("}") || current.kind == .end else {
            throw unexpected
        }
    }

    // MARK: Conditions

    private mutating func any() throws(ProxyScriptViolation) -> ProxyScriptProgram.Condition {
        try deeper()
        defer { depth -= 1 }
        var parts = [try all()]
        while takes(mark: "||") { parts.append(try all()) }
        return parts.count == 1 ? parts[0] : .any(parts)
    }

    private mutating func all() throws(ProxyScriptViolation) -> ProxyScriptProgram.Condition {
        var parts = [try condition()]
        while takes(mark: "&&") { parts.append(try condition()) }
        return parts.count == 1 ? parts[0] : .all(parts)
    }

    private var isAtText: Bool {
        switch current.kind {
        case .text: true
        case .word(let name): names[name] != nil
        case .mark, .end: false
        }
    }

    private mutating func condition() throws(ProxyScriptViolation) -> ProxyScriptProgram.Condition {
        if takes(mark: "!") {
            try deeper()
            defer { depth -= 1 }
            guard !isAtText else {
                throw .unsupported("! ahead of a comparison, which is of its left side alone")
            }
            return .not(try condition())
        }
        if takes(mark: "(") {
            let inner = try any()
            try expect(")")
            return inner
        }
        if case .word(let name) = current.kind, !isAtText {
            place += 1
            if name == "true" || name == "false" { return .constant(name == "true") }
            return try call(name)
        }
        let left = try text()
        guard takes(mark: "==") || takes(mark: "===") else { throw unexpected }
        let right = try text()
        try checkPath(of: left, right)
        try checkPath(of: right, left)
        return .equal(left, right)
    }

    private mutating func call(
        _ name: String
    ) throws(ProxyScriptViolation) -> ProxyScriptProgram.Condition {
        guard let count = Self.functions[name] else { throw .unsupported(name) }
        try expect("(")
        var texts: [ProxyScriptProgram.Text] = []
        for index in 0..<count {
            if index > 0 { try expect(",") }
            texts.append(try text())
        }
        try expect(")")
        if name == "shExpMatch" {
            try Self.checkPattern(texts[1])
            try checkPath(of: texts[0], texts[1], isPattern: true)
        } else if case .url = texts[0] {
            throw .unsupported("\(name) of a URL")
        }
        return switch name {
        case "isPlainHostName": .plainHostName(texts[0])
        case "dnsDomainIs": .domain(texts[0], texts[1])
        case "localHostOrDomainIs": .localHostOrDomain(texts[0], texts[1])
        case "shExpMatch": .matches(texts[0], pattern: texts[1])
        default: .inNetwork(texts[0], texts[1], mask: texts[2])
        }
    }

    /// Refuses what asks for the path of a URL. Browsers tell scripts that of http; nobody is told it here, so
    /// that the answer would be no, and the request would go past its proxy.
    private func checkPath(
        of text: ProxyScriptProgram.Text, _ wanted: ProxyScriptProgram.Text, isPattern: Bool = false
    ) throws(ProxyScriptViolation) {
        guard case .url = text, case .literal(let wanted) = wanted, !wanted.hasPrefix("https:")
        else { return }
        let mark = wanted.firstRange(of: "://")
        let rest = mark.map { wanted[$0.upperBound...] } ?? wanted[...]
        let path = rest.firstIndex(of: "/").map { rest[rest.index(after: $0)...] }
        let isAny = path.map { !$0.isEmpty && $0.allSatisfy { $0 == "*" } } ?? rest.hasSuffix("*")
        let scheme = mark.map { String(wanted[..<$0.lowerBound]) } ?? "*"
        guard isPattern, isAny, Self.isOfScheme(scheme), rest.utf8.allSatisfy(Self.isOfOrigin)
        else {
            throw .unsupported("a condition on the path of URLs: \(wanted.prefix(100))")
        }
    }

    /// Whether the pattern ahead of `://` may be of a scheme, and not of a URL in a query.
    private static func isOfScheme(_ pattern: String) -> Bool {
        var steps = 1 << 10
        let isAnyLength = pattern.utf8.contains(UInt8(ascii: "*"))
        return isAnyLength
            ? ["http", "https", "ftp", "ws", "wss"].contains {
                Glob.matchesShell($0, pattern, steps: &steps)
            }
            : pattern.utf8.allSatisfy {
                $0.isASCIILetter || $0.isASCIIDigit || "-.?".utf8.contains($0)
            }
    }

    /// Whether a host, a port or a pattern of them may have a byte.
    private static func isOfOrigin(_ byte: UInt8) -> Bool {
        byte.isASCIILetter || byte.isASCIIDigit || byte >= 0x80 || "-._~:/*?".utf8.contains(byte)
    }

    /// Refuses patterns that are more than globs: browsers make regular expressions of them, and read some
    /// of their marks as such.
    private static func checkPattern(
        _ pattern: ProxyScriptProgram.Text
    ) throws(ProxyScriptViolation) {
        guard case .literal(let text) = pattern,
            text.utf8.contains(where: "()[]{}|^$+\\".utf8.contains)
        else { return }
        throw .unsupported("a pattern that is a regular expression: \(text.prefix(100))")
    }

    /// With the number of their arguments.
    private static let functions = [
        "isPlainHostName": 1, "dnsDomainIs": 2, "localHostOrDomainIs": 2, "shExpMatch": 2,
        "isInNet": 3,
    ]

    // MARK: Parts

    private mutating func text() throws(ProxyScriptViolation) -> ProxyScriptProgram.Text {
        let token = current
        place += 1
        switch token.kind {
        case .text(let text): return .literal(text)
        case .word(let name):
            guard let text = names[name] else { throw .unsupported(name) }
            return text
        case .mark, .end:
            place -= 1
            throw unexpected
        }
    }

    private mutating func word() throws(ProxyScriptViolation) -> String {
        guard case .word(let name) = current.kind else { throw unexpected }
        place += 1
        return name
    }

    /// Never behind the last token, which is the end.
    private var current: ProxyScriptToken { tokens[min(place, tokens.count - 1)] }

    private var unexpected: ProxyScriptViolation {
        .unexpected(String(current.shown.prefix(40)), line: current.line)
    }

    private mutating func takes(_ word: String) -> Bool { takes(.word(word)) }

    private mutating func takes(mark: String) -> Bool { takes(.mark(mark)) }

    private mutating func takes(_ kind: ProxyScriptToken.Kind) -> Bool {
        guard current.kind == kind else { return false }
        place += 1
        return true
    }

    private mutating func expect(_ mark: String) throws(ProxyScriptViolation) {
        guard takes(mark: mark) else { throw unexpected }
    }

    private mutating func expect(word: String) throws(ProxyScriptViolation) {
        guard takes(word) else { throw unexpected }
    }

    private static let depthLimit = 256

    private mutating func deeper() throws(ProxyScriptViolation) {
        depth += 1
        guard depth <= Self.depthLimit else {
            throw .unsupported("conditions within conditions without end")
        }
    }
}
