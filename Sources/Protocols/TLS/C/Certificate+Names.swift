internal import Base
internal import COpenSSL

extension Certificate {
    /// Its alternative names as OpenSSL writes them, such as `DNS:a.test, IP Address:192.0.2.7`;
    /// `nil` if it has none, empty if they cannot be shown. They are whatever the issuer wrote: what
    /// is no printable ASCII is `?`.
    package var alternativeNames: String? {
        OpenSSLErrors.clear()
        defer { OpenSSLErrors.clear() }
        let index = unsafe X509_get_ext_by_NID(pointer, NID_subject_alt_name, -1)
        guard index >= 0 else { return nil }
        guard let target = unsafe BIO_new(BIO_s_mem()) else { return "" }
        defer { unsafe BIO_free(target) }
        guard unsafe X509V3_EXT_print(target, X509_get_ext(pointer, index), 0, 0) == 1 else {
            return ""
        }
        let shown = unsafe bytes(ofMemory: target)
        return shown.map { (0x20...0x7E).contains($0) ? $0 : UInt8(ascii: "?") }.text
    }
}
