internal import Base
internal import HTTPModel

/// Reads what is stored out of a content in `aws-chunked`, the framing that S3's clients put signed
/// or checked contents in: as the chunked coding of HTTP/1.1, with a signature behind each size and
/// the checksum in a trailer.
///
/// Lines may end with LF alone: clients write trailers so, as the service's documentation has them.
struct AWSChunksReader {
    enum Violation: String, Error {
        case size = "no size of a chunk"
        case line = "a line is too long"
        case end = "a chunk does not end where it should"
        case trailers = "too many trailers"
    }

    private enum State {
        case size
        case content(left: Int64)
        /// Behind a content: an empty line.
        case separator
        case trailers
        case end
    }

    /// Of what is stored, in bytes, so far.
    private(set) var count: Int64 = 0
    /// Lines, each with its CRLF.
    private(set) var trailers: [UInt8] = []
    private var state = State.size
    private var line: [UInt8] = []

    /// Whether the last chunk was there. What stands behind it is no content.
    var isWhole: Bool {
        switch state {
        case .trailers, .end: true
        case .size, .content, .separator: false
        }
    }

    /// Whether nothing more is to be read.
    var isAtEnd: Bool { if case .end = state { true } else { false } }

    /// Hands out pieces of what is stored; those before a violation, too.
    mutating func read(
        _ bytes: ArraySlice<UInt8>, _ take: (ArraySlice<UInt8>) -> Void = { _ in }
    ) throws(Violation) {
        var rest = bytes
        while !rest.isEmpty {
            switch state {
            case .end: return
            case .content(let left):
                let piece = rest.prefix(Int(clamping: left))
                take(piece)
                count += Int64(piece.count)
                rest = rest.dropFirst(piece.count)
                state = piece.count == left ? .separator : .content(left: left - Int64(piece.count))
            case .size, .separator, .trailers:
                let piece = rest.prefix(Self.lineLimit + 1 - line.count).prefix { $0 != 0x0A }
                line += piece
                guard line.count <= Self.lineLimit else { throw .line }
                rest = rest.dropFirst(piece.count)
                guard rest.popFirst() != nil else { return }
                if line.last == 0x0D { line.removeLast() }
                try takeLine()
                line.removeAll(keepingCapacity: true)
            }
        }
    }

    private mutating func takeLine() throws(Violation) {
        switch state {
        case .size:
            let size = try Self.size(line)
            state = size == 0 ? .trailers : .content(left: size)
        case .separator:
            guard line.isEmpty else { throw .end }
            state = .size
        case .trailers where line.isEmpty: state = .end
        case .trailers:
            guard trailers.count + line.count + 2 <= Self.trailersLimit else { throw .trailers }
            trailers += line + [0x0D, 0x0A]
        case .content, .end: break
        }
    }

    private static func size(_ line: [UInt8]) throws(Violation) -> Int64 {
        let digits = line.prefix { $0 != UInt8(ascii: ";") }.trimmingWhitespace
        guard !digits.isEmpty else { throw .size }
        var size: Int64 = 0
        for digit in digits {
            guard let value = digit.hexDigitValue, size <= Int64.max >> 4 else { throw .size }
            size = size << 4 | Int64(value)
        }
        return size
    }

    /// In bytes; a line with a signature has about a hundred.
    private static let lineLimit = 4096
    /// In bytes; a checksum and a signature have less than 200.
    private static let trailersLimit = 16 << 10
}
