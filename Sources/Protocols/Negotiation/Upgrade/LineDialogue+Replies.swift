internal import Base

// What the origin says.
extension LineDialogue {
    mutating func takeOriginLine(_ facts: inout [UpgradeFact]) -> DialogueEvent {
        if kind == nil, !isMailOrFiles, !hasGreeted { nameByGreeting() }
        switch kind {
        case .smtp, .lmtp, .ftp, .nntp: return takeNumericLine(&facts)
        case .pop3: return takePOP3Line(&facts)
        case .imap: return takeIMAPLine(&facts)
        case .sieve: return takeSieveLine(&facts)
        case .irc: return takeIRCLine(&facts)
        case nil: return isMailOrFiles ? takeNumericLine(&facts) : .nothing
        }
    }

    private mutating func nameByGreeting() {
        let line = originLine
        if line.starts(with: "220 ") || line.starts(with: "220-") || line.bytes == [50, 50, 48] {
            isMailOrFiles = true
            if line.contains("lmtp") {
                suggestedKind = .lmtp
            } else if line.contains("smtp") {
                suggestedKind = .smtp
            } else if line.contains("ftp") {
                suggestedKind = .ftp
            }
            return
        }
        guard clientSpokeFirst == false else {
            // What answers to these alone names nothing else.
            let words: [StaticString] = ["stored", "not_stored"]
            let isAlone = words.contains { line.bytes.equalsIgnoringCase($0) }
            let isValue =
                line.starts(with: "value ") && decimal(line.word(2)) != nil
                && decimal(line.word(3)) != nil
            if isAlone || isValue || line.starts(with: "stat pid ") {
                otherName = "memcached"
            }
            return
        }
        let starts: [(StaticString, Kind)] = [
            ("* ok", .imap), ("* preauth", .imap), ("* bye", .imap), ("+ok", .pop3),
            ("200 ", .nntp), ("201 ", .nntp), ("\"implementation\"", .sieve),
            ("\"sieve\"", .sieve), ("\"sasl\"", .sieve), ("\"starttls\"", .sieve),
            ("\"version\"", .sieve), ("notice auth", .irc),
        ]
        if let match = starts.first(where: { line.starts(with: $0.0) }) {
            kind = match.1
        } else if line.bytes.first == 0x3A, line.word(1).equalsIgnoringCase("notice") {
            kind = .irc
        } else if line.starts(with: "ssh-") {
            otherName = "ssh"
        } else if line.starts(with: "rfb 0") {
            otherName = "vnc"
        } else if line.starts(with: "info {") {
            otherName = "nats"
        }
        hasGreeted = kind == nil
    }

    /// SMTP, LMTP, FTP and NNTP: three digits, and a hyphen if more lines follow.
    private mutating func takeNumericLine(_ facts: inout [UpgradeFact]) -> DialogueEvent {
        if let reply = listing {
            if originLine.bytes == [0x2E] {
                listing = nil
            } else if reply == .capabilities, originLine.starts(with: "starttls") {
                offer(&facts)
            }
            return .nothing
        }
        let line = originLine.bytes
        var code: Int?
        if line.count >= 3, line[..<3].allSatisfy(\.isASCIIDigit) {
            code = line[..<3].reduce(0) { $0 * 10 + Int($1 &- 0x30) }
        }
        let continues = line.count > 3 && line[3] == 0x2D
        if let open = multilineCode {
            if expected.first == .capabilities { noteOffer(&facts) }
            guard code == open, !continues, line.count == 3 || line[3] == 0x20 else {
                return .nothing
            }
            multilineCode = nil
            return takeReply(open, &facts)
        }
        guard let code else { return .nothing }
        if expected.first == .capabilities, kind != .nntp { noteOffer(&facts) }
        if continues, kind != .nntp {
            multilineCode = code
            return .nothing
        }
        return takeReply(code, &facts)
    }

    private mutating func noteOffer(_ facts: inout [UpgradeFact]) {
        let line = originLine
        if kind == .ftp {
            if line.contains("auth tls") || line.contains("auth ssl") { offer(&facts) }
            return
        }
        let keyword = line.bytes.dropFirst(4).prefix { $0 != 0x20 }
        if line.starts(with: "250"), keyword.equalsIgnoringCase("starttls") { offer(&facts) }
    }

    private mutating func takeReply(_ code: Int, _ facts: inout [UpgradeFact]) -> DialogueEvent {
        // 1xx of FTP comes before the answer proper; in NNTP it is one.
        if kind != .nntp, code < 200 { return .nothing }
        guard hasGreeted else {
            hasGreeted = true
            return .nothing
        }
        if awaited != nil, code == upgradeCode { return answer(isPositive: true) }
        let reply = expected.isEmpty ? nil : expected.removeFirst()
        if reply == .upgrade, awaited != nil { return answer(isPositive: false) }
        switch (kind, code) {
        case (.smtp, 354), (.lmtp, 354), (.nntp, 340), (.nntp, 335):
            if reply == .content { isClientInContent = true }
        case (.smtp, 334), (.lmtp, 334), (.nntp, 383): clientContinues = true
        case (.nntp, 211): listing = reply == .listing ? .listing : nil
        case (.nntp, 100), (.nntp, 101), (.nntp, 215), (.nntp, 220), (.nntp, 221), (.nntp, 222),
            (.nntp, 224), (.nntp, 225), (.nntp, 230), (.nntp, 231), (.nntp, 282):
            listing = reply ?? .listing
        default: break
        }
        return .nothing
    }

    /// The code that means TLS and nothing else once the greeting is over.
    private var upgradeCode: Int {
        switch kind {
        case .ftp: 234
        case .nntp: 382
        default: 220
        }
    }

    private mutating func takePOP3Line(_ facts: inout [UpgradeFact]) -> DialogueEvent {
        if let reply = listing {
            if originLine.bytes == [0x2E] {
                listing = nil
            } else if reply == .capabilities, originLine.word(0).equalsIgnoringCase("stls") {
                offer(&facts)
            }
            return .nothing
        }
        let isPositive = originLine.starts(with: "+ok")
        let isChallenge = originLine.bytes == [0x2B] || originLine.starts(with: "+ ")
        guard isPositive || isChallenge || originLine.starts(with: "-err") else { return .nothing }
        let isGreeting = !hasGreeted
        hasGreeted = true
        guard !isGreeting, !expected.isEmpty else { return .nothing }
        if expected[0] == .upgrade, !isChallenge { return answer(isPositive: isPositive) }
        let reply = expected.removeFirst()
        if isChallenge { clientContinues = true }
        if isPositive {
            if reply == .capabilities || reply == .listing { listing = reply }
            if awaited != nil { mayHaveAccepted = true }
        }
        return .nothing
    }

    private mutating func takeIMAPLine(_ facts: inout [UpgradeFact]) -> DialogueEvent {
        let continues = originContinues
        originContinues = false
        let status = continues ? [] : originLine.word(1)
        let statuses: [StaticString] = ["ok", "no", "bad", "bye", "preauth"]
        let isStatus = statuses.contains { status.equalsIgnoringCase($0) }
        let isLeave = !continues && originLine.bytes.first == 0x2B
        if !isStatus, !isLeave, let literal = originLine.literal {
            originSkip = literal.length
            originContinues = true
        }
        if continues { return .nothing }
        hasGreeted = true
        if isLeave {
            // Either for a literal, or to go on with a login.
            clientSkip = pendingLiteral
            pendingLiteral = 0
            clientContinues = true
            return .nothing
        }
        noteIMAPOffer(status, &facts)
        guard awaited != nil, isStatus else { return .nothing }
        let tag = originLine.word(0)
        let isBye = tag == [0x2A] && status.equalsIgnoringCase("bye")
        guard tag.elementsEqual(awaitedTag) || isBye else { return .nothing }
        return answer(isPositive: status.equalsIgnoringCase("ok"))
    }

    private mutating func noteIMAPOffer(
        _ status: ArraySlice<UInt8>, _ facts: inout [UpgradeFact]
    ) {
        let isList = status.equalsIgnoringCase("capability")
        guard isList || originLine.word(2).equalsIgnoringCase("[capability") else { return }
        let words = originLine.bytes.split { $0 == 0x20 || $0 == 0x5D }
        if words.contains(where: { $0.equalsIgnoringCase("starttls") }) { offer(&facts) }
    }

    private mutating func takeSieveLine(_ facts: inout [UpgradeFact]) -> DialogueEvent {
        let continues = originContinues
        originContinues = false
        if let literal = originLine.literal {
            originSkip = literal.length
            originContinues = true
        }
        if continues { return .nothing }
        if originLine.starts(with: "\"starttls\"") { offer(&facts) }
        let word = originLine.bytes.prefix { $0.isASCIILetter }
        let isPositive = word.equalsIgnoringCase("ok")
        guard isPositive || word.equalsIgnoringCase("no") || word.equalsIgnoringCase("bye") else {
            return .nothing
        }
        let isGreeting = !hasGreeted
        hasGreeted = true
        guard !isGreeting, !expected.isEmpty else { return .nothing }
        if expected[0] == .upgrade { return answer(isPositive: isPositive) }
        expected.removeFirst()
        if awaited != nil, isPositive { mayHaveAccepted = true }
        return .nothing
    }

    private mutating func takeIRCLine(_ facts: inout [UpgradeFact]) -> DialogueEvent {
        hasGreeted = true
        let isPrefixed = originLine.bytes.first == 0x3A
        let code = originLine.word(isPrefixed ? 1 : 0)
        if code.equalsIgnoringCase("cap"),
            originLine.contains(" tls") || originLine.contains(":tls")
        {
            offer(&facts)
        }
        guard awaited != nil else { return .nothing }
        if code.elementsEqual("670".utf8) { return answer(isPositive: true) }
        let refusals = ["691", "421", "451"]
        guard refusals.contains(where: { code.elementsEqual($0.utf8) }) else { return .nothing }
        return answer(isPositive: false)
    }
}
