internal import Base

/// Does what waits for the disk beside the event loop: other connections go on.
func besideLoop<Value: Sendable>(
    _ work: @escaping @Sendable () async throws(Failure) -> Value
) async throws(Failure) -> Value {
    try await withTaskExecutorPreference(globalConcurrentExecutor) {
        () async throws(Failure) in try await run(work)
    }
}

/// Runs on the executor that the task prefers: only `@concurrent` makes it hop there.
@concurrent
private func run<Value: Sendable>(
    _ work: @Sendable () async throws(Failure) -> Value
) async throws(Failure) -> Value {
    try await work()
}
