internal import Base
internal import Contents
internal import Logins
package import Traffic

/// Takes the secrets out of the messages of one connection, in their order.
package struct MessageRedaction {
    private enum Packets {
        case unknown
        case none
        case postgreSQL(PostgreSQLRedaction)
        case mySQL(MySQLRedaction)
    }

    private var packets: Packets
    private var dialogue = DialogueRedaction()
    private var logins: LoginRanges

    /// Reads the messages of a connection, or those of one of its exchanges, for the logins in them.
    ///
    /// Errors: those of the source.
    package init(
        of connection: ConnectionRecord?, exchange: Int64? = nil, in source: any TrafficSource
    ) throws {
        var messages = GatheredMessages()
        if let connection, connection.messageCount > 0 {
            try source.messages(ofConnection: connection.id, exchange: exchange) {
                messages.add($0)
            }
        }
        self.init(
            protocolName: connection?.protocolName ?? "", logins: LoginRanges(messages))
    }

    /// - Parameters:
    ///   - protocolName: what was spoken on the connection, as far as it is known.
    ///   - logins: those that can be read in all that will be masked.
    package init(protocolName: String, logins: LoginRanges) {
        self.logins = logins
        switch protocolName.lowercased() {
        case let name where name.hasPrefix("postgres"): packets = .postgreSQL(.init())
        case "mysql", "mariadb": packets = .mySQL(.init())
        default: packets = .unknown
        }
    }

    /// Masks what the place of a part in the dialogue tells to be secret.
    ///
    /// - Parameter bytes: all of the part's content that was kept.
    package mutating func redact(_ bytes: [UInt8], of part: MessageRecord) -> [UInt8] {
        let fromClient = part.direction == .request
        switch part.kind {
        case .segment:
            let shown = redactPackets(bytes, fromClient: fromClient, isCut: part.isTruncated)
            let known = fromClient ? logins.redact(bytes, of: part) : bytes
            return shown ?? dialogue.redact(known, fromClient: fromClient)
        case .text, .datagram:
            if part.kind == .datagram, let shown = Self.redactCommunity(bytes) { return shown }
            let known = fromClient ? logins.redact(bytes, of: part) : bytes
            let shown = dialogue.redact(known, fromClient: fromClient)
            if part.isLast { dialogue.endMessage(fromClient: fromClient) }
            return shown
        case .binary: return fromClient ? logins.redact(bytes, of: part) : bytes
        case .ping, .pong, .close, .grpc, .event, .frame: return bytes
        }
    }

    /// Masks the community of SNMP, which is a password; `nil` for other datagrams.
    private static func redactCommunity(_ bytes: [UInt8]) -> [UInt8]? {
        guard let community = SNMPMessage.community(inStart: bytes) else { return nil }
        return bytes[..<community.lowerBound] + redactionMark + bytes[community.upperBound...]
    }

    /// Masks what names tell to be secret in a whole message, or in the start of one.
    package static func redact(content: [UInt8], isWhole: Bool) -> [UInt8] {
        if case .understood(let redacted) = ContentRedaction.redact(
            content, types: [], isWhole: isWhole)
        {
            return redacted
        }
        return PrintableText(content, isWhole: isWhole) == nil
            ? content : TextRedaction.redact(content)
    }

    /// Returns `nil` if the connection is not known to speak in packets.
    private mutating func redactPackets(
        _ bytes: [UInt8], fromClient: Bool, isCut: Bool
    ) -> [UInt8]? {
        if case .unknown = packets, !bytes.isEmpty { packets = Self.recognized(bytes, fromClient) }
        switch packets {
        case .unknown, .none: return nil
        case .postgreSQL(var redaction):
            let shown = fromClient ? redaction.redact(bytes) : bytes
            if isCut, fromClient { redaction.lose() }
            packets = .postgreSQL(redaction)
            return shown
        case .mySQL(var redaction):
            let shown = redaction.redact(bytes, fromClient: fromClient)
            if isCut { redaction.lose() }
            packets = .mySQL(redaction)
            return shown
        }
    }

    private static func recognized(_ bytes: [UInt8], _ fromClient: Bool) -> Packets {
        if fromClient, PostgreSQLRedaction.begins(bytes) { return .postgreSQL(.init()) }
        if !fromClient, MySQLRedaction.begins(bytes) { return .mySQL(.init()) }
        return .none
    }
}
