package import Base

/// How to make one certificate of a chain, flaws and all; values only.
///
/// What is left as it is makes a sound certificate: the first of a chain a server's leaf, the others
/// certification authorities. In texts `{host}` stands for the name that the client asks for, and
/// there are others like it: see ``HostPlaceholder``.
package struct CertificateRecipe: Sendable, Equatable {
    /// What it is called in its chain, such as `leaf`, `intermediate`.
    package var name: String
    package var origin = Origin.made
    package var role: Role
    /// Whether it is sent; one that is not may still issue others.
    package var isPresented = true
    /// Whether the client is told to trust it while it is shown.
    package var isTrusted = false
    /// For the origin `file`.
    package var files: CertificateFiles?
    package var issuer = Issuer.authority
    package var key = KeyKind.p256
    /// What its own signature is made with.
    package var digest = SignatureDigest.sha256
    package var subject = Subject.standard
    /// What it names as its issuer instead of the issuer's own name; `nil` for that.
    package var issuerName: [SubjectEntry]?
    package var alternativeNames = AlternativeNames.standard
    /// `nil` for two days back.
    package var notBefore: Moment?
    /// `nil` for a time that is usual in its role.
    package var notAfter: Moment?
    /// 3, or 1 for one without extensions.
    package var version = 3
    package var serial = Serial.random
    package var basicConstraints = ExtensionValue.standard
    package var keyUsage = ExtensionValue.standard
    package var extendedKeyUsage = ExtensionValue.standard
    package var nameConstraints = ExtensionValue.absent
    package var policyConstraints = ExtensionValue.absent
    package var tlsFeature = ExtensionValue.absent
    package var listAddresses = ExtensionValue.absent
    package var statusAddresses = ExtensionValue.absent
    package var authorityKeyIdentifier = KeyIdentifier.issuer
    package var extraExtensions: [ExtraExtension] = []
    package var damage: Damage?
    /// How many labels the host's name must have for the flaw to be one; 0 for any host, an IP
    /// address too.
    package var hostLabels = 0

    package init(name: String, role: Role = .leaf) {
        self.name = name
        self.role = role
    }
}

extension CertificateRecipe {
    /// Where a certificate comes from.
    package enum Origin: String, Sendable, CaseIterable {
        case made
        /// The origin's leaf field by field, with another key.
        case copyOfLeaf = "origin-leaf"
        /// The origin's whole chain in that way, each issued by the next.
        case copyOfChain = "origin-chain"
        /// The origin's own chain, unchanged.
        case genuineChain = "genuine-chain"
        /// The origin's own chain without its leaf.
        case genuineIssuers = "genuine-issuers"
        /// The audit's CA itself.
        case authority
        /// The CA that nobody trusts.
        case unknownRoot = "unknown-root"
        /// What a user has put beside the recipe.
        case file
    }

    /// A user's certificates, and the key of the first of them if it is to be shown or to issue
    /// others; both in PEM.
    package struct CertificateFiles: Sendable, Equatable {
        package let chain: [UInt8]
        package let key: [UInt8]?

        /// Errors: `certificate-invalid`, `key-invalid`, `key-mismatch`.
        package init(chain: [UInt8], key: [UInt8]?) throws(Failure) {
            self.chain = chain
            self.key = key
            let (certificates, key) = try read()
            guard let key, !key.belongs(to: certificates[0]) else { return }
            throw Failure(
                "key-mismatch", party: .tool, "the key is not the first certificate's")
        }

        /// At least one certificate, and its key.
        ///
        /// Errors: `certificate-invalid`, `key-invalid`.
        func read() throws(Failure) -> (certificates: [Certificate], key: PrivateKey?) {
            let certificates = try Certificate.all(inPEM: chain, name: "the file")
            guard !certificates.isEmpty else {
                throw Failure("certificate-invalid", party: .tool, "no certificate in the file")
            }
            guard let key else { return (certificates, nil) }
            return (
                certificates, try PrivateKey.read(pem: key, password: nil, name: "the file")
            )
        }
    }

    package enum Role: String, Sendable, CaseIterable {
        case leaf
        case authority
    }

    /// Whose key signs, and whose name is given as the issuer's.
    package enum Issuer: Sendable, Equatable {
        /// The audit's CA, which the client trusts if it has been told to.
        case authority
        /// A CA that nobody trusts.
        case unknownRoot
        case itself
        /// Another certificate of the chain, by its name.
        case named(String)
    }

    package enum Subject: Sendable, Equatable {
        /// For a leaf its first DNS name, for an authority one of its own.
        case standard
        /// The very name of the audit's CA.
        case ofAuthority
        /// In this order; none for an empty name.
        case entries([SubjectEntry])
    }

    /// One attribute of a distinguished name, such as `CN` with a text.
    package struct SubjectEntry: Sendable, Equatable {
        package let attribute: String
        package let value: RecipeText

        package init(attribute: String, value: RecipeText) {
            self.attribute = attribute
            self.value = value
        }
    }

    package enum AlternativeNames: Sendable, Equatable {
        /// For a leaf the host or address asked for, for an authority none.
        case standard
        case absent
        /// In this order; an empty sequence if there are none.
        case names([AlternativeName])
    }

    package struct AlternativeName: Sendable, Equatable {
        package enum Kind: String, Sendable, CaseIterable {
            /// A DNS name or an IP address, whichever the text is.
            case host
            case dns
            case ip
            case email
            case uri
        }

        package let kind: Kind
        package let value: RecipeText

        package init(_ kind: Kind, _ value: RecipeText) {
            self.kind = kind
            self.value = value
        }
    }

    /// A point in time, from now or as it is encoded.
    package enum Moment: Sendable, Equatable {
        case days(Int)
        /// Written as UTCTime whether it is one or not.
        case utcTime(String)
        case generalizedTime(String)
    }

    package enum ExtensionValue: Sendable, Equatable {
        /// What is usual in the certificate's role.
        case standard
        case absent
        /// As OpenSSL writes extensions (x509v3_config(5)), such as `critical,CA:TRUE,pathlen:0`.
        case text(RecipeText)
    }

    /// The key that a certificate names as its issuer's.
    package enum KeyIdentifier: String, Sendable, CaseIterable {
        case issuer
        case absent = "none"
        /// Some other key's.
        case other
    }

    /// An extension that is given by its bytes.
    package struct ExtraExtension: Sendable, Equatable {
        /// In dotted decimal.
        package let identifier: String
        package let isCritical: Bool
        package let der: [UInt8]

        package init(identifier: String, isCritical: Bool, der: [UInt8]) {
            self.identifier = identifier
            self.isCritical = isCritical
            self.der = der
        }
    }

    /// What is done to a certificate after it has been signed.
    package enum Damage: String, Sendable, CaseIterable {
        /// One bit of the signature is flipped.
        case signature
        /// The outer signature algorithm differs from the one that is signed.
        case algorithm
        /// The signature is one that nobody needs the issuer's key for, if its exponent is 3.
        case forged
    }

    package enum Serial: String, Sendable, CaseIterable {
        case random
        case zero
        /// That of the audit's CA.
        case authority
    }

    package enum SignatureDigest: String, Sendable, CaseIterable {
        /// Which OpenSSL knows by its legacy provider only.
        case md4
        case md5
        case sha1
        case sha256
        case sha384
        case sha512
    }

    package enum KeyKind: String, Sendable, CaseIterable {
        case p256
        case p384
        case p192
        case p224
        case secp256k1
        /// P-256 with its curve's parameters written out.
        case p256Explicit = "p256-explicit"
        case ed25519
        case rsa512
        case rsa1024
        case rsa2048
        case rsa4096
        case rsa8192
        /// RSA-2048 with the public exponent 3.
        case rsaE3 = "rsa-e3"
        case dsa1024
        /// The point of the audit CA's public key, on a curve of our own: its private key is 2.
        case authorityPoint = "authority-point"

        /// Whether making one takes long enough for it to be kept.
        package var takesLong: Bool { isRSA || self == .dsa1024 }

        package var isRSA: Bool {
            switch self {
            case .rsa512, .rsa1024, .rsa2048, .rsa4096, .rsa8192, .rsaE3: true
            case .p256, .p384, .p192, .p224, .secp256k1, .p256Explicit, .ed25519, .dsa1024,
                .authorityPoint:
                false
            }
        }
    }
}
