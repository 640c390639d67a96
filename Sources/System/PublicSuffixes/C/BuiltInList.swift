internal import CPSL

/// The list that libpsl was built with; it is constant, so that any thread may read it.
package enum BuiltInList {
    /// Such as `libpsl 0.21.2`, of the library that is loaded.
    package static var version: String {
        "libpsl \(unsafe String(cString: psl_get_version()).prefix { $0 != " " })"
    }

    /// The end of `name` that is one label longer than the longest public suffix in it; `nil` if
    /// there is none, or if libpsl was built without a list.
    ///
    /// - Parameter name: in lower case, of at most 253 bytes: the search takes a step a label, each
    ///   as long as the name.
    static func registrableDomain(of name: String) -> String? {
        unsafe name.withCString { text in
            guard let list = unsafe psl_builtin(),
                let domain = unsafe psl_registrable_domain(list, text)
            else { return nil }
            // It points into `text`.
            return unsafe String(cString: domain)
        }
    }
}
