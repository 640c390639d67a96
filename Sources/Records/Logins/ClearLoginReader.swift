internal import Base
internal import Contents
internal import Negotiation

/// Finds logins without TLS in what a dialogue's sides said, by the dialogue and not by its port.
///
/// It sees what was recorded, live or by an import; what a note tells of a login that was not
/// recorded is less.
package enum ClearLoginReader {
    /// - Parameters:
    ///   - client: what the client said, as far as it was caught.
    ///   - origin: the same of the origin.
    package static func logins(client: [UInt8], origin: [UInt8]) -> [ClearLogin] {
        if origin.starts(with: "RFB 003.".utf8), client.starts(with: "RFB 003.".utf8) {
            return VNCLoginReader.logins(client: client, origin: origin)
        }
        let answered = MySQLLoginReader.logins(client: client, origin: origin)
        guard answered.isEmpty else { return answered }
        if let name = NTLMLoginReader.name(client) {
            return NTLMLoginReader.logins(name, client: client)
        }
        if MongoDBLoginReader.speaks(client) { return MongoDBLoginReader.logins(client: client) }
        if let head = RemoteHead(client) {
            return RemoteLoginReader.logins(head, client: client, origin: origin)
        }
        switch client.first {
        case 0x00 where client.dropFirst(4).first == 0x6A || client.dropFirst(4).first == 0x6C:
            return KerberosLoginReader.logins(client: client)
        case 0x6A: return KerberosLoginReader.logins(client: client)
        case 0x00: return PostgreSQLLoginReader.logins(client: client, origin: origin)
        case 0x04, 0x05:
            let found = SOCKSLoginReader.logins(client: client, origin: origin)
            guard case .tunnel(let tunnel) = SOCKSTunnel.judge(client: client, origin: origin)
            else { return found }
            let inner = Array(client.dropFirst(tunnel.clientCount))
            // One proxy behind another is not followed, so that none leads deep.
            guard inner.first != 0x04, inner.first != 0x05 else { return found }
            return found
                + logins(client: inner, origin: Array(origin.dropFirst(tunnel.originCount)))
        case 0x10:
            let logins = MQTTLoginReader.logins(client: client, origin: origin)
            return logins.isEmpty ? TDSLoginReader.logins(client: client) : logins
        case 0x12: return TDSLoginReader.logins(client: client)
        case 0x2A: return RedisLoginReader.logins(client: client, origin: origin)
        case 0x30: return LDAPLoginReader.logins(client: client)
        case 0x3C: return XMPPLoginReader.logins(client: client)
        case 0x80: return MemcachedLoginReader.logins(client: client)
        default: return text(client, origin)
        }
    }

    /// - Parameter datagrams: the client's, one behind the other.
    static func logins(datagrams: [UInt8]) -> [ClearLogin] {
        switch datagrams.first {
        case 0x30: SNMPLoginReader.logins(client: datagrams)
        case 0x6A: KerberosLoginReader.logins(client: datagrams)
        default: HeadLoginReader.logins(client: datagrams)
        }
    }

    private static func text(_ client: [UInt8], _ origin: [UInt8]) -> [ClearLogin] {
        if TelnetLoginReader.begins(client) || TelnetLoginReader.begins(origin) {
            let typed = TelnetLoginReader.logins(client: client, origin: origin)
            guard typed.isEmpty else { return typed }
        }
        let found =
            AMQPLoginReader.logins(client: client) + STOMPLoginReader.logins(client: client)
            + RedisLoginReader.inlineLogins(client: client, origin: origin)
            + HeadLoginReader.logins(client: client)
        guard found.isEmpty else { return found }
        if let name = LineProtocol.name(client: client, origin: origin) {
            return LineLoginReader.logins(name, client: client, origin: origin)
        }
        let others =
            JSONRPCLoginReader.logins(client: client)
            + MemcachedLoginReader.textLogins(client: client, origin: origin)
        guard others.isEmpty else { return others }
        return TelnetLoginReader.logins(client: client, origin: origin, needsEcho: true)
    }
}
