internal import Base

/// MySQL's and MariaDB's start: the origin greets (protocol 10), and a client that wants TLS
/// answers with a short packet and begins with TLS right behind it.
struct MySQLDialogue: Dialogue {
    private static let command = "SSLRequest"
    /// CLIENT_SSL.
    private static let tlsCapability: UInt8 = 0x08
    private static let headerLength = 4
    /// In bytes: version, number, challenge and capabilities take a hundred or so.
    private static let greetingLimit = 512
    /// In bytes: what tells SSLRequest from a login is in front.
    private static let packetLimit = 8
    /// The content of an SSLRequest, in bytes.
    private static let requestLength = 32

    private var greeting: [UInt8] = []
    private var isGreetingRead = false
    private var isOffered = false
    private var packet: [UInt8] = []
    private var packetCount = 0

    var protocolName: String? { "mysql" }
    var isBetweenMessages: Bool { packet.isEmpty }

    mutating func client(
        _ bytes: Span<UInt8>, _ index: inout Int, _ facts: inout [UpgradeFact]
    ) -> DialogueEvent {
        while index < bytes.count {
            if packet.count < Self.packetLimit { packet.append(bytes[index]) }
            packetCount += 1
            index += 1
            guard packet.count == Self.packetLimit else { continue }
            let length = Int(packet[0]) | Int(packet[1]) << 8 | Int(packet[2]) << 16
            let isRequest =
                isOffered && length == Self.requestLength && packet[3] == 1
                && packet[5] & Self.tlsCapability != 0
            guard isRequest else { return .settled }
            if packetCount == Self.headerLength + Self.requestLength {
                facts.append(.asked(command: Self.command))
                return .secured(command: Self.command)
            }
        }
        return .nothing
    }

    mutating func origin(
        _ bytes: Span<UInt8>, _ index: inout Int, _ facts: inout [UpgradeFact]
    ) -> DialogueEvent {
        while index < bytes.count, !isGreetingRead {
            greeting.append(bytes[index])
            index += 1
            readGreeting(&facts)
        }
        index = bytes.count
        return .nothing
    }

    /// Behind the version: number of the connection (4), challenge (8), 0, and the lower half of
    /// the capabilities, the lower byte first.
    private mutating func readGreeting(_ facts: inout [UpgradeFact]) {
        guard greeting.count < Self.greetingLimit else {
            isGreetingRead = true
            return
        }
        let start = Self.headerLength + 1
        guard greeting.count > start, let end = greeting[start...].firstIndex(of: 0) else { return }
        let capabilities = end + 1 + 4 + 8 + 1
        guard greeting.count == capabilities + 2 else { return }
        isGreetingRead = true
        guard greeting[capabilities + 1] & Self.tlsCapability != 0 else { return }
        isOffered = true
        facts.append(.offered(command: Self.command))
    }
}
