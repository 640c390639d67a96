internal import Base
internal import HTTPCodecs

extension FuzzedReader {
    static let messages: [FuzzedReader] = [webSocket, gRPC, events]

    /// Frames of one side; the first byte says which, and what the handshake agreed on.
    private static let webSocket = FuzzedReader(
        "websocket",
        seeds: {
            [
                [0, 0x81, 0x05, 0x48, 0x65, 0x6C, 0x6C, 0x6F, 0x89, 0x00, 0x88, 0x02, 0x03, 0xE8],
                [1, 0x01, 0x83, 1, 2, 3, 4, 0x60, 0x60, 0x60, 0x80, 0x81, 1, 2, 3, 4, 0x60],
                [2, 0xC1, 0x07, 0xF2, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00],
                [7, 0x82, 0xFE, 0x00, 0x02, 1, 2, 3, 4, 5, 6],
                [6, 0x82, 0x7F, 0, 0, 0, 0, 0, 0, 0, 2, 1, 2],
            ]
        },
        run: { bytes, cut, transcript in
            guard let first = bytes.first else { return }
            let extensions =
                first & 2 == 0
                ? nil
                : PerMessageDeflate(serverResets: first & 4 != 0, clientResets: first & 4 != 0)
            var reader = WebSocketReader(
                role: first & 1 == 0 ? .server : .client, extensions: extensions,
                limits: WebSocketLimits(contentLimit: 1 << 12, inflationLimit: 1 << 16))
            let scratch = ByteBuffer(capacity: 4096)
            var count = 0
            cut.pieces(of: 1..<bytes.count) { piece in
                reader.read(bytes.span.extracting(piece), scratch: scratch) { event, content in
                    count += content.count
                    switch event {
                    // How much zlib has taken when a text turns out broken depends on the reads.
                    case .raw where extensions != nil: break
                    case .content, .raw: transcript.append(content)
                    default:
                        transcript.note("event", text: "\(event)")
                        transcript.append(content)
                    }
                }
                return true
            }
            Oracle.check(count <= bytes.count + (1 << 18), "\(count) bytes were told")
            transcript.note("offset", Int(reader.offset), reader.isAtBoundary ? 1 : 0)
        })

    private static let gRPC = FuzzedReader(
        "grpc",
        seeds: { [[0, 0, 0, 0, 2, 1, 2, 1, 0, 0, 0, 0, 0x80, 0, 0, 0, 1, 9], [0, 0, 0, 0]] },
        run: { bytes, cut, transcript in
            var reader = LengthPrefixedReader()
            cut.pieces(of: 0..<bytes.count) { piece in
                reader.read(bytes.span.extracting(piece)) {
                    transcript.note("message", text: "\($0)")
                }
                return true
            }
            transcript.note("end", Int(reader.offset), Int(reader.violationOffset ?? 0))
            transcript.note("unfinished", text: "\(String(describing: reader.unfinished))")
        })

    private static let events = FuzzedReader(
        "event-stream", words: ["data: ", "event: ", "id:", "retry:", "\n\n", "\r\n", "\r", ":"],
        seeds: {
            ["data: a\n\n", "\u{FEFF}event: x\r\ndata: 1\r\ndata\r\n\r\n:c\rid: 1\r\r"]
                .map { Array($0.utf8) }
        },
        run: { bytes, cut, transcript in
            var reader = EventStreamReader()
            cut.pieces(of: 0..<bytes.count) { piece in
                reader.read(bytes.span.extracting(piece)) { event, type in
                    transcript.note("event", text: "\(event)")
                    transcript.append(type)
                }
                return true
            }
            transcript.note("end", Int(reader.offset))
        })
}
