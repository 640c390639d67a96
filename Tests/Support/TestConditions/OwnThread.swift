import Foundation
package import Testing

/// Runs each test on a thread of its own.
///
/// The test runner has one thread a processor for all tests. One that waits for a program or a peer
/// holds one of these, and two of them keep every other test from going on.
package struct OwnThreadTrait: TestTrait, SuiteTrait, TestScoping {
    package var isRecursive: Bool { true }

    package func provideScope(
        for test: Test, testCase: Test.Case?,
        performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        let thread = TestThread()
        defer { thread.stop() }
        try await withTaskExecutorPreference(thread) { try await function() }
    }
}

extension Trait where Self == OwnThreadTrait {
    package static var ownThread: Self { Self() }
}

/// One thread that runs tasks, in the order in which they are ready.
///
/// `@unchecked Sendable`: what changes is used under the condition's lock.
final class TestThread: TaskExecutor, @unchecked Sendable {
    private let condition = NSCondition()
    private var jobs: [UnownedJob] = []
    private var isStopped = false

    init() {
        Thread.detachNewThread { self.run() }
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        condition.withLock {
            jobs.append(job)
            condition.signal()
        }
    }

    func stop() {
        condition.withLock {
            isStopped = true
            condition.signal()
        }
    }

    private func run() {
        let executor = unsafe asUnownedTaskExecutor()
        while let ready = next() {
            for job in ready { unsafe job.runSynchronously(on: executor) }
        }
    }

    /// - Returns: `nil` once it is stopped and nothing is left to run.
    private func next() -> [UnownedJob]? {
        condition.withLock {
            while jobs.isEmpty, !isStopped { condition.wait() }
            defer { jobs = [] }
            return jobs.isEmpty ? nil : jobs
        }
    }
}
