package import Base
package import Refresh
internal import Sockets

/// Reads what happens to a device, a line of JSON each, as whoever writes them goes on.
package enum DeviceEventFeed {
    /// Reads on a thread of its own, since a pipe may say nothing for long; what cannot be read ends
    /// the run.
    ///
    /// - Parameters:
    ///   - open: opens the file; a named pipe has no end to read from before somebody writes to it.
    ///   - name: what it is called in errors.
    package static func start(
        _ name: String, for service: FetchService, app: String,
        open: @escaping @Sendable () throws(Failure) -> InputFile
    ) {
        startThread(named: "device events") {
            do throws(Failure) {
                var reader = DeviceEventLines(name, app: app)
                let file = try open()
                while true {
                    let bytes = try file.read()
                    for event in try reader.read(bytes) { service.note(event) }
                    guard !bytes.isEmpty else { return }
                }
            } catch {
                service.fail(error)
            }
        }
    }
}

/// Takes bytes apart into events; the last line may have no end.
package struct DeviceEventLines {
    private let name: String
    private let apps: Set<String>
    private var number = 0
    private var held: [UInt8] = []
    private static let lineLimit = RefreshTraceReader.lineLimit

    package init(_ name: String, app: String) {
        self.name = name
        apps = [app]
    }

    /// - Parameter bytes: none at the end.
    ///
    /// Errors: `trace-invalid`.
    package mutating func read(_ bytes: [UInt8]) throws(Failure) -> [DeviceEvent] {
        held += bytes.isEmpty ? [0x0A] : bytes
        var events: [DeviceEvent] = []
        var start = held.startIndex
        while let end = held[start...].firstIndex(of: 0x0A) {
            number += 1
            let line = Array(held[start..<end])
            start = end + 1
            guard line.contains(where: { $0 > 0x20 }) else { continue }
            events.append(
                try RefreshTraceReader.deviceEvent(line, apps: apps, name: name, number: number))
        }
        held.removeSubrange(..<start)
        guard held.count <= Self.lineLimit else {
            throw Failure(
                "trace-invalid", party: .client,
                "\(name): line \(number + 1): longer than \(Self.lineLimit) bytes")
        }
        return events
    }
}
