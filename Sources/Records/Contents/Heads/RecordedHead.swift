internal import Base
internal import HTTPModel

/// A recorded head or trailer section, read so that a malformed one still yields what can be seen in
/// it: for showing, filtering, judging and exporting. What goes on the wire is read by the codecs.
///
/// Lines may end in LF alone and heads may have any length; folded lines are joined by a space (RFC
/// 9112 §5.2); a pseudo-field of HTTP/2 keeps the colon in its name, and where there is no first line,
/// those fields tell what it would have held. Each byte is looked at a fixed number of times.
package struct RecordedHead: Sendable {
    package struct Field: Sendable, Equatable {
        package let name: [UInt8]
        /// Without white space around it.
        package var value: [UInt8]

        package init(name: [UInt8], value: [UInt8]) {
            self.name = name
            self.value = value
        }
    }

    /// Where a field stands in the bytes of its head.
    package struct Place {
        /// Empty for a line that is no field.
        package let name: Range<Int>
        /// On the first line.
        fileprivate let value: Range<Int>
        /// All lines with their ends.
        package let lines: Range<Int>
        fileprivate let isFolded: Bool
    }

    package let bytes: [UInt8]
    /// The first line without its line end; empty for a trailer section.
    package let startLine: ArraySlice<UInt8>
    private let section: Range<Int>
    /// Of a head of usual length: it is asked for many fields, one after the other.
    private let known: [Place]?

    /// - Parameter isAskedOnce: whether the first line or one field is all that is wanted of it, so that
    ///   it is not worth finding where all fields stand.
    package init(_ head: [UInt8], isAskedOnce: Bool = false) {
        let isPseudo = head.first == UInt8(ascii: ":")
        let end = isPseudo ? 0 : head.index(of: newline, from: 0) ?? head.count
        let start = isPseudo ? 0 : Swift.min(end + 1, head.count)
        self.init(
            head, startLine: head[..<end].withoutReturn, fieldsAt: start..<head.count,
            isAskedOnce: isAskedOnce)
    }

    package init(trailers: [UInt8]) {
        self.init(trailers, fieldsAt: trailers.indices)
    }

    /// Reads the fields in a part of a head, which begins with a field.
    package init(_ bytes: [UInt8], fieldsAt section: Range<Int>) {
        self.init(bytes, startLine: [], fieldsAt: section)
    }

    private init(
        _ bytes: [UInt8], startLine: ArraySlice<UInt8>, fieldsAt section: Range<Int>,
        isAskedOnce: Bool = false
    ) {
        self.bytes = bytes
        self.startLine = startLine
        self.section = section
        known =
            !isAskedOnce && section.count <= Self.knownLimit ? Array(Places(bytes, section)) : nil
    }

    /// In bytes: a longer one may have more fields than are worth their memory.
    private static let knownLimit = 1 << 14

    /// The method of a request, empty if there is none.
    package var method: ArraySlice<UInt8> {
        startLine.isEmpty
            ? first(named: ":method") ?? [] : startLine.prefix { $0 != UInt8(ascii: " ") }
    }

    /// The target of a request: what is between the method and the version, spaces included.
    package var target: ArraySlice<UInt8> {
        guard !startLine.isEmpty else { return first(named: ":path") ?? [] }
        let rest = startLine.dropFirst(method.count + 1)
        guard let last = rest.lastIndex(of: UInt8(ascii: " ")),
            rest[(last + 1)...].starts(with: Array("HTTP/".utf8))
        else { return rest }
        return rest[..<last]
    }

    /// Whether a request asks for a tunnel, in which anything may be said (RFC 9110 §9.3.6). One that
    /// names a protocol asks for that instead (RFC 8441 §4).
    package var asksForTunnel: Bool {
        Self.asksForTunnel(method: method, isProtocolNamed: first(named: ":protocol") != nil)
    }

    /// The same of a head that is not spelled yet.
    package static func asksForTunnel(
        method: some Collection<UInt8>, isProtocolNamed: @autoclosure () -> Bool
    ) -> Bool {
        method.elementsEqual("CONNECT".utf8) && !isProtocolNamed()
    }

    /// The words of a status line: version, status and reason, which may hold spaces.
    package var statusWords: [ArraySlice<UInt8>] {
        startLine.split(
            separator: UInt8(ascii: " "), maxSplits: 2, omittingEmptySubsequences: false)
    }

    /// The status of a response, 0 if there is none.
    package var status: Int {
        let words = statusWords
        return words.count > 1 ? Int(words[1].text) ?? 0 : 0
    }

    package var fields: [Field] {
        places.compactMap { place in
            place.name.isEmpty
                ? nil : Field(name: Array(bytes[place.name]), value: Array(value(place)))
        }
    }

    /// The lines of the fields, without their ends; those of a folded one joined.
    package var lines: [ArraySlice<UInt8>] {
        places.map { joined($0, from: $0.lines.lowerBound) }
    }

    /// Whether a line is no field.
    package var isMalformed: Bool { places.contains { $0.name.isEmpty } }

    /// The values of the fields of this name in any case, in wire order.
    package func values(named lowercased: StaticString) -> [ArraySlice<UInt8>] {
        places.filter { bytes[$0.name].equalsIgnoringCase(lowercased) }.map(value)
    }

    /// The elements of the fields of this name, which are lists (RFC 9110 §5.6.1); none is empty.
    package func elements(named lowercased: StaticString) -> [ArraySlice<UInt8>] {
        values(named: lowercased).flatMap { $0.split(separator: UInt8(ascii: ",")) }
            .map(\.trimmingWhitespace).filter { !$0.isEmpty }
    }

    package func values(named lowercased: [UInt8]) -> [ArraySlice<UInt8>] {
        places.filter { place in
            place.name.count == lowercased.count
                && zip(bytes[place.name], lowercased).allSatisfy { $0.asciiLowercased == $1 }
        }.map(value)
    }

    /// The value of the first field of this name in any case, `nil` if there is none.
    package func first(named lowercased: StaticString) -> ArraySlice<UInt8>? {
        places.first { bytes[$0.name].equalsIgnoringCase(lowercased) }.map(value)
    }

    /// The value of a field without white space around it; a line that is no field as it is.
    package func value(_ place: Place) -> ArraySlice<UInt8> {
        joined(place, from: place.value.lowerBound)
    }

    private func joined(_ place: Place, from start: Int) -> ArraySlice<UInt8> {
        let first = bytes[start..<place.value.upperBound]
        guard place.isFolded else { return first }
        var result = Array(first)
        for line in bytes[place.lines].split(separator: newline).dropFirst() {
            let piece = line.withoutReturn.trimmingWhitespace
            guard !piece.isEmpty else { continue }
            if !result.isEmpty { result.append(UInt8(ascii: " ")) }
            result += piece
        }
        return result[...]
    }

    /// Where the fields stand, in wire order.
    package var places: Places { Places(bytes, section, known) }

    package struct Places: Sequence, IteratorProtocol {
        private let bytes: [UInt8]
        private var index: Int
        private let end: Int
        private let known: [Place]?

        /// - Parameter known: what would be found, if it is known.
        fileprivate init(_ bytes: [UInt8], _ section: Range<Int>, _ known: [Place]? = nil) {
            self.bytes = bytes
            self.known = known
            index = known == nil ? section.lowerBound : 0
            end = known?.count ?? section.upperBound
        }

        package mutating func next() -> Place? {
            if let known {
                guard index < end else { return nil }
                defer { index += 1 }
                return known[index]
            }
            return read()
        }

        private mutating func read() -> Place? {
            while index < end {
                let start = index
                let line = nextLine()
                guard !line.isEmpty else { continue }
                var isFolded = false
                while index < end, bytes[index] == 0x20 || bytes[index] == 0x09 {
                    _ = nextLine()
                    isFolded = true
                }
                // The colon of a pseudo-field begins its name.
                let colon = line.dropFirst().firstIndex(of: UInt8(ascii: ":"))
                let name = line[..<(colon ?? start)].trimmingWhitespace
                let value = colon.map { line[($0 + 1)...].trimmingWhitespace } ?? line
                return Place(
                    name: name.startIndex..<name.endIndex, value: value.startIndex..<value.endIndex,
                    lines: start..<index, isFolded: isFolded)
            }
            return nil
        }

        /// The next line without its end.
        private mutating func nextLine() -> ArraySlice<UInt8> {
            let lineEnd = Swift.min(bytes.index(of: newline, from: index) ?? end, end)
            defer { index = Swift.min(lineEnd + 1, end) }
            return bytes[index..<lineEnd].withoutReturn
        }
    }
}

extension ArraySlice<UInt8> {
    fileprivate var withoutReturn: ArraySlice<UInt8> {
        last == UInt8(ascii: "\r") ? dropLast() : self
    }
}

private let newline = UInt8(ascii: "\n")
