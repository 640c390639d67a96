internal import Base
internal import COpenSSL

/// Algorithms apart from the process's own, of which those for a Finished are wrong.
@safe
final class AlgorithmLibrary {
    let pointer: OpaquePointer
    /// Which algorithms a context has to prefer.
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

    deinit { unsafe OSSL_LIB_CTX_free(pointer) }
}
