/// How much the packet filter saw of each kind.
package struct ConfinementCounters: Sendable, Equatable {
    /// TCP connections that were led to us.
    package var tcpConnections = 0
    /// Flows for port 53, of either protocol, that were led to us.
    package var dnsFlows = 0
    /// Refused UDP datagrams for port 443.
    package var quicDatagrams = 0
    /// Other refused UDP datagrams.
    package var udpDatagrams = 0
    /// UDP flows to addresses of the namespace's own.
    package var insideFlows = 0
    /// Dropped packets that are neither TCP nor UDP.
    package var otherPackets = 0

    /// Asks the kernel; `nil` if it does not answer.
    init?(filter descriptor: Int32) {
        let socket = NetlinkSocket(descriptor: descriptor)
        var numbers: [String: Int] = [:]
        do throws(ConfinementError) {
            for name in FilterRules.counters { numbers[name] = try Self.read(name, socket) }
        } catch {
            return nil
        }
        tcpConnections = numbers["tcp"] ?? 0
        dnsFlows = numbers["dns"] ?? 0
        quicDatagrams = numbers["quic"] ?? 0
        udpDatagrams = numbers["udp"] ?? 0
        insideFlows = numbers["inside"] ?? 0
        otherPackets = numbers["other"] ?? 0
    }

    private static func read(_ name: String, _ socket: NetlinkSocket) throws(ConfinementError)
        -> Int
    {
        var writer = NetlinkWriter()
        writer.message(type: FilterRules.getObject, flags: Netlink.acknowledge) {
            FilterRules.header(&$0, family: FilterRules.allFamilies, resource: 0)
            $0.attribute(1, text: FilterRules.table)
            $0.attribute(2, text: name)
            $0.attribute(3, bigEndian: UInt32(1))
        }
        let answers = try socket.request(writer, "read a counter")
        for answer in answers where answer.type == FilterRules.newObject {
            let attributes = NetlinkReader.attributes(answer.body.dropFirst(4))
            guard let data = attributes[4],
                let packets = NetlinkReader.attributes(data)[2]?.bigEndian(UInt64.self, at: 0)
            else { continue }
            return Int(clamping: packets)
        }
        return 0
    }
}
