internal import Base
internal import Contents

/// A push as it arrives at a device.
package struct DevicePush: Sendable, Equatable {
    /// Of the device's events: what is acknowledged.
    package let ordinal: UInt64
    /// The `apns-id`.
    package let id: String
    /// The token that it was sent to, which is that of its app.
    package let token: String
    package let topic: String
    package let kind: TracePush.Kind
    package let isPiggybacked: Bool

    /// Reads the data of one event; `nil` for what is no push.
    init?(ordinal: UInt64, data: [UInt8]) {
        guard let row = JSONObject(data), let topic = row.text("topic"),
            let token = row.text("token")
        else { return nil }
        self.ordinal = ordinal
        self.topic = topic
        self.token = token
        id = row.text("id") ?? ""
        isPiggybacked = row.boolean("piggybacked") ?? false
        let content = row.object("payload")?.object("aps")?.integer("content-available") == 1
        kind = row.boolean("silent") ?? false ? .silent : content ? .alertWithContent : .alert
    }
}

/// Takes a stream of events apart, as a device gets it (HTML standard §9.2): an event is its
/// `id` and its `data`.
struct DeviceEventReader {
    private var line: [UInt8] = []
    private var data: [UInt8] = []
    private var ordinal: UInt64?
    private var sawReturn = false
    /// Whether a line or an event was longer than one may be: the stream is not read on.
    private(set) var isOverlong = false

    /// In bytes: a payload has 5120, and may grow sixfold as JSON.
    static let byteLimit = 64 << 10

    mutating func read(_ bytes: Span<UInt8>) -> [DevicePush] {
        var pushes: [DevicePush] = []
        for index in bytes.indices where !isOverlong {
            let byte = bytes[index]
            let endsBehindReturn = sawReturn && byte == 0x0A
            sawReturn = byte == 0x0D
            if endsBehindReturn { continue }
            guard byte == 0x0A || byte == 0x0D else {
                line.append(byte)
                isOverlong = line.count + data.count > Self.byteLimit
                continue
            }
            if let push = endLine() { pushes.append(push) }
        }
        return pushes
    }

    private mutating func endLine() -> DevicePush? {
        defer { line = [] }
        guard !line.isEmpty else {
            defer { data = [] }
            guard let ordinal, !data.isEmpty else { return nil }
            return DevicePush(ordinal: ordinal, data: data)
        }
        let name = line.prefix { $0 != 0x3A }
        var value = line[name.endIndex...].dropFirst()
        if value.first == 0x20 { value = value.dropFirst() }
        if name.elementsEqual("data".utf8) {
            if !data.isEmpty { data.append(0x0A) }
            data += value
        } else if name.elementsEqual("id".utf8) {
            ordinal = UInt64(value.text)
        }
        return nil
    }
}
