internal import Base
internal import CPlatform
internal import Glibc

/// What a call into the kernel answered, without exceptions: waiting is a case and not an error.
package enum SystemCallOutcome: Sendable, Equatable {
    case value(Int)
    /// EAGAIN: nothing can be done until the descriptor is ready again.
    case wouldBlock
    case failed(SystemError)
}

/// An `errno`.
package struct SystemError: Error, Sendable, Equatable, CustomStringConvertible {
    package let number: Int32

    package init(_ number: Int32) {
        self.number = number
    }

    /// The system's words, in lower case, such as `connection refused`.
    package var description: String {
        unsafe String(cString: strerror(number)).lowercased()
    }

    /// Whether the peer, or something between, broke the connection off.
    package var isReset: Bool { number == ECONNRESET || number == EPIPE || number == ECONNABORTED }

    package static let timedOut = SystemError(ETIMEDOUT)
    package static let unreachable = SystemError(EHOSTUNREACH)
}

/// Makes a call into the kernel: again if a signal interrupted it.
@inline(__always)
func systemCall<Number: FixedWidthInteger>(_ body: () -> Number) -> SystemCallOutcome {
    while true {
        let result = body()
        if result >= 0 { return .value(Int(result)) }
        switch errno {
        case EINTR: continue
        case EAGAIN: return .wouldBlock
        case let number: return .failed(SystemError(number))
        }
    }
}
