internal import Base
internal import HTTPModel

/// Takes a multipart content apart (RFC 2046 §5.1, RFC 7578), leniently: in any order of its lines,
/// cut anywhere, and with parts behind its end. Each line is looked at once.
package struct MultipartReader: Sequence, IteratorProtocol {
    /// What stands between two delimiters, by its place.
    package struct Section {
        /// The line before it, with its end; empty for what comes before the first one.
        package let delimiter: Range<Int>
        /// Up to the next delimiter, whose line end before it is part of this.
        package let range: Range<Int>
        /// False for what nobody should read: before the first delimiter and behind a closing one.
        package let isPart: Bool
    }

    private let content: [UInt8]
    private let delimiter: [UInt8]
    private var upcoming: Range<Int>?
    private var index = 0
    private var isAtStart = true

    /// Returns `nil` if the boundary is not in the content.
    package init?(_ content: [UInt8], boundary: [UInt8]) {
        guard !boundary.isEmpty, boundary.count <= Self.boundaryLimit else { return nil }
        self.content = content
        delimiter = Array("--".utf8) + boundary
        upcoming = findDelimiter()
        guard upcoming != nil else { return nil }
    }

    package mutating func next() -> Section? {
        if isAtStart, let first = upcoming {
            isAtStart = false
            return Section(delimiter: 0..<0, range: 0..<first.lowerBound, isPart: false)
        }
        guard let line = upcoming else { return nil }
        upcoming = findDelimiter()
        let isClosing = content[line].dropFirst(delimiter.count).starts(with: "--".utf8)
        return Section(
            delimiter: line, range: line.upperBound..<(upcoming?.lowerBound ?? content.count),
            isPart: !isClosing)
    }

    /// The parts, at most so many.
    package static func parts(
        of content: [UInt8], boundary: [UInt8], limit: Int
    ) -> [MultipartPart]? {
        guard let reader = MultipartReader(content, boundary: boundary) else { return nil }
        var parts: [MultipartPart] = []
        for section in reader where section.isPart && parts.count < limit {
            parts.append(MultipartPart(content[section.range]))
        }
        return parts
    }

    /// Where the next line is that begins with the delimiter, with its end.
    private mutating func findDelimiter() -> Range<Int>? {
        while index < content.count {
            let start = index
            index = content.index(of: newline, from: start).map { $0 + 1 } ?? content.count
            if content[start..<index].starts(with: delimiter) { return start..<index }
        }
        return nil
    }

    /// A boundary has at most 70 characters (RFC 2046 §5.1.1); some clients exceed it.
    private static let boundaryLimit = 256
}

/// One part of a multipart content.
package struct MultipartPart {
    package let head: RecordedHead
    /// Where the content begins; `nil` if the fields do not end.
    package let contentStart: Int?
    /// Without the line end that belongs to the delimiter after it.
    package let content: ArraySlice<UInt8>
    private let dispositions: [ParameterizedValue]

    /// - Parameter bytes: what stands between two delimiters.
    package init(_ bytes: ArraySlice<UInt8>) {
        contentStart = Self.headEnd(of: bytes)
        head = RecordedHead(trailers: Array(bytes[..<(contentStart ?? bytes.endIndex)]))
        content = bytes[(contentStart ?? bytes.endIndex)...].withoutLineEnd
        dispositions = head.values(named: "content-disposition").map(ParameterizedValue.init)
    }

    package var name: [UInt8]? { dispositions.lazy.compactMap { $0["name"] }.first }
    package var fileName: [UInt8]? { dispositions.lazy.compactMap { $0["filename"] }.first }
    /// All that it calls itself.
    package var names: [[UInt8]] {
        dispositions.flatMap { [$0["name"], $0["name*"]].compactMap(\.self) }
    }
    package var isFile: Bool {
        dispositions.contains { $0["filename"] != nil || $0["filename*"] != nil }
    }
    package var type: ArraySlice<UInt8>? { head.first(named: "content-type") }

    private static func headEnd(of bytes: ArraySlice<UInt8>) -> Int? {
        var start = bytes.startIndex
        while let end = bytes[start...].firstIndex(of: newline) {
            if bytes[start..<end].allSatisfy({ $0 == 0x0D }) { return end + 1 }
            start = end + 1
        }
        return nil
    }
}

extension ArraySlice<UInt8> {
    package var withoutLineEnd: ArraySlice<UInt8> {
        guard last == newline else { return self }
        let line = dropLast()
        return line.last == UInt8(ascii: "\r") ? line.dropLast() : line
    }
}

private let newline = UInt8(ascii: "\n")
