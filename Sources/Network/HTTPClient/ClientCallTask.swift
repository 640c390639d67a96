internal import Base
internal import HTTPCodecs
internal import Sockets

/// Lets the messages of a call go out when they are due.
///
/// `@unchecked Sendable`: the two tasks that use it run on its loop's executor.
final class ClientCallTask: @unchecked Sendable {
    private let machine: CallClientMachine
    private let wakeup: LoopWakeup

    /// - Parameter timeout: in milliseconds without a message that is waited for.
    init(_ machine: CallClientMachine, timeout: UInt64, on loop: EventLoop) {
        self.machine = machine
        wakeup = LoopWakeup(loop)
        machine.begin(now: loop.now, timeout: timeout)
    }

    /// Whether all was sent.
    var isWhole: Bool { machine.isWhole }

    /// Why the origin was not waited for any longer; `nil` if it was.
    var silence: String? { machine.hasGivenUp ? machine.silence : nil }

    /// Waits until more may go out.
    ///
    /// - Returns: up to where, in bytes from the content's start; `nil` if nothing more goes out.
    func turn() async -> Int64? {
        while true {
            switch machine.next(now: wakeup.loop.now) {
            case .send(let end): return end
            case .wait(let time): _ = await wakeup.wait(until: time)
            case .end: return nil
            }
        }
    }

    /// Takes notice that so much of the content has gone out, in bytes from its start.
    func noteSent(_ size: Int64) { machine.noteSent(size, now: wakeup.loop.now) }

    /// Takes the next piece of the answer's content.
    func receive(_ piece: Span<UInt8>) {
        machine.receive(piece, now: wakeup.loop.now)
        wakeup.wake()
    }

    /// Takes notice that the answer is whole, or has failed.
    func noteEnd() {
        machine.noteEnd()
        wakeup.wake()
    }
}
