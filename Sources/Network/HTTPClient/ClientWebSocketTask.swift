internal import Base
internal import HTTPCodecs
internal import Recording
internal import Sockets
internal import TLS
internal import Traffic

/// Drives the client's side of a WebSocket that was agreed on.
///
/// `@unchecked Sendable`: its tasks run on its loop's executor.
final class ClientWebSocketTask: @unchecked Sendable {
    private let stream: any ClientWebSocketStream
    private let machine: WebSocketClientMachine
    private let recorder: TrafficRecorder
    private let messages: WebSocketMessageRecorder?
    private let writer: WebSocketMessageWriter
    private let wakeup: LoopWakeup
    /// Whether nobody looks at what still comes.
    private var isEnding = false

    /// - Parameters:
    ///   - extensions: what was agreed on besides.
    ///   - messages: `nil` to record none.
    init(
        _ machine: WebSocketClientMachine, _ extensions: PerMessageDeflate?,
        over stream: any ClientWebSocketStream, _ messages: WebSocketMessageRecorder?,
        _ recorder: TrafficRecorder
    ) {
        self.stream = stream
        self.machine = machine
        self.recorder = recorder
        machine.agree(on: extensions)
        writer = WebSocketMessageWriter(role: .client, extensions: extensions)
        self.messages = messages
        wakeup = LoopWakeup(stream.loop)
    }

    /// Says what there is to say, and returns when either side has closed or gone silent.
    func run() async throws(Failure) {
        async let reading: Void = read()
        var failure: Failure?
        do throws(Failure) {
            try await speak()
        } catch {
            // Who has closed need not take the answer to that.
            if !machine.isClosedByOrigin { failure = error }
        }
        isEnding = true
        stream.end(isOrderly: failure == nil && machine.isClosing && machine.isClosedByOrigin)
        await reading
        messages?.finish()
        if let failure { throw failure }
    }

    private func speak() async throws(Failure) {
        var progress = machine.progress
        var since = wakeup.loop.now
        while true {
            switch machine.next() {
            case .end: return
            case .send(let frame):
                messages?.noteSent(frame)
                try await stream.write(bytes(of: frame))
                await recorder.waitForRoom()
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

    private func bytes(of frame: WebSocketClientMachine.Frame) -> [UInt8] {
        let key = Digests.randomBytes(4).reduce(0) { $0 << 8 | UInt32($1) }
        var bytes: [UInt8] = []
        if frame.opcode == .close {
            WebSocketWriter.writeClose(
                code: frame.code, reason: frame.content.span, maskingKey: key, into: &bytes)
        } else {
            writer.write(
                frame.opcode, frame.content.span, maskingKey: key, into: &bytes)
        }
        return bytes
    }

    private func read() async {
        let scratch = ByteBuffer(capacity: 4096)
        do throws(Failure) {
            while try await stream.readPiece({ piece in
                guard !isEnding else { return }
                machine.receive(piece, scratch: scratch) { messages?.note($0, $1, .response) }
            }) {
                wakeup.wake()
                await recorder.waitForRoom()
            }
        } catch {
            // How it ended is told by what was said until then.
        }
        machine.noteEnd()
        wakeup.wake()
    }
}

extension WebSocketMessageRecorder {
    /// Records what the client is about to say.
    fileprivate func noteSent(_ frame: WebSocketClientMachine.Frame) {
        let content = frame.content.span
        switch frame.opcode {
        case .text: record(.text, content, .request)
        case .binary, .continuation: record(.binary, content, .request)
        case .ping: record(.ping, content, .request)
        case .pong: record(.pong, content, .request)
        case .close: note(.close(code: frame.code), content, .request)
        }
    }
}
