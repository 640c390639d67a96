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
    /// Of the first line, without its end.
    private let firstLine: Range<Int>
    private let section: Range<Int>

    package init(_ head: [UInt8]) {
        bytes = head
        guard head.first != UInt8(ascii: ":") else {
            firstLine = 0..<0
            section = head.indices
            return
        }
        let end = head.index(of: newline, from: 0) ?? head.count
        firstLine = head.span.withoutReturn(0..<end)
        section = Swift.min(end + 1, head.count)..<head.count
    }

    package init(trailers: [UInt8]) {
        self.init(trailers, fieldsAt: trailers.indices)
    }

    /// Reads the fields in a part of a head, which begins with a field.
    package init(_ bytes: [UInt8], fieldsAt section: Range<Int>) {
        self.bytes = bytes
        self.section = section
        firstLine = 0..<0
    }

    /// The first line without its line end; empty for a trailer section.
    package var startLine: ArraySlice<UInt8> { bytes[firstLine] }

    /// The method of a request, empty if there is none.
    package var method: ArraySlice<UInt8> {
        firstLine.isEmpty ? first(named: ":method") ?? [] : bytes[firstLine.lowerBound..<methodEnd]
    }

    private var methodEnd: Int {
        bytes.span.firstIndex(of: space, in: firstLine) ?? firstLine.upperBound
    }

    /// The target of a request: what is between the method and the version, spaces included.
    package var target: ArraySlice<UInt8> {
        guard !firstLine.isEmpty else { return first(named: ":path") ?? [] }
        let rest = Swift.min(methodEnd + 1, firstLine.upperBound)..<firstLine.upperBound
        let span = bytes.span
        guard let last = span.lastIndex(of: space, in: rest),
            bytes[(last + 1)..<rest.upperBound].starts(with: "HTTP/".utf8)
        else { return bytes[rest] }
        return bytes[rest.lowerBound..<last]
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
            separator: space, maxSplits: 2, omittingEmptySubsequences: false)
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
        places.filter { isNamed($0, lowercased) }.map(value)
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
        places.first { isNamed($0, lowercased) }.map(value)
    }

    private func isNamed(_ place: Place, _ lowercased: StaticString) -> Bool {
        equals(bytes.span.extracting(place.name), ignoringCase: lowercased)
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
            let piece = bytes[bytes.span.trimmed(bytes.span.withoutReturn(line.indices))]
            guard !piece.isEmpty else { continue }
            if !result.isEmpty { result.append(UInt8(ascii: " ")) }
            result += piece
        }
        return result[...]
    }

    /// Where the fields stand, in wire order.
    package var places: Places { Places(bytes, section) }

    package struct Places: Sequence, IteratorProtocol {
        private let bytes: [UInt8]
        private var index: Int
        private let end: Int

        fileprivate init(_ bytes: [UInt8], _ section: Range<Int>) {
            self.bytes = bytes
            index = section.lowerBound
            end = section.upperBound
        }

        package mutating func next() -> Place? {
            var position = index
            defer { index = position }
            let span = bytes.span
            while position < end {
                let start = position
                let line = span.line(at: &position, before: end)
                guard !line.isEmpty else { continue }
                var isFolded = false
                while position < end, span[position].isBlank {
                    _ = span.line(at: &position, before: end)
                    isFolded = true
                }
                // The colon of a pseudo-field begins its name.
                let colon = span.firstIndex(of: colon, in: start + 1..<line.upperBound)
                return Place(
                    name: span.trimmed(start..<(colon ?? start)),
                    value: colon.map { span.trimmed($0 + 1..<line.upperBound) } ?? line,
                    lines: start..<position, isFolded: isFolded)
            }
            return nil
        }
    }
}

/// What finds places without a slice for each of them: heads are read for all that is recorded.
extension Span<UInt8> {
    fileprivate func withoutReturn(_ line: Range<Int>) -> Range<Int> {
        guard !line.isEmpty, self[line.upperBound - 1] == UInt8(ascii: "\r") else { return line }
        return line.lowerBound..<line.upperBound - 1
    }

    fileprivate func lastIndex(of byte: UInt8, in range: Range<Int>) -> Int? {
        for index in range.reversed() where self[index] == byte { return index }
        return nil
    }

    /// The line that begins at `position`, without its end, and then the position behind it.
    fileprivate func line(at position: inout Int, before end: Int) -> Range<Int> {
        let lineEnd = firstIndex(of: newline, in: position..<end) ?? end
        defer { position = Swift.min(lineEnd + 1, end) }
        return withoutReturn(position..<lineEnd)
    }
}

private let newline = UInt8(ascii: "\n")
private let colon = UInt8(ascii: ":")
private let space = UInt8(ascii: " ")
