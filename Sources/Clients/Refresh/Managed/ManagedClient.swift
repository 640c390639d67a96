package import Base
internal import Contents
package import HTTPClient
internal import HTTPCodecs
internal import HTTPModel
internal import Origins

/// What an app counts for its administrators: sums, and no log of what its user did.
package enum ManagedCounter: String, Sendable, CaseIterable {
    case wakes
    case newData
    case noData
    case failed
    case ignoredKeys
    case wrongValues
}

/// Reads an app's configuration from a management server, and tells it counts.
///
/// `@unchecked Sendable`: used on the client's loop.
package final class ManagedClient: @unchecked Sendable {
    private let client: HTTPClient
    private let configuration: OriginLocation
    private let feedback: OriginLocation
    private var entityTag: String?
    /// What was not told yet.
    private var counts: [ManagedCounter: Int64] = [:]
    private var stop = ClientStop()

    /// - Parameters:
    ///   - client: one that runs.
    ///   - server: such as `http://localhost:8081`.
    ///
    /// Errors: `url-invalid`.
    package init(_ client: HTTPClient, server: String, app: String) throws(Failure) {
        self.client = client
        let base = try OriginLocation(server)
        configuration = try base.following("/managed/\(app)/configuration")
        feedback = try base.following("/managed/\(app)/feedback")
    }

    package func count(_ counter: ManagedCounter, _ number: Int = 1) {
        guard number > 0 else { return }
        counts[counter, default: 0] += Int64(number)
    }

    /// - Returns: `nil` if it is what it was before. A server that has none says nothing.
    ///
    /// Errors: `managed-status`, `managed-invalid`, `managed-secret`, those of connecting.
    package func read() async throws(Failure) -> ManagedConfiguration? {
        let fields = entityTag.map { [("If-None-Match", $0)] } ?? []
        let response = try await send(FeedRequest.get(configuration, fields))
        switch response.head.status {
        case 304: return nil
        case 404:
            entityTag = nil
            return try ManagedConfiguration([UInt8]("{}".utf8), from: host)
        case 200:
            guard !response.isCut else {
                throw Failure(
                    "managed-invalid", party: .origin, "the managed configuration is too long")
            }
            let read = try ManagedConfiguration(response.content, from: host)
            entityTag = response.head.fields.first(named: "etag")?.text
            count(.ignoredKeys, read.ignoredCount)
            count(.wrongValues, read.wrongCount)
            return read
        case let status:
            throw Failure(
                "managed-status", party: .origin,
                "\(configuration.url): status \(status) to an app that asks for its configuration")
        }
    }

    private var host: String { configuration.target.host }

    /// Ends what is under way; what was counted can still be told.
    package func cut() {
        stop.stop()
        stop = ClientStop()
    }

    private func send(_ request: ClientRequest) async throws(Failure) -> ClientResponse {
        var request = request
        request.stop = stop
        return try await client.send(request)
    }

    /// Tells what was counted. What could not be told is told the next time.
    ///
    /// - Parameter timeLimit: in milliseconds, for who waits to end; `nil` for that of all requests.
    ///
    /// Errors: `managed-status`, those of connecting.
    package func tell(within timeLimit: UInt64? = nil) async throws(Failure) {
        let told = counts
        guard !told.isEmpty else { return }
        let members = ManagedCounter.allCases.compactMap { counter in
            told[counter].map { JSONText.Member(counter.rawValue, .integer($0)) }
        }
        var request = FeedRequest.post(
            feedback, "application/json", JSONText.object(members).line)
        if let timeLimit { request.timeLimit = timeLimit }
        let response = try await send(request)
        guard (200..<300).contains(response.head.status) else {
            throw Failure(
                "managed-status", party: .origin,
                "\(feedback.url): status \(response.head.status) to an app's counts")
        }
        // Others were counted meanwhile.
        for (counter, number) in told {
            let left = (counts[counter] ?? 0) - number
            counts[counter] = left > 0 ? left : nil
        }
    }
}
