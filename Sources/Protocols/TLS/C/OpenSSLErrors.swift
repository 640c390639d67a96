internal import Base
internal import COpenSSL

/// OpenSSL's thread-local queue of errors.
enum OpenSSLErrors {
    static func clear() {
        ERR_clear_error()
    }

    /// Takes the queue's first error in words, such as `wrong version number`, and empties it.
    static func take() -> String {
        let code = ERR_get_error()
        ERR_clear_error()
        guard code != 0 else { return "unknown error" }
        guard let reason = unsafe ERR_reason_error_string(code) else { return "error \(code)" }
        return unsafe String(cString: reason)
    }
}
