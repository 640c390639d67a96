internal import Base
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

    init(client: any ByteStream, origin: any ByteStream) {
        self.client = client
        self.origin = origin
        loop = client.loop
    }

    /// Waits until one of them has said something, or the client has gone.
    func listen(until deadline: UInt64) async {
        client.readDeadline = deadline
        origin.readDeadline = deadline
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                self.early = await self.read(self.client)
                self.origin.interrupt()
            }
            group.addTask {
                self.late = await self.read(self.origin)
                // An origin that has gone leaves the client to be heard.
                if self.late != nil { self.client.interrupt() }
            }
            await group.waitForAll()
        }
        client.channel.resumeWaiting()
        origin.channel.resumeWaiting()
    }

    private func read(_ stream: any ByteStream) async -> ByteBuffer? {
        var buffer: ByteBuffer?
        do throws(StreamFailure) {
            try await stream.waitReadable()
            let bytes = loop.buffers.take()
            buffer = bytes
            if try await stream.read(into: bytes) > 0 { return bytes }
        } catch {
            // Whoever reads next finds the same failure again.
        }
        if let buffer { loop.buffers.give(buffer) }
        return nil
    }
}
