/// A size of QR code at level M, with how its content is cut into blocks (ISO/IEC 18004 §6.5).
struct QRVersion: Sendable {
    let number: Int
    /// Of a block, in bytes; all blocks of these versions are alike.
    private let contentSize: Int
    private let correctionSize: Int
    private let blockCount: Int

    private init(_ number: Int, _ contentSize: Int, _ correctionSize: Int, blocks: Int = 1) {
        self.number = number
        self.contentSize = contentSize
        self.correctionSize = correctionSize
        blockCount = blocks
    }

    private static let all = [
        QRVersion(1, 16, 10), QRVersion(2, 28, 16), QRVersion(3, 44, 26),
        QRVersion(4, 32, 18, blocks: 2), QRVersion(5, 43, 24, blocks: 2),
        QRVersion(6, 27, 16, blocks: 4),
    ]

    /// The smallest that holds so many bytes, behind the mode and their number.
    static func holding(_ count: Int) -> QRVersion? {
        all.first { $0.contentSize * $0.blockCount >= count + 2 }
    }

    var size: Int { number * 4 + 17 }

    /// The content with what corrects errors in it, in the order in which it is placed.
    func codewords(of bytes: [UInt8]) -> [UInt8] {
        // Four bits that say that bytes follow, eight with their number, and four for the end.
        var content: [UInt8] = []
        var held: UInt8 = 4
        for byte in [UInt8(clamping: bytes.count)] + bytes + [0] {
            content.append(held << 4 | byte >> 4)
            held = byte & 15
        }
        while content.count < contentSize * blockCount {
            content.append((content.count - bytes.count) % 2 == 0 ? 0xEC : 0x11)
        }
        let blocks = (0..<blockCount).map {
            content[($0 * contentSize)..<(($0 + 1) * contentSize)]
        }
        let corrections = blocks.map(correction)
        return (0..<contentSize).flatMap { index in blocks.map { $0[$0.startIndex + index] } }
            + (0..<correctionSize).flatMap { index in corrections.map { $0[index] } }
    }

    /// The remainder of a Reed–Solomon code.
    private func correction(of block: ArraySlice<UInt8>) -> [UInt8] {
        var generator = [UInt8](repeating: 0, count: correctionSize - 1) + [1]
        var root: UInt8 = 1
        for _ in 0..<correctionSize {
            for index in generator.indices {
                generator[index] = Self.product(generator[index], root)
                if index + 1 < generator.count { generator[index] ^= generator[index + 1] }
            }
            root = Self.product(root, 2)
        }
        var remainder = [UInt8](repeating: 0, count: correctionSize)
        for byte in block {
            let factor = byte ^ remainder.removeFirst()
            remainder.append(0)
            for index in remainder.indices {
                remainder[index] ^= Self.product(generator[index], factor)
            }
        }
        return remainder
    }

    /// In the field of 256 elements with the polynomial 0x11D.
    private static func product(_ left: UInt8, _ right: UInt8) -> UInt8 {
        var result: UInt16 = 0
        for bit in (0..<8).reversed() {
            result = result << 1 ^ (result >> 7) * 0x11D
            result ^= UInt16(right >> UInt8(bit) & 1) * UInt16(left)
        }
        return UInt8(truncatingIfNeeded: result)
    }
}
