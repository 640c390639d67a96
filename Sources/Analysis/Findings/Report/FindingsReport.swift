internal import Base
internal import Logins
internal import Traffic

/// What the records showed.
package struct FindingsReport: Sendable {
    /// Consolidated; by falling severity, then by rule, service and path.
    package let findings: [Finding]
    package let coverage: FindingsCoverage
    package let inventory: Inventory
    package let firstParties: FirstParties
    /// Why the absence of findings proves nothing; empty if it does.
    package private(set) var inconclusive: [InconclusiveReason]
    package let gate: FindingsGate
    package let outcome: PolicyOutcome

    /// Whether a finding counts, and is bad and sure enough to fail.
    package func fails(_ finding: Finding) -> Bool {
        finding.state == .open && gate.reaches(finding)
    }

    /// The same, where the file that was judged is a further reason.
    package func inconclusive(for reason: InconclusiveReason) -> FindingsReport {
        var report = self
        report.inconclusive.append(reason)
        return report
    }

    package var isFailed: Bool { findings.contains(where: fails) }

    /// Why the verdict cannot be a clean one, each with its code.
    package var reasons: [(code: String, text: String)] {
        inconclusive.flatMap { reason in
            let texts = reason == .expectationUnmet ? outcome.unmet : [reason.text]
            return texts.map { (reason.rawValue, $0) }
        }
    }
}

/// Why a run proves nothing; the raw values are a contract.
package enum InconclusiveReason: String, Sendable {
    /// No connection and no exchange was recorded.
    case nothingRecorded = "nothing-recorded"
    /// Something was recorded, and the selection took none of it.
    case nothingMatched = "nothing-matched"
    /// Whatever was answered, the tool answered it, because no origin could be had.
    case noOriginAnswered = "no-origin-answered"
    /// Everything was passed through as it was asked.
    case everythingPassed = "everything-passed"
    /// There were TLS connections, and clients refused every one.
    case everyClientRefused = "every-client-refused"
    /// Datagrams were seen, and no request or message.
    case datagrams
    /// A page of the tool's own was visited, and nothing else.
    case ownPage = "own-page"
    /// There were connections, and no request or message on any.
    case nothingSaid = "nothing-said"
    /// Something was said in cleartext, in no protocol that is known here.
    case notUnderstood = "not-understood"
    /// Packets of TLS were imported whose keys are not known.
    case notDecrypted = "not-decrypted"
    /// Packets are missing in what was imported.
    case packetsMissing = "packets-missing"
    /// What was imported is a copy that was made without its secrets.
    case secretsMasked = "secrets-masked"
    /// More services than can be told apart.
    case truncated
    /// Some of what clients sent was not looked into.
    case partlyRead = "partly-read"
    /// The file was not read to its end.
    case fileUnfinished = "file-unfinished"
    /// A recorder of the capture ended without closing it.
    case recordingInterrupted = "recording-interrupted"
    /// More in one exchange or on one connection than is told.
    case findingsLeftOut = "findings-left-out"
    /// Something that the policy expects was not seen.
    case expectationUnmet = "expectation-unmet"

    package var text: String {
        switch self {
        case .nothingRecorded: "nothing was recorded"
        case .nothingMatched: "the filter matches nothing of what was recorded"
        case .noOriginAnswered: "no origin answered"
        case .everythingPassed: "every connection was passed through, so none was looked into"
        case .everyClientRefused: "clients refused every TLS connection, so none was looked into"
        case .datagrams:
            "datagrams were seen, of QUIC or other UDP, which are refused and not looked into"
        case .ownPage: "the tool's own page was visited, which is not judged"
        case .nothingSaid: "connections were seen, and no request or message on them"
        case .notUnderstood:
            "cleartext was recorded in a protocol that is not known here: see 'sallyport connections'"
        case .notDecrypted:
            "what is encrypted was imported without keys that open it (--key-log, for TLS over TCP), so"
                + " it was not looked into"
        case .packetsMissing: "packets are missing in what was imported"
        case .secretsMasked:
            "secrets are masked in what was imported: export it with --with-secrets to judge it"
        case .truncated: "too many services to tell them all apart"
        case .partlyRead:
            "some of what clients sent is too large, or in no form that is read, and was not looked"
                + " into to its end"
        case .fileUnfinished: "the file could not be read to its end"
        case .recordingInterrupted:
            "the recorder ended without closing the capture, or this is a copy of one that it was"
                + " writing, so what came last may be missing: end it by a signal that is not SIGKILL"
        case .findingsLeftOut: "one exchange or connection showed more findings than are told"
        case .expectationUnmet: "something that the policy expects was not seen"
        }
    }
}

/// What was looked at, and what could not be.
package struct FindingsCoverage: Sendable, Equatable {
    package private(set) var exchanges = 0
    package private(set) var clearExchanges = 0
    package private(set) var connections = 0
    package private(set) var tlsConnections = 0
    package private(set) var clientRefused = 0
    package private(set) var clientHandshakeFailed = 0
    package private(set) var passedThrough = 0
    package private(set) var originUnreachable = 0
    package private(set) var originUntrusted = 0
    package private(set) var originHandshakeFailed = 0
    package private(set) var broken = 0
    package private(set) var timedOut = 0
    package private(set) var truncatedBodies = 0
    package private(set) var undecodableBodies = 0
    /// Contents that were not looked into to their ends, or not all of whose values were.
    package private(set) var partlyReadBodies = 0
    /// Requests whose URL or fields were not looked into to their ends.
    package private(set) var partlyReadHeads = 0
    /// Requests, and messages, in which something may stand that nobody looked for.
    private var partlyRead = 0
    package private(set) var malformedHeads = 0
    /// Exchanges of which contents alone were recorded, so that they were not judged.
    package private(set) var missingHeads = 0
    /// Messages and pieces of dialogues that were looked into.
    package private(set) var messages = 0
    /// Connections of whose messages only a part was looked into.
    package private(set) var truncatedMessages = 0
    /// Connections that said something in cleartext which is in no known protocol.
    package private(set) var notUnderstood = 0
    /// Imported connections whose TLS could not be decrypted.
    package private(set) var notDecrypted = 0
    /// Imported connections of which packets are missing.
    package private(set) var packetsMissing = 0
    /// What was found beyond the bound of one exchange or connection, and might have failed.
    package private(set) var leftOutFindings = 0
    /// Values that are no longer compared with those of other services, because too many came.
    package private(set) var forgottenValues = 0
    /// All of them; the names are a contract.
    var counts: [(name: String, count: Int)] {
        [
            ("exchanges", exchanges),
            ("clearExchanges", clearExchanges),
            ("connections", connections),
            ("tlsConnections", tlsConnections),
            ("clientRefused", clientRefused),
            ("clientHandshakeFailed", clientHandshakeFailed),
            ("passedThrough", passedThrough),
            ("originUnreachable", originUnreachable),
            ("originUntrusted", originUntrusted),
            ("originHandshakeFailed", originHandshakeFailed),
            ("broken", broken),
            ("timedOut", timedOut),
            ("truncatedBodies", truncatedBodies),
            ("undecodableBodies", undecodableBodies), ("partlyReadBodies", partlyReadBodies),
            ("partlyReadHeads", partlyReadHeads), ("malformedHeads", malformedHeads),
            ("missingHeads", missingHeads),
            ("messages", messages),
            ("truncatedMessages", truncatedMessages),
            ("notUnderstood", notUnderstood),
            ("notDecrypted", notDecrypted),
            ("packetsMissing", packetsMissing),
            ("leftOutFindings", leftOutFindings),
            ("forgottenValues", forgottenValues),
        ]
    }

    /// Flows of datagrams that were refused, or of which nothing was recorded.
    private var datagrams = 0
    private var ownPages = 0
    /// Connections that were passed through because their client had refused others.
    private var released = 0
    /// Connections of a copy that was made without its secrets.
    private var masked = 0
    /// Whether a request or a message was recorded.
    private var hasTraffic = false
    /// Exchanges without an answer.
    private var unanswered = 0
    /// Answers that the tool made in an origin's place.
    private var ownAnswers = 0
    /// Whether anything came from an origin that was meant for the client.
    private var heardOrigin = false

    mutating func count(_ connection: ConnectionRecord) {
        connections += 1
        guard connection.isAnswered else {
            datagrams += 1
            return
        }
        guard !connection.isForTool else {
            ownPages += 1
            return
        }
        if connection.has(.secretsMasked) { masked += 1 }
        if connection.exchangeCount > 0 || connection.messageCount > 0 { hasTraffic = true }
        if connection.clientTLS != nil || connection.protocolName == "tls" { tlsConnections += 1 }
        switch connection.outcome {
        case .clientRefused: clientRefused += 1
        case .clientHandshakeFailed: clientHandshakeFailed += 1
        case .passedThrough:
            passedThrough += 1
            if connection.has(.clientDistrusts) { released += 1 }
        case .originUnreachable: originUnreachable += 1
        case .originUntrusted: originUntrusted += 1
        case .originHandshakeFailed: originHandshakeFailed += 1
        case .broken: broken += 1
        case .timedOut: timedOut += 1
        case .open, .completed, .refused, .cut, .lost: break
        }
        // What came of one that could not be had was its handshake; exchanges tell for themselves.
        if connection.exchangeCount == 0, connection.originBytes.received > 0,
            connection.outcome != .originUntrusted, connection.outcome != .originHandshakeFailed
        {
            heardOrigin = true
        }
    }

    /// Counts what was there and could not be judged.
    ///
    /// - Parameters:
    ///   - isUnread: whether it is in cleartext, and nothing in it was recognised.
    ///   - isSpoken: whether the client spoke what the connection is named for.
    mutating func countUnread(_ connection: ConnectionRecord, isUnread: Bool, isSpoken: Bool) {
        // HTTP that is no exchange was not taken for a request.
        let isUnknown =
            (!isSpoken || ["unknown", "http", "udp"].contains(connection.protocolName))
            && connection.messageCount > 0
        let isPassed =
            (connection.isFromPackets || connection.isFromExport)
            && connection.outcome == .passedThrough
        let isIncomplete = connection.has(.packetsMissing)
        if isIncomplete { packetsMissing += 1 }
        let isEncrypted = Self.encryptedNames.contains(connection.protocolName)
        if connection.clientTLS != nil || isEncrypted && isSpoken {
            if isPassed { notDecrypted += 1 }
        } else if isIncomplete, connection.listener == ConnectionRecord.packetListener {
            // Packets that would have been read are missing, and nothing else is known of them.
        } else if isUnread, isUnknown || isPassed {
            notUnderstood += 1
        }
    }

    /// Of protocols that nobody on the way reads.
    private static let encryptedNames: Set<String> = ["tls", "quic", "dtls", "wireguard", "esp"]

    /// Connections on which an origin could not be had, or not securely.
    package var originFailed: Int { originUnreachable + originUntrusted + originHandshakeFailed }

    mutating func count(_ messages: GatheredMessages, of connection: ConnectionRecord) {
        self.messages += messages.count
        if messages.count > 0, connection.isAnswered { hasTraffic = true }
        if messages.isTruncated { truncatedMessages += 1 }
    }

    mutating func countLeftOut(_ count: Int) { leftOutFindings += count }

    /// Counts a message not all of whose values were looked at.
    mutating func countPartlyReadMessage() { partlyRead += 1 }

    mutating func countForgotten(_ count: Int) { forgottenValues = count }

    mutating func countMissingHead() {
        exchanges += 1
        missingHeads += 1
    }

    mutating func count(_ view: ExchangeView) {
        exchanges += 1
        hasTraffic = true
        if view.isClear { clearExchanges += 1 }
        if view.exchange.answeredByTool { ownAnswers += 1 }
        if view.hasOriginResponse { heardOrigin = true }
        if view.exchange.status == 0 { unanswered += 1 }
        for body in [view.exchange.requestBody, view.exchange.responseBody] where body.isTruncated {
            truncatedBodies += 1
        }
        undecodableBodies += view.undecodableBodies
        partlyReadBodies += view.partlyReadBodies
        if view.isHeadPartlyRead { partlyReadHeads += 1 }
        if view.isRequestPartlyRead { partlyRead += 1 }
        malformedHeads += view.malformedHeads
    }

    /// - Parameter leavesOut: whether there were records that were not to be judged.
    func inconclusive(isTruncated: Bool, leavesOut: Bool) -> [InconclusiveReason] {
        var reasons: [InconclusiveReason] = []
        if connections == 0, exchanges == 0 {
            reasons.append(leavesOut ? .nothingMatched : .nothingRecorded)
        }
        if !heardOrigin, originFailed + ownAnswers + unanswered > 0 {
            reasons.append(.noOriginAnswered)
        }
        let isUnread = notUnderstood + notDecrypted + packetsMissing > 0
        let looked = connections - datagrams - ownPages
        if !hasTraffic, passedThrough > 0, passedThrough >= looked, !isUnread {
            reasons.append(.everythingPassed)
        }
        if tlsConnections > 0, clientRefused + released >= tlsConnections {
            reasons.append(.everyClientRefused)
        }
        if notUnderstood > 0 { reasons.append(.notUnderstood) }
        if notDecrypted > 0 { reasons.append(.notDecrypted) }
        if packetsMissing > 0 { reasons.append(.packetsMissing) }
        if masked > 0 { reasons.append(.secretsMasked) }
        // The absence of all traffic is no good sign, whatever else there was.
        if !hasTraffic, datagrams > 0 { reasons.append(.datagrams) }
        if !hasTraffic, ownPages > 0 { reasons.append(.ownPage) }
        if !hasTraffic, reasons.isEmpty { reasons.append(.nothingSaid) }
        if isTruncated { reasons.append(.truncated) }
        if partlyRead > 0 { reasons.append(.partlyRead) }
        if leftOutFindings > 0 { reasons.append(.findingsLeftOut) }
        return reasons
    }
}

extension ConnectionRecord {
    /// Whether what it says was let through: of datagrams that were refused, the first are recorded.
    fileprivate var isAnswered: Bool {
        !isDatagrams || messageCount > 0 && outcome != .refused
    }
}
