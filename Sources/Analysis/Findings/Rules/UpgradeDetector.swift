internal import Base
internal import Logins
internal import Traffic

/// NOTLS-STARTTLS and STARTTLS-INJECTION: what became of the switch to TLS in mid-stream.
enum UpgradeDetector {
    /// - Parameters:
    ///   - client: the start of what the client said, empty if it was not recorded.
    ///   - hasLoggedIn: whether it gave its password in cleartext.
    static func examine(
        _ connection: ConnectionRecord, client: [UInt8], hasLoggedIn: Bool
    ) -> [RuleMatch] {
        [injection(connection), unused(connection, client, hasLoggedIn)].compactMap { $0 }
    }

    private static func injection(_ connection: ConnectionRecord) -> RuleMatch? {
        guard let note = connection.note(.upgradeInjection) else { return nil }
        var result = RuleMatch(.upgradeInjection, .high, .firm)
        result.protocolName = ProtocolName(connection.protocolName)
        let side: ConnectionRecord.Side = note.detail.hasPrefix("origin") ? .origin : .client
        result.notes = [.sentBehindSwitch(side)]
        return result
    }

    /// A client that ends the connection when TLS is refused has done what it should: that is told
    /// as `low`. One that was cut off before the answer came is not judged.
    private static func unused(
        _ connection: ConnectionRecord, _ client: [UInt8], _ hasLoggedIn: Bool
    ) -> RuleMatch? {
        let isOffered = connection.has(.upgradeOffered)
        let isRefused = connection.has(.upgradeRefused)
        let isAsked = connection.has(.upgradeAsked)
        let isEncrypted =
            connection.upgrade != nil || connection.clientTLS != nil
            || connection.has(.otherEncryption)
        guard !isEncrypted, isRefused || isOffered && !isAsked else { return nil }
        let hasMail = handsMailOver(client)
        let severity: Severity = hasLoggedIn ? .high : hasMail ? .medium : .low
        var result = RuleMatch(.upgradeUnused, severity, hasLoggedIn || hasMail ? .certain : .firm)
        let name = ProtocolName(connection.protocolName)
        result.protocolName = name
        result.notes = [isRefused ? .upgradeRefused : .upgradeOffered]
        if isRefused, !isOffered, name.offersVisibly { result.notes.append(.upgradeNeverOffered) }
        if hasLoggedIn { result.notes.append(.loggedInAllTheSame) }
        if hasMail { result.notes.append(.mailInPlain) }
        if !hasLoggedIn, !hasMail { result.notes.append(.noLoginSeen) }
        return result
    }

    /// Whether a line of the client's first ones names a sender (RFC 5321 §4.1.1.2).
    private static func handsMailOver(_ client: [UInt8]) -> Bool {
        var cursor = ByteCursor(client[...])
        for _ in 0..<lineLimit {
            guard let line = cursor.line() else { return false }
            if line.prefix(10).lowercasedBytes == Array("mail from:".utf8) { return true }
        }
        return false
    }

    /// How many lines of the client are looked at.
    private static let lineLimit = 64
}

extension RuleText {
    static let upgradeUnused = RuleText(
        title: "Dialogue goes on without TLS although it could begin it",
        reason: "who goes on in plain when TLS is refused or not asked for is read by whoever is on"
            + " the path, who can also take the offer out",
        advice: "begin with TLS, or end the connection if the switch to it fails",
        decision:
            "The origin offered TLS and the client did not ask for it, or asked and went on in"
            + " plain when it was refused (RFC 3207 §4, and those of the other protocols).",
        exceptions:
            "A client that ends the connection has done right, and it is low. The offer may have"
            + " been taken out on the way: then none was seen.",
        worst: .high,
        weaknesses: [319, 757])

    static let upgradeInjection = RuleText(
        title: "Plain bytes behind the switch to TLS",
        reason: "who takes them for a part of what is secured obeys an attacker (CVE-2011-0411)",
        advice: "throw away what was read before the handshake, and wait for the answer before it",
        decision: "One side sent plain bytes behind the words with which both agreed on TLS.",
        exceptions: "Bytes that begin a ClientHello.",
        worst: .high,
        weaknesses: [349, 74])
}
