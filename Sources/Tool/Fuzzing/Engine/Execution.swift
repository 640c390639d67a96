internal import Base

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

/// One execution: all ways of cutting an input, within the time that it may take.
package enum Execution {
    /// Of CPU time for one input, in milliseconds.
    package static let timeLimit: UInt64 = 1000

    /// Ends the process if the reader breaks a rule.
    ///
    /// - Parameter isThorough: whether all exports are made of what was read, and not one.
    package static func run(
        _ reader: FuzzedReader, _ bytes: [UInt8], isThorough: Bool = false
    ) {
        unsafe Exports.areAllMade = isThorough
        let start = cpuTime()
        if let difference = reader.examine(bytes) {
            Oracle.fail("\(reader.name): the result depends on the reads\n\(difference.text)")
        }
        let milliseconds = (cpuTime() - start) / 1_000_000
        Oracle.check(
            milliseconds < (isThorough ? 10 : 1) * timeLimit,
            "\(reader.name): hang: \(bytes.count) bytes took \(milliseconds) ms of CPU")
    }

    /// Of this thread, in nanoseconds.
    private static func cpuTime() -> UInt64 {
        var time = timespec()
        unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }
}
