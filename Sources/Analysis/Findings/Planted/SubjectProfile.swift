package import Base

/// The values of the test subject that are looked for in the traffic, and who may receive them.
///
/// The file is plain text. A line is empty, a comment that begins with `#`, `owner: host-pattern`,
/// or `kind.name = value`; everything after the first `=` is the value, without the white space
/// around it. A host pattern is a host, or `*.` and a domain, which stands for the domain too.
///
///     owner: *.shop.example
///     password.account = correct-horse-7
///     email.account = nora@shop.example
package struct SubjectProfile: Sendable {
    package let values: [PlantedValue]
    package let owners: [HostPattern]

    package struct PlantedValue: Sendable {
        package let kind: Kind
        /// The whole key, such as `password.account`.
        package let key: String
        let bytes: [UInt8]
    }

    package enum Kind: String, Sendable, CaseIterable {
        case password
        case token
        case secret
        case otp
        case card
        case username
        case email
        case phone
        case name
        case address
        case id
        case location

        /// Whether it opens something, so that even its owner must not send it back.
        var isCredential: Bool {
            switch self {
            case .password, .token, .secret, .otp, .card: true
            default: false
            }
        }
    }

    /// Reads a profile.
    ///
    /// Errors: `profile-invalid`, with the number of the line.
    package static func parse(_ text: String) throws(Failure) -> SubjectProfile {
        var values: [PlantedValue] = []
        var owners: [HostPattern] = []
        var keys = Set<String>()
        let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        for (index, line) in lines.enumerated() {
            let parsed = try parse(line: Array(line.utf8).trimmed, number: index + 1)
            switch parsed {
            case .nothing: break
            case .owner(let pattern): owners.append(pattern)
            case .value(let value):
                guard keys.insert(value.key).inserted else {
                    throw invalid(index + 1, "\(value.key) is given twice")
                }
                values.append(value)
            }
            guard values.count <= valueLimit, owners.count <= valueLimit else {
                throw invalid(index + 1, "more than \(valueLimit) values or owners")
            }
        }
        return SubjectProfile(values: values, owners: owners)
    }

    /// Whether `host` may receive the values; everyone may if no owner is named.
    func isOwner(_ host: HostName) -> Bool {
        owners.isEmpty || owners.contains { $0.matches(host) }
    }

    private enum Line {
        case nothing
        case owner(HostPattern)
        case value(PlantedValue)
    }

    private static func parse(line: [UInt8], number: Int) throws(Failure) -> Line {
        guard let first = line.first, first != 0x23 else { return .nothing }
        let ownerWord = Array("owner:".utf8)
        if line.prefix(ownerWord.count).lowercasedBytes == ownerWord {
            let text = Array(line.dropFirst(ownerWord.count)).trimmed
            guard let pattern = HostPattern(text) else {
                throw invalid(number, "owner is no host and no *.domain")
            }
            return .owner(pattern)
        }
        guard let equals = line.firstIndex(of: 0x3D) else {
            throw invalid(number, "expected kind.name = value or owner: host")
        }
        let key = Array(line[..<equals]).trimmed
        let value = Array(line[(equals + 1)...]).trimmed
        return .value(try planted(key: key, value: value, number: number))
    }

    private static func planted(
        key: [UInt8], value: [UInt8], number: Int
    ) throws(Failure) -> PlantedValue {
        let parts = key.text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, let kind = Kind(rawValue: String(parts[0])) else {
            let kinds = Kind.allCases.map(\.rawValue).joined(separator: ", ")
            throw invalid(number, "a key begins with one of \(kinds), then a dot and a name")
        }
        let isPlain = key.allSatisfy {
            $0.isASCIILetter || $0.isASCIIDigit || [0x2E, 0x2D, 0x5F].contains($0)
        }
        guard isPlain, !parts[1].isEmpty, key.count <= 48 else {
            throw invalid(number, "a name is made of letters, digits, dots, dashes and underscores")
        }
        try check(value, key: key.text, number: number)
        if kind == .location, Coordinates(pair: value) == nil {
            throw invalid(number, "a location is a latitude, a comma and a longitude")
        }
        guard !key.lowercasedBytes.contains(run: value.lowercasedBytes) else {
            throw invalid(number, "the name of the key holds its value")
        }
        return PlantedValue(kind: kind, key: key.text, bytes: value)
    }

    /// Refuses what would be found by accident.
    private static func check(
        _ value: [UInt8], key: String, number: Int
    ) throws(Failure) {
        let isNumeric = value.allSatisfy { $0.isASCIIDigit || $0 == 0x2B }
        if value.count > 256 { throw invalid(number, "\(key) is longer than 256 bytes") }
        if value.count < 6 { throw invalid(number, "\(key) is shorter than 6 characters") }
        if isNumeric, value.count < 8 {
            throw invalid(number, "\(key) is a number of fewer than 8 digits")
        }
        if value.count < 8, commonWords.contains(value.lowercasedBytes.text) {
            throw invalid(number, "\(key) is a common word of fewer than 8 letters")
        }
        if Set(value).count < 3 {
            throw invalid(number, "\(key) has fewer than 3 different characters")
        }
    }

    private static func invalid(_ line: Int, _ detail: String) -> Failure {
        Failure(
            "profile-invalid", party: .tool, "subject profile: line \(line): \(detail)",
            hint: "choose a value that occurs nowhere by accident")
    }

    private static let valueLimit = 256

    private static let commonWords: Set<String> = [
        "access", "account", "action", "active", "admin1", "android", "answer", "avatar", "basic",
        "button", "cancel", "change", "client", "closed", "cookie", "create", "custom", "default",
        "delete", "device", "domain", "double", "enable", "failed", "filter", "format", "google",
        "header", "height", "hidden", "iphone", "labels", "length", "letmein", "master", "medium",
        "mobile", "monkey", "normal", "number", "object", "option", "orange", "origin", "people",
        "person", "please", "policy", "public", "qwerty", "random", "result", "return", "sample",
        "screen", "script", "search", "secret", "select", "server", "session", "simple", "source",
        "static", "status", "string", "submit", "summer", "system", "target", "tester", "testing",
        "ticket", "update", "values", "version", "visible", "welcome", "window", "winter",
    ]
}

/// A host, or every host of a domain.
package struct HostPattern: Sendable {
    private let domain: [UInt8]
    private let isWildcard: Bool

    /// Reads `host` or `*.domain`; `nil` if it is neither.
    init?(_ text: [UInt8]) {
        let isWildcard = text.starts(with: [0x2A, 0x2E])
        let host = HostName(authority: isWildcard ? Array(text.dropFirst(2)) : text).bytes
        let isPlain = host.allSatisfy {
            $0.isASCIILetter || $0.isASCIIDigit || [0x2D, 0x2E, 0x3A, 0x5F].contains($0)
        }
        guard isPlain, !host.isEmpty else { return nil }
        domain = host
        self.isWildcard = isWildcard
    }

    func matches(_ host: HostName) -> Bool {
        if host.bytes == domain { return true }
        guard isWildcard, host.bytes.count > domain.count else { return false }
        let start = host.bytes.count - domain.count
        return host.bytes[start - 1] == 0x2E && host.bytes[start...].elementsEqual(domain)
    }
}
