internal import Glibc

/// A step of the confinement that the kernel refused, inside of the new namespaces.
struct ConfinementError: Error {
    /// What was tried: `set the routes`.
    let step: String
    let number: Int32

    /// - Parameter number: the error, by default the last of this thread.
    init(_ step: String, _ number: Int32 = errno) {
        self.step = step
        self.number = number
    }

    /// The system's words, in lower case.
    var reason: String { unsafe String(cString: strerror(number)).lowercased() }

    var text: String { "cannot \(step): \(reason)" }
}
