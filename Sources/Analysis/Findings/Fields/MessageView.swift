internal import Logins
internal import Traffic

/// What was said in one exchange or on one connection besides requests and responses.
struct MessageView {
    let host: HostName
    /// What the connection's record says of it; `other` inside of an exchange.
    let protocolName: ProtocolName
    /// Whether the client sent it unencrypted.
    let isClear: Bool
    let messages: [GatheredMessages.Message]
    let client: [UInt8]
    let origin: [UInt8]

    /// What is spoken on a connection without HTTP.
    ///
    /// One that was secured in mid-stream counts as encrypted: what it said before that was watched
    /// as it passed.
    init(_ content: GatheredMessages.Conversation, on connection: ConnectionRecord) {
        self.init(
            content,
            host: connection.host,
            protocolName: ProtocolName(connection.protocolName),
            isClear: connection.clientTLS == nil && connection.upgrade == nil)
    }

    /// The messages of a WebSocket, or what a tunnel carried.
    init(_ content: GatheredMessages.Conversation, of view: ExchangeView) {
        self.init(
            content, host: view.host, protocolName: .other, isClear: view.isClear)
    }

    private init(
        _ content: GatheredMessages.Conversation, host: HostName, protocolName: ProtocolName,
        isClear: Bool
    ) {
        self.host = host
        self.protocolName = protocolName
        self.isClear = isClear
        messages = content.messages
        client = content.client
        origin = content.origin
    }

    /// The first messages of one side in one piece, for protocols that are spoken in messages.
    func joined(_ direction: Traffic.Direction) -> [UInt8] {
        var result: [UInt8] = []
        for message in messages where message.direction == direction {
            result += message.bytes.prefix(Self.joinedLimit - result.count)
            if result.count >= Self.joinedLimit { break }
        }
        return result
    }

    /// In bytes.
    private static let joinedLimit = 65_536
}

extension ConnectionRecord {
    /// The origin that was asked for.
    var host: HostName { HostName(originHost.isEmpty ? clientTLS?.sni ?? "" : originHost) }
}
