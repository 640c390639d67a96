internal import Base

/// A condition on exchanges or connections, such as `host=*.example.com and status>=400`.
package indirect enum Filter: Equatable {
    case all([Filter])
    case any([Filter])
    case not(Filter)
    case test(Test)

    package struct Test: Equatable {
        package let field: FilterField
        package let condition: Condition
    }

    package enum Condition: Equatable {
        /// Some value matches the pattern, in which `*` stands for anything.
        case matches(String)
        /// No value matches the pattern.
        case differs(String)
        case contains(String)
        case isPresent
        case compares(Comparison, Int64)
        /// The first digit of a status.
        case hasClass(Int64)
        case lacksClass(Int64)
    }

    package enum Comparison: String, CaseIterable {
        case equal = "="
        case notEqual = "!="
        case less = "<"
        case lessOrEqual = "<="
        case greater = ">"
        case greaterOrEqual = ">="

        func holds(_ left: Int64, _ right: Int64) -> Bool {
            switch self {
            case .equal: left == right
            case .notEqual: left != right
            case .less: left < right
            case .lessOrEqual: left <= right
            case .greater: left > right
            case .greaterOrEqual: left >= right
            }
        }
    }

    /// Whether the condition holds. A missing value satisfies `!=` and nothing else.
    package func accepts(_ subject: some FilterSubject) -> Bool {
        switch self {
        case .all(let filters): filters.allSatisfy { $0.accepts(subject) }
        case .any(let filters): filters.contains { $0.accepts(subject) }
        case .not(let filter): !filter.accepts(subject)
        case .test(let test): test.accepts(subject)
        }
    }
}

extension Filter.Test {
    fileprivate func accepts(_ subject: some FilterSubject) -> Bool {
        switch condition {
        case .matches(let pattern):
            subject.texts(of: field).contains { matches($0, pattern: pattern) }
        case .differs(let pattern):
            !subject.texts(of: field).contains { matches($0, pattern: pattern) }
        case .contains(let part):
            subject.texts(of: field).contains { matches($0, pattern: part, isPart: true) }
        case .isPresent: !subject.texts(of: field).isEmpty
        case .compares(let comparison, let wanted):
            subject.number(of: field).map { comparison.holds($0, wanted) }
                ?? (comparison == .notEqual)
        case .hasClass(let digit): subject.number(of: field).map { $0 / 100 == digit } ?? false
        case .lacksClass(let digit): subject.number(of: field).map { $0 / 100 != digit } ?? true
        }
    }
}

/// Compares without the case of ASCII letters.
///
/// - Parameter isPart: whether the pattern is literal and may stand anywhere; otherwise it is for
///   the whole text, and its `*` stands for any number of bytes.
/// - Complexity: the product of both lengths at worst, where the pattern is the user's own.
private func matches(_ text: String, pattern: String, isPart: Bool = false) -> Bool {
    let text = text.utf8.map(\.asciiLowercased)
    let pattern = pattern.utf8.map(\.asciiLowercased)
    guard !isPart else { return contains(text, pattern) }
    var (place, index) = (0, 0)
    // Where to go on if the last star has to take one byte more.
    var retry: (pattern: Int, text: Int)?
    while place < text.count {
        if index < pattern.count, pattern[index] == UInt8(ascii: "*") {
            retry = (index, place)
            index += 1
        } else if index < pattern.count, pattern[index] == text[place] {
            index += 1
            place += 1
        } else if let last = retry {
            retry = (last.pattern, last.text + 1)
            (index, place) = (last.pattern + 1, last.text + 1)
        } else {
            return false
        }
    }
    return pattern[index...].allSatisfy { $0 == UInt8(ascii: "*") }
}

private func contains(_ text: [UInt8], _ part: [UInt8]) -> Bool {
    guard part.count <= text.count else { return false }
    return (0...(text.count - part.count)).contains { text[$0...].starts(with: part) }
}
