package import HTTPCodecs
package import HTTPModel
internal import Origins
internal import Recording
internal import Sockets
internal import Traffic

/// Changes heads on their way, without a socket. It is asked for each request and each final response
/// ahead of their contents, those of a responder among them; of several, each is asked with what those
/// before it made of the head.
///
/// What came is recorded as it came, and what was sent on beside it where it differs.
package protocol MessageEditor: Interceptor {
    func edit(_ request: EditedRequest) -> EditStep
    func edit(_ response: ResponseHead, to request: EditedRequest) -> EditStep
}

extension MessageEditor {
    package func edit(_ request: EditedRequest) -> EditStep { .keep }
    package func edit(_ response: ResponseHead, to request: EditedRequest) -> EditStep { .keep }
}

/// A request as an editor sees it.
package struct EditedRequest: Sendable {
    /// The exchange's number in the capture.
    package let exchange: Int64
    package let isSecure: Bool
    /// As `Host` is written: without the scheme's standard port.
    package let authority: String
    /// The path with the query.
    package let target: [UInt8]
    package let head: RequestHead
}

/// What an editor does with a head.
package enum EditStep: Sendable {
    case keep
    case change(HeadChange)
    /// It is asked again in so many milliseconds, at least one, or sooner; meanwhile the exchange
    /// waits, and no other. One whose client leaves, or that waits for longer than an origin may
    /// take, ends so: the head does not go on.
    case wait(UInt64)
}

extension ExchangeTask {
    /// The request as the editors want it to go on.
    func edited(
        _ outgoing: OutgoingRequest
    ) async throws(RelayFailure) -> OutgoingRequest {
        var outgoing = outgoing
        for editor in worker.interceptors.editors where !isOwnUnderWay {
            let request = shown(outgoing)
            guard let change = try await decide({ editor.edit(request) }) else { continue }
            outgoing = OutgoingRequest(outgoing, changedBy: change)
        }
        return outgoing
    }

    /// The final response as it goes to the client.
    func edited(_ head: ResponseHead) async throws(RelayFailure) -> ResponseHead {
        var sent = task.withoutHTTP3(head)
        if let outgoing, !isOwnUnderWay {
            let request = shown(outgoing)
            for editor in worker.interceptors.editors {
                let last = sent ?? head
                guard let change = try await decide({ editor.edit(last, to: request) }) else {
                    continue
                }
                sent = change.apply(to: last)
            }
        }
        return noted(sent, insteadOf: head)
    }

    /// The same where there is no editor.
    func unedited(_ head: ResponseHead) -> ResponseHead {
        noted(task.withoutHTTP3(head), insteadOf: head)
    }

    private func noted(_ sent: ResponseHead?, insteadOf head: ResponseHead) -> ResponseHead {
        guard let sent, sent.raw != head.fields.raw else { return head }
        record?.record.sentResponseHead = sent.raw
        return sent
    }

    private func shown(_ outgoing: OutgoingRequest) -> EditedRequest {
        EditedRequest(
            exchange: record?.record.id ?? 0, isSecure: outgoing.origin.isSecure,
            authority: outgoing.origin.authority,
            target: Array(outgoing.path), head: outgoing.head)
    }

    /// Asks until there is an answer.
    ///
    /// - Throws: why the head does not go on: unedited, it might say what it must not.
    private func decide(_ ask: () -> EditStep) async throws(RelayFailure) -> HeadChange? {
        var waiting: Waiting?
        while true {
            switch ask() {
            case .keep: return nil
            case .change(let change): return change
            case .wait(let time):
                var current =
                    waiting
                    ?? Waiting(
                        wakeup: LoopWakeup(worker.loop),
                        deadline: worker.loop.now + limits.responseTimeout)
                await current.wakeup.rest(for: min(max(1, time), Self.longestRest))
                try checkMayWait(&current)
                waiting = current
            }
        }
    }

    /// Nobody waits for a client that has left, for long for one that has ended its direction, and for
    /// longer than an origin may take.
    private func checkMayWait(_ waiting: inout Waiting) throws(RelayFailure) {
        let now = worker.loop.now
        if let lost = client.lost { throw lost }
        if task.isCut || task.channel.isBroken { throw .clientLeft }
        if client.ownsConnection, task.channel.peerEnded, !waiting.isClientEnded {
            waiting.isClientEnded = true
            waiting.deadline = min(waiting.deadline, now + worker.halfCloseGrace)
        }
        guard now >= waiting.deadline else { return }
        if waiting.isClientEnded { throw .clientLeft }
        throw .unanswered(
            ToolResponse(504, "held-too-long", "an editor of the proxy held it for too long"))
    }

    /// A head waits for an editor.
    private struct Waiting {
        let wakeup: LoopWakeup
        /// In milliseconds of the loop's clock.
        var deadline: UInt64
        var isClientEnded = false
    }

    /// In milliseconds: then it is looked again who still waits.
    private static let longestRest: UInt64 = 250
}

extension OutgoingRequest {
    /// The target as it goes on.
    fileprivate var path: ArraySlice<UInt8> { target.map { $0[...] } ?? head.target }

    fileprivate convenience init(_ other: OutgoingRequest, changedBy change: HeadChange) {
        let head = change.apply(to: other.head, path: other.path)
        self.init(
            head: head, origin: other.origin,
            target: change.target(insteadOf: other.path) ?? other.target, host: other.host,
            framing: other.framing, upgrade: other.upgrade, isClear: other.isClear,
            keepsProxyFields: other.keepsProxyFields,
            isChanged: other.isChanged || head.raw != other.head.raw)
    }
}
