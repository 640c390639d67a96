internal import Base
internal import HTTPServer

/// What is wrong with the text of a fault.
package struct FaultViolation: Error, Sendable, Equatable {
    package let detail: String
    package let hint: String?

    init(_ detail: String, hint: String? = nil) {
        self.detail = detail
        self.hint = hint
    }
}

/// The arguments of one fault, taken from the first to the last.
struct FaultArguments {
    private let verb: String
    private let usage: String
    private var rest: ArraySlice<String>

    init(verb: String, usage: String, _ texts: ArraySlice<String>) {
        self.verb = verb
        self.usage = usage
        rest = texts
    }

    /// The next one; `nil` behind the last.
    mutating func next() -> String? { rest.popFirst() }

    mutating func finish() throws(FaultViolation) {
        if let text = rest.first { throw invalid("has no use for '\(text)'") }
    }

    private func invalid(_ what: String) -> FaultViolation {
        FaultViolation("\(verb) \(what)", hint: "it is written '\(usage)'")
    }

    mutating func text(_ noun: String) throws(FaultViolation) -> String {
        guard let text = next(), !text.isEmpty else { throw invalid("needs \(noun)") }
        return text
    }

    mutating func offset(_ standard: FaultOffset? = nil) throws(FaultViolation) -> FaultOffset {
        if rest.isEmpty, let standard { return standard }
        let text = try text("an offset")
        if text == "any" { return .drawn }
        if text == "head" { return .head }
        if text.last == "%", let share = decimal([UInt8](text.dropLast().utf8)), share <= 100 {
            return .share(share * 10)
        }
        guard let count = Quantity.byteCount(text), count >= 0 else {
            throw invalid("takes no offset '\(text)'")
        }
        return .byte(UInt64(count))
    }

    mutating func ending() throws(FaultViolation) -> Delivery.Ending {
        switch try word(of: ["fin", "truncate", "rst"]) {
        case "rst": .reset
        case "truncate": .truncate
        default: .finish
        }
    }

    mutating func byteCount(_ noun: String) throws(FaultViolation) -> UInt64 {
        let text = try text(noun)
        guard let count = Quantity.byteCount(text), count > 0 else {
            throw invalid("takes no \(noun) '\(text)'")
        }
        return UInt64(count)
    }

    /// Bytes with a sign: `+16`, `-1k`.
    mutating func signedByteCount() throws(FaultViolation) -> Int64 {
        let text = try text("a number of bytes with its sign")
        let isNegative = text.first == "-"
        let digits = text.first == "+" || isNegative ? String(text.dropFirst()) : text
        guard let count = Quantity.byteCount(digits), count != 0 else {
            throw invalid("takes no number of bytes '\(text)'")
        }
        return isNegative ? -count : count
    }

    mutating func milliseconds() throws(FaultViolation) -> UInt64 {
        let text = try text("a time")
        return try milliseconds(text)
    }

    /// A time; `nil` if there is none.
    mutating func optionalMilliseconds() throws(FaultViolation) -> UInt64? {
        guard let text = next() else { return nil }
        return try milliseconds(text)
    }

    private func milliseconds(_ text: String) throws(FaultViolation) -> UInt64 {
        guard let time = Quantity.microseconds(text), time <= Self.timeLimit else {
            throw invalid("takes no time '\(text)'")
        }
        return UInt64(time / 1000)
    }

    mutating func number(
        _ noun: String, in range: ClosedRange<UInt64>
    ) throws(FaultViolation) -> UInt64 {
        let text = try text(noun)
        guard let number = decimal([UInt8](text.utf8)), range.contains(number) else {
            throw invalid("takes no \(noun) '\(text)'")
        }
        return number
    }

    mutating func optionalNumber(
        _ noun: String, in range: ClosedRange<UInt64>
    ) throws(FaultViolation) -> UInt64? {
        rest.isEmpty ? nil : try number(noun, in: range)
    }

    /// One of these words; `nil` for none if there is no argument left.
    mutating func word(of words: [String]) throws(FaultViolation) -> String? {
        guard let text = next() else { return nil }
        guard words.contains(text) else {
            let near = NearestName.find(text, among: words)
            throw invalid(
                "knows no '\(text)'" + (near.map { "; did you mean '\($0)'?" } ?? ""))
        }
        return text
    }

    /// In microseconds: an hour.
    private static let timeLimit: Int64 = 3_600_000_000
}
