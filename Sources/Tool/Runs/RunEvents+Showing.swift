/// Shows the events of a run while it goes on, each that was told before it returns too.
package func withEvents<Result: Sendable>(
    of events: RunEvents, while run: () async throws -> Result,
    show: @escaping @Sendable (RunEvent) -> Void
) async throws -> Result {
    let subscription = events.subscribe()
    async let shown: Void = {
        while let batch = await subscription.next() {
            for event in batch { show(event) }
        }
    }()
    defer { events.finish() }
    let result = try await run()
    events.finish()
    await shown
    return result
}
