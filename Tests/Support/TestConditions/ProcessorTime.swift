import Foundation
package import Testing

/// Fails a test whose own work takes more of a processor than it may, however long it has to wait for
/// one. The test must not wait for others: what they do is not counted.
package struct ProcessorTimeTrait: TestTrait, TestScoping {
    let limit: Duration

    package func provideScope(
        for test: Test, testCase: Test.Case?,
        performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        let thread = TestThread()
        defer { thread.stop() }
        let used = try await withTaskExecutorPreference(thread) {
            // Both looks are on this thread, as is all that is between them.
            let start = await Self.used()
            try await function()
            return await Self.used() - start
        }
        #expect(used < limit, "it took \(used) of a processor")
    }

    @concurrent private static func used() async -> Duration {
        var time = timespec()
        unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }
}

extension Trait where Self == ProcessorTimeTrait {
    /// - Parameter limit: on the slowest machine that is to be borne, without optimization.
    package static func processorTime(below limit: Duration) -> Self { Self(limit: limit) }
}
