internal import Base
internal import HTTPCodecs
internal import HTTPModel
internal import Origins
internal import TLS

/// A request as it goes on to its origin.
final class OutgoingRequest: Sendable {
    let head: RequestHead
    let origin: OriginTarget
    let target: [UInt8]?
    let host: [UInt8]?
    let framing: BodyFraming
    /// What the client wants to speak on the exchange from then on, if that has to be asked for in
    /// another way than the client did; `nil` for all other requests.
    let upgrade: StreamUpgrade?
    /// Whether what it says to a proxy goes on.
    let keepsProxyFields: Bool
    /// Whether the client's connection is without TLS.
    let isClear: Bool
    /// Whether the head is another than the one that came.
    let isChanged: Bool

    init(
        head: RequestHead, origin: OriginTarget, target: [UInt8]?, host: [UInt8]?,
        framing: BodyFraming, upgrade: StreamUpgrade?, isClear: Bool, keepsProxyFields: Bool,
        isChanged: Bool = false
    ) {
        self.isChanged = isChanged
        self.isClear = isClear
        self.keepsProxyFields = keepsProxyFields
        self.head = head
        self.origin = origin
        self.target = target
        self.host = host
        self.framing = framing
        self.upgrade = upgrade
    }

    /// Whether content follows its head; what comes behind an upgrade is none.
    var hasContent: Bool { framing != .none && upgrade == nil }

    /// Whether it may be sent again if a connection that was open already turns out to be dead:
    /// nothing of it may have had an effect twice (RFC 9110 §9.2.2, RFC 9112 §9.3.1).
    var isRepeatable: Bool {
        guard framing == .none else { return false }
        if head.knownMethod == .get || head.knownMethod == .head { return true }
        return ["OPTIONS", "TRACE", "PUT", "DELETE"].contains(head.method.text)
    }
}

/// A request to speak another protocol, as it is put in both versions of HTTP.
struct StreamUpgrade: Sendable {
    /// Such as `websocket`.
    let protocolName: [UInt8]
    /// What HTTP/1 needs for it (RFC 6455 §4.1).
    let fields: [AddedField]
    /// The value of Sec-WebSocket-Accept that an origin of HTTP/1 agrees with.
    let acceptKey: String
}

extension StreamUpgrade {
    /// - Returns: `nil` for a protocol that HTTP/1 has no such request for.
    static func webSocket(_ name: [UInt8]) -> StreamUpgrade? {
        guard name.elementsEqual("websocket".utf8) else { return nil }
        let key = Base64.encode(Digests.randomBytes(16))
        let pairs = [
            ("Connection", "Upgrade"), ("Upgrade", "websocket"), ("Sec-WebSocket-Key", key),
        ]
        return StreamUpgrade(
            protocolName: name,
            fields: pairs.compactMap { AddedField($0.0.utf8, $0.1.utf8) },
            acceptKey: WebSocketHandshake.acceptKey(for: [UInt8](key.utf8)[...]) { bytes in
                Digests.sha1(unsafe bytes.withUnsafeBufferPointer { unsafe [UInt8]($0) })
            })
    }
}
