internal import Contents

/// SNMP: the community of versions 1 and 2c, which is a password (RFC 1157 §4.1, RFC 3584 §5).
enum SNMPLoginReader {
    /// - Parameter client: its messages, one behind the other.
    static func logins(client: [UInt8]) -> [ClearLogin] {
        var found: [ClearLogin] = []
        var start = 0
        while found.count < ClearLogin.countLimit,
            let message = SNMPMessage(client, at: start)
        {
            start = message.end
            guard let community = message.community,
                let login = login(client[community]),
                !found.contains(where: { $0.secret == login.secret })
            else { continue }
            found.append(login)
        }
        return found
    }

    private static func login(_ community: ArraySlice<UInt8>) -> ClearLogin? {
        let isDefault = community.isEmpty || community.elementsEqual("public".utf8)
        var login = ClearLogin(
            .snmp, .community, user: nil,
            secret: community.isEmpty ? Array("public".utf8)[...] : community)
        login?.isGuest = isDefault
        return login
    }
}
