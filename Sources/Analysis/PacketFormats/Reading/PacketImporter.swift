internal import Base
package import Formats
internal import Recording
internal import Traffic

/// Reads pcap and pcapng, also compressed by gzip: connections of TCP, with TLS as far as the keys
/// are known, and HTTP in versions 1 and 2, and flows of UDP.
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

    /// Whether a file that begins so is one of packets, compressed or not.
    package static func recognizes(_ start: [UInt8]) -> Bool {
        PacketFileReader.recognizes(PackedSource.start(of: start))
    }

    private static func damaged(_ what: String) -> Failure {
        Failure("packets-malformed", party: .tool, "the file of packets is damaged: \(what)")
    }

    package func read(
        _ input: @escaping () throws -> [UInt8], into writer: ImportWriter
    ) async throws {
        let reading = PacketReading(writer, keyLog: keyLog)
        var file = PacketFileReader()
        var source = PackedSource(input, malformed: Self.damaged)
        var flaw: (any Error)?
        while flaw == nil {
            do {
                let bytes = try source.next()
                guard !bytes.isEmpty else { break }
                try writer.checkpoint()
                file.append(bytes)
                while let event = try file.next() {
                    reading.take(event)
                    // A packet can hold a thousand times its size, compressed.
                    await writer.recorder.waitForRoom()
                }
            } catch let violation as PacketFileReader.Violation {
                flaw = violation.failure
            } catch {
                flaw = error
            }
        }
        reading.finish(isCut: flaw == nil && file.restCount > 0)
        writer.recorder.flush()
        if let flaw { throw flaw }
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
            "packets-malformed", party: .tool, "the file of packets is malformed: \(what)")
    }
}
