/// A property list that is written as XML, with its keys in the order given.
package enum PropertyListText: Sendable, Equatable {
    case string(String)
    case integer(Int64)
    /// As it is spelled.
    case real(String)
    case boolean(Bool)
    case data([UInt8])
    case array([PropertyListText])
    case dictionary([Entry])

    package struct Entry: Sendable, Equatable {
        package let key: String
        package let value: PropertyListText

        package init(_ key: String, _ value: PropertyListText) {
            self.key = key
            self.value = value
        }
    }

    /// The whole document, an element a line.
    package var document: [UInt8] {
        var text = MarkupText()
        text += """
            <?xml version="1.0" encoding="UTF-8"?>
            <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" \
            "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
            <plist version="1.0">

            """
        append(to: &text)
        text += "</plist>\n"
        return text.bytes
    }

    private func append(to text: inout MarkupText) {
        switch self {
        case .string(let string): text += "<string>\(MarkupText.escaped(string))</string>\n"
        case .integer(let number): text += "<integer>\(number)</integer>\n"
        case .real(let number): text += "<real>\(MarkupText.escaped(number))</real>\n"
        case .boolean(let value): text += value ? "<true/>\n" : "<false/>\n"
        case .data(let bytes): text += "<data>\(Base64.encode(bytes))</data>\n"
        case .array(let elements):
            text += "<array>\n"
            for element in elements { element.append(to: &text) }
            text += "</array>\n"
        case .dictionary(let entries):
            text += "<dict>\n"
            for entry in entries {
                text += "<key>\(MarkupText.escaped(entry.key))</key>\n"
                entry.value.append(to: &text)
            }
            text += "</dict>\n"
        }
    }
}

extension PropertyListText: ExpressibleByDictionaryLiteral, ExpressibleByArrayLiteral,
    ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral
{
    package init(dictionaryLiteral entries: (String, PropertyListText)...) {
        self = .dictionary(entries.map { Entry($0.0, $0.1) })
    }

    package init(arrayLiteral elements: PropertyListText...) { self = .array(elements) }

    package init(stringLiteral text: String) { self = .string(text) }

    package init(integerLiteral number: Int64) { self = .integer(number) }

    package init(booleanLiteral value: Bool) { self = .boolean(value) }
}
