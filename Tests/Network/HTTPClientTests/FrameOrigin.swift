import Base
import HTTP2Frames
import Sockets
import Transport

/// An origin that says frames by hand.
final class FrameOrigin {
    /// What an origin does with a request, written in frames by hand.
    enum Act: Sendable {
        case answer
        /// Two interim responses, and trailers behind the content.
        case adorned
        case interims(Int)
        case reset(UInt32)
        /// It answers, and takes no more.
        case answerAndLeave
        /// It has not looked at the request, and leaves.
        case leave
        case close
        case cut
        case silence
        case trailersAlone
        /// It speaks HTTP/1, whatever comes.
        case http1
        case noProtocol
    }

    private let stream: PlainStream
    private var parser = FrameParser()
    private var hasPreface = false

    init(_ stream: PlainStream) {
        self.stream = stream
    }

    func play(_ acts: [Act]) async {
        do throws(StreamFailure) {
            for act in acts {
                if case .http1 = act { return try await answerHTTP1() }
                if case .noProtocol = act {
                    _ = try await read()
                    return
                }
                let id = try await readRequest()
                guard try await perform(act, id) else { return }
            }
            while !(try await read()).isEmpty {}
        } catch {
            // The client has left.
        }
    }

    private func answerHTTP1() async throws(StreamFailure) {
        while !(try await read()).isEmpty {
            try await say(Array("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi".utf8))
        }
    }

    private func perform(
        _ act: Act, _ id: UInt32
    ) async throws(StreamFailure) -> Bool {
        let ok = [(":status", "200")]
        let answer = [
            Frame.headers(id, ok, ends: false), Frame.data(id, [0x68, 0x69], ends: true),
        ]
        let frames: [Frame]
        var goesOn = true
        switch act {
        case .answer: frames = answer
        case .adorned:
            frames = [
                .headers(id, [(":status", "103"), ("link", "a")], ends: false),
                .headers(id, [(":status", "103"), ("link", "b")], ends: false),
                .headers(id, ok + [("kind", "adorned")], ends: false),
                .data(id, [0x68, 0x69]), .headers(id, [("x-sum", "2")]),
            ]
        case .interims(let count):
            frames =
                [Frame](
                    repeating: .headers(id, [(":status", "103")], ends: false), count: count)
                + answer
        case .reset(let code): frames = [.reset(id, code)]
        case .answerAndLeave: frames = answer + [.goAway(last: id)]
        case .leave: frames = [.goAway(last: id - 2)]
        case .cut:
            frames = [answer[0]]
            goesOn = false
        case .close:
            frames = []
            goesOn = false
        case .silence: frames = []
        case .trailersAlone: frames = [.headers(id, ok + [("grpc-status", "5")])]
        case .http1, .noProtocol: preconditionFailure("no act of HTTP/2")
        }
        try await say(frames.flatMap(\.bytes))
        return goesOn
    }

    /// Reads up to the end of a request's head, which is all there is of it.
    private func readRequest() async throws(StreamFailure) -> UInt32 {
        while true {
            let bytes = try await read()
            guard !bytes.isEmpty else { throw .closed }
            var rest = bytes[...]
            if !hasPreface {
                hasPreface = true
                rest = rest.dropFirst(24)
                try await say(Frame.settings().bytes)
            }
            for frame in parser.take(Array(rest)) where frame.type == 1 { return frame.stream }
        }
    }

    private func read() async throws(StreamFailure) -> [UInt8] {
        let buffer = ByteBuffer(capacity: 1 << 16)
        _ = try await stream.read(into: buffer)
        return buffer.copy
    }

    private func say(_ bytes: [UInt8]) async throws(StreamFailure) {
        guard !bytes.isEmpty else { return }
        let buffer = ByteBuffer(capacity: bytes.count)
        buffer.append(bytes)
        try await stream.write(buffer)
    }
}
