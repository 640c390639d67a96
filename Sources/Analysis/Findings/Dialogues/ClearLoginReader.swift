/// Finds logins in plain in what a dialogue's sides said, by the dialogue and not by its port.
///
/// Lines (mail, FTP, IRC, XMPP) and PostgreSQL are watched while they pass; see `ConnectionNote`.
enum ClearLoginReader {
    /// - Parameters:
    ///   - client: what the client said, from its first byte on.
    ///   - origin: the same of the origin.
    ///   - clientBegan: whether the client spoke first.
    static func logins(
        client: [UInt8], origin: [UInt8], clientBegan: Bool
    ) -> [ClearLogin] {
        guard clientBegan else { return MySQLLoginReader.logins(client: client, origin: origin) }
        return switch client.first {
        case 0x10: MQTTLoginReader.logins(client: client, origin: origin)
        case 0x2A: RedisLoginReader.logins(client: client, origin: origin)
        case 0x30: LDAPLoginReader.logins(client: client)
        case 0x80: MemcachedLoginReader.logins(client: client)
        default:
            AMQPLoginReader.logins(client: client) + STOMPLoginReader.logins(client: client)
                + RedisLoginReader.inlineLogins(client: client, origin: origin)
        }
    }
}
