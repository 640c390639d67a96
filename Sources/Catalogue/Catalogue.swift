package import Base
internal import TLS

package struct Catalogue: Sendable {
    package let entries: [ProbeDescription]
    package static func builtIn() -> Catalogue { 
        var c = ProbeDescription(identifier: "control-good", family: .control); c.expectation = .accept; c.requirements = [.authority]; c.profile = .quick
        var leaf = CertificateRecipe(name: "leaf"); leaf.issuer = .named("intermediate")
        var i = CertificateRecipe(name: "intermediate", role: .authority); i.issuer = .authority
        c.chain = [leaf, i]
        var s = ProbeDescription(identifier: "trust-self-signed", family: .trust); s.profile = .quick
        var l2 = CertificateRecipe(name: "leaf"); l2.issuer = .itself
        s.chain = [l2]
        var g = ProbeDescription(identifier: "handshake-goto-fail", family: .handshake); g.profile = .quick; g.behaviour = .gotoFail
        return Catalogue(entries: [c, s, g])
    }
    package static func load(folder: String) throws(Failure) -> Catalogue { builtIn() }
}
