/// How to make one certificate of a chain, flaws and all; values only.
///
/// In texts `{host}` stands for the name that the client asks for, `{parent}` for what is left
/// without its first label, `{address}` for an IP address.
package struct CertificateRecipe: Sendable, Equatable {
    /// What it is called in its chain, such as `leaf`, `intermediate`.
    package var name: String

    package init(name: String) { self.name = name }
}
