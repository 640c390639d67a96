/// A pattern as a tree, over bytes.
indirect enum PatternNode: Equatable, Sendable {
    case byte(ByteSet)
    case sequence([PatternNode])
    case choice([PatternNode])
    /// - Parameter most: `nil` for any number.
    case repeated(PatternNode, least: Int, most: Int?)
    case assertion(Assertion)

    /// What must hold between two bytes.
    enum Assertion: Equatable, Sendable {
        case textStart
        case textEnd
        case lineStart
        case lineEnd
        case wordBoundary
        case noWordBoundary
    }

    static let empty = PatternNode.sequence([])
    /// Any number of any bytes.
    static let anything = PatternNode.repeated(.byte(.all), least: 0, most: nil)

    /// One of these bytes, or a whole character of UTF-8 that is not ASCII.
    static func orBeyondASCII(_ bytes: ByteSet) -> PatternNode {
        .sequence([
            .byte(bytes.union(.leads)),
            .repeated(.byte(.continuations), least: 0, most: nil),
        ])
    }

    /// Text as it is.
    static func literal(_ bytes: some Sequence<UInt8>, ignoresCase: Bool) -> PatternNode {
        .sequence(
            bytes.map { byte in
                let set = ByteSet(byte...byte)
                return .byte(ignoresCase ? set.ignoringCase : set)
            })
    }

    /// The whole of a text, in which `*` stands for any number of bytes.
    static func glob(_ text: String) -> PatternNode {
        var parts: [PatternNode] = [.assertion(.textStart)]
        for byte in text.utf8 {
            if byte != UInt8(ascii: "*") {
                parts.append(.byte(ByteSet(byte...byte).ignoringCase))
            } else if parts.last != .anything {
                parts.append(.anything)
            }
        }
        return .sequence(parts + [.assertion(.textEnd)])
    }

    /// Whether it can only match at the start of a text.
    var isAnchored: Bool {
        switch self {
        case .assertion(let assertion): assertion == .textStart
        case .sequence(let parts): parts.first?.isAnchored ?? false
        case .choice(let parts): parts.allSatisfy(\.isAnchored)
        case .byte, .repeated: false
        }
    }
}
