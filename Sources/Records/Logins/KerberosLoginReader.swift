internal import Base

/// Kerberos: the time that a client encrypts with its password's key, against which passwords can be
/// tried (RFC 4120 §5.2.7.2).
enum KerberosLoginReader {
    /// - Parameter client: requests behind their lengths, as they are over TCP, or one without, as
    ///   it is over UDP.
    static func logins(client: [UInt8]) -> [ClearLogin] {
        if client.first == 0x6A { return login(client[...]).map { [$0] } ?? [] }
        var cursor = ByteCursor(client[...])
        var found: [ClearLogin] = []
        while found.count < ClearLogin.countLimit, let request = cursor.vector(4) {
            guard request.first == 0x6A || request.first == 0x6C else { break }
            if let login = login(request) { found.append(login) }
        }
        return found
    }

    private static func login(_ request: ArraySlice<UInt8>) -> ClearLogin? {
        var cursor = ByteCursor(request)
        // KDC-REQ: the version, the kind, what proves who asks, and what is asked for.
        guard let message = cursor.element(), message.tag == 0x6A,
            let fields = message.elements.first?.elements,
            fields.first(where: { $0.tag == 0xA1 })?.elements.first?.number == 5,
            let proofs = fields.first(where: { $0.tag == 0xA3 })?.elements.first?.elements
        else { return nil }
        let user = fields.first { $0.tag == 0xA4 }.flatMap(client)
        for proof in proofs.lazy.map(\.elements) {
            guard proof.first(where: { $0.tag == 0xA1 })?.elements.first?.number == 2,
                let value = proof.first(where: { $0.tag == 0xA2 })?.elements.first,
                let parts = value.elements.first?.elements,
                let kind = parts.first(where: { $0.tag == 0xA0 })?.elements.first?.number,
                let cipher = parts.first(where: { $0.tag == 0xA2 })?.elements.first
            else { continue }
            // RC4 with the password's MD4, and DES: as fast as any hash (RFC 8429).
            let isWeak = kind == 23 || kind < 16
            return ClearLogin(
                .kerberos, .kerberos, user: user, hash: cipher.content,
                severity: isWeak ? .medium : .low)
        }
        return nil
    }

    /// The name of who asks.
    private static func client(_ body: BERElement) -> ArraySlice<UInt8>? {
        let name = body.elements.first?.elements.first { $0.tag == 0xA1 }?.elements.first
        return name?.elements.first { $0.tag == 0xA1 }?.elements.first?.elements.first?.content
    }
}
