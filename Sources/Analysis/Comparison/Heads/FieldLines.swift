internal import Base
internal import HTTPModel

/// The fields of a recorded head or trailer section, malformed ones too, as far as they go.
struct FieldLines {
    struct Line {
        /// In lower case.
        let name: String
        /// With folded lines joined.
        var value: [UInt8]
    }

    private(set) var lines: [Line] = []

    /// - Parameters:
    ///   - head: with its start line.
    ///   - wanted: whether fields of this name, in any case, are read.
    init(head: [UInt8], wanted: (ArraySlice<UInt8>) -> Bool = { _ in true }) {
        self.init(section: head[Self.start(of: head)...], wanted: wanted)
    }

    init(section: ArraySlice<UInt8>, wanted: (ArraySlice<UInt8>) -> Bool = { _ in true }) {
        var start = section.startIndex
        // A folded line belongs to the field before it.
        var isKept = true
        while start < section.endIndex {
            var (end, colon) = (start, -1)
            while end < section.endIndex, section[end] != newline {
                if colon < 0, section[end] == UInt8(ascii: ":") { colon = end }
                end += 1
            }
            let isFolded = section[start] == 0x20 || section[start] == 0x09
            if !isFolded { isKept = wanted(section[start..<max(start, colon)].trimmingWhitespace) }
            if isKept { append(section[start..<end], colon: colon, isFolded: isFolded) }
            start = end + 1
        }
    }

    /// The fields of two heads without those that both start or end with.
    static func unlike(_ left: [UInt8], _ right: [UInt8]) -> (FieldLines, FieldLines) {
        let (before, after) = unlikeRanges(left, right)
        return (FieldLines(section: left[before]), FieldLines(section: right[after]))
    }

    /// Whole fields, so that no folded line loses its field.
    private static func unlikeRanges(
        _ left: [UInt8], _ right: [UInt8]
    ) -> (Range<Int>, Range<Int>) {
        var (start, other) = (start(of: left), start(of: right))
        var (index, distance) = (start, other - start)
        while index < left.count, index + distance < right.count,
            left[index] == right[index + distance]
        {
            index += 1
            if left[index - 1] == newline, beginsField(left, index),
                beginsField(right, index + distance)
            {
                start = index
            }
        }
        other = start + distance
        var end = left.count
        index = end
        distance = right.count - end
        while index > start, index + distance > other,
            left[index - 1] == right[index + distance - 1]
        {
            if left[index - 1] == newline, beginsField(left, index) { end = index }
            index -= 1
        }
        return (start..<end, other..<end + distance)
    }

    private static func start(of head: [UInt8]) -> Int {
        head.firstIndex(of: newline).map { $0 + 1 } ?? head.count
    }

    private static func beginsField(_ head: [UInt8], _ index: Int) -> Bool {
        index >= head.count || head[index] != 0x20 && head[index] != 0x09
    }

    private mutating func append(_ line: ArraySlice<UInt8>, colon: Int, isFolded: Bool) {
        let line = line.last == 0x0D ? line.dropLast() : line
        if isFolded, !lines.isEmpty {
            lines[lines.count - 1].value += [0x20] + line.trimmingWhitespace
        } else if colon >= line.startIndex {
            let name = line[..<colon].trimmingWhitespace.map(\.asciiLowercased).text
            lines.append(
                Line(name: name, value: Array(line[(colon + 1)...].trimmingWhitespace)))
        } else if !line.isEmpty {
            lines.append(Line(name: "", value: Array(line)))
        }
    }

    /// The values of the fields of this name, in wire order.
    func values(_ name: String) -> [[UInt8]] {
        lines.filter { $0.name == name }.map(\.value)
    }
}

private let newline = UInt8(ascii: "\n")
