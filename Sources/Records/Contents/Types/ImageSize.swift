internal import Base

/// How large a picture is, by its head: PNG, GIF, JPEG or WebP.
package struct ImageSize: Equatable {
    package let width: Int
    package let height: Int

    package var pixelCount: Int64 { Int64(width) * Int64(height) }

    private init(width: UInt64, height: UInt64) {
        self.width = Int(width)
        self.height = Int(height)
    }

    /// - Parameter bytes: the picture, or its start.
    /// - Returns: `nil` for what is none of them, or cut before its size.
    package init?(_ bytes: [UInt8]) {
        let size =
            if bytes.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) {
                Self.pair(bytes, at: 16, length: 4)
            } else if bytes.starts(with: "GIF8".utf8) {
                Self.littlePair(bytes, at: 6, length: 2)
            } else if bytes.starts(with: [0xFF, 0xD8, 0xFF]) {
                Self.jpeg(bytes)
            } else if bytes.starts(with: "RIFF".utf8), bytes.dropFirst(8).starts(with: "WEBP".utf8)
            {
                Self.webP(bytes)
            } else {
                ImageSize?.none
            }
        guard let size else { return nil }
        self = size
    }

    private static func pair(_ bytes: [UInt8], at place: Int, length: Int) -> ImageSize? {
        guard bytes.count >= place + 2 * length else { return nil }
        var input = ContentInput(bytes[place...])
        guard let first = input.number(length), let second = input.number(length),
            first <= limit, second <= limit
        else { return nil }
        return ImageSize(width: first, height: second)
    }

    /// Of width and height: no picture is larger.
    private static let limit: UInt64 = 1 << 24

    private static func littlePair(_ bytes: [UInt8], at place: Int, length: Int) -> ImageSize? {
        guard bytes.count >= place + 2 * length else { return nil }
        let turned = [place, place + length].flatMap { bytes[$0..<$0 + length].reversed() }
        return pair(turned, at: 0, length: length)
    }

    /// By the first frame header, behind segments that tell their lengths (ITU T.81 §B.2).
    private static func jpeg(_ bytes: [UInt8]) -> ImageSize? {
        var place = 2
        while place + 9 <= bytes.count, bytes[place] == 0xFF {
            let marker = bytes[place + 1]
            if 0xC0...0xCF ~= marker, marker != 0xC4, marker != 0xC8, marker != 0xCC {
                return pair(bytes, at: place + 5, length: 2).map {
                    ImageSize(width: UInt64($0.height), height: UInt64($0.width))
                }
            }
            let length = Int(bytes[place + 2]) << 8 | Int(bytes[place + 3])
            place += 2 + max(length, 2)
        }
        return nil
    }

    /// In its three forms (RFC 9649 §2).
    private static func webP(_ bytes: [UInt8]) -> ImageSize? {
        guard bytes.count >= 30 else { return nil }
        switch bytes[12..<16] {
        case let form where form.elementsEqual("VP8X".utf8):
            return littlePair(bytes, at: 24, length: 3).map {
                ImageSize(width: UInt64($0.width) + 1, height: UInt64($0.height) + 1)
            }
        case let form where form.elementsEqual("VP8 ".utf8):
            return littlePair(bytes, at: 26, length: 2).map {
                ImageSize(width: UInt64($0.width) & 0x3FFF, height: UInt64($0.height) & 0x3FFF)
            }
        case let form where form.elementsEqual("VP8L".utf8):
            let bits = bytes[21..<25].reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            return ImageSize(width: bits & 0x3FFF + 1, height: bits >> 14 & 0x3FFF + 1)
        default: return nil
        }
    }
}
