internal import Base
internal import Contents

/// The fields of a recorded head or trailer section, malformed ones too, as far as they go.
struct ComparedFields {
    struct Line {
        /// In lower case.
        let name: String
        /// With folded lines joined.
        let value: [UInt8]
    }

    let lines: [Line]

    init(section: [UInt8]) { self.init(RecordedHead(trailers: section)) }

    private init(_ head: RecordedHead) {
        lines = head.places.map { place in
            Line(
                name: head.bytes[place.name].map(\.asciiLowercased).text,
                value: Array(head.value(place)))
        }
    }

    /// The fields of two heads without those that both start or end with.
    static func unlike(_ left: [UInt8], _ right: [UInt8]) -> (ComparedFields, ComparedFields) {
        let (before, after) = unlikeRanges(left, right)
        return (
            ComparedFields(RecordedHead(left, fieldsAt: before)),
            ComparedFields(RecordedHead(right, fieldsAt: after))
        )
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
}

private let newline = UInt8(ascii: "\n")
