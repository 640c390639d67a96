internal import Base
internal import HTTPModel

/// Reads where the parts of a multipart/byteranges stand (RFC 9110 §14.6); what they hold is passed
/// over by their length, so that no content can look like a boundary.
struct ByteRangesReader {
    /// A part, and where its bytes start in the content; `count` of them were there.
    struct Part: Equatable {
        let range: Range<Int64>
        let total: Int64?
        let contentOffset: Int64
        var count: Int64
    }

    enum Violation: String, Error {
        case boundary = "no boundary"
        case line = "a line is too long"
        case range = "a part without a place"
        case parts = "too many parts"
    }

    private enum State {
        /// Before the first boundary: other lines are passed over.
        case preamble
        case head
        case content(left: Int64)
        /// Behind a content: an empty line, then the boundary.
        case separator
        case end
    }

    private(set) var parts: [Part] = []
    private var state = State.preamble
    private let delimiter: [UInt8]
    private var line: [UInt8] = []
    private var place: ContentRange?
    private var offset: Int64 = 0

    init(boundary: [UInt8]) {
        delimiter = Array("--".utf8) + boundary
    }

    /// Whether the closing boundary was there.
    var isComplete: Bool { if case .end = state { true } else { false } }

    mutating func read(_ bytes: ArraySlice<UInt8>) throws(Violation) {
        var rest = bytes
        while !rest.isEmpty {
            switch state {
            case .end: return
            case .content(let left):
                let count = min(left, Int64(rest.count))
                rest = rest.dropFirst(Int(count))
                offset += count
                parts[parts.count - 1].count += count
                state = count == left ? .separator : .content(left: left - count)
            case .preamble, .head, .separator:
                let piece = rest.prefix { $0 != 0x0A }
                guard line.count + piece.count <= Self.lineLimit else { throw .line }
                line += piece
                rest = rest.dropFirst(piece.count)
                offset += Int64(piece.count)
                guard rest.popFirst() != nil else { return }
                offset += 1
                if line.last == 0x0D { line.removeLast() }
                let whole = line
                line.removeAll(keepingCapacity: true)
                try take(whole[...])
            }
        }
    }

    /// What the content ends with has no line end of its own.
    mutating func finish() {
        if case .separator = state, line.starts(with: delimiter + Array("--".utf8)) {
            state = .end
        }
    }

    private mutating func take(_ line: ArraySlice<UInt8>) throws(Violation) {
        switch state {
        case .head where line.isEmpty: try startContent()
        case .head:
            guard let colon = line.firstIndex(of: UInt8(ascii: ":")),
                line[..<colon].trimmingWhitespace.equalsIgnoringCase("content-range")
            else { return }
            do throws(ContentRangeViolation) {
                place = try ContentRange(line[(colon + 1)...].trimmingWhitespace)
            } catch {
                throw .range
            }
        case .separator where line.isEmpty: break
        case .preamble, .separator:
            if line.starts(with: delimiter) {
                let isLast = line.dropFirst(delimiter.count).starts(with: Array("--".utf8))
                state = isLast ? .end : .head
            } else if case .separator = state {
                throw .boundary
            }
        case .content, .end: break
        }
    }

    private mutating func startContent() throws(Violation) {
        guard case .part(let range, let total) = place else { throw .range }
        guard parts.count < Self.partLimit else { throw .parts }
        place = nil
        let placed = Int64(range.lowerBound)..<Int64(range.upperBound)
        parts.append(
            Part(
                range: placed, total: total.map(Int64.init), contentOffset: offset, count: 0))
        state = .content(left: placed.upperBound - placed.lowerBound)
    }

    /// In bytes.
    private static let lineLimit = 8192
    /// More than clients ask for; some servers join ranges, none makes more of them.
    private static let partLimit = 256
}
