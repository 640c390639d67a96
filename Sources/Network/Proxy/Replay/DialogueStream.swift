internal import Base
internal import Sockets
internal import Transport

/// A responder's dialogue as the origin's end of a tunnel.
///
/// `@unchecked Sendable`: the tasks that use it run on its loop's executor.
final class DialogueStream: TunnelStream, @unchecked Sendable {
    private let dialogue: any ResponderDialogue
    private let wakeup: LoopWakeup
    private var rest: ArraySlice<UInt8> = []
    private var hasEnded = false
    var readDeadline = UInt64.max
    var writeDeadline = UInt64.max

    init(_ dialogue: any ResponderDialogue, loop: EventLoop) {
        self.dialogue = dialogue
        wakeup = LoopWakeup(loop)
    }

    func waitReadable() async throws(StreamFailure) {
        while rest.isEmpty, !hasEnded {
            if wakeup.isStopped { throw .closed }
            switch dialogue.next() {
            case .send(let bytes): rest = bytes[...]
            case .end: hasEnded = true
            case .pause(let time): await wakeup.rest(for: time)
            case .needMore:
                guard await wakeup.wait(until: readDeadline) else { throw .timedOut }
            case .needMoreWithin(let time):
                let end = min(wakeup.loop.now + time, readDeadline)
                if await !wakeup.wait(until: end), end == readDeadline { throw .timedOut }
            }
        }
    }

    func read(into buffer: ByteBuffer) async throws(StreamFailure) -> Int {
        try await waitReadable()
        let piece = rest.prefix(buffer.room)
        buffer.append(piece.span)
        rest = rest.dropFirst(piece.count)
        return piece.count
    }

    func write(_ buffer: ByteBuffer) async throws(StreamFailure) {
        dialogue.receive(buffer.readable)
        buffer.removeAll()
        wakeup.wake()
    }

    func finish() async { cutOff() }

    var endedInOrder: Bool { true }

    func cutOff() {
        dialogue.noteEnd()
        wakeup.wake()
    }

    func breakOff() { wakeup.stop() }

    func interrupt() { wakeup.stop() }

    func onLoss(_ action: (() -> Void)?) {}
}
