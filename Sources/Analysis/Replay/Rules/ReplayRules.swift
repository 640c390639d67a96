package import Base

/// What counts when two messages are compared, and what is carried over: a file of lines, to be
/// reviewed and kept beside the tests.
///
/// ```
/// # made up by the client for each request
/// ignore query nonce
/// ignore body $.sentAt
/// match header accept-language
/// ignore at shop.example/orders/* response body $.total
/// substitute query callback
/// ignore response header date
/// ```
package struct ReplayRules: Sendable, Equatable {
    package var rules: [ReplayRule] = []
    /// What all paths are called that are ignored, where rules are those of one place.
    package private(set) var pathName = "*"

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
            let first = line.unicodeScalars.first { !ReplayRule.isSpace($0) }
            guard let first, first != "#" else { continue }
            guard let rule = ReplayRule(line: line) else {
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

    /// Whether some hold at some places only, so that `at` has to choose.
    package var haveScopes: Bool { rules.contains { $0.scope != nil } }

    /// The rules that hold for a message: those without a scope, and those whose scope covers one of
    /// the places that it has.
    package func at(_ places: [(authority: String, path: String)]) -> ReplayRules {
        guard haveScopes else { return self }
        var result = ReplayRules()
        for rule in rules {
            guard let scope = rule.scope else {
                result.rules.append(rule)
                continue
            }
            guard places.contains(where: { scope.covers($0.authority, $0.path) }) else { continue }
            result.rules.append(ReplayRule(rule.action, rule.side, rule.part))
            if rule.part == .path, !scope.path.isEmpty { result.pathName = scope.path }
        }
        return result
    }

    /// Whether a part of a message counts for nothing. A rule with a scope does not count here.
    package func ignores(_ side: ReplayRule.Side, _ part: MessagePart) -> Bool {
        rules.contains { rule in
            rule.action != .match && rule.side == side && rule.covers(part)
        }
    }

    /// Whether contents count for nothing, whatever they are: `ignore body *`.
    package func ignoresContents(_ side: ReplayRule.Side) -> Bool {
        rules.contains { rule in
            guard case .body(let pattern) = rule.part, rule.action != .match, rule.side == side,
                rule.scope == nil
            else { return false }
            return !pattern.isEmpty && pattern.utf8.allSatisfy { $0 == 0x2A }
        }
    }

    /// Whether a header counts that does not by default.
    package func matches(header name: String) -> Bool {
        rules.contains { $0.action == .match && $0.covers(.header(name)) }
    }

    /// The rules of one action.
    package func of(_ action: ReplayRule.Action) -> [ReplayRule] {
        rules.filter { $0.action == action && $0.scope == nil }
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
    /// The part's kind, with a pattern for its name as `Glob` has them; the empty pattern stands for
    /// the empty name alone, which is that of a content without pieces.
    package let part: MessagePart
    /// `nil` for everywhere.
    package let scope: RuleScope?

    package init(
        _ action: Action, _ side: Side = .request, _ part: MessagePart, at scope: RuleScope? = nil
    ) {
        self.action = action
        self.side = side
        self.part = part
        self.scope = scope
    }

    /// Whether it names this part of any message.
    package func covers(_ other: MessagePart) -> Bool {
        guard scope == nil else { return false }
        return switch (part, other) {
        case (.query(let pattern), .query(let name)), (.header(let pattern), .header(let name)),
            (.body(let pattern), .body(let name)), (.trailer(let pattern), .trailer(let name)):
            Glob.matches(name, pattern)
        default: part == other
        }
    }
}
