internal import Base
internal import Contents

/// What a value looks like; the raw values are a contract.
package enum ValueKind: String, Sendable {
    case password
    case jwt
    case providerKey = "provider-key"
    case publishableKey = "publishable-key"
    case uuid
    case hex
    case base64
    case number
    case email
    case text

    /// Recognises the form of a value; `password` is never recognised, it is known by its place.
    init(_ value: [UInt8]) {
        if let prefix = PublishedPrefix(of: value) {
            self = prefix.isPublishable ? .publishableKey : .providerKey
        } else if TokenForm.isJWT(value) {
            self = .jwt
        } else if Self.isUUID(value) {
            self = .uuid
        } else if !value.isEmpty, value.allSatisfy(\.isASCIIDigit) {
            self = .number
        } else if value.count >= 8, value.allSatisfy({ $0.hexDigitValue != nil }) {
            self = .hex
        } else if value.contains(0x40), value.contains(0x2E), value.count <= 254 {
            self = .email
        } else if value.count >= 16, Randomness.bits(of: value) >= 64 {
            self = .base64
        } else {
            self = .text
        }
    }

    /// Whether the value is itself a credential by its published form.
    var isCredentialByForm: Bool { self == .jwt || self == .providerKey }

    static func isUUID(_ value: [UInt8]) -> Bool {
        guard value.count == 36 else { return false }
        return value.enumerated().allSatisfy { index, byte in
            [8, 13, 18, 23].contains(index) ? byte == 0x2D : byte.hexDigitValue != nil
        }
    }
}
