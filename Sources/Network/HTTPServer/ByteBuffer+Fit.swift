package import Base

extension ByteBuffer {
    /// Appends as many of `bytes` from `offset` on as there is room for, and returns how many.
    package func appendFitting(_ bytes: [UInt8], from offset: Int) -> Int {
        let count = min(room, bytes.count - offset)
        let all = bytes.span
        let piece = all.extracting(offset..<offset + count)
        append(piece)
        return count
    }
}
