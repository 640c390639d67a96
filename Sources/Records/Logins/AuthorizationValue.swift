internal import Base

/// What Authorization and Proxy-Authorization hold, in HTTP, RTSP and SIP (RFC 9110 §11.6.2).
package struct AuthorizationValue {
    /// In lower case.
    package let scheme: String
    package let credentials: [UInt8]

    package init(_ value: [UInt8]) {
        let end = value.firstIndex { $0 == 0x20 || $0 == 0x09 } ?? value.endIndex
        scheme = value[..<end].lowercasedBytes.text
        credentials = Array(value[end...]).trimmed
    }

    /// What Basic holds, parted at the first colon: a password may have one (RFC 7617 §2).
    package var basic: (user: [UInt8], password: [UInt8])? {
        guard let plain = Base64.decode(credentials), let colon = plain.firstIndex(of: 0x3A) else {
            return nil
        }
        return (Array(plain[..<colon]), Array(plain[(colon + 1)...]))
    }

    /// The answer of Digest, with whose it is (RFC 7616 §3.4).
    package var digest: (user: [UInt8]?, response: [UInt8])? {
        parameter(["response"]).map { (parameter(["username"]), $0) }
    }

    /// What proves that the key is known: AWS and Signature call it so, Hawk has a MAC.
    package var signature: [UInt8]? { parameter(["signature", "mac"]) }

    /// The value of the first parameter with one of the names, which are in lower case.
    private func parameter(_ names: Set<String>) -> [UInt8]? {
        let parts = credentials.split(separator: 0x2C).map { Array($0).trimmed }
        let part = parts.first { part in
            let name = part.prefix { $0 != 0x3D }
            return names.contains(name.lowercasedBytes.text.trimmingSpaces)
        }
        return part.map { part in
            Array(part.drop { $0 != 0x3D }.dropFirst()).trimmed.filter { $0 != 0x22 }
        }
    }
}

extension String {
    fileprivate var trimmingSpaces: String {
        String(drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
    }
}
