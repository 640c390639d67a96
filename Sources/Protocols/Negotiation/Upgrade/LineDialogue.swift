internal import Base

/// The protocols of lines: SMTP (RFC 3207), LMTP, FTP (RFC 4217), POP3 (RFC 2595), IMAP
/// (RFC 9051 §6.2.1), NNTP (RFC 4642), ManageSieve (RFC 5804 §2.2) and IRC.
///
/// It tells them apart by what is said. Contents (mail, literals) are passed over, so that nothing
/// within them counts as a command or an answer.
struct LineDialogue: Dialogue {
    enum Kind: String {
        case smtp
        case lmtp
        case ftp
        case pop3
        case imap
        case nntp
        case sieve
        case irc

        /// The command that asks for TLS.
        var upgradeCommand: String {
            switch self {
            case .pop3: "STLS"
            case .ftp: "AUTH TLS"
            default: "STARTTLS"
            }
        }
    }

    /// An answer that is due.
    enum Reply {
        case plain
        case capabilities
        /// Lines up to a dot.
        case listing
        /// Leave to send content.
        case content
        case upgrade
    }

    /// A client that pipelines more commands is followed no more: the switch is then known by its
    /// ClientHello alone.
    private static let replyLimit = 128
    /// In bytes of both sides: a dialogue without a name by then gets none.
    private static let unknownLimit = 16 * 1024

    var kind: Kind?
    /// The name of a protocol that is not followed.
    var otherName: String?
    /// The origin greeted with 220, which SMTP, LMTP and FTP have in common.
    var isMailOrFiles = false
    /// Which of them the greeting's text suggests.
    var suggestedKind: Kind?
    var clientSpokeFirst: Bool?
    private var unknownCount = 0

    var clientLine = LineWindow()
    var originLine = LineWindow()
    /// How many bytes of content come before the next line.
    var clientSkip = 0
    var originSkip = 0
    /// The client's next line goes on with a command or answers a challenge.
    var clientContinues = false
    var originContinues = false
    /// The client sends content up to a dot.
    var isClientInContent = false
    /// What the origin sends goes on up to a dot, or up to the end of a reply of many lines.
    var listing: Reply?
    var multilineCode: Int?
    /// A literal that waits for leave, in bytes.
    var pendingLiteral = 0

    var hasGreeted = false
    var expected: [Reply] = []
    /// The command for TLS that waits for its answer, and in IMAP its tag.
    var awaited: String?
    var awaitedTag: [UInt8] = []
    /// While a client waits for TLS, a positive answer came that was counted as another's.
    var mayHaveAccepted = false
    var isOffered = false
    var isGuest = false
    var noted: PlaintextLogin?

    var protocolName: String? { kind?.rawValue ?? otherName ?? suggestedKind?.rawValue }

    var isBetweenMessages: Bool {
        clientLine.isAtStart && clientSkip == 0 && !isClientInContent
    }

    mutating func client(
        _ bytes: Span<UInt8>, _ index: inout Int, _ facts: inout [UpgradeFact]
    ) -> DialogueEvent {
        if clientSpokeFirst == nil { clientSpokeFirst = true }
        while index < bytes.count {
            guard clientSkip == 0 else {
                skip(&clientSkip, bytes, &index)
                continue
            }
            let start = index
            let isComplete = clientLine.take(bytes, &index)
            if isLost(index - start) { return .settled }
            guard isComplete else { break }
            let event = takeClientLine(&facts)
            if event != .nothing { return event }
            if isBetweenMessages { return .boundary }
        }
        return .nothing
    }

    mutating func origin(
        _ bytes: Span<UInt8>, _ index: inout Int, _ facts: inout [UpgradeFact]
    ) -> DialogueEvent {
        if clientSpokeFirst == nil { clientSpokeFirst = false }
        while index < bytes.count {
            guard originSkip == 0 else {
                skip(&originSkip, bytes, &index)
                continue
            }
            let start = index
            let isComplete = originLine.take(bytes, &index)
            if isLost(index - start) { return .settled }
            guard isComplete else { break }
            let event = takeOriginLine(&facts)
            if event != .nothing { return event }
        }
        return .nothing
    }

    private func skip(_ count: inout Int, _ bytes: Span<UInt8>, _ index: inout Int) {
        let skipped = min(count, bytes.count - index)
        count -= skipped
        index += skipped
    }

    /// Counts bytes as long as the protocol has no name.
    private mutating func isLost(_ count: Int) -> Bool {
        guard kind == nil else { return false }
        unknownCount += count
        return unknownCount > Self.unknownLimit || otherName != nil
    }

    /// - Returns: `false` if too many answers are due already.
    @discardableResult
    mutating func expect(_ reply: Reply) -> Bool {
        guard expected.count < Self.replyLimit else { return false }
        expected.append(reply)
        return true
    }

    mutating func ask(_ command: String, _ facts: inout [UpgradeFact]) -> DialogueEvent {
        guard expect(.upgrade) else { return .nothing }
        awaited = command
        mayHaveAccepted = false
        facts.append(.asked(command: command))
        return .asked(command: command)
    }

    /// The answer to the command for TLS has come.
    mutating func answer(isPositive: Bool) -> DialogueEvent {
        awaited = nil
        awaitedTag = []
        mayHaveAccepted = false
        if let index = expected.firstIndex(of: .upgrade) { expected.removeSubrange(...index) }
        return isPositive ? .accepted : .refused(answer: shownText(originLine.bytes))
    }

    /// Nobody waits for an answer any more.
    mutating func abandon() {
        awaited = nil
        awaitedTag = []
        expected.removeAll { $0 == .upgrade }
    }

    mutating func offer(_ facts: inout [UpgradeFact]) {
        guard !isOffered, let kind else { return }
        isOffered = true
        facts.append(.offered(command: kind.upgradeCommand))
    }

    /// Notes a login once, and once more if only the second exposes a secret.
    mutating func note(
        login command: String, exposesSecret: Bool, _ facts: inout [UpgradeFact]
    ) {
        guard noted.map({ !$0.exposesSecret && exposesSecret }) ?? true else { return }
        let login = PlaintextLogin(
            command: command, wasUpgradeOffered: isOffered, exposesSecret: exposesSecret)
        noted = login
        facts.append(.plaintextLogin(login))
    }

    mutating func note(
        login command: String, mechanism: some Collection<UInt8>, _ facts: inout [UpgradeFact]
    ) {
        let known = SASLMechanism(mechanism)
        note(
            login: known.map { "\(command) \($0.rawValue)" } ?? command,
            exposesSecret: known?.exposesSecret ?? false, &facts)
    }
}
