/// An operation that failed, told so that a person knows what to do and a program can branch.
///
/// This is the second of the three kinds of error: not a peer that broke the protocol (a
/// `Violation`), and not a bug of ours (a precondition).
package struct Failure: Error, Sendable, Equatable, CustomStringConvertible {
    /// Who has to act.
    package enum Party: String, Sendable {
        case client
        case origin
        case tool
    }

    /// A stable word that programs may compare, such as `origin-certificate`.
    package let code: String
    package let party: Party
    /// What happened, for people only: lower case, no full stop, names the thing.
    package let detail: String
    /// What to do next, where that is known.
    package let hint: String?
    /// Whether it is known that the same would fail again, although others of this code may pass.
    package let isLasting: Bool

    package init(
        _ code: String, party: Party, _ detail: String, hint: String? = nil, isLasting: Bool = false
    ) {
        self.code = code
        self.party = party
        self.detail = detail
        self.hint = hint
        self.isLasting = isLasting
    }

    package var description: String { detail }
}
