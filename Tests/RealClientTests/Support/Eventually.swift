import Foundation

/// Asks another process again and again until it has what is wanted: files tell no one that they
/// have grown.
///
/// - Throws: `Trouble` with `what` if the limit passes.
func eventually<Value>(
    _ what: String, within limit: Duration = .seconds(100), _ look: () async throws -> Value?
) async throws -> Value {
    let deadline = ContinuousClock.now + limit
    while true {
        if let value = try await look() { return value }
        guard ContinuousClock.now < deadline else {
            throw Trouble("waited \(limit) in vain for \(what)")
        }
        try await Task.sleep(for: .milliseconds(5))
    }
}
