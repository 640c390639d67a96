internal import Base

/// Java's key store format (JKS, version 2), for certificates that are trusted.
///
/// PKCS #12, its successor, needs an attribute of Oracle's on each certificate, which OpenSSL 3.0
/// cannot write.
package enum JavaKeyStore {
    /// - Parameter certificates: in DER.
    package static func write(_ certificates: [[UInt8]], password: String) -> [UInt8] {
        var bytes: [UInt8] = []
        func append(_ number: some FixedWidthInteger) {
            var shift = number.bitWidth - 8
            while shift >= 0 {
                bytes.append(UInt8(truncatingIfNeeded: number >> shift))
                shift -= 8
            }
        }
        func append(text: String) {
            append(UInt16(text.utf8.count))
            bytes += text.utf8
        }
        append(UInt32(0xFEED_FEED))
        append(UInt32(2))
        append(UInt32(certificates.count))
        let now = Timestamp.now().microseconds / 1000
        for (index, certificate) in certificates.enumerated() {
            append(UInt32(2))
            append(text: "certificate-\(index)")
            append(now)
            append(text: "X.509")
            append(UInt32(certificate.count))
            bytes += certificate
        }
        let key = password.utf16.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] }
        return bytes + Digests.sha1(key + "Mighty Aphrodite".utf8 + bytes)
    }
}
