package import Base

/// Makes the chains that an audit shows, sound and flawed ones, as their recipes say.
///
/// Every certificate has a key and, if it is an authority, a name of its own, so that a client which
/// remembers one from an earlier probe cannot repair the next with it.
package final class ChainIssuer: Sendable {
    private let authority: CertificateIssuer
    /// Of the same kind as the authority, and trusted by nobody.
    private let unknownRoot: CertificateIssuer
    private let keys: KeyCache

    package init(authority: AuditAuthority, keys: KeyCache) throws(Failure) {
        self.authority = CertificateIssuer(certificate: authority.certificate, key: authority.key)
        self.keys = keys
        let made = try CertificateAuthority.make(
            label: "Unknown CA", scope: [], pathLength: nil, age: AuditAuthority.age)
        unknownRoot = CertificateIssuer(certificate: made.certificate, key: made.key)
    }

    /// What an answer about a leaf's revocation says.
    package enum Staple: Sendable, CaseIterable {
        case good
        case revoked
        /// That it is good, for a time that is over.
        case stale
    }

    /// What an address that a leaf names says of its revocation: that it is revoked.
    package enum Publication: Sendable, CaseIterable {
        /// A list (RFC 5280 §5).
        case list
        /// An answer to whoever asks (RFC 6960).
        case answer
    }

    /// Makes a chain for the host that a client asks for.
    ///
    /// - Parameters:
    ///   - host: a DNS name or an IP address.
    ///   - origin: what the true origin presents, leaf first; empty if that is not known.
    ///   - staple: the answer about the leaf's revocation to go with it, from the leaf's issuer.
    ///   - publication: what the leaf's issuer says elsewhere.
    ///
    /// Errors: `probe-not-possible` if the recipes fit no such host, or need an origin's chain or a
    /// kind of key that is not to be had; `recipe-invalid`; and the errors of
    /// ``KeyCache/key(_:)``.
    package func present(
        _ recipes: [CertificateRecipe], host: String, origin: [Certificate],
        staple: Staple? = nil, publication: Publication? = nil
    ) throws(Failure) -> PresentedChain {
        let host = try ProbedHost(host)
        var items: [ChainItem] = []
        for recipe in recipes { items += try prepare(recipe, host, origin) }
        var presented: [Certificate] = []
        var anchors: [Certificate] = []
        for item in items {
            guard case .draft(let draft) = item.content else {
                if item.isPresented { presented += item.certificates }
                if item.isTrusted { anchors += item.certificates }
                continue
            }
            let issuer = try issuer(of: draft, in: items)
            let certificate = try draft.finish(issuer: issuer, host: host)
            if draft.recipe.isPresented { presented.append(certificate) }
            if draft.recipe.isTrusted { anchors.append(certificate) }
        }
        guard let first = items.first, let key = first.identity?.key, first.isPresented else {
            throw Failure(
                "recipe-invalid", party: .tool,
                "the first certificate of a chain must have a key of ours, and be shown")
        }
        var chain = PresentedChain(certificates: presented, key: key)
        chain.anchors = anchors
        guard case .draft(let leaf) = first.content else { return chain }
        let issuer = try issuer(of: leaf, in: items)
        if let staple {
            chain.staple = try CertificateStatus.answer(
                staple, for: presented[0], issuer: issuer)
        }
        switch publication {
        case .list: chain.publication = try CertificateStatus.list(presented[0], issuer: issuer)
        case .answer:
            chain.publication = try CertificateStatus.answer(
                .revoked, for: presented[0], issuer: issuer)
        case nil: break
        }
        return chain
    }

    // MARK: Parts of a chain

    private struct ChainItem {
        enum Content {
            case draft(CertificateDraft)
            case given([Certificate], PrivateKey?)
        }

        let name: String
        let content: Content
        var isPresented = true
        var isTrusted = false

        var certificates: [Certificate] {
            if case .given(let certificates, _) = content { certificates } else { [] }
        }

        /// What others are issued with; `nil` for what has no key.
        var identity: CertificateIssuer? {
            switch content {
            case .draft(let draft): return draft.identity
            case .given(let certificates, let key):
                guard let first = certificates.first, let key else { return nil }
                return CertificateIssuer(certificate: first, key: key)
            }
        }
    }

    private func prepare(
        _ recipe: CertificateRecipe, _ host: ProbedHost, _ origin: [Certificate]
    ) throws(Failure) -> [ChainItem] {
        guard host.labels.count >= recipe.hostLabels else {
            throw ProbedHost.impossible(
                host.labels.isEmpty
                    ? "the host '\(host.text)' is an address"
                    : "the host '\(host.text)' has fewer than \(recipe.hostLabels) labels")
        }
        func given(_ certificates: [Certificate]) throws(Failure) -> [ChainItem] {
            guard !certificates.isEmpty else { throw Self.noOrigin }
            return [ChainItem(name: recipe.name, content: .given(certificates, nil))]
        }
        switch recipe.origin {
        case .made:
            let draft = try CertificateDraft(
                recipe, host: host, key: try key(recipe.key), authority: authority)
            return [
                ChainItem(
                    name: recipe.name, content: .draft(draft), isPresented: recipe.isPresented)
            ]
        case .copyOfLeaf: return try copies(of: Array(origin.prefix(1)), recipe)
        case .copyOfChain: return try copies(of: origin, recipe)
        case .genuineChain: return try given(origin)
        case .genuineIssuers:
            // An origin may present no more than its leaf.
            guard !origin.isEmpty else { throw Self.noOrigin }
            return [ChainItem(name: recipe.name, content: .given(Array(origin.dropFirst()), nil))]
        case .authority: return try given([authority.certificate])
        case .unknownRoot: return try given([unknownRoot.certificate])
        case .file:
            guard let (certificates, key) = try recipe.files?.read() else {
                throw Failure("recipe-invalid", party: .tool, "'\(recipe.name)' names no file")
            }
            return [
                ChainItem(
                    name: recipe.name, content: .given(certificates, key),
                    isPresented: recipe.isPresented, isTrusted: recipe.isTrusted)
            ]
        }
    }

    private func key(_ kind: CertificateRecipe.KeyKind) throws(Failure) -> PrivateKey {
        kind == .authorityPoint ? try authority.key.sharingPoint() : try keys.key(kind)
    }

    /// Copies with keys of our own, each issued by the next, the last as the recipe says.
    private func copies(
        of certificates: [Certificate], _ recipe: CertificateRecipe
    ) throws(Failure) -> [ChainItem] {
        guard !certificates.isEmpty else { throw Self.noOrigin }
        var items: [ChainItem] = []
        for (index, certificate) in certificates.enumerated() {
            var own = recipe
            if index > 0 { own.name += "-\(index)" }
            if index + 1 < certificates.count { own.issuer = .named("\(recipe.name)-\(index + 1)") }
            let draft = try CertificateDraft(
                own, copying: certificate, key: try key(recipe.key), authority: authority)
            items.append(
                ChainItem(name: own.name, content: .draft(draft), isPresented: own.isPresented))
        }
        return items
    }

    private static var noOrigin: Failure {
        ProbedHost.impossible("the chain of the true origin is not known")
    }

    private func issuer(
        of draft: CertificateDraft, in items: [ChainItem]
    ) throws(Failure) -> CertificateIssuer {
        switch draft.recipe.issuer {
        case .authority: return authority
        case .unknownRoot: return unknownRoot
        case .itself: return draft.identity
        case .named(let name):
            for item in items where item.name == name {
                if let identity = item.identity { return identity }
            }
            throw Failure(
                "recipe-invalid", party: .tool,
                "'\(draft.recipe.name)' is to be issued by '\(name)', which is not in the chain")
        }
    }
}

/// Whose name a certificate bears as its issuer's, and whose key signs it.
struct CertificateIssuer: Sendable {
    let certificate: Certificate
    let key: PrivateKey
    /// Whether it bears the key identifier of another key.
    var isCopy = false
}
