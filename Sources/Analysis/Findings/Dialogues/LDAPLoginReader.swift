internal import Base

/// LDAP: a simple bind with a password, and SASL's PLAIN (RFC 4511 §4.2).
enum LDAPLoginReader {
    static func logins(client: [UInt8]) -> [ClearLogin] {
        var cursor = ByteCursor(client[...])
        var found: [ClearLogin] = []
        while found.count < ClearLogin.countLimit, let message = element(&cursor),
            message.tag == 0x30
        {
            var parts = ByteCursor(message.content)
            guard element(&parts)?.tag == 0x02, let operation = element(&parts) else { break }
            // What follows a request for TLS is not plain any more.
            if operation.tag == 0x77 { break }
            if operation.tag == 0x60, let login = bind(operation.content) { found.append(login) }
        }
        return found
    }

    private static func bind(_ request: ArraySlice<UInt8>) -> ClearLogin? {
        var parts = ByteCursor(request)
        guard element(&parts)?.tag == 0x02, let name = element(&parts), name.tag == 0x04,
            let choice = element(&parts)
        else { return nil }
        if choice.tag == 0x80 {
            return ClearLogin(.ldap, .simpleBind, user: name.content, secret: choice.content)
        }
        var credentials = ByteCursor(choice.content)
        guard choice.tag == 0xA3, let mechanism = element(&credentials), mechanism.tag == 0x04,
            mechanism.content.lowercasedBytes.text == "plain",
            let message = element(&credentials), message.tag == 0x04
        else { return nil }
        return ClearLogin(.ldap, .saslBindPlain, plain: message.content)
    }

    /// A tag of one byte, a length of the short or the long form, and the content
    /// (X.690 §8.1).
    private static func element(
        _ cursor: inout ByteCursor
    ) -> (tag: UInt8, content: ArraySlice<UInt8>)? {
        guard let tag = cursor.number(1), let first = cursor.number(1) else { return nil }
        var length = first
        if first & 0x80 != 0 {
            guard (1...4).contains(first & 0x7F), let long = cursor.number(first & 0x7F) else {
                return nil
            }
            length = long
        }
        return cursor.bytes(length).map { (UInt8(truncatingIfNeeded: tag), $0) }
    }
}
