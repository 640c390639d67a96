internal import Logins
internal import Traffic

/// What was said in one exchange or on one connection besides requests and responses.
struct MessageView {
    let host: HostName
    /// What the connection's record says of it; `other` inside of an exchange.
    let protocolName: ProtocolName
    /// Whether the client sent it unencrypted.
    let isClear: Bool
    private let content: GatheredMessages.Conversation

    var messages: [GatheredMessages.Message] { content.messages }
    var client: [UInt8] { content.client }
    var origin: [UInt8] { content.origin }
    var logins: [ClearLogin] { content.logins }

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
        self.content = content
    }

    /// Whether the client said anything.
    var hasClient: Bool {
        !client.isEmpty || messages.contains { $0.direction == .request }
    }
}

extension ConnectionRecord {
    /// The origin that was asked for.
    var host: HostName { HostName(originHost.isEmpty ? clientTLS?.sni ?? "" : originHost) }
}
