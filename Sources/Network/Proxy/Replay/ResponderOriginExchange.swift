internal import Base
internal import HTTP2
internal import HTTPCodecs
internal import HTTPModel
internal import Origins
internal import Sockets
internal import Transport

/// An exchange with a responder in the place of an origin, for clients of both versions of HTTP.
///
/// `@unchecked Sendable`: the tasks that use it run on its loop's executor.
final class ResponderOriginExchange: OriginExchange, @unchecked Sendable {
    let version: HTTPVersion
    private let responder: any ResponderExchange
    private let wakeup: LoopWakeup
    private let request: OutgoingRequest
    private var upcoming: ResponderStep?
    private var rest: ArraySlice<UInt8> = []
    private var dialogue: (any ResponderDialogue)?
    private var hasEnded = false
    private(set) var hasNoContent = false
    private(set) var trailers = Fields.none
    /// Whether the client waits to be told that it may send its content (RFC 9110 §10.1.1).
    private var owesContinue: Bool

    init(
        _ responder: any ResponderExchange, to request: OutgoingRequest, in version: HTTPVersion,
        loop: EventLoop
    ) {
        self.responder = responder
        self.request = request
        self.version = version
        wakeup = LoopWakeup(loop)
        owesContinue = request.head.fields.contains(.expect, token: "100-continue")
    }

    let isOnUsedConnection = false
    let refusesUpgrades = false

    // MARK: The request

    func send(
        _ request: OutgoingRequest, with content: ByteBuffer?, endsRequest: Bool
    ) async throws(RelayFailure) {
        if let content { try await sendContent(content) }
        if endsRequest {
            owesContinue = false
            responder.noteEnd()
        }
    }

    func sendContent(_ buffer: ByteBuffer) async throws(RelayFailure) {
        owesContinue = false
        responder.receive(buffer.readable)
        buffer.removeAll()
        wakeup.wake()
    }

    func endContent(trailers: Fields) async throws(RelayFailure) {
        responder.noteEnd()
        wakeup.wake()
    }

    // MARK: The response

    func nextHead(deadline: UInt64) async throws(RelayFailure) -> ResponseHead {
        if owesContinue {
            owesContinue = false
            return .goOn
        }
        while true {
            switch try await step(deadline) {
            // One that we owed has been sent already, if it was due.
            case .interim(let head) where head.status == 100: continue
            case .interim(let head): return head
            case .head(let head, let isAll):
                hasNoContent = isAll
                hasEnded = isAll
                return head
            case .switching(let head, let dialogue):
                guard head.status == 101 else { return head }
                guard request.upgrade != nil || request.offer(isOriginClear: true).isTaken(by: head)
                else { throw .originViolation(.unaskedSwitch) }
                self.dialogue = dialogue
                return head
            case .miss(let miss): throw .unanswered(ToolResponse(miss))
            case .needMore, .pause, .content, .end, .broken: throw .originEnded
            }
        }
    }

    var isContentWaiting: Bool {
        if !rest.isEmpty || hasEnded { return true }
        let next = upcoming ?? responder.next()
        upcoming = next
        switch next {
        // Before an end that is none, the client is to have all that came.
        case .needMore, .pause, .broken: return false
        default: return true
        }
    }

    func readContent(
        into buffer: ByteBuffer, deadline: UInt64
    ) async throws(RelayFailure) -> Int {
        if rest.isEmpty, !hasEnded {
            switch try await step(deadline) {
            case .content(let bytes): rest = bytes[...]
            case .end(let trailers):
                self.trailers = trailers
                hasEnded = true
            case .broken:
                // A stream that is given up loses what the loop has not sent by the end of its round.
                await wakeup.rest(for: 1)
                throw .originEnded
            default: throw .originEnded
            }
        }
        let piece = rest.prefix(buffer.room)
        buffer.append(piece.span)
        rest = rest.dropFirst(piece.count)
        return piece.count
    }

    /// What the responder does next, once it can be done.
    private func step(_ deadline: UInt64) async throws(RelayFailure) -> ResponderStep {
        while true {
            let next = upcoming.take() ?? responder.next()
            switch next {
            case .needMore:
                guard await wakeup.wait(until: deadline) else { throw .origin(.timedOut) }
            case .pause(let time): await wakeup.rest(for: time)
            default: return next
            }
            if wakeup.isStopped { throw .origin(.closed) }
        }
    }

    // MARK: Ending

    var isSwitching: Bool { dialogue != nil }

    func tunnel() -> (stream: any TunnelStream, late: ByteBuffer?) {
        let dialogue = dialogue ?? EndedDialogue()
        return (DialogueStream(dialogue, loop: wakeup.loop), nil)
    }

    func stopSending() {}
    func stopReceiving() { wakeup.stop() }
    func hurry(until deadline: UInt64) { wakeup.stop(at: deadline) }
    func finish(isWhole: Bool) {}
}

extension ResponseHead {
    /// 100 (RFC 9110 §15.2.1).
    fileprivate static let goOn = ResponseHead(
        version: .http11, status: 100, reasonRange: 13..<21,
        fields: Fields(raw: [UInt8]("HTTP/1.1 100 Continue\r\n\r\n".utf8), slices: []))
}

/// Of an origin that agreed on a protocol and said nothing.
private final class EndedDialogue: ResponderDialogue {
    func receive(_ bytes: Span<UInt8>) {}
    func noteEnd() {}
    func next() -> DialogueStep { .end }
}
