internal import Base

/// LDAP before TLS (RFC 4511 §4.14).
struct LDAPDialogue: Dialogue {
    private static let command = "StartTLS"
    private static let startTLS = Array("1.3.6.1.4.1.1466.20037".utf8)

    private var clientMessages = BERMessageReader()
    private var originMessages = BERMessageReader()
    private var awaitedID: [UInt8]?
    private var hasLoggedIn = false

    var protocolName: String? { "ldap" }
    var isBetweenMessages: Bool { clientMessages.isAtStart }

    mutating func client(
        _ bytes: Span<UInt8>, _ index: inout Int, _ facts: inout [UpgradeFact]
    ) -> DialogueEvent {
        while index < bytes.count {
            switch clientMessages.take(bytes, &index) {
            case .more: return .nothing
            case .broken: return .settled
            case .message: break
            }
            guard let (id, operation) = Self.parse(clientMessages.content) else { continue }
            if operation.tag == 0x77, Self.isStartTLS(operation.content) {
                awaitedID = id
                facts.append(.asked(command: Self.command))
                return .asked(command: Self.command)
            }
            if operation.tag == 0x60 { note(bind: operation.content, &facts) }
        }
        return .nothing
    }

    mutating func origin(
        _ bytes: Span<UInt8>, _ index: inout Int, _ facts: inout [UpgradeFact]
    ) -> DialogueEvent {
        while index < bytes.count {
            switch originMessages.take(bytes, &index) {
            case .more: return .nothing
            case .broken: return .settled
            case .message: break
            }
            guard let awaitedID, let (id, operation) = Self.parse(originMessages.content),
                operation.tag == 0x78, id == awaitedID || id == [0]
            else { continue }
            self.awaitedID = nil
            var answer = ByteCursor(operation.content)
            guard let result = answer.content(of: 0x0A), let code = result.last else {
                return .refused(answer: "malformed answer")
            }
            // With the ID 0 it is a notice of disconnection (RFC 4511 §4.4.1).
            let isSuccess = id == awaitedID && result.allSatisfy { $0 == 0 }
            return isSuccess ? .accepted : .refused(answer: "resultCode \(code)")
        }
        return .nothing
    }

    mutating func abandon() {
        awaitedID = nil
    }

    /// The message ID and the operation, which may be cut.
    private static func parse(
        _ message: [UInt8]
    ) -> (id: [UInt8], operation: BERElement)? {
        var cursor = ByteCursor(message[...])
        guard let id = cursor.content(of: 2), let operation = cursor.element(mayBeCut: true) else {
            return nil
        }
        let significant = id.drop { $0 == 0 }
        return (significant.isEmpty ? [0] : Array(significant), operation)
    }

    private static func isStartTLS(_ request: ArraySlice<UInt8>) -> Bool {
        var cursor = ByteCursor(request)
        return cursor.content(of: 0x80)?.elementsEqual(startTLS) == true
    }

    /// A simple bind with a password (RFC 4513 §5.1.3), or SASL with a mechanism that shows it.
    private mutating func note(bind: ArraySlice<UInt8>, _ facts: inout [UpgradeFact]) {
        var cursor = ByteCursor(bind)
        guard !hasLoggedIn, cursor.element() != nil, cursor.element() != nil,
            let choice = cursor.element(mayBeCut: true)
        else { return }
        var login = PlaintextLogin(
            command: "simple bind", wasUpgradeOffered: false, exposesSecret: true)
        if choice.tag == 0xA3 {
            var parts = ByteCursor(choice.content)
            let mechanism = parts.element().flatMap { SASLMechanism($0.content) }
            login.command = mechanism.map { "SASL bind \($0.rawValue)" } ?? "SASL bind"
            login.exposesSecret = mechanism?.exposesSecret ?? false
        } else if choice.tag != 0x80 || choice.content.isEmpty {
            return
        }
        hasLoggedIn = true
        facts.append(.plaintextLogin(login))
    }
}

/// Parts a stream into LDAP messages; of each it keeps the first 1024 bytes.
struct BERMessageReader {
    private static let limit = 1024

    enum Outcome {
        case more
        case message
        /// No SEQUENCE, or a length that cannot be.
        case broken
    }

    /// What is in the SEQUENCE, once a message is whole.
    private(set) var content: [UInt8] = []
    private var header: [UInt8] = []
    private var remaining = 0
    private var isInContent = false

    var isAtStart: Bool { header.isEmpty && !isInContent }

    mutating func take(_ bytes: Span<UInt8>, _ index: inout Int) -> Outcome {
        while index < bytes.count {
            guard isInContent else {
                header.append(bytes[index])
                index += 1
                guard takeHeader() else { return .broken }
                if isInContent, remaining == 0 { return end() }
                continue
            }
            let count = min(remaining, bytes.count - index)
            for offset in 0..<min(count, Self.limit - content.count) {
                content.append(bytes[index + offset])
            }
            index += count
            remaining -= count
            if remaining == 0 { return end() }
        }
        return .more
    }

    private mutating func end() -> Outcome {
        isInContent = false
        return .message
    }

    private mutating func takeHeader() -> Bool {
        guard header[0] == 0x30 else { return false }
        guard header.count > 1 else { return true }
        let first = header[1]
        if first & 0x80 == 0 {
            remaining = Int(first)
        } else {
            let count = Int(first & 0x7F)
            guard (1...4).contains(count) else { return false }
            guard header.count == 2 + count else { return true }
            remaining = Int(truncatingIfNeeded: bigEndian(header[2...]))
        }
        header = []
        content = []
        isInContent = true
        return true
    }
}
