internal import COpenSSL

/// The library that TLS, certificates and digests are done with.
package enum TLSLibrary {
    /// Such as `OpenSSL 3.0.15`, of the library that is loaded.
    package static var version: String {
        // "OpenSSL 3.0.15 3 Sep 2024": the date is left out.
        let text = unsafe String(cString: OpenSSL_version(OPENSSL_VERSION))
        return text.split(separator: " ").prefix(2).joined(separator: " ")
    }
}
