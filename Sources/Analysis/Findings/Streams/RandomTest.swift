internal import Base

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

/// Compares bytes with random ones of the same number: by chi-square over their values, and by
/// their entropy.
///
/// It tells text, tables and weak obfuscation from random bytes, from 256 on. It never tells what
/// is compressed from what is encrypted.
struct RandomTest {
    let count: Int
    let chiSquare: Double
    /// In bits a byte.
    let entropy: Double

    init(_ bytes: ArraySlice<UInt8>) {
        count = bytes.count
        var counts = [Int](repeating: 0, count: 256)
        for byte in bytes { counts[Int(byte)] += 1 }
        let total = Double(max(bytes.count, 1))
        let expected = total / 256
        chiSquare = counts.reduce(0) { sum, seen in
            sum + (Double(seen) - expected) * (Double(seen) - expected) / expected
        }
        entropy = counts.reduce(0) { sum, seen in
            seen == 0 ? sum : sum - Double(seen) / total * log2(Double(seen) / total)
        }
    }

    /// Whether it is where 99 % of random bytes of this number are; `nil` if there are too few to
    /// tell.
    var looksRandom: Bool? {
        guard count >= Self.leastCount else { return nil }
        let band = Self.bands.last { $0.count <= count } ?? Self.bands[0]
        return (190...330).contains(chiSquare) && entropy >= band.entropy
    }

    static let leastCount = 256
    /// The least entropy of 99.5 % of random bytes, measured; of more bytes it is only higher.
    private static let bands: [(count: Int, entropy: Double)] = [
        (256, 7.051), (512, 7.512), (1024, 7.765), (4096, 7.944), (16_384, 7.987),
    ]
}
