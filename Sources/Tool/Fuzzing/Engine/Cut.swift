/// How the bytes of an input are cut into reads.
package enum Cut: Equatable {
    case whole
    case bytes
    /// In two, before the byte at the offset.
    case at(Int)

    /// Calls `visit` with the pieces of `range`, in order, until it returns false.
    func pieces(of range: Range<Int>, _ visit: (Range<Int>) -> Bool) {
        switch self {
        case .whole:
            if !range.isEmpty { _ = visit(range) }
        case .bytes:
            for index in range { guard visit(index..<index + 1) else { return } }
        case .at(let offset):
            let middle = min(max(offset, range.lowerBound), range.upperBound)
            if middle > range.lowerBound {
                guard visit(range.lowerBound..<middle) else { return }
            }
            if middle < range.upperBound { _ = visit(middle..<range.upperBound) }
        }
    }
}
