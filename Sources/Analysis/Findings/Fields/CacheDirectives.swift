internal import Base
internal import Contents

/// What a `Cache-Control` allows (RFC 9111 §5.2), as far as rules ask for it.
struct CacheDirectives {
    private(set) var isPresent = false
    private(set) var forbidsStoring = false
    private(set) var mustAsk = false
    private(set) var isPrivate = false
    private(set) var isPublic = false
    private(set) var mustRevalidate = false
    private(set) var forbidsChange = false
    private(set) var isImmutable = false
    /// In seconds, `nil` if it is not told.
    private(set) var lifetime: Int?
    /// Of shared caches, in seconds.
    private(set) var sharedLifetime: Int?

    mutating func read(_ field: ArraySlice<UInt8>) {
        isPresent = true
        for directive in field.split(separator: 0x2C).prefix(Self.countLimit) {
            let name = directive.prefix { $0 != 0x3D }
            let value = directive[name.endIndex...].dropFirst()
            read(Array(name).trimmed, Array(value).trimmed.filter { $0 != 0x22 })
        }
    }

    private mutating func read(_ name: [UInt8], _ value: [UInt8]) {
        switch name.lowercasedBytes.text {
        case "no-store": forbidsStoring = true
        case "no-cache": mustAsk = true
        case "private": isPrivate = true
        case "public": isPublic = true
        case "must-revalidate", "proxy-revalidate": mustRevalidate = true
        case "no-transform": forbidsChange = true
        case "immutable": isImmutable = true
        case "max-age": lifetime = Self.seconds(value)
        case "s-maxage": sharedLifetime = Self.seconds(value)
        default: break
        }
    }

    /// What is no number counts as stale (RFC 9111 §4.2.1); what is too large for one as for ever.
    static func seconds(_ value: [UInt8]) -> Int {
        guard !value.isEmpty, value.allSatisfy(\.isASCIIDigit) else { return 0 }
        return value.count > 10 ? Int(Int32.max) : Int(value.text) ?? 0
    }

    private static let countLimit = 32
}
