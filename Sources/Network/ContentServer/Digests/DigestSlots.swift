internal import Base
internal import HTTPServer
internal import Synchronization

/// Bounds how many digests that take their time are under way: each holds 128 KiB, and a share of the
/// processors that the others then lack.
final class DigestSlots: Sendable {
    private struct State {
        var count = 0
        var counts: [String: Int] = [:]
    }

    /// Of all clients, and of one: for the others there is always room.
    private let limit: Int
    private let clientLimit: Int
    /// What is digested faster needs no slot, in bytes.
    private let byteLimit: UInt64
    private let state = Mutex(State())

    init(freeByteLimit byteLimit: UInt64, limit: Int = 256, clientLimit: Int = 64) {
        self.byteLimit = byteLimit
        self.limit = limit
        self.clientLimit = clientLimit
    }

    enum Grant {
        /// - slot: held while it is digested; `nil` for what needs none.
        case granted(DigestSlot?)
        /// Answered in its place.
        case refused(ServerResponse)
    }

    /// - Parameter byteCount: what is to be digested.
    func take(_ byteCount: UInt64, for request: ServerRequest) -> Grant {
        guard byteCount > byteLimit else { return .granted(nil) }
        let client = request.connection.host
        let isFree = state.withLock { state in
            guard state.count < limit, state.counts[client, default: 0] < clientLimit else {
                return false
            }
            state.count += 1
            state.counts[client, default: 0] += 1
            return true
        }
        return isFree ? .granted(DigestSlot(self, client)) : .refused(full)
    }

    fileprivate func give(_ client: String) {
        state.withLock { state in
            state.count -= 1
            let rest = state.counts[client, default: 1] - 1
            state.counts[client] = rest == 0 ? nil : rest
        }
    }

    private var full: ServerResponse {
        var response = ServerResponse(
            503, type: "text/plain; charset=utf-8",
            "too many digests are under way: \(clientLimit) for a client, \(limit) in all\n")
        response.fields.append(ResponseField("Retry-After", "10"))
        return response
    }
}

/// One digest under way, until it goes.
final class DigestSlot: Sendable {
    private let slots: DigestSlots
    private let client: String

    fileprivate init(_ slots: DigestSlots, _ client: String) {
        self.slots = slots
        self.client = client
    }

    deinit { slots.give(client) }
}
