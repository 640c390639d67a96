internal import Base
internal import Contents
internal import Formats
internal import PacketFormats
internal import Recording
internal import Traffic

extension FuzzedReader {
    static let files: [FuzzedReader] = [
        importer("har", words: harWords, seeds: { harSeeds }, make: { HARImporter() }),
        importer(
            "mitmproxy", words: ["2:", "4:", ";", ",", "}", "]", "true!", "0:~"],
            seeds: { mitmproxySeeds }, make: { MitmproxyImporter() }),
        importer(
            "pcap",
            seeds: { [Packets.pcap(Packets.conversation), Packets.pcap(Packets.datagrams)] },
            make: { PacketImporter() }),
        importer(
            "pcapng", seeds: { [Packets.pcapng(Packets.conversation)] },
            make: { PacketImporter() }),
        streams, datagrams, exports, captures,
    ]

    private static let harWords = [
        "\"", "{", "}", "[", "]", ",", ":", "null", "1e308", "-9223372036854775808",
        "9223372036854775807", "\\u0000", "\"log\"", "\"entries\"", "\"request\"", "\"response\"",
        "\"_sallyport\"", "\"_webSocketMessages\"", "\"content\"", "\"size\"", "\"text\"",
        "\"encoding\"", "\"base64\"", "\"timings\"", "\"cookies\"", "\"exchanges\"",
        "\"truncated\"",
    ]

    private static func importer(
        _ name: String, words: [String] = [], seeds: @escaping @Sendable () -> [[UInt8]],
        make: @escaping @Sendable () -> any CaptureImporter
    ) -> FuzzedReader {
        FuzzedReader(
            name, lengthLimit: 16_384, words: words, seeds: seeds,
            run: { bytes, cut, transcript in
                let capture = Import.run(make(), bytes, cut, &transcript)
                capture.note(in: &transcript)
                if cut == .whole { Exports.run(capture, for: bytes) }
            })
    }

    private static let harSeeds = makeHarSeeds()

    private static func makeHarSeeds() -> [[UInt8]] {
        let capture = MemoryCapture()
        capture.submit(Records.sample)
        return [Exports.bytes(HARExporter(), of: capture, withSecrets: true)]
    }

    private static let mitmproxySeeds = makeMitmproxySeeds()

    private static func makeMitmproxySeeds() -> [[UInt8]] {
        let capture = MemoryCapture()
        capture.submit(Records.sample)
        return [Exports.bytes(MitmproxyExporter(), of: capture, withSecrets: true)]
    }

    /// Secrets for `helloMessage`: none of the samples is protected under them, but what is read of
    /// a record before it is opened is read.
    private static let helloKeyLog = makeHelloKeyLog()

    private static func makeHelloKeyLog() -> [UInt8] {
        let random = String(repeating: "07", count: 32)
        let secret = String(repeating: "ab", count: 48)
        let labels = [
            "CLIENT_RANDOM", "CLIENT_HANDSHAKE_TRAFFIC_SECRET", "SERVER_HANDSHAKE_TRAFFIC_SECRET",
            "CLIENT_TRAFFIC_SECRET_0", "SERVER_TRAFFIC_SECRET_0",
        ]
        return Array(labels.map { "\($0) \(random) \(secret)\n" }.joined().utf8)
    }

    /// What the two ends of a connection of TCP say, put into packets: what is behind the packets.
    private static let streams = FuzzedReader(
        "packet-streams", lengthLimit: 8192, isCut: false,
        seeds: {
            var tls: [UInt8] = []
            let hello = helloMessage
            Turns.append(
                [22, 3, 1, UInt8(hello.count >> 8), UInt8(hello.count & 255)] + hello,
                isClient: true, to: &tls)
            let answer =
                [2, 0, 0, 44, 3, 3] + [UInt8](repeating: 9, count: 32)
                + [0, 0x13, 0x01, 0, 0, 4, 0, 0x2B, 0, 0]
            Turns.append(
                [22, 3, 3, 0, UInt8(answer.count)] + answer + [
                    20, 3, 3, 0, 1, 1, 23, 3, 3, 0, 2, 1, 2,
                ],
                isClient: false, to: &tls)
            var http2: [UInt8] = []
            Turns.append(
                Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8) + frameSeeds[1], isClient: true,
                to: &http2)
            Turns.append(frameSeeds[2], isClient: false, to: &http2)
            return [
                tls, http2,
                Turns.seed(
                    ">POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\nab",
                    "<HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n"
                        + "\r\n2\r\nok\r\n0\r\n\r\n"),
                Turns.seed(
                    ">GET /w HTTP/1.1\r\nHost: h\r\nUpgrade: websocket\r\nConnection: upgrade\r\n\r\n",
                    "<HTTP/1.1 101 S\r\nUpgrade: websocket\r\nConnection: upgrade\r\n\r\n\u{1}\u{1}a"
                ),
                Turns.seed("<220 mail\r\n", ">EHLO a\r\n"),
            ]
        },
        run: { bytes, _, transcript in
            let file = Packets.pcap(Packets.segments(of: bytes))
            let importer = PacketImporter(keyLog: helloKeyLog)
            let capture = Import.run(importer, file, .whole, &transcript)
            capture.note(in: &transcript)
            Exports.run(capture, for: bytes)
        })

    /// One datagram: what it speaks, and where its secret stands.
    private static let datagrams = FuzzedReader(
        "datagram", lengthLimit: 2048, isCut: false,
        seeds: { Packets.datagrams.map { Array($0.dropFirst(28)) } },
        run: { bytes, _, transcript in
            for port in [53, 123, 137, 5353, 40_000] as [UInt16] {
                let judged = DatagramProtocol.judge(bytes, ports: (50_000, port))
                transcript.note("protocol", text: judged.name.rawValue)
                let other = DatagramProtocol.judge(bytes, ports: (port, 50_000))
                Oracle.check(other.name == judged.name, "the order of ports decides")
            }
            let community = SNMPMessage(bytes)?.community
            let start = SNMPMessage.community(inStart: bytes)
            Oracle.check(
                community == nil || community == start, "a community stands at two places")
        })

    /// Records with any numbers and texts, as a foreign or edited capture may hold them, through
    /// every export and every finding.
    private static let exports = FuzzedReader(
        "records", lengthLimit: 2048, isCut: false,
        words: [
            "Set-Cookie: a=b; Max-Age=", "Expires=", "Domain=.", "\r\n", "HTTP/1.1 200 OK\r\n",
            "Content-Range: bytes 0-4/9223372036854775807\r\n", "Content-Length: ",
            "ETag: \"a\"\r\n",
            "Upload-Offset: 9223372036854775807\r\n", "HTTP/1.1 206 P\r\n", "HTTP/1.1 101 S\r\n",
            "Content-Type: text/event-stream\r\n", "Content-Type: application/grpc\r\n",
        ],
        seeds: { [[UInt8](repeating: 0, count: 64), [UInt8](0...255), Records.seed] },
        run: { bytes, _, transcript in
            let capture = MemoryCapture()
            capture.submit(Records.made(of: bytes))
            Exports.run(capture, for: bytes)
        })
}

enum Import {
    /// Reads a file with an importer; what it throws is noted.
    static func run(
        _ importer: any CaptureImporter, _ bytes: [UInt8], _ cut: Cut,
        _ transcript: inout Transcript
    ) -> MemoryCapture {
        let capture = MemoryCapture()
        var pieces: [[UInt8]] = []
        cut.pieces(of: 0..<bytes.count) { piece in
            pieces.append(Array(bytes[piece]))
            return true
        }
        let input = pieces.makeIterator()
        let outcome = Outcome()
        let executor = InlineExecutor()
        let job = ImportJob(importer: importer, pieces: input)
        Task(executorPreference: executor) { await job.run(into: capture, outcome) }
        executor.drain()
        Oracle.check(outcome.isOver, "an import waits for something")
        transcript.note("ended", text: outcome.failure ?? "")
        return capture
    }

    final class Outcome: @unchecked Sendable {
        var isOver = false
        var failure: String?
    }

    /// `@unchecked Sendable`: the executor runs it on the thread that made it, and nothing else does.
    private struct ImportJob: @unchecked Sendable {
        let importer: any CaptureImporter
        var pieces: IndexingIterator<[[UInt8]]>

        func run(into capture: MemoryCapture, _ outcome: Outcome) async {
            let writer = ImportWriter(sink: capture, nextConnection: 1, nextExchange: 1)
            var rest = pieces
            do {
                try await importer.read({ rest.next() ?? [] }, into: writer)
            } catch { outcome.failure = "\(error)" }
            writer.recorder.flush()
            outcome.isOver = true
        }
    }
}
