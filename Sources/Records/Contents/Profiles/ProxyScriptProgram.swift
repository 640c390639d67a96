internal import Base

/// A proxy script (PAC) of the kind that most are: conditions on the host and the URL, and texts that
/// are returned. It has no loops and no memory, so that it ends after as many steps as it has parts.
///
/// What needs a JavaScript engine, a name server, a clock or this machine's address is refused when
/// it is read, or when its answer would depend on it: a proxy that is guessed is a wrong one.
package struct ProxyScriptProgram: Sendable {
    indirect enum Statement: Sendable {
        case result(Text)
        case choice(Condition, [Statement], otherwise: [Statement])
    }

    enum Text: Sendable {
        case literal(String)
        case host
        case url
    }

    indirect enum Condition: Sendable {
        case constant(Bool)
        case not(Condition)
        case all([Condition])
        case any([Condition])
        case equal(Text, Text)
        case plainHostName(Text)
        case domain(Text, Text)
        case localHostOrDomain(Text, Text)
        case matches(Text, pattern: Text)
        case inNetwork(Text, Text, mask: Text)
    }

    let statements: [Statement]

    /// What `FindProxyForURL` returns.
    ///
    /// - Parameters:
    ///   - url: with the path `/` alone.
    ///   - host: a name or an address, without brackets.
    package func answer(url: String, host: String) throws(ProxyScriptViolation) -> String {
        var run = Run(url: url, host: host.lowercased())
        guard let answer = try run.result(of: statements[...]) else { throw .noAnswer }
        return answer
    }

    private struct Run {
        let url: String
        let host: String
        /// What its conditions may still compare, in bytes: so that no script holds anybody up.
        var room = 1 << 20

        private static let tooMuch = ProxyScriptViolation.unsupported(
            "more conditions than can be looked at")

        mutating func result(
            of statements: ArraySlice<Statement>
        ) throws(ProxyScriptViolation) -> String? {
            for statement in statements {
                switch statement {
                case .result(let text): return value(text)
                case .choice(let condition, let then, let otherwise):
                    let chosen = try holds(condition) ? then : otherwise
                    if let answer = try result(of: chosen[...]) { return answer }
                }
            }
            return nil
        }

        private func value(_ text: Text) -> String {
            switch text {
            case .literal(let text): text
            case .host: host
            case .url: url
            }
        }

        private mutating func holds(_ condition: Condition) throws(ProxyScriptViolation) -> Bool {
            room -= 64
            guard room > 0 else { throw Self.tooMuch }
            switch condition {
            case .constant(let value): return value
            case .not(let inner): return try !holds(inner)
            case .all(let parts):
                for part in parts where try !holds(part) { return false }
                return true
            case .any(let parts):
                for part in parts where try holds(part) { return true }
                return false
            case .equal(let left, let right): return value(left) == value(right)
            // An address of IPv6 has no dot, and is none.
            case .plainHostName(let name):
                return !value(name).utf8.contains { $0 == 0x2E || $0 == 0x3A }
            case .domain(let name, let domain):
                return value(name).hasSuffix(value(domain).lowercased())
            case .localHostOrDomain(let name, let full):
                let (name, full) = (value(name), value(full).lowercased())
                return name == full
                    || !name.utf8.contains(0x2E) && full.hasPrefix("\(name).")
            case .matches(let text, let pattern):
                let isMatch = Glob.matchesShell(
                    value(text), value(pattern), steps: &room)
                guard room > 0 else { throw Self.tooMuch }
                return isMatch
            case .inNetwork(let name, let network, let mask):
                return try isInNetwork(value(name), value(network), value(mask))
            }
        }

        /// A name would have to be looked up.
        private func isInNetwork(
            _ host: String, _ network: String, _ mask: String
        ) throws(ProxyScriptViolation) -> Bool {
            guard let bits = Self.bits(host) else {
                throw .unsupported("isInNet, of a name that would have to be looked up")
            }
            guard let network = Self.bits(network), let mask = Self.bits(mask) else {
                return false
            }
            return bits & mask == network & mask
        }

        private static func bits(_ address: String) -> UInt32? {
            let parts = address.split(separator: ".", omittingEmptySubsequences: false)
            guard parts.count == 4 else { return nil }
            var result: UInt32 = 0
            for part in parts {
                guard let byte = UInt8(part), part.utf8.allSatisfy(\.isASCIIDigit) else {
                    return nil
                }
                result = result << 8 | UInt32(byte)
            }
            return result
        }
    }
}

/// Why a proxy script says nothing.
package enum ProxyScriptViolation: Error, Sendable, Equatable {
    case tooLong
    /// No part of what is read here, with its line.
    case unexpected(String, line: Int)
    /// What would need more than the script.
    case unsupported(String)
    /// It came to its end without returning anything.
    case noAnswer
    /// It returned no way that can be gone.
    case noWay(String)

    package var detail: String {
        switch self {
        case .tooLong: "it is too long"
        case .unexpected(let what, let line): "line \(line): \(what) is not understood"
        case .unsupported(let what): "it uses \(what)"
        case .noAnswer: "it returns nothing"
        case .noWay(let answer): "it returns no proxy that can be used: \(answer.prefix(100))"
        }
    }
}
