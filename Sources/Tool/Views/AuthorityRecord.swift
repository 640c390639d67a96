package import Base

/// What is known of the certificate authority; the key itself is not.
package struct AuthorityRecord: Sendable {
    package let certificatePath: String
    package let keyPath: String
    package let subject: String
    package let notBefore: Timestamp
    package let notAfter: Timestamp
    package let sha256: [UInt8]
    /// The certificate in DER.
    package let certificate: [UInt8]
    /// The domains that it was made for; empty if it is not known to be limited.
    package let scope: [String]

    package init(
        certificatePath: String, keyPath: String, subject: String, notBefore: Timestamp,
        notAfter: Timestamp, sha256: [UInt8], certificate: [UInt8], scope: [String]
    ) {
        self.certificatePath = certificatePath
        self.keyPath = keyPath
        self.subject = subject
        self.notBefore = notBefore
        self.notAfter = notAfter
        self.sha256 = sha256
        self.certificate = certificate
        self.scope = scope
    }

    /// A document in the schema `sallyport.ca/1`.
    package var json: JSONText {
        [
            "schema": "sallyport.ca/1",
            "certificate": .string(certificatePath),
            "key": .string(keyPath),
            "subject": .string(subject),
            "notBefore": .string(notBefore.rfc3339),
            "notAfter": .string(notAfter.rfc3339),
            "sha256": .string(sha256.hex),
            "scope": scope.isEmpty ? .null : .array(scope.map(JSONText.string)),
        ]
    }
}
