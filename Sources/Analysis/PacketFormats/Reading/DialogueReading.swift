internal import Base
internal import Negotiation
internal import Recording
internal import Traffic

/// Reads a dialogue that is no HTTP, by the same machine that watches it while it is relayed, up to
/// its switch to TLS.
final class DialogueReading {
    /// What is spoken, `nil` for what is not known.
    var protocolName: String? { machine.protocolName }
    private let messages: ImportedMessages
    private var machine: UpgradeMachine
    /// What the client said and waits for the origin's answer, or may begin a ClientHello.
    private var held: [UInt8] = []

    /// What a piece of it came to.
    enum Turn {
        case none
        /// Both sides go on with TLS; these bytes of the client and the origin belong to it.
        case secured(command: String, [UInt8])
    }

    /// In bytes: what waits for an answer that the file may lack.
    private static let heldLimit = 64 << 10

    /// - Parameter name: what was spoken before TLS, `nil` if TLS came first.
    init(_ messages: ImportedMessages, insideTLSAfter name: String?) {
        self.messages = messages
        machine = UpgradeMachine(insideTLSAfter: name)
    }

    init(_ messages: ImportedMessages) {
        self.messages = messages
        machine = UpgradeMachine()
    }

    func read(_ bytes: [UInt8], _ direction: Direction) -> Turn {
        guard direction == .response else { return readClient(held + bytes) }
        let turn = follow(machine.origin(bytes.span), bytes, .response)
        guard case .none = turn, !held.isEmpty, !machine.isAwaitingOrigin else { return turn }
        return readClient(held)
    }

    private func readClient(_ bytes: [UInt8]) -> Turn {
        held = []
        if bytes.count > Self.heldLimit { machine.releaseHeld() }
        return follow(machine.client(bytes.span), bytes, .request)
    }

    private func follow(
        _ step: UpgradeStep, _ bytes: [UInt8], _ direction: Direction
    ) -> Turn {
        for fact in step.facts { messages.note(fact) }
        for injected in step.injected { messages.note(injected) }
        messages.record(Array(bytes[..<step.forward]), direction, exchange: nil)
        let rest = Array(bytes[step.forward...])
        guard case .forwardThenSecure(let command) = step.next else {
            if direction == .request { held = rest }
            return .none
        }
        let isInjected = step.injected.contains { $0.side == .client }
        let waiting = direction == .request ? rest : held
        held = []
        return .secured(command: command, isInjected ? [] : waiting)
    }

    /// Ends with the connection.
    func finish() {
        machine.releaseHeld()
        if !held.isEmpty { _ = readClient(held) }
    }
}
