package import Base

/// What counts when two messages are compared, and what is carried over: a file of lines, to be
/// reviewed and kept beside the tests.
///
/// ```
/// # made up by the client for each request
/// ignore query nonce
/// ignore body $.sentAt
/// match header accept-language
/// substitute query callback
/// ignore response header date
/// ```
package struct ReplayRules: Sendable, Equatable {
    package var rules: [ReplayRule] = []

    package init(_ rules: [ReplayRule] = []) {
        self.rules = rules
    }

    /// Reads a file's text.
    ///
    /// Errors: `rules-malformed`, with the line's number.
    package init(text: String) throws(Failure) {
        for (index, line) in text.split(
            omittingEmptySubsequences: false, whereSeparator: \.isNewline
        ).enumerated() {
            let words = line.split(whereSeparator: { $0 == " " || $0 == "\t" })
            guard let first = words.first, !first.hasPrefix("#") else { continue }
            guard let rule = ReplayRule(words) else {
                throw Failure(
                    "rules-malformed", party: .tool,
                    "line \(index + 1) is no rule: \(line.prefix(200))",
                    hint: "write it like 'ignore query nonce', 'match header accept',"
                        + " 'ignore response body $.time' or 'substitute body $.id'")
            }
            rules.append(rule)
        }
    }

    /// The file's text.
    package var text: String { rules.map { $0.text + "\n" }.joined() }

    /// Whether a part of a message counts for nothing.
    package func ignores(_ side: ReplayRule.Side, _ part: MessagePart) -> Bool {
        rules.contains { rule in
            rule.action != .match && rule.side == side && rule.covers(part)
        }
    }

    /// Whether a header counts that does not by default.
    package func matches(header name: String) -> Bool {
        rules.contains { $0.action == .match && $0.covers(.header(name)) }
    }

    /// The rules of one action.
    package func of(_ action: ReplayRule.Action) -> [ReplayRule] {
        rules.filter { $0.action == action }
    }
}

/// A part of a message that a rule can name.
package enum MessagePart: Sendable, Hashable, Comparable {
    case method
    case authority
    case path
    /// By the name of a parameter.
    case query(String)
    /// By the name in lower case.
    case header(String)
    /// By the path of `BodyForm`; empty for a content that has no pieces.
    case body(String)
    case status
    case trailer(String)

    /// Such as `query page`.
    package var text: String {
        switch self {
        case .method: "method"
        case .authority: "authority"
        case .path: "path"
        case .query(let name): "query \(name)"
        case .header(let name): "header \(name)"
        case .body(let path): path.isEmpty ? "body" : "body \(path)"
        case .status: "status"
        case .trailer(let name): "trailer \(name)"
        }
    }
}

/// One line of the rules.
package struct ReplayRule: Sendable, Hashable {
    package enum Action: String, Sendable, CaseIterable {
        /// Does not count when messages are compared.
        case ignore
        /// Counts, although it would not by default.
        case match
        /// Does not count in requests, and the recorded value becomes the request's own wherever
        /// the recorded response has it.
        case substitute
    }

    package enum Side: String, Sendable, CaseIterable {
        case request
        case response
    }

    package let action: Action
    package let side: Side
    /// The part's kind, with a pattern for its name in which `*` stands for any run of characters.
    package let part: MessagePart

    package init(_ action: Action, _ side: Side = .request, _ part: MessagePart) {
        self.action = action
        self.side = side
        self.part = part
    }

    /// Reads the words of a line.
    init?(_ words: [Substring]) {
        var words = words[...]
        guard let action = words.popFirst().flatMap({ Action(rawValue: String($0)) }) else {
            return nil
        }
        var side = Side.request
        if let word = words.first, let named = Side(rawValue: String(word)) {
            side = named
            words.removeFirst()
        }
        let kind = words.popFirst()
        let name = words.joined(separator: " ")
        guard let part = Self.part(kind, name) else { return nil }
        if action != .ignore, side == .response { return nil }
        if action == .match { guard case .header = part else { return nil } }
        self.init(action, side, part)
    }

    private static func part(_ kind: Substring?, _ name: String) -> MessagePart? {
        switch kind {
        case "method" where name.isEmpty: .method
        case "authority" where name.isEmpty: .authority
        case "path" where name.isEmpty: .path
        case "status" where name.isEmpty: .status
        case "body": .body(name.isEmpty ? "*" : name)
        case "query" where !name.isEmpty: .query(name)
        case "header" where !name.isEmpty: .header(name.lowercased())
        case "trailer" where !name.isEmpty: .trailer(name.lowercased())
        default: nil
        }
    }

    /// As it stands in a file.
    package var text: String {
        let side = side == .response ? "response " : ""
        return "\(action.rawValue) \(side)\(part.text)"
    }

    /// Whether it names this part of a message.
    package func covers(_ other: MessagePart) -> Bool {
        switch (part, other) {
        case (.query(let pattern), .query(let name)), (.header(let pattern), .header(let name)),
            (.body(let pattern), .body(let name)), (.trailer(let pattern), .trailer(let name)):
            Glob.matches(name, pattern)
        default: part == other
        }
    }
}

/// Patterns in which `*` stands for any run of characters, an empty one too.
enum Glob {
    static func matches(_ text: String, _ pattern: String) -> Bool {
        guard pattern.utf8.contains(0x2A) else { return text == pattern }
        let (text, pattern) = (Array(text.utf8), Array(pattern.utf8))
        var (place, at) = (0, 0)
        // Where the last star stands, and how far it reaches.
        var star: (pattern: Int, text: Int)?
        while place < text.count {
            if at < pattern.count, pattern[at] == 0x2A {
                star = (at, place)
                at += 1
            } else if at < pattern.count, pattern[at] == text[place] {
                at += 1
                place += 1
            } else if let last = star {
                star = (last.pattern, last.text + 1)
                at = last.pattern + 1
                place = last.text + 1
            } else {
                return false
            }
        }
        return pattern[at...].allSatisfy { $0 == 0x2A }
    }
}
