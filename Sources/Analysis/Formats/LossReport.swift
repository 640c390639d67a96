package import Base

/// Something that a conversion may be unable to keep.
package struct LossKind: Sendable, Hashable {
    /// Stable, such as `secrets-masked`.
    package let code: String
    /// What it means, in words for a person.
    package let meaning: String

    package init(_ code: String, _ meaning: String) {
        self.code = code
        self.meaning = meaning
    }
}

/// What a conversion did not keep: each kind with how often it happened, and one example.
package struct LossReport: Sendable, Equatable {
    package struct Loss: Sendable, Equatable {
        package let kind: LossKind
        package fileprivate(set) var count: Int64
        /// Where it happened first.
        package let example: String
    }

    /// In the order in which the kinds were first met.
    package private(set) var losses: [Loss] = []

    package init() {}

    /// Counts one; the example is made for the first of its kind only.
    package mutating func note(_ kind: LossKind, _ example: @autoclosure () -> String) {
        if let index = losses.firstIndex(where: { $0.kind == kind }) {
            losses[index].count += 1
        } else {
            losses.append(Loss(kind: kind, count: 1, example: example()))
        }
    }

    package func count(of kind: LossKind) -> Int64 {
        losses.first { $0.kind == kind }?.count ?? 0
    }

    /// A line for each kind, such as `3 times: secrets are shown as ***, as in exchange 7`.
    package var lines: [String] {
        losses.map { loss in
            let times = loss.count == 1 ? "once" : "\(loss.count) times"
            return "\(times): \(loss.kind.meaning), as in \(loss.example)"
        }
    }

    package var json: JSONText {
        .array(
            losses.map { loss in
                [
                    "code": .string(loss.kind.code),
                    "count": .integer(loss.count),
                    "meaning": .string(loss.kind.meaning),
                    "example": .string(loss.example),
                ]
            })
    }
}
