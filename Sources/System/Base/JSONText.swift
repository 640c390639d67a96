/// A JSON value that is written with its members in the order given (RFC 8259).
package enum JSONText: Sendable, Equatable {
    case null
    case boolean(Bool)
    case integer(Int64)
    /// A number in thousandths, written as a decimal without loss: 1250 is `1.25`.
    case thousandths(Int64)
    /// The same in millionths.
    case millionths(Int64)
    case string(String)
    /// Text as bytes; what is no UTF-8 becomes U+FFFD.
    case bytes([UInt8])
    case array([JSONText])
    /// An array whose elements are made when they are written, one by one.
    case listing(Listing)
    case object([Member])

    package struct Member: Sendable, Equatable {
        package let name: String
        package let value: JSONText

        package init(_ name: String, _ value: JSONText) {
            self.name = name
            self.value = value
        }
    }

    package struct Listing: Sendable, Equatable {
        fileprivate let count: Int
        fileprivate let element: @Sendable (Int) -> JSONText

        package static func == (left: Listing, right: Listing) -> Bool {
            left.count == right.count
                && (0..<left.count).allSatisfy { left.element($0) == right.element($0) }
        }
    }

    /// An array of what `value` makes of each item, at the time when it is written.
    package static func each<Item: Sendable>(
        _ items: [Item], _ value: @escaping @Sendable (Item) -> JSONText
    ) -> JSONText {
        .listing(Listing(count: items.count) { value(items[$0]) })
    }

    /// The text, or `null`.
    package static func optional(_ text: String?) -> JSONText {
        text.map(JSONText.string) ?? .null
    }

    /// The number, or `null`.
    package static func optional(_ number: (some BinaryInteger)?) -> JSONText {
        number.map { .integer(Int64($0)) } ?? .null
    }

    /// The value without white space or a line end: a line of JSON Lines.
    package var line: [UInt8] {
        var result: [UInt8] = []
        append(to: &result, indentation: nil)
        return result
    }

    /// The value over several lines, two spaces a level, with a line end: a whole document.
    package var document: [UInt8] {
        var result: [UInt8] = []
        append(to: &result, indentation: 0)
        result.append(newline)
        return result
    }
}

extension JSONText: ExpressibleByDictionaryLiteral, ExpressibleByArrayLiteral,
    ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral
{
    package init(dictionaryLiteral members: (String, JSONText)...) {
        self = .object(members.map { Member($0.0, $0.1) })
    }

    package init(arrayLiteral elements: JSONText...) {
        self = .array(elements)
    }

    package init(stringLiteral text: String) {
        self = .string(text)
    }

    package init(integerLiteral number: Int64) {
        self = .integer(number)
    }

    package init(booleanLiteral value: Bool) {
        self = .boolean(value)
    }
}

extension JSONText {
    private func append(to result: inout [UInt8], indentation: Int?) {
        switch self {
        case .null: result += "null".utf8
        case .boolean(let value): result += (value ? "true" : "false").utf8
        case .integer(let number): result += String(number).utf8
        case .thousandths(let number): result += Self.decimal(number, places: 3).utf8
        case .millionths(let number): result += Self.decimal(number, places: 6).utf8
        case .string(let text): Self.append(text, to: &result)
        case .bytes(let bytes): Self.append(bytes.text, to: &result)
        case .array(let elements):
            Self.append(
                elements, between: (UInt8(ascii: "["), UInt8(ascii: "]")), to: &result, indentation
            ) { element, result, indentation in
                element.append(to: &result, indentation: indentation)
            }
        case .listing(let listing):
            Self.append(
                0..<listing.count, between: (UInt8(ascii: "["), UInt8(ascii: "]")), to: &result,
                indentation
            ) { index, result, indentation in
                listing.element(index).append(to: &result, indentation: indentation)
            }
        case .object(let members):
            Self.append(
                members, between: (UInt8(ascii: "{"), UInt8(ascii: "}")), to: &result, indentation
            ) { member, result, indentation in
                Self.append(member.name, to: &result)
                result.append(UInt8(ascii: ":"))
                if indentation != nil { result.append(UInt8(ascii: " ")) }
                member.value.append(to: &result, indentation: indentation)
            }
        }
    }

    private static func append<Element>(
        _ elements: some Collection<Element>, between marks: (UInt8, UInt8),
        to result: inout [UInt8], _ indentation: Int?, each: (Element, inout [UInt8], Int?) -> Void
    ) {
        result.append(marks.0)
        let inner = indentation.map { $0 + 2 }
        for (index, element) in elements.enumerated() {
            if index > 0 { result.append(UInt8(ascii: ",")) }
            startLine(in: &result, indentation: inner)
            each(element, &result, inner)
        }
        if !elements.isEmpty { startLine(in: &result, indentation: indentation) }
        result.append(marks.1)
    }

    private static func startLine(in result: inout [UInt8], indentation: Int?) {
        guard let indentation else { return }
        result.append(newline)
        result.append(contentsOf: repeatElement(UInt8(ascii: " "), count: indentation))
    }

    private static func decimal(_ number: Int64, places: Int) -> String {
        let magnitude = number.magnitude
        let unit: UInt64 = places == 3 ? 1000 : 1_000_000
        let text = (number < 0 ? "-" : "") + String(magnitude / unit)
        var fraction = Int(magnitude % unit)
        guard fraction > 0 else { return text }
        var width = places
        while fraction % 10 == 0 {
            fraction /= 10
            width -= 1
        }
        return text + "." + padded(fraction, width)
    }

    private static func append(_ text: String, to result: inout [UInt8]) {
        result.append(UInt8(ascii: "\""))
        JSONEscapes.append(Array(text.utf8)[...], to: &result)
        result.append(UInt8(ascii: "\""))
    }
}

private let newline = UInt8(ascii: "\n")
