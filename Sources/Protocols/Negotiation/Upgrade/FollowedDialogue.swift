internal import Base

/// The dialogue of a connection: unknown at first, then one of those that are followed, then
/// perhaps one that is not.
struct FollowedDialogue {
    private enum State {
        case opening(client: [UInt8], origin: [UInt8])
        case lines(LineDialogue)
        case xmpp(XMPPDialogue)
        case ldap(LDAPDialogue)
        case postgresql(PostgreSQLDialogue)
        case mysql(MySQLDialogue)
        case unfollowed(UnfollowedDialogue)
    }

    private var state = State.opening(client: [], origin: [])

    var protocolName: String? {
        switch state {
        case .opening: nil
        case .lines(let dialogue): dialogue.protocolName
        case .xmpp(let dialogue): dialogue.protocolName
        case .ldap(let dialogue): dialogue.protocolName
        case .postgresql(let dialogue): dialogue.protocolName
        case .mysql(let dialogue): dialogue.protocolName
        case .unfollowed(let dialogue): dialogue.protocolName
        }
    }

    var isBetweenMessages: Bool {
        switch state {
        case .opening(let client, _): client.isEmpty
        case .lines(let dialogue): dialogue.isBetweenMessages
        case .xmpp(let dialogue): dialogue.isBetweenMessages
        case .ldap(let dialogue): dialogue.isBetweenMessages
        case .postgresql(let dialogue): dialogue.isBetweenMessages
        case .mysql(let dialogue): dialogue.isBetweenMessages
        case .unfollowed(let dialogue): dialogue.isBetweenMessages
        }
    }

    var isLines: Bool {
        if case .lines = state { return true }
        return false
    }

    var mayHaveAccepted: Bool {
        if case .lines(let dialogue) = state { return dialogue.mayHaveAccepted }
        return false
    }

    /// Follows no more and keeps the name.
    mutating func settle() {
        state = .unfollowed(UnfollowedDialogue(protocolName: protocolName))
    }

    /// Nobody waits for the origin's answer any more.
    mutating func abandon() {
        switch take() {
        case .lines(var dialogue):
            dialogue.abandon()
            state = .lines(dialogue)
        case .xmpp(var dialogue):
            dialogue.abandon()
            state = .xmpp(dialogue)
        case .ldap(var dialogue):
            dialogue.abandon()
            state = .ldap(dialogue)
        case .postgresql(var dialogue):
            dialogue.abandon()
            state = .postgresql(dialogue)
        case let other: state = other
        }
    }

    mutating func client(
        _ bytes: Span<UInt8>, _ index: inout Int, _ facts: inout [UpgradeFact]
    ) -> DialogueEvent {
        follow(.client, bytes, &index, &facts)
    }

    mutating func origin(
        _ bytes: Span<UInt8>, _ index: inout Int, _ facts: inout [UpgradeFact]
    ) -> DialogueEvent {
        follow(.origin, bytes, &index, &facts)
    }

    /// Takes the state out, so that nothing in it is copied when it changes.
    private mutating func take() -> State {
        let taken = state
        state = .unfollowed(UnfollowedDialogue(protocolName: nil))
        return taken
    }

    private mutating func follow(
        _ side: InjectedBytes.Side, _ bytes: Span<UInt8>, _ index: inout Int,
        _ facts: inout [UpgradeFact]
    ) -> DialogueEvent {
        switch take() {
        case .opening(let client, let origin):
            return open(client, origin, side, bytes, &index, &facts)
        case .lines(var dialogue):
            defer { state = .lines(dialogue) }
            return Self.advance(&dialogue, side, bytes, &index, &facts)
        case .xmpp(var dialogue):
            defer { state = .xmpp(dialogue) }
            return Self.advance(&dialogue, side, bytes, &index, &facts)
        case .ldap(var dialogue):
            defer { state = .ldap(dialogue) }
            return Self.advance(&dialogue, side, bytes, &index, &facts)
        case .postgresql(var dialogue):
            defer { state = .postgresql(dialogue) }
            return Self.advance(&dialogue, side, bytes, &index, &facts)
        case .mysql(var dialogue):
            defer { state = .mysql(dialogue) }
            return Self.advance(&dialogue, side, bytes, &index, &facts)
        case .unfollowed(let dialogue):
            state = .unfollowed(dialogue)
            index = bytes.count
            return .nothing
        }
    }

    private static func advance(
        _ dialogue: inout some Dialogue, _ side: InjectedBytes.Side, _ bytes: Span<UInt8>,
        _ index: inout Int, _ facts: inout [UpgradeFact]
    ) -> DialogueEvent {
        switch side {
        case .client: dialogue.client(bytes, &index, &facts)
        case .origin: dialogue.origin(bytes, &index, &facts)
        }
    }

    /// Judges with each byte; once the kind is known, the dialogue sees the bytes from the first.
    private mutating func open(
        _ client: [UInt8], _ origin: [UInt8], _ side: InjectedBytes.Side, _ bytes: Span<UInt8>,
        _ index: inout Int, _ facts: inout [UpgradeFact]
    ) -> DialogueEvent {
        var window = side == .client ? client : origin
        let other = side == .client ? origin : client
        while index < bytes.count {
            window.append(bytes[index])
            index += 1
            let judged =
                side == .client
                ? DialogueOpening.ofClient(window) : DialogueOpening.ofOrigin(window)
            let isLast = window.count >= DialogueOpening.windowLimit
            guard let opening = judged ?? (isLast ? .named(nil) : nil) else { continue }
            begin(opening)
            var start = 0
            if !other.isEmpty {
                let otherSide: InjectedBytes.Side = side == .client ? .origin : .client
                _ = follow(otherSide, other.span, &start, &facts)
            }
            start = 0
            // The kind is known before anything can have happened, or at that very byte.
            return follow(side, window.span, &start, &facts)
        }
        state =
            side == .client
            ? .opening(client: window, origin: other) : .opening(client: other, origin: window)
        return .nothing
    }

    private mutating func begin(_ opening: DialogueOpening) {
        switch opening {
        case .lines: state = .lines(LineDialogue())
        case .xmpp: state = .xmpp(XMPPDialogue())
        case .ldap: state = .ldap(LDAPDialogue())
        case .postgresql: state = .postgresql(PostgreSQLDialogue())
        case .mysql: state = .mysql(MySQLDialogue())
        case .named(let name): state = .unfollowed(UnfollowedDialogue(protocolName: name))
        }
    }
}
