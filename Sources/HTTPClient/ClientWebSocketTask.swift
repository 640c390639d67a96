internal import Base
internal import HTTPCodecs
internal import Sockets
internal import TLS
internal import Traffic
internal import Transport

/// Drives the client's side of a WebSocket over a connection that has agreed on it.
///
/// `@unchecked Sendable`: its tasks run on its loop's executor.
final class ClientWebSocketTask: @unchecked Sendable {
    private let leg: ClientLeg
    private let machine: WebSocketClientMachine
    private let configuration: ClientConfiguration
    private let journal: ClientJournal
    private let messages: MessageJournal
    private let wakeup: LoopWakeup

    init(
        _ machine: WebSocketClientMachine, over leg: ClientLeg, exchange: Int64,
        _ configuration: ClientConfiguration, _ journal: ClientJournal
    ) {
        self.leg = leg
        self.machine = machine
        self.configuration = configuration
        self.journal = journal
        messages = MessageJournal(connection: leg.record.id, exchange: exchange, journal)
        wakeup = LoopWakeup(leg.stream.loop)
    }

    /// Says what there is to say, and returns when either side has closed or gone silent.
    func run() async throws(Failure) {
        async let reading: Void = read()
        var failure: StreamFailure?
        do throws(StreamFailure) {
            try await speak()
        } catch {
            failure = error
        }
        leg.stream.interrupt()
        await reading
        messages.finish()
        leg.record.messageCount = messages.count
        if let failure { throw leg.failure(of: failure) }
    }

    private func speak() async throws(StreamFailure) {
        var progress = machine.progress
        var since = wakeup.loop.now
        while true {
            switch machine.next() {
            case .end: return
            case .send(let frame):
                messages.noteSent(frame)
                try await leg.write(Self.bytes(of: frame), timeout: configuration.writeTimeout)
                await journal.waitForRoom()
                // Pings and their answers keep a connection, and bring nothing.
                if frame.opcode != .pong { since = wakeup.loop.now }
            case .wait(let time):
                if machine.progress != progress, !machine.isClosing {
                    progress = machine.progress
                    since = wakeup.loop.now
                }
                if !(await wakeup.wait(until: since + time)) {
                    machine.noteSilence()
                    since = wakeup.loop.now
                }
            }
        }
    }

    private static func bytes(of frame: WebSocketClientMachine.Frame) -> [UInt8] {
        let key = Digests.randomBytes(4).reduce(0) { $0 << 8 | UInt32($1) }
        var bytes: [UInt8] = []
        if frame.opcode == .close {
            WebSocketWriter.writeClose(
                code: frame.code, reason: frame.content.span, maskingKey: key, into: &bytes)
        } else {
            WebSocketWriter.write(
                frame.opcode, frame.content.span, maskingKey: key, into: &bytes)
        }
        return bytes
    }

    private func read() async {
        let scratch = ByteBuffer(capacity: 4096)
        do throws(Failure) {
            while try await leg.readPiece({ piece in
                machine.receive(piece, scratch: scratch) { messages.note($0, $1) }
            }) {
                wakeup.wake()
                await journal.waitForRoom()
            }
        } catch {
            // How it ended is told by what was said until then.
        }
        machine.noteEnd()
        wakeup.wake()
    }
}
