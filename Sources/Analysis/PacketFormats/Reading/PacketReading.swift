internal import Base
internal import Formats
internal import Traffic

/// Gives the packets of a file to their connections, and its datagrams to their flows.
final class PacketReading {
    private let writer: ImportWriter
    private let ring = KeyRing()
    private let room = WebSocketRoom()
    private var decoder = PacketDecoder()
    private var unread = UnreadPackets()
    private var connections: [FlowKey: ConnectionReading] = [:]
    private var flows: [FlowKey: DatagramReading] = [:]
    private var origin: PacketOrigin?
    private var lastTime = Timestamp(microseconds: 0)

    /// Both ends of a connection, in an order of their own.
    private struct FlowKey: Hashable {
        let first: PacketEndpoint
        let second: PacketEndpoint
        let interface: String

        init(_ source: PacketEndpoint, _ target: PacketEndpoint, _ interface: String) {
            (first, second) = source < target ? (source, target) : (target, source)
            self.interface = interface
        }
    }

    /// Connections, and flows, that are open at the same time; beyond it the oldest end.
    private static let limit = 20_000

    init(_ writer: ImportWriter, keyLog: [UInt8]) {
        self.writer = writer
        ring.log.add(text: keyLog)
    }

    func take(_ event: PacketFileReader.Event) {
        switch event {
        case .application(let name):
            origin = PacketOrigin(application: name)
            if origin?.isRedacted == true { writer.standingNotes = [.secretsMasked] }
        case .secrets(let text): ring.log.add(text: text)
        case .packet(let packet):
            if let origin, !origin.shows(packet.interface) {
                return writer.losses.note(.sameInOtherForm, packet.interface)
            }
            lastTime = packet.at
            do throws(PacketRefusal) {
                switch try decoder.read(packet) {
                case .segment(let segment):
                    let way =
                        origin == nil
                        ? nil : packet.comments.lazy.compactMap(PacketWay.init(comment:)).first
                    take(segment, on: packet.interface, way)
                case .datagram(let datagram): take(datagram, on: packet.interface)
                case nil: break
                }
            } catch {
                refuse(packet, error)
            }
        }
    }

    private func refuse(_ packet: CaughtPacket, _ refusal: PacketRefusal) {
        unread.count(refusal, at: packet.at)
        switch refusal {
        case .notIP: writer.losses.note(.notIP, "a packet at \(packet.at.rfc3339)")
        case .linkType(let type):
            writer.losses.note(.packetNotRead, "a packet of link type \(type)")
        case .unread(let number, _, _):
            writer.losses.note(
                .packetNotRead, "a packet at \(packet.at.rfc3339), of IP protocol \(number)")
        case .cut, .overlap:
            writer.losses.note(.packetNotRead, "a packet at \(packet.at.rfc3339)")
        }
    }

    private func take(_ segment: TCPSegment, on interface: String, _ way: PacketWay?) {
        let key = FlowKey(segment.source, segment.target, interface)
        if segment.isSYN, !segment.isACK, let old = connections[key],
            old.record.clientBytes != .init()
        {
            end(old, key)
        }
        // What closes a connection may come once more when it is closed.
        guard let reading = connections[key] ?? begin(segment, key, way) else { return }
        reading.take(segment)
        if reading.isOver { end(reading, key) }
    }

    private func begin(
        _ segment: TCPSegment, _ key: FlowKey, _ way: PacketWay?
    ) -> ConnectionReading? {
        guard segment.isSYN || !segment.content.isEmpty else { return nil }
        if connections.count >= Self.limit { endOldest() }
        // Without its first packet, the end with the lower port is taken for the origin.
        let isFromClient =
            segment.isSYN ? !segment.isACK : segment.source.port >= segment.target.port
        let reading = ConnectionReading(
            id: writer.makeConnectionNumber(),
            client: isFromClient ? segment.source : segment.target,
            origin: isFromClient ? segment.target : segment.source, by: way, at: segment.at,
            writer, ring, room)
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

    private func take(_ datagram: UDPDatagram, on interface: String) {
        let key = FlowKey(datagram.source, datagram.target, interface)
        if let reading = flows[key] { return reading.take(datagram) }
        guard !datagram.content.isEmpty else { return }
        if flows.count >= Self.limit { endOldestFlows() }
        let reading = DatagramReading(id: writer.makeConnectionNumber(), datagram, writer, room)
        flows[key] = reading
        reading.take(datagram)
    }

    private func endOldestFlows() {
        let oldest = flows.sorted { $0.value.record.id < $1.value.record.id }
        for (key, reading) in oldest.prefix(Self.limit / 10) {
            flows[key] = nil
            reading.finish()
        }
    }

    /// Ends all connections with the file.
    ///
    /// - Parameter isCut: whether the file ends within a packet.
    func finish(isCut: Bool = false) {
        if isCut {
            unread.count(.cut, at: lastTime)
            writer.losses.note(.packetNotRead, "the last packet, within which the file ends")
        }
        for (key, reading) in connections.sorted(by: { $0.value.record.id < $1.value.record.id }) {
            end(reading, key)
        }
        for reading in flows.values.sorted(by: { $0.record.id < $1.record.id }) {
            reading.finish()
        }
        flows = [:]
        unread.count(unfinished: decoder.unfinishedCount, at: lastTime)
        unread.finish(writer)
    }
}
