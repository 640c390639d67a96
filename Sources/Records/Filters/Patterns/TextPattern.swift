internal import Base

/// A pattern for text, without regard to the case of ASCII letters unless it says otherwise.
///
/// Not `Sendable`: it remembers what it met, so that it gets faster.
package final class TextPattern: Equatable {
    package enum Kind: Sendable {
        /// For the whole text; `*` stands for anything.
        case glob
        /// Found anywhere, as it is.
        case part
        /// A regular expression, found anywhere.
        case expression
    }

    package let text: String
    package let kind: Kind
    private let matcher: PatternMatcher

    /// Errors: what is wrong with a regular expression, or a pattern that is too large.
    init(_ text: String, _ kind: Kind) throws(PatternViolation) {
        self.text = text
        self.kind = kind
        let node =
            switch kind {
            case .glob: PatternNode.glob(text)
            case .part: PatternNode.literal(text.utf8, ignoresCase: true)
            case .expression: try PatternReader.read(text)
            }
        matcher = PatternMatcher(try PatternProgram(node))
    }

    package func matches(_ bytes: ArraySlice<UInt8>) -> Bool {
        matcher.begin()
        _ = matcher.push(bytes.span)
        return matcher.finish()
    }

    /// Looks at a text that comes in pieces.
    ///
    /// - Parameter visit: calls what it is given with each piece, until that returns false.
    func matches(_ visit: (_ take: (ArraySlice<UInt8>) -> Bool) throws -> Void) rethrows -> Bool {
        matcher.begin()
        try visit { !matcher.push($0.span) }
        return matcher.finish()
    }

    package static func == (left: TextPattern, right: TextPattern) -> Bool {
        left.kind == right.kind && left.text == right.text
    }
}
