package import Base
package import Sockets
package import TLS

/// TLS over a socket.
///
/// Buffers are taken from the loop's pool while they hold something, so that an idle connection has
/// none. Reading and writing may overlap; both go through the session, which is never suspended in.
@safe
package final class TLSStream: ByteStream {
    package let channel: Channel
    package let session: TLSSession
    package private(set) var endedInOrder = false
    private var earlyPauses = 0
    private var hasEnded = false
    /// Why nothing more can be read.
    private var failure: TLSFailure?
    /// Whether anything of the peer's was decrypted.
    private var hasReceived = false
    /// Whether a task is sending `session.outgoing`; a second one appends and waits its turn.
    private var isSending = false
    private var sendWaiters: [UnsafeContinuation<Void, Never>] = unsafe []

    /// - Parameter readAhead: bytes of the peer that were read before; the stream owns them now.
    package init(_ channel: Channel, session: TLSSession, readAhead: ByteBuffer? = nil) {
        self.channel = channel
        self.session = session
        session.incoming = readAhead
    }

    private var pool: BufferPool { channel.loop.buffers }

    /// Does the handshake.
    package func handshake() async throws(StreamFailure) {
        while true {
            provideOutgoing()
            let progress = session.handshake()
            do throws(StreamFailure) {
                try await flush()
            } catch {
                // A peer that has left before its tickets were sent has done its handshake.
                if progress == .done { return }
                // The peer may have closed right after an alert that explains it.
                if case .failed(let failure) = progress { throw .tls(failure) }
                if let failure = await alertBehind(error) { throw .tls(failure) }
                throw inHandshake(error)
            }
            switch progress {
            case .done:
                releaseIncoming()
                return
            case .wantWrite: continue
            case .failed(let failure): throw .tls(failure)
            case .wantRead: try await receiveForHandshake()
            }
        }
    }

    private func receiveForHandshake() async throws(StreamFailure) {
        do throws(StreamFailure) {
            if try await receive() == 0 {
                throw StreamFailure.tls(TLSFailure(.peerClosed, "closed in the handshake"))
            }
        } catch {
            throw inHandshake(error)
        }
    }

    /// What a failure to send or to receive means while the peer has to shake hands.
    private func inHandshake(_ error: StreamFailure) -> StreamFailure {
        switch error {
        case .reset:
            .tls(
                TLSFailure(
                    .peerReset, "reset in the handshake",
                    wantsCertificate: session.wantsCertificate))
        case .timedOut: .tls(TLSFailure(.timedOut, "silent in the handshake"))
        default: error
        }
    }

    /// What it means that the peer broke off: one that had asked for a certificate, and has said
    /// nothing since, most likely did so for lack of it. The alert that says so may be lost.
    private func afterHandshake(_ error: StreamFailure) -> StreamFailure {
        guard error == .reset, session.wantsCertificate, !hasReceived else { return error }
        return .tls(
            TLSFailure(.peerReset, "reset after the handshake", wantsCertificate: true))
    }

    /// Reads what the peer sent before it broke off, in search of an alert.
    private func alertBehind(_ error: StreamFailure) async -> TLSFailure? {
        guard error == .reset else { return nil }
        let buffer = pool.take()
        defer { pool.give(buffer) }
        guard case .value(let count) = channel.receiveBeyondShare(into: buffer), count > 0
        else { return nil }
        if session.incoming == nil { session.incoming = pool.take() }
        guard let incoming = session.incoming, incoming.room >= count else { return nil }
        incoming.append(buffer.readable)
        provideOutgoing()
        guard case .failed(let failure) = session.handshake() else { return nil }
        return failure
    }

    package func read(into buffer: ByteBuffer) async throws(StreamFailure) -> Int {
        if hasEnded { return 0 }
        if let failure { throw .tls(failure) }
        while true {
            let before = buffer.count
            let outcome = readRecords(into: buffer)
            note(outcome)
            if let outgoing = session.outgoing, !outgoing.isEmpty, !isSending {
                do throws(StreamFailure) {
                    try await flush()
                } catch  where error == .reset {
                    // Nobody takes it; what the peer said before may still wait to be read.
                    outgoing.removeAll()
                }
            }
            if buffer.count > before {
                hasReceived = true
                return buffer.count - before
            }
            switch outcome {
            case .bytes: continue
            case .wantWrite: await waitForSender()
            case .ended: return 0
            case .failed(let reason): throw .tls(reason)
            case .wantRead:
                do throws(StreamFailure) {
                    if try await receive() == 0 {
                        hasEnded = true
                        return 0
                    }
                } catch {
                    throw afterHandshake(error)
                }
            }
        }
    }

    package func readAtOnce(into buffer: ByteBuffer) throws(StreamFailure) -> Int? {
        // What waits, and what it takes to see what is behind it.
        for _ in 0..<Self.attemptLimit {
            if hasEnded { return 0 }
            if let failure { throw .tls(failure) }
            let before = buffer.count
            let outcome = readRecords(into: buffer)
            note(outcome)
            if buffer.count > before {
                hasReceived = true
                return buffer.count - before
            }
            if case .wantWrite = outcome { return nil }
            if case .wantRead = outcome, try !receiveAtOnce() { return nil }
        }
        return nil
    }

    private static let attemptLimit = 4

    /// Receives what is there for the session; false if nothing is.
    private func receiveAtOnce() throws(StreamFailure) -> Bool {
        let incoming = session.incoming ?? pool.take()
        session.incoming = incoming
        incoming.compact()
        defer { releaseIncoming() }
        switch channel.receiveBeyondShare(into: incoming) {
        case .value(let count):
            if count == 0, channel.isClosed { throw .closed }
            hasEnded = count == 0
            return true
        case .wouldBlock: return false
        case .failed(let error): throw StreamFailure(error)
        }
    }

    /// Keeps an end or a failure, which comes with no event of its own right behind bytes.
    private func note(_ outcome: TLSReadOutcome) {
        releaseIncoming()
        if case .ended = outcome {
            hasEnded = true
            endedInOrder = true
        } else if case .failed(let reason) = outcome {
            failure = reason
        }
    }

    /// Decrypts records while there are some and a whole one fits.
    private func readRecords(into buffer: ByteBuffer) -> TLSReadOutcome {
        provideOutgoing()
        session.now = channel.loop.now
        var outcome = TLSReadOutcome.wantRead
        repeat {
            outcome = session.read(into: buffer)
            guard case .bytes = outcome else { break }
        } while buffer.room >= Self.recordLimit
        if session.outgoing?.isEmpty == true, !isSending { releaseOutgoing() }
        return outcome
    }

    /// In bytes of plaintext (RFC 8446 §5.1).
    private static let recordLimit = 16384

    package func waitReadable() async throws(StreamFailure) {
        if session.incoming != nil || hasEnded || failure != nil || session.hasPending { return }
        if earlyPauses < Self.earlyPauseLimit, !channel.isReadableNow {
            earlyPauses += 1
            session.freeBuffers()
        }
        try await channel.awaitReadable()
    }

    package var holdsBytes: Bool {
        session.incoming != nil || hasEnded || failure != nil || session.hasPending
    }

    /// Receives more of the peer's bytes for the session; 0 at its end.
    private func receive() async throws(StreamFailure) -> Int {
        while true {
            if session.incoming == nil, !channel.isReadableNow {
                try await channel.awaitReadable()
            }
            let incoming = session.incoming ?? pool.take()
            session.incoming = incoming
            incoming.compact()
            switch channel.receive(into: incoming) {
            case .value(let count):
                if count == 0 {
                    releaseIncoming()
                    if channel.isClosed { throw .closed }
                }
                return count
            case .wouldBlock:
                releaseIncoming()
                try await channel.awaitReadable()
            case .failed(let error):
                releaseIncoming()
                throw StreamFailure(error)
            }
        }
    }

    /// Most connections pause after their first exchange and stay so: their buffers are given back at
    /// once, because what lies between the memory of many cannot be used again. A busy one keeps
    /// its buffers until it rests.
    private static let earlyPauseLimit = 3

    package func releaseMemory() {
        session.freeBuffers()
    }

    package func write(_ buffer: ByteBuffer) async throws(StreamFailure) {
        while try !writeAtOnce(buffer) {
            if isSending {
                await waitForSender()
                continue
            }
            do throws(StreamFailure) {
                try await flush()
            } catch {
                throw afterHandshake(error)
            }
        }
    }

    package func writeAtOnce(_ buffer: ByteBuffer) throws(StreamFailure) -> Bool {
        while !isSending {
            if !buffer.isEmpty { try encrypt(buffer) }
            guard let outgoing = session.outgoing else { return buffer.isEmpty }
            do throws(StreamFailure) {
                guard try channel.sendAtOnce(outgoing) else { return false }
            } catch {
                throw afterHandshake(error)
            }
            releaseOutgoing()
            if buffer.isEmpty { return true }
        }
        // Another task sends, and what it sends goes first.
        return buffer.isEmpty
    }

    private func encrypt(_ buffer: ByteBuffer) throws(StreamFailure) {
        provideOutgoing()
        switch session.write(buffer) {
        case .failed(let failure): throw .tls(failure)
        // A renegotiation, which is refused: going on would turn in a circle.
        case .wantRead: throw .tls(TLSFailure(.protocolError, "waits for the peer to write"))
        case .done, .wantWrite: return
        }
    }

    package func finish() async {
        // What is being sent goes first; close_notify may not fit behind it.
        while isSending { await waitForSender() }
        session.outgoing = session.outgoing ?? pool.take()
        session.close()
        do throws(StreamFailure) {
            try await flush()
        } catch {
            // The peer has gone already: there is nobody left to say goodbye to.
            channel.close()
        }
        channel.shutdownWriting()
    }

    /// Sends what the session has for the peer.
    private func flush() async throws(StreamFailure) {
        guard let outgoing = session.outgoing, !isSending else { return }
        if outgoing.isEmpty {
            releaseOutgoing()
            return
        }
        isSending = true
        let result: Result<Void, StreamFailure>
        do throws(StreamFailure) {
            try await channel.sendAll(outgoing)
            result = .success(())
        } catch {
            result = .failure(error)
        }
        isSending = false
        outgoing.compact()
        if outgoing.isEmpty { releaseOutgoing() }
        let waiting = unsafe sendWaiters
        unsafe sendWaiters = []
        for index in unsafe waiting.indices { unsafe waiting[index].resume() }
        try result.get()
    }

    private func waitForSender() async {
        guard isSending else { return }
        unsafe await withUnsafeContinuation { unsafe sendWaiters.append($0) }
    }

    private func provideOutgoing() {
        if session.outgoing == nil { session.outgoing = pool.take() }
    }

    private func releaseOutgoing() {
        guard let outgoing = session.outgoing else { return }
        session.outgoing = nil
        pool.give(outgoing)
    }

    private func releaseIncoming() {
        guard let incoming = session.incoming, incoming.isEmpty else { return }
        session.incoming = nil
        pool.give(incoming)
    }
}
