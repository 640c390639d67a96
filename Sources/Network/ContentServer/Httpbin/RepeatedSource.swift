internal import Base
internal import HTTPServer

/// A text of ASCII, again and again.
final class RepeatedSource: ResponseBodySource {
    private let text: [UInt8]
    private var rest: Range<UInt64>

    /// - Parameter range: of its bytes, were it repeated without an end.
    init(_ text: String, _ range: Range<UInt64>) {
        self.text = Array(text.utf8)
        rest = range
    }

    func read(into buffer: ByteBuffer) async throws(ResponseInterruption) -> Int {
        let room = UInt64(min(buffer.room, Self.pieceSize))
        let end = rest.lowerBound + min(room, rest.upperBound - rest.lowerBound)
        let piece = rest.lowerBound..<end
        buffer.append(piece.map { text[Int($0 % UInt64(text.count))] })
        rest = end..<rest.upperBound
        return piece.count
    }

    private static let pieceSize = 16_384
}
