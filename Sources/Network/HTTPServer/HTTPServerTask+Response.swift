internal import Base
internal import HTTPModel
internal import Sockets
internal import Transport

extension HTTPServerTask {
    /// Sends a response, pulling its content as fast as the client takes it.
    func send(_ plan: ResponsePlan, _ body: ResponseBody) async throws(ServerEnd) {
        let buffer = worker.content.take()
        defer { worker.content.give(buffer) }
        try await append(plan.head, to: buffer)
        switch plan.framing {
        case .none: break
        case .length(let length): try await send(length, of: body, buffer)
        case .chunked: try await sendChunks(of: body.source, buffer)
        case .untilClose, .tunnel:
            let source = body.source
            while try await pull(source, buffer) > 0 { try await flush(buffer) }
        }
        try await flush(buffer)
    }

    /// Sends exactly `length` bytes; a source that has fewer leaves the client with a message that
    /// is visibly incomplete.
    private func send(
        _ length: UInt64, of body: ResponseBody, _ buffer: ByteBuffer
    ) async throws(ServerEnd) {
        if case .bytes(let bytes) = body {
            try await append(bytes, to: buffer)
            return
        }
        let source = body.source
        var rest = length
        while rest > 0 {
            let count = UInt64(try await pull(source, buffer))
            guard count > 0, count <= rest else { throw .interrupted(.close) }
            rest -= count
            try await flush(buffer)
        }
    }

    /// Sends what each read brings as one chunk, so that a slow source is seen as it goes.
    private func sendChunks(
        of source: any ResponseBodySource, _ buffer: ByteBuffer
    ) async throws(ServerEnd) {
        let piece = worker.content.take()
        defer { worker.content.give(piece) }
        while try await pull(source, piece) > 0 {
            try await append([UInt8]("\(String(piece.count, radix: 16))\r\n".utf8), to: buffer)
            if piece.count + 2 > buffer.room { try await flush(buffer) }
            if piece.count + 2 > buffer.room {
                // A full piece leaves no room for its line end.
                try await flush(piece)
            } else {
                buffer.append(piece.readable)
                piece.removeAll()
            }
            buffer.append("\r\n")
            try await flush(buffer)
        }
        try await append(ResponsePlan.lastChunk(trailers: source.trailers), to: buffer)
    }

    private func pull(
        _ source: any ResponseBodySource, _ buffer: ByteBuffer
    ) async throws(ServerEnd) -> Int {
        if buffer.room == 0 { try await flush(buffer) }
        do throws(ResponseInterruption) {
            return try await source.read(into: buffer)
        } catch {
            // What came before the cut reaches the client.
            try await flush(buffer)
            throw .interrupted(error.ending)
        }
    }

    private func append(_ bytes: [UInt8], to buffer: ByteBuffer) async throws(ServerEnd) {
        var offset = 0
        while true {
            offset += buffer.appendFitting(bytes, from: offset)
            if offset == bytes.count { return }
            try await flush(buffer)
        }
    }

    /// Sends what the buffer holds.
    func flush(_ buffer: ByteBuffer) async throws(ServerEnd) {
        guard !buffer.isEmpty else { return }
        stream.writeDeadline = loop.now + limits.writeTimeout
        do throws(StreamFailure) {
            try await stream.write(buffer)
        } catch {
            // A client that does not read is told by a reset: it cannot take a response for whole.
            throw .interrupted(error == .timedOut ? .reset : .close)
        }
    }
}
