internal import Base

/// JA3, the older fingerprint of a client's offer (github.com/salesforce/ja3).
extension ClientHello {
    /// Version, cipher suites, extensions, groups and point formats in decimal and in the order of
    /// the wire, without reserved values.
    package var ja3String: String {
        [
            String(legacyVersion), decimal(cipherSuites), decimal(extensions), decimal(groups),
            pointFormats.map { String($0) }.joined(separator: "-"),
        ].joined(separator: ",")
    }

    /// The digest of `ja3String` in hexadecimal.
    ///
    /// - Parameter md5: gives the 16 bytes of the MD5 digest.
    package func ja3(md5: ([UInt8]) -> [UInt8]) -> String {
        md5([UInt8](ja3String.utf8)).hex
    }

    private func decimal(_ numbers: [UInt16]) -> String {
        numbers.filter { !$0.isGREASE }.map { String($0) }.joined(separator: "-")
    }
}
