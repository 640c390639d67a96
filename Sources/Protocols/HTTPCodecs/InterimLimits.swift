/// How many interim responses (RFC 9110 §15.2) are taken to one request, in every version of HTTP:
/// nobody has a use for many, and each is recorded.
package enum InterimLimits {
    package static let count = 64
    /// In bytes, decoded.
    package static let size = 256 << 10
}
