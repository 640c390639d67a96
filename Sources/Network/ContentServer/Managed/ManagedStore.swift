internal import Base
internal import Contents

/// What a management server has for one app, and what the app tells it: counts and short texts.
struct ManagedApp: Equatable {
    /// A JSON object in its canonical form; `nil` while there is none.
    private(set) var configuration: [UInt8]?
    /// Counted from 1, with every change.
    private(set) var version: UInt64 = 0
    private(set) var feedback: [String: FeedbackValue] = [:]
    /// When its licence was revoked, in seconds since 1970; `nil` while it was not.
    var revokedAt: Int64?

    /// For how long it may run on once its licence is revoked, in seconds: 30 days.
    static let grace: Int64 = 30 * 86_400

    enum FeedbackValue: Equatable {
        case count(Int64)
        case text([UInt8])

        var json: JSONText {
            switch self {
            case .count(let count): .integer(count)
            case .text(let text): .bytes(text)
            }
        }
    }

    mutating func configure(_ object: [UInt8]?) {
        configuration = object
        version += 1
    }

    /// Adds numbers to what was told before, and puts texts in its place: all of it, or nothing.
    ///
    /// - Returns: whether there was room, and nothing but numbers and texts.
    mutating func tell(_ document: JSONDocument) -> Bool {
        guard document[JSONDocument.root].kind == .object else { return false }
        var told = feedback
        for member in document.members(of: JSONDocument.root) {
            let name = document.key(of: member.name)
            let bytes = [UInt8](document.key(of: member.value))
            guard name.count <= Self.textLimit, bytes.count <= Self.textLimit else { return false }
            switch document[member.value].kind {
            case .number:
                guard let number = Int64(bytes.text) else { return false }
                var before: Int64 = 0
                if case .count(let count)? = told[name.text] { before = count }
                let (sum, overflow) = before.addingReportingOverflow(number)
                guard !overflow else { return false }
                told[name.text] = .count(sum)
            case .string: told[name.text] = .text(bytes)
            default: return false
            }
        }
        guard told.count <= Self.keyLimit else { return false }
        feedback = told
        return true
    }

    /// Takes what was told, which is then no longer there.
    mutating func takeFeedback() -> [String: FeedbackValue] {
        defer { feedback = [:] }
        return feedback
    }

    private static let keyLimit = 256
    /// Of a name and of a text, in bytes.
    private static let textLimit = 256
}
