internal import Base

/// Watches both directions of a plain dialogue for the switch to TLS in mid-stream.
///
/// It knows the protocol by what is said and not by the port: SMTP, LMTP, IMAP, POP3, FTP, NNTP,
/// ManageSieve, IRC, XMPP, LDAP, PostgreSQL and MySQL are followed, others are only named. Besides,
/// a ClientHello at a boundary of what the client says counts in every protocol.
///
/// Plain bytes go on at once. It holds back the client's bytes behind a request for TLS, until the
/// origin has answered, and up to five that may begin a ClientHello; they stay with the caller,
/// who presents them again. Its own memory is some KiB whatever comes.
package struct UpgradeMachine {
    /// Nil for an unknown protocol.
    package var protocolName: String? { inheritedName ?? followed.protocolName }
    /// Whether the origin spoke first, `nil` before the first byte.
    package private(set) var isServerFirst: Bool?
    /// The client's command for TLS that the origin has not answered yet.
    package private(set) var awaitedCommand: String?
    /// What began TLS; nothing goes on in plain from there on.
    package private(set) var securedBy: String?

    /// Whether the client's bytes have to wait.
    package var isAwaitingOrigin: Bool { awaitedCommand != nil }

    /// Inside of TLS nothing is looked for but the name.
    private let isInside: Bool
    private let inheritedName: String?
    private var followed = FollowedDialogue()
    private var toldName: String?
    private var lastSpeaker: InjectedBytes.Side?
    /// The client's first bytes behind the switch were looked at.
    private var hasSeenTLS = false
    /// What might be a ClientHello is none: the caller has waited long enough.
    private var isHelloExcluded = false
    /// What the client sent behind its request for TLS, as it was presented last.
    private var held: [InjectedBytes] = []

    /// A machine for a connection whose first byte it will see.
    package init() {
        isInside = false
        inheritedName = nil
    }

    /// A machine that only names what is spoken inside of TLS.
    ///
    /// - Parameter outerName: what was spoken before TLS, which goes on inside.
    package init(insideTLSAfter outerName: String?) {
        isInside = true
        inheritedName = outerName
    }

    /// Looks at what the client sends; bytes that did not go on before have to come again.
    package mutating func client(_ bytes: Span<UInt8>) -> UpgradeStep {
        var step = UpgradeStep()
        guard bytes.count > 0 else { return step }
        if let securedBy {
            step.next = .forwardThenSecure(command: securedBy)
            if !hasSeenTLS, HelloPattern.match(bytes, at: 0) == .none {
                step.injected += injection(of: .client, bytes, from: 0)
            }
            hasSeenTLS = true
            return step
        }
        isServerFirst = isServerFirst ?? false
        var index = 0
        while index < bytes.count, step.next == .forward {
            if mayBeginHello {
                let match = HelloPattern.match(bytes, at: index)
                if match != .none, holdForHello(match, bytes, index, &step) { break }
            }
            if awaitedCommand != nil {
                hold(bytes, from: index)
                step.next = .hold
                break
            }
            lastSpeaker = .client
            isHelloExcluded = false
            let event = followed.client(bytes, &index, &step.facts)
            take(event, &step)
            if case .secured(let command) = event, !isInside {
                hold(bytes, from: index)
                secure(command, &step)
                step.injected += heldInjection
            }
        }
        step.forward = index
        finish(&step)
        return step
    }

    /// Looks at what the origin sends. All of it goes on, unless it is behind the switch to TLS.
    package mutating func origin(_ bytes: Span<UInt8>) -> UpgradeStep {
        var step = UpgradeStep()
        guard bytes.count > 0 else { return step }
        if let securedBy {
            step.next = .forwardThenSecure(command: securedBy)
            step.injected += injection(of: .origin, bytes, from: 0)
            return step
        }
        isServerFirst = isServerFirst ?? true
        lastSpeaker = .origin
        var index = 0
        while index < bytes.count, step.next == .forward {
            let event = followed.origin(bytes, &index, &step.facts)
            take(event, &step)
            guard event == .accepted, let command = awaitedCommand else { continue }
            secure(command, &step)
            step.injected += heldInjection
            step.injected += injection(of: .origin, bytes, from: index)
        }
        step.forward = index
        finish(&step)
        return step
    }

    /// Ends the waiting: after `needMore` what there is goes on as plain, after `hold` too.
    ///
    /// For a caller that has waited for so long that it would rather break the rule than the
    /// connection. Present the bytes again.
    package mutating func releaseHeld() {
        isHelloExcluded = true
        guard awaitedCommand != nil else { return }
        awaitedCommand = nil
        held = []
        followed.abandon()
    }

    private var mayBeginHello: Bool {
        guard !isInside, !isHelloExcluded, followed.isBetweenMessages else { return false }
        return followed.isLines || lastSpeaker != .client
    }

    /// - Returns: whether the client's bytes stop here.
    private mutating func holdForHello(
        _ match: HelloPattern, _ bytes: Span<UInt8>, _ index: Int, _ step: inout UpgradeStep
    ) -> Bool {
        if let awaitedCommand {
            // Normally the answer decides. But a positive one may have been counted as another
            // command's, and the client has understood it.
            guard followed.mayHaveAccepted, match == .whole, lastSpeaker == .origin else {
                return false
            }
            secure(awaitedCommand, &step)
            return true
        }
        guard match == .whole else {
            step.next = .needMore
            return true
        }
        secure("ClientHello", &step)
        return true
    }

    private mutating func take(_ event: DialogueEvent, _ step: inout UpgradeStep) {
        switch event {
        case .asked(let command):
            if !isInside { awaitedCommand = command }
        case .refused(let answer):
            if let command = awaitedCommand {
                step.facts.append(.refused(command: command, answer: answer))
            }
            awaitedCommand = nil
            held = []
        case .settled:
            awaitedCommand = nil
            followed.settle()
        case .nothing, .boundary, .accepted, .secured: break
        }
    }

    private mutating func secure(_ command: String, _ step: inout UpgradeStep) {
        securedBy = command
        hasSeenTLS = !held.isEmpty
        awaitedCommand = nil
        step.next = .forwardThenSecure(command: command)
    }

    private mutating func hold(_ bytes: Span<UInt8>, from index: Int) {
        held = injection(of: .client, bytes, from: index)
    }

    private func injection(
        of side: InjectedBytes.Side, _ bytes: Span<UInt8>, from index: Int
    ) -> [InjectedBytes] {
        guard index < bytes.count else { return [] }
        var sample: [UInt8] = []
        for offset in index..<min(bytes.count, index + InjectedBytes.sampleLimit) {
            sample.append(bytes[offset])
        }
        return [InjectedBytes(side: side, count: bytes.count - index, sample: sample)]
    }

    /// What the client sent too early, unless it can begin a ClientHello.
    private var heldInjection: [InjectedBytes] {
        held.filter { HelloPattern.match($0.sample.span, at: 0) == .none }
    }

    private mutating func finish(_ step: inout UpgradeStep) {
        if isInside { step.facts = [] }
        if let name = protocolName, name != toldName {
            toldName = name
            step.facts.insert(.named(name), at: 0)
        }
        if isInside, protocolName != nil { followed.settle() }
    }
}
