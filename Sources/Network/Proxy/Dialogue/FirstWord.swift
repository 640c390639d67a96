internal import Base
internal import Origins
internal import Sockets
internal import Traffic
internal import Transport

/// What the sides of a secured connection said first, where no name was agreed for it.
///
/// `@unchecked Sendable`: its children run on one loop's executor.
final class FirstWord: @unchecked Sendable {
    private let client: any ByteStream
    private let origin: any ByteStream
    private let loop: EventLoop
    private(set) var early: ByteBuffer?
    private(set) var late: ByteBuffer?
    /// Who has gone without a word, while the other has said nothing either.
    private(set) var gone: ConnectionRecord.Side?

    /// How long a client is still heard when its origin has gone without a word, in milliseconds:
    /// one that only listens, as for an empty file by FTP, has to be told.
    private static let farewellTime: UInt64 = 500

    init(client: any ByteStream, origin: any ByteStream) {
        self.client = client
        self.origin = origin
        loop = client.loop
    }

    /// Waits until one of them has said something or has gone.
    func listen(until deadline: UInt64) async {
        client.readDeadline = deadline
        origin.readDeadline = deadline
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                let word = await self.read(self.client)
                self.early = word.bytes
                // Its end is told, whatever its origin did in the meantime.
                if word.hasGone { self.gone = .client }
                self.origin.interrupt()
            }
            group.addTask {
                let word = await self.read(self.origin)
                self.late = word.bytes
                if word.hasGone { self.gone = self.gone ?? .origin }
                if self.late != nil {
                    self.client.interrupt()
                } else {
                    self.client.channel.hurryReading(until: self.loop.now + Self.farewellTime)
                }
            }
            await group.waitForAll()
        }
        if early != nil || late != nil { gone = nil }
        client.channel.resumeWaiting()
        origin.channel.resumeWaiting()
    }

    /// - Returns: what came, `nil` for nothing, and whether that was the end.
    private func read(_ stream: any ByteStream) async -> (bytes: ByteBuffer?, hasGone: Bool) {
        var hasGone = true
        var buffer: ByteBuffer?
        do throws(StreamFailure) {
            try await stream.waitReadable()
            let bytes = loop.buffers.take()
            buffer = bytes
            if try await stream.read(into: bytes) > 0 { return (bytes, false) }
        } catch {
            // Whoever reads next finds the same failure again.
            hasGone = error != .timedOut && error != .closed
        }
        if let buffer { loop.buffers.give(buffer) }
        return (nil, hasGone)
    }
}
