/// MD5 (RFC 1321) and SHA-256 (FIPS 180-4), for the fingerprints without a library.
enum ClientHelloDigests {
    static func md5(_ bytes: [UInt8]) -> [UInt8] {
        let constants = (0..<64).map { UInt32(truncatingIfNeeded: sineBits($0)) }
        let shifts: [[UInt32]] = [
            [7, 12, 17, 22], [5, 9, 14, 20], [4, 11, 16, 23], [6, 10, 15, 21],
        ]
        var state: [UInt32] = [0x6745_2301, 0xEFCD_AB89, 0x98BA_DCFE, 0x1032_5476]
        for block in blocks(of: bytes, lengthIsBigEndian: false) {
            let words = words(of: block, areBigEndian: false)
            var (a, b, c, d) = (state[0], state[1], state[2], state[3])
            for step in 0..<64 {
                let (mixed, index) =
                    switch step / 16 {
                    case 0: (b & c | ~b & d, step)
                    case 1: (d & b | ~d & c, (5 * step + 1) % 16)
                    case 2: (b ^ c ^ d, (3 * step + 5) % 16)
                    default: (c ^ (b | ~d), 7 * step % 16)
                    }
                let sum = a &+ mixed &+ constants[step] &+ words[index]
                (a, d, c) = (d, c, b)
                b = b &+ rotatedLeft(sum, shifts[step / 16][step % 4])
            }
            state = zip(state, [a, b, c, d]).map { $0 &+ $1 }
        }
        return state.flatMap { octets(of: $0).reversed() }
    }

    static func sha256(_ bytes: [UInt8]) -> [UInt8] {
        let primes = (2...311).filter { number in !(2..<number).contains { number % $0 == 0 } }
        let constants = primes.prefix(64).map { fraction(ofRoot: 3, $0) }
        var state = primes.prefix(8).map { fraction(ofRoot: 2, $0) }
        for block in blocks(of: bytes, lengthIsBigEndian: true) {
            var words = words(of: block, areBigEndian: true)
            for index in 16..<64 {
                let (early, late) = (words[index - 15], words[index - 2])
                let first = rotated(early, 7) ^ rotated(early, 18) ^ (early >> 3)
                let second = rotated(late, 17) ^ rotated(late, 19) ^ (late >> 10)
                words.append(words[index - 16] &+ first &+ words[index - 7] &+ second)
            }
            var h = state
            for step in 0..<64 {
                let sum = rotated(h[4], 6) ^ rotated(h[4], 11) ^ rotated(h[4], 25)
                let choice = h[4] & h[5] ^ ~h[4] & h[6]
                let first = h[7] &+ sum &+ choice &+ constants[step] &+ words[step]
                let majority = h[0] & h[1] ^ h[0] & h[2] ^ h[1] & h[2]
                let second = (rotated(h[0], 2) ^ rotated(h[0], 13) ^ rotated(h[0], 22)) &+ majority
                h = [first &+ second, h[0], h[1], h[2], h[3] &+ first, h[4], h[5], h[6]]
            }
            state = zip(state, h).map { $0 &+ $1 }
        }
        return state.flatMap(octets)
    }

    private static func words(of block: [UInt8], areBigEndian: Bool) -> [UInt32] {
        stride(from: 0, to: 64, by: 4).map { start in
            var word: UInt32 = 0
            for byte in block[start..<start + 4] { word = word << 8 | UInt32(byte) }
            return areBigEndian ? word : word.byteSwapped
        }
    }

    /// Big-endian.
    private static func octets(of word: UInt32) -> [UInt8] {
        [UInt8(word >> 24), UInt8(word >> 16 & 0xFF), UInt8(word >> 8 & 0xFF), UInt8(word & 0xFF)]
    }

    /// The message, a one bit, zeros, and the length in bits, in blocks of 64 bytes.
    private static func blocks(of bytes: [UInt8], lengthIsBigEndian: Bool) -> [[UInt8]] {
        var message = bytes + [0x80]
        while message.count % 64 != 56 { message.append(0) }
        let length = [0, 0, 0, 0] + octets(of: UInt32(bytes.count * 8))
        message += lengthIsBigEndian ? length : length.reversed()
        return stride(from: 0, to: message.count, by: 64).map { [UInt8](message[$0..<$0 + 64]) }
    }

    /// The first 32 bits behind the point of the second or third root of a prime.
    private static func fraction(ofRoot root: Int, _ prime: Int) -> UInt32 {
        // The largest x with x^root <= prime * 2^(32 * root), found bit by bit.
        let limit = power(1 << 32, root, times: prime)
        var x = 0
        for bit in stride(from: 35, through: 0, by: -1) where power(x | 1 << bit, root) <= limit {
            x |= 1 << bit
        }
        return UInt32(truncatingIfNeeded: x)
    }

    private static func power(_ base: Int, _ exponent: Int, times factor: Int = 1) -> UInt128 {
        (0..<exponent).reduce(UInt128(factor)) { product, _ in product * UInt128(base) }
    }

    /// floor(2^32 * |sin(index + 1)|), by Taylor's series.
    private static func sineBits(_ index: Int) -> Int {
        let angle = Double(index + 1).truncatingRemainder(dividingBy: 2 * .pi)
        var term = angle
        var sum = angle
        for step in 1..<40 {
            term *= -angle * angle / Double(2 * step * (2 * step + 1))
            sum += term
        }
        return Int(abs(sum) * 4_294_967_296)
    }

    private static func rotated(_ word: UInt32, _ count: UInt32) -> UInt32 {
        word >> count | word << (32 - count)
    }

    private static func rotatedLeft(_ word: UInt32, _ count: UInt32) -> UInt32 {
        word << count | word >> (32 - count)
    }
}
