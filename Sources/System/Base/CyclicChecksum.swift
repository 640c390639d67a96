/// Cyclic redundancy checks that contents are sent with; the raw values are the names that S3 and
/// RFC 9530 have for them. All start with ones, take the lowest bit first and end inverted.
package enum CyclicChecksum: String, Sendable, CaseIterable {
    /// That of Ethernet, gzip and PNG.
    case crc32
    /// Castagnoli's (RFC 3720 §12.1).
    case crc32c
    case crc64nvme

    /// In bytes.
    package var size: Int { self == .crc64nvme ? 8 : 4 }

    /// The lowest bit is that of the highest power.
    fileprivate var polynomial: UInt64 {
        switch self {
        case .crc32: 0xEDB8_8320
        case .crc32c: 0x82F6_3B78
        case .crc64nvme: 0x9A6C_9329_AC4B_C9B5
        }
    }
}

/// A checksum that is fed in pieces; not `Sendable`: one task has it.
package final class RunningChecksum: RunningDigest {
    private let size: Int
    /// What each byte becomes after as many zeros as the number of its row, 256 to a row: eight
    /// bytes are taken at once.
    private let rows: [UInt64]
    private var remainder: UInt64

    package init(_ checksum: CyclicChecksum) {
        size = checksum.size
        remainder = UInt64.max >> UInt64(64 - 8 * size)
        rows =
            switch checksum {
            case .crc32: Self.crc32Rows
            case .crc32c: Self.crc32cRows
            case .crc64nvme: Self.crc64Rows
            }
    }

    // Made once: a checksum of a short text would cost less than they do.
    private static let crc32Rows = rows(.crc32)
    private static let crc32cRows = rows(.crc32c)
    private static let crc64Rows = rows(.crc64nvme)

    private static func rows(_ checksum: CyclicChecksum) -> [UInt64] {
        var rows = (0..<256).map { byte in
            (0..<8).reduce(UInt64(byte)) { value, _ in
                value & 1 == 1 ? value >> 1 ^ checksum.polynomial : value >> 1
            }
        }
        for index in 256..<8 * 256 {
            let before = rows[index - 256]
            rows.append(before >> 8 ^ rows[Int(before & 0xFF)])
        }
        return rows
    }

    package func update(_ bytes: [UInt8]) {
        var value = remainder
        var position = 0
        while position + 8 <= bytes.count {
            for index in 0..<8 { value ^= UInt64(bytes[position + index]) << UInt64(8 * index) }
            var next: UInt64 = 0
            for index in 0..<8 {
                next ^= rows[(7 - index) << 8 | Int(value >> UInt64(8 * index) & 0xFF)]
            }
            value = next
            position += 8
        }
        for byte in bytes[position...] {
            value = value >> 8 ^ rows[Int(value & 0xFF ^ UInt64(byte))]
        }
        remainder = value
    }

    /// The highest byte first.
    package func finish() -> [UInt8] {
        (1...size).map { UInt8(truncatingIfNeeded: ~remainder >> UInt64(8 * (size - $0))) }
    }
}
