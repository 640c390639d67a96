internal import Base

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

/// What ends an execution as a crash would, so that the input is kept.
package enum Oracle {
    package static func check(_ holds: Bool, _ what: @autoclosure () -> String) {
        if !holds { fail(what()) }
    }

    package static func fail(_ what: String) -> Never {
        let line = Array("oracle: \(what)\n".utf8)
        unsafe line.withUnsafeBytes { _ = unsafe write(2, $0.baseAddress, $0.count) }
        abort()
    }
}
