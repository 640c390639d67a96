internal import Base
internal import Formats
internal import HTTPModel
internal import Recording
internal import Traffic

/// The messages of one connection: numbers them, and tells them with the times of their packets.
final class ImportedMessages: MessageRecorder {
    /// Of the packet that is being read.
    var messageTime: Timestamp
    var notes: [ConnectionNote] = []
    var messageCount: Int64 = 0
    let connectionNumber: Int64
    private let writer: ImportWriter
    private let room: WebSocketRoom

    init(_ writer: ImportWriter, connection: Int64, at time: Timestamp, _ room: WebSocketRoom) {
        self.writer = writer
        self.room = room
        connectionNumber = connection
        messageTime = time
    }

    // MARK: What is not understood

    /// Tells bytes that nothing here understands, as they came.
    func record(_ bytes: [UInt8], _ direction: Direction, exchange: Int64?) {
        guard !bytes.isEmpty else { return }
        var message = nextMessage(.segment, direction, exchange: exchange)
        message.at = messageTime
        message.bytes = bytes
        message.size = Int64(bytes.count)
        writer.write(message: message)
    }

    /// Tells a datagram, which is a message of its own.
    func record(datagram bytes: [UInt8], _ direction: Direction) {
        var message = nextMessage(.datagram, direction, exchange: nil)
        message.at = messageTime
        message.bytes = bytes
        message.size = Int64(bytes.count)
        writer.write(message: message)
    }

    // MARK: WebSockets

    /// Begins to read a WebSocket.
    ///
    /// - Returns: `nil` if a response begins none, or if there is no room for one; the loss is noted.
    func webSocket(
        begunBy response: ResponseHead, asked request: RequestHead?, exchange: Int64
    ) -> WebSocketRecorder? {
        guard WebSocketRecorder.isBegun(by: response, asked: request) else {
            writer.losses.note(.upgradeAsSegments, "exchange \(exchange)")
            return nil
        }
        let recorder = WebSocketRecorder(
            self, exchange: exchange, response: response, byteLimit: .max)
        guard room.take(recorder) else {
            writer.losses.note(.tooManyWebSockets, "exchange \(exchange)")
            return nil
        }
        return recorder
    }

    func observe(_ direction: Direction, _ bytes: [UInt8], _ webSocket: WebSocketRecorder) {
        room.show(bytes, direction, to: webSocket)
    }

    func finish(_ webSocket: WebSocketRecorder) {
        webSocket.finish()
        room.give(webSocket)
    }

    // MARK: MessageRecorder

    func write(_ message: MessageRecord) {
        if message.isTruncated {
            writer.losses.note(.contentCut, "connection \(connectionNumber)")
        }
        writer.write(.message(message))
    }
}

extension ConnectionNote {
    /// What connections of packets are told by.
    static let importedPackets = ConnectionNote(
        .importedPackets, "read from packets that another program caught")
    /// The same of what was recorded by us, exported, and imported again.
    static let importedRecording = ConnectionNote(
        .importedRecording, "read from packets that were made of a recording")
}

/// What the WebSockets of an import share.
final class WebSocketRoom {
    /// Holds what is unmasked or unpacked while it is told.
    private let scratch = ByteBuffer(capacity: 64 << 10)
    private var left = WebSocketRoom.limit
    /// What may be kept of what is unpacked, in bytes: a thousandth of it can be in the file.
    private var allowance = WebSocketRoom.growthStart

    /// Compressed WebSockets at once: a few bytes of a file make each hold 256 KiB of a message and
    /// 40 KiB of what was unpacked, in either direction.
    static let limit = 512
    /// So many times what was read is kept of what is unpacked, beyond a start.
    private static let growthLimit: Int64 = 64
    /// In bytes.
    private static let growthStart: Int64 = 64 << 20

    /// - Returns: whether one more may be read.
    func take(_ webSocket: WebSocketRecorder) -> Bool {
        guard webSocket.isCompressed else { return true }
        guard left > 0 else { return false }
        left -= 1
        return true
    }

    func give(_ webSocket: WebSocketRecorder) {
        if webSocket.isCompressed { left += 1 }
    }

    func show(_ bytes: [UInt8], _ direction: Direction, to webSocket: WebSocketRecorder) {
        guard webSocket.isCompressed else {
            return webSocket.observe(direction, bytes.span, scratch: scratch)
        }
        let before = webSocket.recordedBytes
        allowance += Self.growthLimit * Int64(bytes.count)
        webSocket.byteLimit = before + allowance
        webSocket.observe(direction, bytes.span, scratch: scratch)
        allowance -= webSocket.recordedBytes - before
    }
}
