internal import Base
internal import Redaction
package import Traffic

/// One way in which two exchanges differ.
package struct Difference: Sendable, Equatable {
    package enum Side: String, Sendable {
        /// What belongs to the exchange as a whole: its authority, its error.
        case exchange
        case request
        case response
    }

    /// What was compared; the words are stable.
    package enum Kind: String, Sendable {
        case authority
        case path
        case query
        case status
        case outcome
        /// The version of HTTP that the client spoke.
        case version
        case interim
        case field
        case trailer
        case json
        case form
        case text
        case binary
        /// A whole message, or what goes with its content: an event's type, a close's code.
        case message
    }

    package enum Change: String, Sendable {
        case added
        case removed
        case changed
        /// The same, in another place.
        case moved
    }

    package let side: Side
    package let kind: Kind
    /// What exactly: the name of a field, the path into JSON, the lines of a text; may be empty.
    package let path: String
    package let change: Change
    /// As it may be shown, with secrets masked unless they were asked for; `nil` if there is none.
    package let left: String?
    package let right: String?
    /// How many bytes are masked on each side, where that is all that differs.
    package var maskedCounts: [Int]?
    /// Whether it is worth knowing and does not make the exchanges different: an order, a framing.
    package var isNote = false
    /// Which message of its direction it is in, from 1, on the left if it is there; `nil` for what
    /// is in none.
    package var message: Int?

    package init(
        _ side: Side, _ kind: Kind, _ path: String = "", _ change: Change, left: String?,
        right: String?, isNote: Bool = false
    ) {
        self.side = side
        self.kind = kind
        self.path = path
        self.change = change
        self.left = left
        self.right = right
        self.isNote = isNote
    }

    /// A difference between two values, of which at least one is there.
    ///
    /// - Parameter recorded: how long both are as they were recorded, in bytes.
    init(
        _ side: Side, _ kind: Kind, _ path: String = "", from left: String?, to right: String?,
        recorded: (left: Int, right: Int)? = nil, isNote: Bool = false
    ) {
        let change: Change = left == nil ? .added : right == nil ? .removed : .changed
        self.init(side, kind, path, change, left: left, right: right, isNote: isNote)
        guard isMasked, let recorded, let left, !left.hasSuffix("…") else { return }
        let shown = left.utf8.count
        let marks = left.split(separator: redactionMark.text, omittingEmptySubsequences: false)
        let hidden = (marks.count - 1) * redactionMark.count
        maskedCounts = [recorded.left, recorded.right].map { max(0, $0 - shown + hidden) }
    }

    /// Whether what differs is masked, so that both sides look the same.
    package var isMasked: Bool { change == .changed && left == right }
}

extension Difference.Side {
    package init(_ direction: Traffic.Direction) {
        self = direction == .request ? .request : .response
    }
}

/// Cuts what is shown of a value: a report tells where to look, the capture has the rest.
func shownText(_ bytes: some Collection<UInt8>) -> String {
    let start = Array(bytes.prefix(shownByteLimit))
    let isCut = bytes.count > shownByteLimit
    guard let text = PrintableText(start, isWhole: !isCut)?.text else {
        return "\(bytes.count) bytes, hexadecimal \(start.prefix(32).hex)"
            + (bytes.count > 32 ? "…" : "")
    }
    return isCut ? text + "…" : text
}

/// Cuts text that is text whatever it holds, such as a URL: who writes it makes it harmless.
func shownLine(_ bytes: some Collection<UInt8>) -> String {
    bytes.prefix(shownByteLimit).text + (bytes.count > shownByteLimit ? "…" : "")
}

/// In bytes.
private let shownByteLimit = 400
