/// The mask of a frame, turned to the next byte of its payload (RFC 6455 §5.3).
struct WebSocketMask: Sendable, Equatable {
    /// The byte for the next byte is the least significant one.
    private(set) var key: UInt32

    init(_ key: UInt32) { self.key = key }

    /// Writes `bytes` unmasked, or masked, to the start of `output`, which must have the room.
    @inline(__always)
    mutating func apply(_ bytes: Span<UInt8>, to output: UnsafeMutableRawBufferPointer) {
        precondition(bytes.count <= output.count, "no room for the payload")
        unsafe bytes.withUnsafeBytes { source in
            guard let from = source.baseAddress, let to = output.baseAddress else { return }
            unsafe apply(from, to, count: source.count)
        }
        turn(by: bytes.count)
    }

    /// Passes over bytes of the payload.
    @inline(__always)
    mutating func turn(by count: Int) {
        let bits = UInt32(truncatingIfNeeded: count & 3) &* 8
        key = key &>> bits | key &<< ((32 &- bits) & 31)
    }

    @inline(__always)
    private func apply(_ from: UnsafeRawPointer, _ to: UnsafeMutableRawPointer, count: Int) {
        let four = UInt64(key) | UInt64(key) << 32
        var position = 0
        let wide = SIMD4<UInt64>(repeating: four.littleEndian)
        while position &+ 32 <= count {
            let words = unsafe from.loadUnaligned(
                fromByteOffset: position, as: SIMD4<UInt64>.self)
            unsafe to.storeBytes(
                of: words ^ wide, toByteOffset: position, as: SIMD4<UInt64>.self)
            position &+= 32
        }
        while position &+ 8 <= count {
            let word = unsafe from.loadUnaligned(fromByteOffset: position, as: UInt64.self)
            unsafe to.storeBytes(
                of: word ^ four.littleEndian, toByteOffset: position, as: UInt64.self)
            position &+= 8
        }
        var rest = four
        while position < count {
            let byte = unsafe from.load(fromByteOffset: position, as: UInt8.self)
            unsafe to.storeBytes(
                of: byte ^ UInt8(truncatingIfNeeded: rest), toByteOffset: position, as: UInt8.self)
            rest &>>= 8
            position &+= 1
        }
    }
}
