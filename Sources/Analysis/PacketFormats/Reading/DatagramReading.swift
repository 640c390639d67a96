internal import Base
internal import Contents
internal import Formats
internal import Recording
internal import TLS
internal import Traffic

/// Reads the datagrams between two ends: one record for all of them, with each as a message.
final class DatagramReading {
    private(set) var record: ConnectionRecord
    private let writer: ImportWriter
    private let messages: ImportedMessages
    private let client: PacketEndpoint
    private var name: DatagramProtocol
    private var quic = QUICInitialReader()
    private var dtls = DTLSHelloReader()
    private var count = 0
    private var leftOutCount: Int64 = 0

    /// Datagrams by which it may still turn out what is spoken.
    private static let judgedLimit = 8
    /// Of one flow: what protocols that are read need is in the first ones.
    private static let messageLimit: Int64 = 4096
    /// In bytes of one flow.
    private static let byteLimit: Int64 = 1 << 20

    init(
        id: Int64, _ first: UDPDatagram, _ writer: ImportWriter, _ room: WebSocketRoom
    ) {
        self.writer = writer
        messages = ImportedMessages(writer, connection: id, at: first.at, room)
        let judged = Self.judge(first)
        name = judged.name
        let isFromClient = Self.isFromClient(first, judged.sender)
        client = isFromClient ? first.source : first.target
        let origin = isFromClient ? first.target : first.source
        record = ConnectionRecord(
            id: id, openedAt: first.at, client: client.text,
            listener: ConnectionRecord.datagramListener, mode: .transparent)
        record.originAddress = origin.text
        record.originHost = origin.host
        record.originPort = origin.port
    }

    private static func judge(
        _ datagram: UDPDatagram
    ) -> (name: DatagramProtocol, sender: DatagramProtocol.Sender?) {
        DatagramProtocol.judge(
            [UInt8](datagram.content), ports: (datagram.source.port, datagram.target.port))
    }

    /// What is said decides; then that groups do not speak; then the port, and then who came first.
    private static func isFromClient(
        _ datagram: UDPDatagram, _ sender: DatagramProtocol.Sender?
    ) -> Bool {
        if datagram.target.isMulticast { return true }
        if let sender { return sender == .client }
        return datagram.source.port >= 1024 || datagram.target.port < 1024
    }

    func take(_ datagram: UDPDatagram) {
        let direction = datagram.source == client ? Direction.request : .response
        let size = Int64(datagram.content.count)
        if direction == .request {
            record.clientBytes.received += size
        } else {
            record.clientBytes.sent += size
        }
        record.closedAt = datagram.at
        messages.messageTime = datagram.at
        guard size > 0 else { return }
        count += 1
        if name == .other, count <= Self.judgedLimit { name = Self.judge(datagram).name }
        if direction == .request, record.clientTLS == nil { readHello(datagram) }
        guard !name.isEncrypted else { return }
        guard messages.messageCount < Self.messageLimit,
            record.clientBytes.received + record.clientBytes.sent <= Self.byteLimit
        else {
            leftOutCount += 1
            return
        }
        messages.record(datagram: [UInt8](datagram.content), direction)
    }

    /// What is none is told by the name alone; a later datagram may have it.
    private func readHello(_ datagram: UDPDatagram) {
        switch name {
        case .quic where quic.datagramCount < QUICInitialReader.datagramLimit:
            do throws(QUICViolation) { take(try quic.read(datagram.content.span)) } catch {}
        case .dtls where dtls.datagramCount < DTLSHelloReader.datagramLimit:
            do throws(ClientHelloViolation) {
                take(try dtls.read([UInt8](datagram.content)))
            } catch {}
        default: break
        }
    }

    private func take(_ hello: ClientHello?) {
        guard let hello else { return }
        var tls = TLSRecord()
        tls.sni = hello.serverName
        tls.clientHello = hello.raw
        tls.ja4 = hello.ja4(sha256: Digests.sha256)
        record.clientTLS = tls
        if let name = hello.serverName { record.originHost = name }
        if !hello.alpn.isEmpty {
            messages.noteOnce("\(name.rawValue)-offer", hello.alpn.joined(separator: ", "))
        }
    }

    /// Ends with the file.
    func finish() {
        record.protocolName = name.rawValue
        record.messageCount = messages.messageCount
        record.outcome = .completed
        let place = "connection \(record.id)"
        if name.isEncrypted {
            record.outcome = .passedThrough
            record.cause = "not decrypted: \(name.rawValue) is not read"
            writer.losses.note(.notDecrypted, "\(place): \(name.rawValue) is not read")
        }
        if leftOutCount > 0 {
            writer.losses.note(.datagramsLeftOut, place)
            messages.noteOnce("datagrams-left-out", "\(leftOutCount) datagrams of it are left out")
        }
        record.notes = messages.notes
        record.notes.append(.importedPackets)
        writer.write(.connection(record))
    }
}
