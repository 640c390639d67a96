/// A user name and a password (RFC 1929).
package struct SOCKSCredential: Sendable {
    let user: [UInt8]
    let password: [UInt8]

    /// In bytes, of each: the length has one byte on the wire (RFC 1929 §2).
    package static let byteLimit = 255

    /// - Returns: `nil` if the name is empty or either is longer than 255 bytes. An empty password
    ///   is allowed, because servers with none are in use.
    package init?(user: String, password: String) {
        self.init(user: Array(user.utf8), password: Array(password.utf8))
    }

    package init?(user: [UInt8], password: [UInt8]) {
        guard (1...Self.byteLimit).contains(user.count), password.count <= Self.byteLimit else {
            return nil
        }
        self.user = user
        self.password = password
    }

    /// `user:password`, as Basic has it (RFC 7617 §2).
    package var basicBytes: [UInt8] { user + [0x3A] + password }

    /// Compares both in a time that depends on neither.
    func matches(user: some Collection<UInt8>, password: some Collection<UInt8>) -> Bool {
        let difference =
            Self.difference(self.user, Array(user))
            | Self.difference(self.password, Array(password))
        return difference == 0
    }

    /// Whether one of the list matches; all of them are compared.
    package static func anyMatches(
        _ list: [SOCKSCredential], user: some Collection<UInt8>, password: some Collection<UInt8>
    ) -> Bool {
        var found = false
        for credential in list {
            let matches = credential.matches(user: user, password: password)
            found = found || matches
        }
        return found
    }

    /// 0 for equal bytes; every byte that there could be is looked at.
    private static func difference(_ left: [UInt8], _ right: [UInt8]) -> Int {
        var difference = left.count ^ right.count
        for index in 0..<byteLimit {
            let first = index < left.count ? left[index] : 0
            let second = index < right.count ? right[index] : 0
            difference |= Int(first ^ second)
        }
        return difference
    }
}

/// How a client introduced itself; its password is not kept.
package struct SOCKSLogin: Sendable, Equatable {
    /// The name, for SOCKS4 the user ID.
    package let user: String
    /// Whether it gave a password that is not empty.
    package let gavePassword: Bool
    /// Whether the name and the password were compared with a list and found there.
    package let isVerified: Bool
}
