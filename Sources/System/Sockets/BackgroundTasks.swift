/// Tasks of one loop that outlive the connection that began them, such as those that read for the
/// origins that several clients use.
///
/// `@unchecked Sendable`: used on its loop's thread only.
@safe
package final class BackgroundTasks: @unchecked Sendable {
    private var waiting: [@Sendable () async -> Void] = []
    private var runner: UnsafeContinuation<Void, Never>?
    private var isStopped = false

    package init() {}

    /// Starts `work` soon; it is waited for by `run`.
    package func add(_ work: @escaping @Sendable () async -> Void) {
        waiting.append(work)
        wake()
    }

    /// Lets `run` return when all that was added has ended.
    package func stop() {
        isStopped = true
        wake()
    }

    package func run() async {
        await withDiscardingTaskGroup { group in
            while let work = await next() {
                group.addTask { await work() }
            }
        }
    }

    private func next() async -> (@Sendable () async -> Void)? {
        while waiting.isEmpty {
            if isStopped { return nil }
            unsafe await withUnsafeContinuation { unsafe runner = $0 }
        }
        return waiting.removeFirst()
    }

    private func wake() {
        guard let waiting = unsafe runner else { return }
        unsafe runner = nil
        unsafe waiting.resume()
    }
}
