/// The generator SplitMix64 (Steele, Lea and Flood, 2014): any of its outputs can be computed without
/// those before it.
package enum SplitMix {
    /// The generator's output step.
    @inlinable
    @inline(__always)
    package static func mix(_ state: UInt64) -> UInt64 {
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }

    /// Output `index` of the generator with this seed, counted from 0.
    @inlinable
    package static func word(seed: UInt64, _ index: UInt64) -> UInt64 {
        mix(seed &+ (index &+ 1) &* step)
    }

    /// Stores outputs from `index` on, each lowest byte first, as many as there is room for.
    ///
    /// Beside the generator, because no call between targets is inlined.
    package static func fill(
        _ space: UnsafeMutableRawBufferPointer, seed: UInt64, from index: UInt64
    ) {
        var state = seed &+ index &* step
        for word in 0..<space.count / 8 {
            state &+= step
            unsafe space.storeBytes(
                of: mix(state).littleEndian, toByteOffset: word * 8, as: UInt64.self)
        }
    }

    /// From state to state.
    @inlinable package static var step: UInt64 { 0x9E37_79B9_7F4A_7C15 }
}
