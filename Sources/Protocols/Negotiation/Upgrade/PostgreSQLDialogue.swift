internal import Base

/// PostgreSQL's start (protocol 3, "Message Flow", SSL and GSSAPI session encryption).
struct PostgreSQLDialogue: Dialogue {
    private static let command = "SSLRequest"
    private static let gssCommand = "GSSENCRequest"
    /// In bytes, as the server has it.
    static let startupLimit = 10_000

    private enum State {
        case startup
        /// The answer to a request for encryption is one byte.
        case awaiting(String)
        /// The origin's first answer to the startup message says how to log in.
        case authentication
        /// It wants the password as it is.
        case password
    }

    private var state = State.startup
    private var header: [UInt8] = []
    /// What is left of the startup message, in bytes.
    private var remaining = 0
    private var answer: [UInt8] = []

    var protocolName: String? { "postgresql" }
    var isBetweenMessages: Bool { header.isEmpty && remaining == 0 }

    mutating func client(
        _ bytes: Span<UInt8>, _ index: inout Int, _ facts: inout [UpgradeFact]
    ) -> DialogueEvent {
        if case .password = state, index < bytes.count { return takePassword(bytes[index], &facts) }
        while index < bytes.count {
            guard case .startup = state, remaining == 0 else {
                let count = min(remaining, bytes.count - index)
                remaining -= count
                index = remaining == 0 ? bytes.count : index + count
                continue
            }
            header.append(bytes[index])
            index += 1
            if header.count == 8 {
                let event = takeHeader(&facts)
                if event != .nothing { return event }
            }
        }
        return .nothing
    }

    private mutating func takeHeader(_ facts: inout [UpgradeFact]) -> DialogueEvent {
        let length = Int(truncatingIfNeeded: bigEndian(header[..<4]))
        let code = bigEndian(header[4...])
        header = []
        guard (8...Self.startupLimit).contains(length) else { return .settled }
        switch (code, length) {
        case (80_877_103, 8): return ask(Self.command, &facts)
        case (80_877_104, 8): return ask(Self.gssCommand, &facts)
        default:
            guard code >> 16 == 3 else { return .settled }
            state = .authentication
            remaining = length - 8
            return .nothing
        }
    }

    private mutating func ask(
        _ command: String, _ facts: inout [UpgradeFact]
    ) -> DialogueEvent {
        state = .awaiting(command)
        facts.append(.asked(command: command))
        return .asked(command: command)
    }

    mutating func origin(
        _ bytes: Span<UInt8>, _ index: inout Int, _ facts: inout [UpgradeFact]
    ) -> DialogueEvent {
        guard index < bytes.count else { return .nothing }
        switch state {
        case .awaiting(let command):
            let byte = bytes[index]
            index += 1
            state = .startup
            return takeAnswer(byte, to: command, &facts)
        case .authentication: return takeAuthentication(bytes, &index)
        case .startup, .password:
            index = bytes.count
            return .nothing
        }
    }

    private mutating func takeAnswer(
        _ byte: UInt8, to command: String, _ facts: inout [UpgradeFact]
    ) -> DialogueEvent {
        if byte == 0x53, command == Self.command { return .accepted }
        if byte == 0x47, command == Self.gssCommand {
            facts.append(.otherEncryption)
            return .settled
        }
        return .refused(answer: shownText([byte]))
    }

    /// AuthenticationCleartextPassword is `R`, the length 8 and the number 3.
    private mutating func takeAuthentication(
        _ bytes: Span<UInt8>, _ index: inout Int
    ) -> DialogueEvent {
        while index < bytes.count, answer.count < 9 {
            answer.append(bytes[index])
            index += 1
        }
        guard answer.count == 9 else { return .nothing }
        guard answer == [0x52, 0, 0, 0, 8, 0, 0, 0, 3] else { return .settled }
        state = .password
        index = bytes.count
        return .nothing
    }

    private func takePassword(
        _ type: UInt8, _ facts: inout [UpgradeFact]
    ) -> DialogueEvent {
        if type == 0x70 {
            let login = PlaintextLogin(
                command: "PasswordMessage", wasUpgradeOffered: false, exposesSecret: true)
            facts.append(.plaintextLogin(login))
        }
        return .settled
    }

    mutating func abandon() {
        if case .awaiting = state { state = .startup }
    }
}
