internal import Base
internal import Contents
internal import TLS

/// The CA's certificate as devices take it.
struct DeviceCertificate: Sendable {
    /// The password of a Java key store says nothing: there is no key in it.
    static let storePassword = "changeit"

    let subject: String
    let sha256: [UInt8]
    let sha1: [UInt8]
    let notAfter: Timestamp
    private let der: [UInt8]
    private let pem: [UInt8]
    private let isRoot: Bool

    /// A file by its name.
    enum Form: String, CaseIterable {
        case pem = "sallyport.pem"
        /// DER, for Windows and macOS.
        case cer = "sallyport.cer"
        /// DER, for Android and Firefox, which go by the media type.
        case crt = "sallyport.crt"
        case profile = "sallyport.mobileconfig"
        case javaKeyStore = "sallyport.jks"

        var mediaType: String {
            switch self {
            case .pem: "application/x-pem-file"
            case .cer: "application/pkix-cert"
            case .crt: "application/x-x509-ca-cert"
            case .profile: ConfigurationProfile.mediaType
            case .javaKeyStore: "application/x-java-keystore"
            }
        }

        /// Whether it is to be stored, where a browser could open it.
        var isDownload: Bool {
            switch self {
            case .pem, .cer, .javaKeyStore: true
            case .crt, .profile: false
            }
        }
    }

    init(_ certificate: Certificate) {
        subject = certificate.subject
        der = certificate.der
        pem = certificate.pem
        sha256 = Digests.sha256(der)
        sha1 = Digests.sha1(der)
        notAfter = Timestamp(microseconds: certificate.validity.notAfter * 1_000_000)
        isRoot = certificate.isSelfIssued
    }

    func content(_ form: Form) -> [UInt8] {
        switch form {
        case .pem: pem
        case .cer, .crt: der
        case .profile: profile
        case .javaKeyStore: JavaKeyStore.write([der], password: Self.storePassword)
        }
    }

    /// A configuration profile of Apple's with the certificate; the same each time, so that one that
    /// is installed again takes the place of the first.
    private var profile: [UInt8] {
        ConfigurationProfile(
            identifier: "org.sallyport.ca.\(sha256.prefix(8).hex)", title: "Sallyport",
            description:
                "The certificate of a Sallyport proxy. Remove it when the work is done.",
            [
                .authority(
                    der, isRoot: isRoot, title: subject,
                    description: "Lets a Sallyport proxy show certificates of its own",
                    file: Form.cer.rawValue)
            ], uuid: identifier
        ).document
    }

    /// A UUID of the certificate's own (RFC 9562 §5.8).
    private func identifier(_ purpose: String) -> String {
        UUIDText.text(Digests.sha256(sha256 + purpose.utf8), version: 8).uppercased()
    }
}
