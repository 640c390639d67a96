/// The lines of a file of settings: `name = value`, below the `[section]` that they belong to, or
/// above all of them.
///
/// A line that begins with `#` is a comment; white space around names and values does not count. A
/// section that is there twice is two sections, so that a list can be written as one.
package struct SettingLines: Sendable {
    package struct Setting: Sendable {
        package let name: String
        /// `nil` for a name alone, as flags are written.
        package let value: String?
        package let place: Place
        /// Where the value begins.
        package let valuePlace: Place
    }

    package struct Section: Sendable {
        /// `nil` for what stands above all sections.
        package let name: String?
        package let place: Place
        package fileprivate(set) var settings: [Setting] = []
    }

    /// Counted from 1.
    package struct Place: Sendable, Hashable, CustomStringConvertible {
        package let line: Int
        package let column: Int
        package var description: String { "\(line):\(column)" }
    }

    /// A line that is neither a setting nor a section.
    package struct Violation: Error {
        package let place: Place
    }

    /// In their order; the first is the one without a name.
    package private(set) var sections = [Section(name: nil, place: Place(line: 1, column: 1))]

    /// Reads lines; what the names mean is not looked at.
    package init(_ bytes: [UInt8]) throws(Violation) {
        var number = 0
        for bytes in bytes.split(separator: 0x0A, omittingEmptySubsequences: false) {
            number += 1
            try read(Array(bytes), number)
        }
    }

    private mutating func read(_ bytes: [UInt8], _ number: Int) throws(Violation) {
        let line = bytes.trimmed
        guard let first = line.first, first != UInt8(ascii: "#") else { return }
        let place = Place(line: number, column: Self.column(ofFirst: bytes[...], in: bytes))
        if first == UInt8(ascii: "["), line.last == UInt8(ascii: "]") {
            sections.append(Section(name: line.dropFirst().dropLast().text, place: place))
            return
        }
        let equals = bytes.firstIndex(of: UInt8(ascii: "="))
        let name = Array(bytes[..<(equals ?? bytes.endIndex)]).trimmed
        guard !name.isEmpty, first != UInt8(ascii: "["),
            !name.text.contains(where: \.isWhitespace)
        else { throw Violation(place: place) }
        let value = equals.map { bytes[($0 + 1)...] }
        sections[sections.count - 1].settings.append(
            Setting(
                name: name.text, value: value.map { Array($0).trimmed.text }, place: place,
                valuePlace: Place(
                    line: number, column: value.map { Self.column(ofFirst: $0, in: bytes) } ?? 1)))
    }

    /// The column, in characters, of what comes first in a part of a line and is no white space.
    private static func column(ofFirst part: ArraySlice<UInt8>, in line: [UInt8]) -> Int {
        let start = part.firstIndex { $0 > 0x20 } ?? part.endIndex
        // The second byte of a character and those behind it are no column of their own.
        return line[..<start].count { $0 & 0xC0 != 0x80 } + 1
    }
}
