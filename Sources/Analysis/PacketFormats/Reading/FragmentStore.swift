internal import Base

/// Puts the pieces of packets together again (RFC 791 §3.2, RFC 8200 §4.5).
struct FragmentStore {
    private var open: [Key: Assembly] = [:]
    /// The oldest first; those that are whole or refused are among them until they are dropped.
    private var order: [(key: Key, number: Int)] = []
    private var openedCount = 0
    /// In bytes.
    private(set) var heldCount = 0
    private var droppedCount = 0

    private struct Key: Hashable {
        let source: PacketEndpoint
        let target: PacketEndpoint
        let identification: UInt32
        /// What IPv4 tells packets of one number apart by; 0 for IPv6, where each piece may differ.
        let next: UInt8
    }

    fileprivate struct Assembly {
        /// By their places.
        var pieces: [(offset: Int, bytes: ArraySlice<UInt8>)] = []
        var end: Int?
        /// Of the first piece.
        var next: UInt8?
        var count = 0
        /// Which packet this is of all, because identifications come again.
        let number: Int

        var isWhole: Bool { count == end }
    }

    /// Packets of which pieces are held.
    private static let packetLimit = 512
    /// Pieces of one packet: those of 64 KiB over links that take 576 bytes.
    fileprivate static let pieceLimit = 128
    /// In bytes, of all packets.
    private static let byteLimit = 4 << 20
    /// In bytes, of one packet.
    private static let lengthLimit = 65_535

    /// How many packets were begun and are not whole.
    var unfinishedCount: Int { droppedCount + open.count }

    /// - Returns: the packet, once its last piece has come.
    mutating func take(_ packet: IPPacket) throws(PacketRefusal) -> IPPacket? {
        guard let fragment = packet.fragment else { return packet }
        guard fragment.offset + packet.content.count <= Self.lengthLimit else { throw .cut }
        let isVersion6 = packet.source.isVersion6
        let key = Key(
            source: packet.source, target: packet.target,
            identification: fragment.identification, next: isVersion6 ? 0 : packet.next)
        var assembly = open[key] ?? begin(key)
        do throws(PacketRefusal) {
            try assembly.add(packet.content, fragment)
        } catch {
            // The rest of it would be put together with what is missing now.
            heldCount -= assembly.count
            open[key] = nil
            throw error
        }
        if fragment.offset == 0 { assembly.next = packet.next }
        heldCount += assembly.count - (open[key]?.count ?? 0)
        open[key] = assembly
        guard assembly.isWhole, let next = assembly.next else {
            drop()
            return nil
        }
        open[key] = nil
        heldCount -= assembly.count
        var whole = packet
        whole.fragment = nil
        whole.next = next
        whole.content = [UInt8](assembly.pieces.map(\.bytes).joined())[...]
        if isVersion6 { try whole.skipExtensions() }
        return whole.fragment == nil ? whole : nil
    }

    private mutating func begin(_ key: Key) -> Assembly {
        openedCount += 1
        order.append((key, openedCount))
        return Assembly(number: openedCount)
    }

    /// Drops the oldest until the rest is within the limits.
    private mutating func drop() {
        var first = 0
        while open.count > Self.packetLimit || heldCount > Self.byteLimit, first < order.count {
            let (key, number) = order[first]
            if let assembly = open[key], assembly.number == number {
                open[key] = nil
                heldCount -= assembly.count
                droppedCount += 1
            }
            first += 1
        }
        order.removeFirst(first)
        if order.count > 4 * Self.packetLimit {
            let open = open
            // At most as many remain as packets are open, so that this is rare.
            order.removeAll { open[$0.key]?.number != $0.number }
        }
    }
}

extension FragmentStore.Assembly {
    /// A piece that came before counts once; any other that covers the same place refuses all.
    fileprivate mutating func add(
        _ bytes: ArraySlice<UInt8>, _ fragment: IPPacket.Fragment
    ) throws(PacketRefusal) {
        let (start, stop) = (fragment.offset, fragment.offset + bytes.count)
        if fragment.isLast {
            guard end == nil || end == stop else { throw .overlap }
            end = stop
        }
        let place = pieces.firstIndex { $0.offset >= start } ?? pieces.count
        if place < pieces.count, pieces[place].offset == start, pieces[place].bytes == bytes {
            return
        }
        let isBehind =
            place == 0 || pieces[place - 1].offset + pieces[place - 1].bytes.count <= start
        let isBefore = place == pieces.count || stop <= pieces[place].offset
        guard isBehind, isBefore, stop <= end ?? stop else { throw .overlap }
        guard pieces.count < FragmentStore.pieceLimit else { throw .cut }
        pieces.insert((start, bytes), at: place)
        count += bytes.count
    }
}
