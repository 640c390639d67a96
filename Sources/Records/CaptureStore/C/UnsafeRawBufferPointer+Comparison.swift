#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

extension UnsafeRawBufferPointer {
    /// Whether both hold the same bytes, compared at the speed of memory, which `==` is not.
    func isSame(as other: UnsafeRawBufferPointer) -> Bool {
        guard count == other.count else { return false }
        guard let start = baseAddress, let otherStart = other.baseAddress else { return true }
        return unsafe memcmp(start, otherStart, count) == 0
    }
}
