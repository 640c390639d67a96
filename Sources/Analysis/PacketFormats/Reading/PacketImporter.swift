internal import Base
package import Formats
internal import Recording
internal import Traffic

/// Reads pcap and pcapng: connections of TCP, with TLS as far as the keys are known, and HTTP in
/// versions 1 and 2.
///
/// What cannot be read becomes a connection with its reason. It holds the connections that are open,
/// each with what came out of order, a head or header block, and of each exchange that goes on 256 KiB
/// of content a direction.
package struct PacketImporter: CaptureImporter {
    private let keyLog: [UInt8]

    /// - Parameter keyLog: text of a key log, besides what the file carries.
    package init(keyLog: [UInt8] = []) {
        self.keyLog = keyLog
    }

    /// Whether a file that begins so is one of packets.
    package static func recognizes(_ start: [UInt8]) -> Bool {
        PacketFileReader.recognizes(start)
    }

    package func read(
        _ input: @escaping () throws -> [UInt8], into writer: ImportWriter
    ) async throws {
        let reading = PacketReading(writer, keyLog: keyLog)
        var file = PacketFileReader()
        var flaw: PacketFileReader.Violation?
        while flaw == nil {
            let bytes = try input()
            guard !bytes.isEmpty else { break }
            file.append(bytes)
            do {
                while let event = try file.next() {
                    reading.take(event)
                    // A packet can hold a thousand times its size, compressed.
                    await writer.recorder.waitForRoom()
                }
            } catch {
                flaw = error
            }
        }
        reading.finish()
        writer.recorder.flush()
        if let flaw { throw flaw.failure }
        if file.restCount > 0 {
            throw Failure(
                "packets-malformed", party: .tool, "the file of packets ends within a packet",
                hint: "what came before is kept")
        }
    }
}

/// Gives the packets of a file to their connections.
final class PacketReading {
    private let writer: ImportWriter
    private let ring = KeyRing()
    private let room = WebSocketRoom()
    private var connections: [FlowKey: ConnectionReading] = [:]
    private var origin: PacketOrigin?

    /// Both ends of a connection, in an order of their own.
    private struct FlowKey: Hashable {
        let ends: Set<PacketEndpoint>
        let interface: String
    }

    /// Connections that are open at the same time; beyond it the oldest end.
    private static let limit = 20_000

    init(_ writer: ImportWriter, keyLog: [UInt8]) {
        self.writer = writer
        ring.log.add(text: keyLog)
    }

    func take(_ event: PacketFileReader.Event) {
        switch event {
        case .application(let name): origin = PacketOrigin(application: name)
        case .secrets(let text): ring.log.add(text: text)
        case .packet(let packet):
            if let origin, !origin.shows(packet.interface) {
                return writer.losses.note(.sameInOtherForm, packet.interface)
            }
            do throws(TCPSegment.Refusal) {
                take(try TCPSegment(packet), on: packet.interface)
            } catch {
                switch error {
                case .other: writer.losses.note(.notTCP, "a packet at \(packet.at.rfc3339)")
                case .linkType(let type):
                    writer.losses.note(.packetNotRead, "a packet of link type \(type)")
                case .fragment, .cut:
                    writer.losses.note(.packetNotRead, "a packet at \(packet.at.rfc3339)")
                }
            }
        }
    }

    private func take(_ segment: TCPSegment, on interface: String) {
        let key = FlowKey(ends: [segment.source, segment.target], interface: interface)
        if segment.isSYN, !segment.isACK, let old = connections[key],
            old.record.clientBytes != .init()
        {
            end(old, key)
        }
        // What closes a connection may come once more when it is closed.
        guard let reading = connections[key] ?? begin(segment, key) else { return }
        reading.take(segment)
        if reading.isOver { end(reading, key) }
    }

    private func begin(_ segment: TCPSegment, _ key: FlowKey) -> ConnectionReading? {
        guard segment.isSYN || !segment.content.isEmpty, !segment.isRST else { return nil }
        if connections.count >= Self.limit { endOldest() }
        // Without its first packet, the end with the lower port is taken for the origin.
        let isFromClient =
            segment.isSYN ? !segment.isACK : segment.source.port >= segment.target.port
        let reading = ConnectionReading(
            id: writer.makeConnectionNumber(),
            client: isFromClient ? segment.source : segment.target,
            origin: isFromClient ? segment.target : segment.source, at: segment.at, writer, ring,
            room)
        connections[key] = reading
        return reading
    }

    private func end(_ reading: ConnectionReading, _ key: FlowKey) {
        connections[key] = nil
        reading.finish()
    }

    private func endOldest() {
        let oldest = connections.sorted { $0.value.record.id < $1.value.record.id }
        for (key, reading) in oldest.prefix(Self.limit / 10) { end(reading, key) }
    }

    /// Ends all connections with the file.
    func finish() {
        for (key, reading) in connections.sorted(by: { $0.value.record.id < $1.value.record.id }) {
            end(reading, key)
        }
    }
}

extension PacketFileReader.Violation {
    fileprivate var failure: Failure {
        let what =
            switch self {
            case .notPackets: "the file is neither pcap nor pcapng"
            case .blockLength(let length, let place): "a block of \(length) bytes at byte \(place)"
            case .packetLength(let length, let place):
                "a packet of \(length) bytes at byte \(place)"
            case .badMagic(let place): "a section of no order of bytes at byte \(place)"
            }
        return Failure(
            "packets-malformed", party: .tool, "the file of packets is malformed: \(what)",
            hint: "what came before is kept")
    }
}
