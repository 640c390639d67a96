#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

/// C strings, ended by a null pointer: the form in which arguments and variables go to a program.
@safe
package final class CStrings {
    /// Valid as long as this object.
    package let pointers: [UnsafeMutablePointer<CChar>?]

    package init(_ texts: [String]) {
        unsafe pointers = texts.map { unsafe strdup($0) } + [nil]
    }

    deinit {
        for index in unsafe pointers.indices { unsafe free(pointers[index]) }
    }
}
