internal import Base
internal import Synchronization
package import Terminal

/// Keeps what is written.
package final class Collector: Sendable {
    private let held = Mutex<[UInt8]>([])

    package var bytes: [UInt8] { held.withLock { $0 } }
    package var text: String { bytes.text }

    package init() {}

    /// - Parameter terminal: the width of the terminal, `nil` for a pipe.
    package func stream(_ terminal: Int? = nil) -> OutputStream {
        OutputStream(isTerminal: terminal != nil, columns: terminal) { bytes throws(Failure) in
            self.held.withLock { $0 += bytes }
        }
    }
}
