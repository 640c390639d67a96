package import Foundation
import Synchronization

/// Starts one program at a time.
///
/// Foundation tells a program's end by a socket that any program started in the same moment
/// inherits, and then keeps open: the first would not be seen to end before the second has.
///
/// The threads of tasks block signals, and a program inherits that as well: it could not be ended in
/// order.
package enum ProcessStart {
    private static let lock = Mutex(())

    /// - Parameter body: makes the process and its pipes, and runs it.
    package static func alone(_ body: () throws -> Void) rethrows {
        try lock.withLock { _ in
            var none = sigset_t()
            var before = sigset_t()
            unsafe sigemptyset(&none)
            unsafe pthread_sigmask(SIG_SETMASK, &none, &before)
            defer { unsafe pthread_sigmask(SIG_SETMASK, &before, nil) }
            try body()
        }
    }

    /// Runs a program to its end.
    ///
    /// - Parameters:
    ///   - withErrors: whether what it says on its standard error counts.
    ///   - input: what it reads, of which a pipe takes 4,096 bytes (pipe(7)); it does not end before
    ///     the program does.
    /// - Returns: what it wrote.
    package static func output(
        of process: Process, withErrors: Bool = false, input: String? = nil
    ) throws -> [UInt8] {
        let (answer, question) = (Pipe(), Pipe())
        process.standardOutput = answer
        if withErrors { process.standardError = answer }
        // Before it runs: it may end without having read.
        if let input {
            precondition(input.utf8.count <= 4096, "more than a pipe takes")
            try question.fileHandleForWriting.write(contentsOf: Data(input.utf8))
            process.standardInput = question
        }
        try alone { try process.run() }
        let bytes = try answer.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        // Foundation keeps a process and its handles for good.
        try answer.fileHandleForReading.close()
        if input != nil { try question.fileHandleForWriting.close() }
        return [UInt8](bytes)
    }
}
