package import Base
internal import Redaction

/// How the text of one value is read, and what help calls it.
package struct ValueSyntax<Value> {
    /// Such as `FILE`.
    let placeholder: String
    /// The accepted words, where there are few.
    let choices: [String]
    /// Whether the value is the path of a file or folder.
    let isPath: Bool
    /// Reads the text; the failure says what would be accepted.
    package let read: (String) throws(UsageFailure) -> Value

    package init(
        _ placeholder: String, choices: [String] = [], isPath: Bool = false,
        read: @escaping (String) throws(UsageFailure) -> Value
    ) {
        self.placeholder = placeholder
        self.choices = choices
        self.isPath = isPath
        self.read = read
    }

    /// Builds a syntax out of a function that returns `nil` for what it does not accept.
    package static func reading(
        _ placeholder: String, wanted: String, hint: String? = nil,
        _ read: @escaping (String) -> Value?
    ) -> ValueSyntax {
        ValueSyntax(placeholder) { text throws(UsageFailure) in
            guard let value = read(text) else {
                // A password in a URL, say, is not for the log of whoever runs it.
                let shown = text.contains("://") ? URLRedaction.redact(text) : text
                throw UsageFailure("\(wanted) is needed, not '\(shown)'", hint: hint)
            }
            return value
        }
    }
}

extension ValueSyntax where Value == String {
    /// Any text.
    package static func text(_ placeholder: String) -> ValueSyntax {
        ValueSyntax(placeholder) { text throws(UsageFailure) in text }
    }

    /// A name of letters, digits and hyphens between dots.
    package static var domainName: ValueSyntax {
        .reading("DOMAIN", wanted: "a domain such as sallyport.test") { text in
            let labels = text.utf8.split(separator: 0x2E, omittingEmptySubsequences: false)
            let isDomain =
                text.utf8.count <= 200
                && labels.allSatisfy { label in
                    (1...63).contains(label.count) && label.first != 0x2D && label.last != 0x2D
                        && label.allSatisfy { $0.isASCIILetter || $0.isASCIIDigit || $0 == 0x2D }
                }
            return isDomain ? text : nil
        }
    }

    /// A path, which cannot be empty.
    package static func path(_ placeholder: String) -> ValueSyntax {
        ValueSyntax(placeholder, isPath: true) { text throws(UsageFailure) in
            guard !text.isEmpty else { throw UsageFailure("a path is needed, not ''") }
            return text
        }
    }
}

extension ValueSyntax where Value == HostPort {
    package static var hostPort: ValueSyntax<HostPort> {
        .reading(
            "HOST:PORT", wanted: "a host and a port",
            hint: "write it like 127.0.0.1:8080, [::1]:8080, or 127.0.0.1:0 for any free port",
            HostPort.init)
    }
}

extension ValueSyntax where Value == Int64 {
    /// A number from `least` on.
    package static func count(from least: Int64 = 0) -> ValueSyntax {
        .reading("N", wanted: "a number from \(least)") { text in
            guard text.utf8.allSatisfy(\.isASCIIDigit), let number = Int64(text), number >= least
            else { return nil }
            return number
        }
    }

    /// The number of a record.
    package static func id(_ placeholder: String) -> ValueSyntax {
        ValueSyntax(placeholder) { text throws(UsageFailure) in
            guard text.utf8.allSatisfy(\.isASCIIDigit), let id = Int64(text) else {
                throw UsageFailure("a number is needed, not '\(text)'")
            }
            return id
        }
    }

    /// A size in bytes.
    package static var byteCount: ValueSyntax {
        .reading(
            "BYTES", wanted: "a size",
            hint: "write it like 512, 64k, 1.5m or 2g; a unit counts by 1024",
            Quantity.byteCount)
    }

    package static func byteCount(_ range: ClosedRange<Int64>) -> ValueSyntax {
        let ends = [range.lowerBound, range.upperBound].map { Quantity.text(byteCount: $0) }
        return .reading(
            "BYTES", wanted: "a size from \(ends[0]) to \(ends[1])",
            hint: "write it like 64k or 2m; a unit counts by 1024"
        ) { text in
            Quantity.byteCount(text).flatMap { range.contains($0) ? $0 : nil }
        }
    }
}

extension ValueSyntax where Value == Duration {
    package static var duration: ValueSyntax {
        .reading(
            "DURATION", wanted: "a duration", hint: "write it like 500ms, 10s, 2m or 1h"
        ) { text in
            Quantity.microseconds(text).map { .microseconds($0) }
        }
    }
}

extension ValueSyntax
where Value: CaseIterable & RawRepresentable, Value.RawValue == String {
    /// One of the words that the cases of `Value` stand for, in any case.
    package static func choice(_ placeholder: String) -> ValueSyntax {
        let choices = Value.allCases.map(\.rawValue)
        return ValueSyntax(placeholder, choices: choices) { text throws(UsageFailure) in
            let wanted = text.lowercased()
            let found = Value.allCases.first { $0.rawValue.lowercased() == wanted }
            if let found { return found }
            let nearest = NearestName.find(text, among: choices)
            let accepted =
                choices.count > fewChoices
                ? "one of \(choices.count) names" : inWords(choices)
            throw UsageFailure(
                "\(accepted) is needed, not '\(text)'",
                hint: nearest.map { "did you mean '\($0)'?" })
        }
    }
}

/// How many are told in help and in errors; a command lists more than that.
let fewChoices = 16

/// `a`, `a or b`, `a, b or c`.
package func inWords(_ choices: [String]) -> String {
    guard choices.count > 1, let last = choices.last else { return choices.first ?? "" }
    return choices.dropLast().joined(separator: ", ") + " or " + last
}

extension ValueSyntax where Value == [String]? {
    /// Some of these names, in any order, each once.
    package static func columns(_ names: [String]) -> ValueSyntax {
        ValueSyntax("NAMES") { text throws(UsageFailure) in
            let wanted = text.split(separator: ",", omittingEmptySubsequences: false).map(
                String.init)
            for (index, name) in wanted.enumerated() {
                guard names.contains(name) else {
                    throw UsageFailure(
                        "there is no column '\(name)'",
                        hint: NearestName.find(name, among: names).map { "did you mean '\($0)'?" }
                            ?? "the columns are \(names.joined(separator: ", "))")
                }
                guard !wanted[..<index].contains(name) else {
                    throw UsageFailure("the column '\(name)' is named twice")
                }
            }
            return wanted
        }
    }
}
