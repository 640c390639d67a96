internal import Base
package import HTTPModel
package import HTTPServer

/// A generated file of any size: `size` bytes of the content of `seed`.
package struct GeneratedAsset: Sendable, Equatable {
    package let content: GeneratedContent
    /// In bytes, below 2^63.
    package let size: UInt64

    package init(seed: UInt64, size: UInt64) {
        content = GeneratedContent(seed: seed)
        self.size = size
    }

    /// Reads the seed and size of a path; `nil` if either is malformed or too large.
    package init?(seed: [UInt8], size: [UInt8]) {
        guard let seed = decimal(seed), let size = Self.size(size) else { return nil }
        self.init(seed: seed, size: size)
    }

    /// Strong, for the same seed, size and algorithm always mean the same bytes.
    package var entityTag: EntityTag {
        EntityTag("generated-1-\(content.seed)-\(size)")
    }

    package func representation(
        contentType: String = "application/octet-stream"
    ) -> Representation {
        let content = content
        var representation = Representation(
            contentType: contentType, length: size,
            validators: Validators(entityTag: entityTag, lastModified: Self.lastModified)
        ) { range in
            GeneratedSource(content, range: range)
        }
        representation.cacheControl = "public, max-age=3600"
        return representation
    }

    /// Bytes as decimal digits, with an optional binary `k`, `m`, `g` or `t`; `nil` for anything
    /// else and for 2^63 and more.
    static func size(_ text: [UInt8]) -> UInt64? {
        var digits = text[...]
        var factor: UInt64 = 1
        switch digits.last.map(\.asciiLowercased) {
        case UInt8(ascii: "k"): factor = 1 << 10
        case UInt8(ascii: "m"): factor = 1 << 20
        case UInt8(ascii: "g"): factor = 1 << 30
        case UInt8(ascii: "t"): factor = 1 << 40
        default: break
        }
        if factor > 1 { digits.removeLast() }
        guard let number = decimal(digits) else { return nil }
        let (size, overflow) = number.multipliedReportingOverflow(by: factor)
        return overflow || size > UInt64(Int64.max) ? nil : size
    }

    /// When version 1 of the algorithm was fixed: an asset never changes after that.
    private static let lastModified = HTTPDate(seconds: 1_767_225_600)
}
