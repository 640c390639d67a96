/// Which certificate authority is meant; by default, the one in the state folder.
package struct AuthorityConfiguration: Sendable, Equatable {
    package var certificatePath: String?
    package var keyPath: String?
    /// A file whose first line decrypts the key.
    package var passwordPath: String?
    /// The domains that it may vouch for, with those below them; all names if empty.
    package var scope: [String] = []

    package init() {}
}
