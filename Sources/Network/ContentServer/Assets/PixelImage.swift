internal import Base

/// A small image of one colour, made without an image library.
enum PixelImage {
    /// A PNG of 16 by 16 pixels (PNG specification, third edition).
    ///
    /// - Parameter color: red, green and blue in the lowest 24 bits.
    static func png(color: UInt64) -> [UInt8] {
        let pixel = [16, 8, 0].map { UInt8(truncatingIfNeeded: color >> $0) }
        // Every row starts with its filter: none.
        let row = [0] + Array(repeating: pixel, count: side).joined()
        let rows = [UInt8](Array(repeating: row, count: side).joined())
        let header = bigEndian(UInt32(side)) + bigEndian(UInt32(side)) + [8, 2, 0, 0, 0]
        return [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
            + chunk("IHDR", header) + chunk("IDAT", stored(rows)) + chunk("IEND", [])
    }

    private static let side = 16

    /// A zlib stream of one stored block (RFC 1950, RFC 1951 §3.2.4): below 64 KiB.
    private static func stored(_ bytes: [UInt8]) -> [UInt8] {
        let count = UInt16(bytes.count)
        let lengths = [count, ~count].flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
        return [0x78, 0x01, 0x01] + lengths + bytes + bigEndian(adler32(bytes))
    }

    private static func chunk(_ type: String, _ content: [UInt8]) -> [UInt8] {
        let checked = [UInt8](type.utf8) + content
        let checksum = RunningChecksum(.crc32)
        checksum.update(checked)
        return bigEndian(UInt32(content.count)) + checked + checksum.finish()
    }

    private static func bigEndian(_ value: UInt32) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) }
    }

    private static func adler32(_ bytes: [UInt8]) -> UInt32 {
        var low: UInt32 = 1
        var high: UInt32 = 0
        for byte in bytes {
            low = (low + UInt32(byte)) % 65_521
            high = (high + low) % 65_521
        }
        return high << 16 | low
    }
}
