internal import Base

/// LEAK-RESPONSE-SECRET: a password, or what is stored of one, in what an origin sends.
enum ResponseSecretDetector {
    static func examine(_ view: ExchangeView) -> [RuleMatch] {
        let sent = Set(view.credentials.map(\.value))
        return view.structuredResponseFields.compactMap { field in
            guard field.isScalar, let (severity, confidence) = judge(field) else { return nil }
            var result = RuleMatch(.leakResponseSecret, severity, confidence, field: field)
            result.value = field.value
            result.isPassword = true
            if sent.contains(field.value) {
                result.severity = min(severity, .medium)
                result.notes.append(.echoed)
            }
            return result
        }
    }

    private static func judge(_ field: MessageField) -> (Severity, Confidence)? {
        if isStoredPassword(field.value) { return (.high, .firm) }
        guard (4...128).contains(field.value.count), !field.value.contains(0x20),
            let (_, confidence) = PasswordFieldDetector.judge(field), confidence == .certain
        else { return nil }
        // Forms and texts of an interface name the field and say nothing of a user's.
        let lowercased = field.value.lowercasedBytes
        guard !lowercased.contains(run: Array("pass".utf8)),
            !field.value.contains(where: { [0x7C, 0x3A].contains($0) })
        else { return nil }
        return looksChosen(field.value) ? (.high, .firm) : (.medium, .tentative)
    }

    /// A hash as crypt(3) and its successors write it.
    private static func isStoredPassword(_ value: [UInt8]) -> Bool {
        guard value.first == 0x24, (20...256).contains(value.count),
            value.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
        else { return false }
        let parts = value.split(separator: 0x24, omittingEmptySubsequences: false)
        guard parts.count >= 4, parts[parts.count - 1].count >= 20 else { return false }
        let name = parts[1].text
        return schemes.contains(name) || name.hasPrefix("argon2") || name.hasPrefix("pbkdf2")
    }

    /// Letters with digits or signs, in more than one kind, as passwords have and words have not.
    private static func looksChosen(_ value: [UInt8]) -> Bool {
        guard value.count >= 8, value.contains(where: \.isASCIIDigit),
            value.contains(where: \.isASCIILetter)
        else { return false }
        let isCode = value.allSatisfy {
            $0.isASCIIDigit || (0x41...0x5A).contains($0) || $0 == 0x5F
        }
        return !isCode && !value.contains(where: { [0x2F, 0x3C, 0x7B].contains($0) })
    }

    private static let schemes: Set<String> = [
        "1", "2a", "2b", "2y", "2x", "5", "6", "7", "y", "gy", "apr1", "scrypt", "bcrypt",
    ]
}

extension RuleText {
    static let leakResponseSecret = RuleText(
        title: "Origin sends a password, or the hash of one",
        reason: "whoever sees the response, or a cache that keeps it, can log in or start guessing",
        advice: "leave passwords and their hashes out of every response",
        decision:
            "A response has a hash of a password in crypt's or a later form, or a field that is"
            + " named like a password with a value that can be one.",
        exceptions:
            "Switches, descriptions of forms and texts of an interface. A password that the request"
            + " itself set is medium.",
        party: .origin,
        worst: .high,
        weaknesses: [522, 200])
}
