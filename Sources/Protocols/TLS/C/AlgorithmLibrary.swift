internal import Base
internal import COpenSSL

/// Algorithms apart from the process's own: wrong ones for a Finished, or retired ones.
@safe
final class AlgorithmLibrary {
    let pointer: OpaquePointer
    /// Which algorithms a context has to prefer, for a wrong Finished.
    let properties = "?provider=faults"

    /// - Parameter wrongFinishedOfTLS13: whether it is for TLS 1.3, or for what came before.
    ///
    /// Errors: `probe-not-possible`.
    init(wrongFinishedOfTLS13: Bool) throws(Failure) {
        guard
            let made = unsafe openssl_library_with_wrong_finished(wrongFinishedOfTLS13 ? 1 : 0)
        else {
            OpenSSLErrors.clear()
            throw Failure(
                "probe-not-possible", party: .tool, "the library takes no provider of ours")
        }
        unsafe pointer = made
    }

    private init(owning pointer: OpaquePointer) { unsafe self.pointer = pointer }

    /// The sound algorithms with those that OpenSSL has retired, such as MD4.
    ///
    /// Errors: `probe-not-possible`.
    static func withRetired() throws(Failure) -> AlgorithmLibrary {
        guard let made = unsafe openssl_library_with_legacy() else {
            OpenSSLErrors.clear()
            throw Failure(
                "probe-not-possible", party: .tool,
                "OpenSSL's legacy provider, which MD4 is in, is not installed here")
        }
        return unsafe AlgorithmLibrary(owning: made)
    }

    deinit { unsafe OSSL_LIB_CTX_free(pointer) }
}
