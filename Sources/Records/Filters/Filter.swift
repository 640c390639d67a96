internal import Base

/// A condition on records, such as `host=*.example.com and status>=400`.
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
        /// Some value matches.
        case matches(TextPattern)
        /// No value matches.
        case differs(TextPattern)
        case isPresent
        /// Some number compares so; for `!=`, none is equal.
        case compares(Comparison, Int64)
        /// The first digit of a status.
        case hasClass(Int64)
        case lacksClass(Int64)
        /// How a moment lies to a span of time.
        case lies(Comparison, TimeSpan)
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
    ///
    /// Errors: those of the subject, where it has to read what it is asked for.
    package func accepts(_ subject: some FilterSubject) throws -> Bool {
        switch self {
        case .all(let filters): try filters.allSatisfy { try $0.accepts(subject) }
        case .any(let filters): try filters.contains { try $0.accepts(subject) }
        case .not(let filter): try !filter.accepts(subject)
        case .test(let test): try test.accepts(subject)
        }
    }

    /// The same filter, which asks for what is cheap to know first, so that contents are read only
    /// where they decide.
    var cheapestFirst: Filter {
        switch self {
        case .all(let filters): .all(Self.sorted(filters))
        case .any(let filters): .any(Self.sorted(filters))
        case .not(let filter): .not(filter.cheapestFirst)
        case .test: self
        }
    }

    private static func sorted(_ filters: [Filter]) -> [Filter] {
        let priced = filters.map(\.cheapestFirst).enumerated().map { place, filter in
            (filter: filter, cost: filter.cost, place: place)
        }
        return priced.sorted { ($0.cost.rawValue, $0.place) < ($1.cost.rawValue, $1.place) }
            .map(\.filter)
    }

    /// What the most expensive of its fields costs.
    package var cost: FilterField.Cost {
        switch self {
        case .all(let filters), .any(let filters):
            filters.map(\.cost).max { $0.rawValue < $1.rawValue } ?? .record
        case .not(let filter): filter.cost
        case .test(let test): test.field.cost
        }
    }

    /// Whether some condition is about a field of that cost.
    package func asks(for cost: FilterField.Cost) -> Bool {
        switch self {
        case .all(let filters), .any(let filters): filters.contains { $0.asks(for: cost) }
        case .not(let filter): filter.asks(for: cost)
        case .test(let test): test.field.cost == cost
        }
    }
}

extension Filter.Test {
    fileprivate func accepts(_ subject: some FilterSubject) throws -> Bool {
        switch condition {
        case .matches(let pattern): try hasMatch(pattern, subject)
        case .differs(let pattern): try !hasMatch(pattern, subject)
        case .isPresent: try isPresent(subject)
        case .compares(.notEqual, let unwanted):
            try !subject.numbers(of: field).contains(unwanted)
        case .compares(let comparison, let wanted):
            try subject.numbers(of: field).contains { comparison.holds($0, wanted) }
        case .hasClass(let digit): try subject.numbers(of: field).contains { $0 / 100 == digit }
        case .lacksClass(let digit): try !subject.numbers(of: field).contains { $0 / 100 == digit }
        case .lies(.notEqual, let span): try !subject.numbers(of: field).contains(where: span.holds)
        case .lies(let comparison, let span):
            try subject.numbers(of: field).contains { span.compares($0, comparison) }
        }
    }

    private func hasMatch(_ pattern: TextPattern, _ subject: some FilterSubject) throws -> Bool {
        guard field.cost == .content else {
            return try subject.texts(of: field).contains { pattern.matches($0) }
        }
        for direction in field.directions {
            var isEmpty = true
            let isMatch = try pattern.matches { take in
                try subject.content(direction) { bytes in
                    if !bytes.isEmpty { isEmpty = false }
                    return take(bytes)
                }
            }
            if isMatch, !isEmpty { return true }
        }
        return false
    }

    private func isPresent(_ subject: some FilterSubject) throws -> Bool {
        guard field.cost == .content else {
            return try field.kind == .text
                ? !subject.texts(of: field).isEmpty : !subject.numbers(of: field).isEmpty
        }
        var isEmpty = true
        for direction in field.directions where isEmpty {
            try subject.content(direction) { bytes in
                isEmpty = isEmpty && bytes.isEmpty
                return isEmpty
            }
        }
        return !isEmpty
    }
}
