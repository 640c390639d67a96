internal import Base
package import Contents

/// What may be told of a secret: never a byte of it.
package struct RedactedValue: Sendable, Hashable {
    package let kind: ValueKind
    package let lengthBucket: LengthBucket
    package let charset: Charset
    /// What a provider publishes, `nil` for passwords and for everything else.
    package let prefix: PublishedPrefix?
    package let tag: Tag

    /// Such as `password, 8-15 characters of lower, digit, tag 03ab…`.
    package var summary: String {
        var text = "\(kind.rawValue), \(lengthBucket.rawValue) characters"
        if !charset.isEmpty { text += " of \(charset.names.joined(separator: ", "))" }
        if let prefix { text += ", begins with \(prefix.rawValue)" }
        return text + ", tag \(tag.text)"
    }

    /// - Parameter isPassword: whether its place says that it is one.
    init(_ raw: [UInt8], isPassword: Bool, redaction: EvidenceRedaction) {
        let kind = isPassword ? ValueKind.password : ValueKind(raw)
        self.kind = kind
        lengthBucket = LengthBucket(raw.count)
        charset = Charset(raw)
        prefix = isPassword ? nil : PublishedPrefix(of: raw)
        tag = Tag(raw, kind: kind, redaction: redaction)
    }
}

/// About how long a value is, in bytes; the raw values are a contract.
package enum LengthBucket: String, Sendable {
    case below8 = "<8"
    case from8 = "8-15"
    case from16 = "16-31"
    case from32 = "32-63"
    case from64 = "64+"

    init(_ count: Int) {
        self =
            switch count {
            case ..<8: .below8
            case ..<16: .from8
            case ..<32: .from16
            case ..<64: .from32
            default: .from64
            }
    }
}

/// Which kinds of characters a value has.
package struct Charset: OptionSet, Sendable, Hashable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    package static let lower = Charset(rawValue: 1)
    package static let upper = Charset(rawValue: 2)
    package static let digit = Charset(rawValue: 4)
    package static let symbol = Charset(rawValue: 8)

    init(_ raw: [UInt8]) {
        self = []
        for byte in raw {
            if byte.isASCIIDigit {
                insert(.digit)
            } else if byte.isASCIILetter {
                insert(byte >= 0x61 ? .lower : .upper)
            } else {
                insert(.symbol)
            }
        }
    }

    /// The names of what is there, in a fixed order.
    package var names: [String] {
        let all: [(Charset, String)] = [
            (.lower, "lower"), (.upper, "upper"), (.digit, "digit"), (.symbol, "symbol"),
        ]
        return all.filter { contains($0.0) }.map(\.1)
    }
}
