internal import Base
internal import HTTPServer
internal import Pushes

/// What a device is told, as it comes: events for `EventSource` (HTML standard §9.2).
///
/// The device is away again when this is released, which is when its response is over.
final class DeviceEventSource: ResponseBodySource {
    private let service: PushService
    private let device: String
    private let request: RequestBody
    /// By how much the device's clock is ahead, in milliseconds.
    private let clockOffset: Int64
    /// After how many events it ends.
    private let limit: UInt64
    /// Whether what went out counts as acknowledged.
    private let acknowledges: Bool
    private var listener: UInt64?
    private var pending: ArraySlice<UInt8> = []
    private var count: UInt64 = 0
    private var last: UInt64?

    init(
        _ service: PushService, device: String, request: RequestBody, clockOffset: Int64,
        limit: UInt64, acknowledges: Bool
    ) {
        self.service = service
        self.device = device
        self.request = request
        self.clockOffset = clockOffset
        self.limit = limit
        self.acknowledges = acknowledges
    }

    deinit {
        if let listener { service.leave(device, listener: listener) }
    }

    func read(into buffer: ByteBuffer) async throws(ResponseInterruption) -> Int {
        if pending.isEmpty {
            guard let text = await nextText() else { return 0 }
            pending = text[...]
        }
        let piece = [UInt8](pending.prefix(buffer.room))
        buffer.append(piece)
        pending = pending.dropFirst(piece.count)
        return piece.count
    }

    private var now: Int64 { Timestamp.now().microseconds / 1000 + clockOffset }

    private func nextText() async -> [UInt8]? {
        guard let listener else {
            listener = service.listen(device, now: now, wake: request.waker)
            // The head goes out with the first content.
            return [UInt8](": \(device)\n\n".utf8)
        }
        if acknowledges, let last {
            _ = service.acknowledge(device, through: last, now: now)
        }
        while count < limit {
            switch service.next(device, listener: listener, now: now) {
            case .over: return nil
            case .wait(let time):
                guard await request.waitForWake(milliseconds: time) else { return nil }
            case .event(let event):
                count += 1
                last = event.ordinal
                return Self.text(event)
            }
        }
        return nil
    }

    private static func text(_ event: PushStore.Event) -> [UInt8] {
        let push = event.notification
        let data: JSONText = [
            "id": .string(push.id), "token": .string(push.token), "topic": .string(push.topic),
            "type": .optional(push.type?.rawValue), "priority": .integer(Int64(push.priority)),
            "collapse": .optional(push.collapseID), "silent": .boolean(push.isSilent),
            "piggybacked": .boolean(event.isPiggybacked),
        ]
        return [UInt8]("id: \(event.ordinal)\nevent: push\ndata: ".utf8) + data.line.dropLast()
            + [UInt8](",\"payload\":".utf8) + push.payloadLine + [UInt8]("}\n\n".utf8)
    }
}
