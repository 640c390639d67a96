internal import Base
internal import HTTPCodecs
internal import HTTPModel

extension FuzzedReader {
    static let http2: [FuzzedReader] = [
        frames, server, client, direction("http2-recorded", isClient: true),
        direction("http2-recorded-origin", isClient: false), fields,
    ]

    static let frameSeeds = makeFrameSeeds()

    private static func makeFrameSeeds() -> [[UInt8]] {
        let settings = frame(4, 0, 0, [0, 3, 0, 0, 0, 100, 0, 4, 0, 1, 0, 0])
        let request = frame(1, 5, 1, [0x82, 0x86, 0x84, 0x41, 0x01, 0x68])
        let post =
            frame(1, 0, 3, [0x83, 0x86, 0x84, 0x41, 0x01, 0x68])
            + frame(9, 4, 3, [0x40, 0x01, 0x61, 0x01, 0x62]) + frame(0, 8, 3, [1, 0x61, 0x62, 0])
            + frame(8, 0, 0, [0, 0, 1, 0]) + frame(1, 5, 3, [0x40, 0x01, 0x74, 0x01, 0x62])
        let others =
            frame(6, 0, 0, [1, 2, 3, 4, 5, 6, 7, 8]) + frame(3, 0, 1, [0, 0, 0, 8])
            + frame(2, 0, 5, [0, 0, 0, 0, 1]) + frame(7, 0, 0, [0, 0, 0, 1, 0, 0, 0, 0])
            + frame(0x10, 0, 0, [0, 0, 0, 1, 0x75]) + frame(5, 4, 1, [0, 0, 0, 2, 0x82])
        let answer =
            frame(1, 4, 1, [0x48, 0x03, 0x31, 0x30, 0x33]) + frame(1, 4, 1, [0x88])
            + frame(0, 1, 1, [0x61, 0x62, 0x63])
        let farewell = frame(7, 0, 0, [1, 18, 3, 4, 5, 6, 7, 8]) + frame(3, 0, 1, [0, 0, 0, 8])
        return [
            settings + request + others, settings + post, settings + answer + others,
            settings + request + farewell + post,
        ]
    }

    private static func frame(
        _ type: UInt8, _ flags: UInt8, _ stream: UInt8, _ payload: [UInt8]
    ) -> [UInt8] {
        [0, UInt8(payload.count >> 8), UInt8(payload.count & 0xFF), type, flags, 0, 0, 0, stream]
            + payload
    }

    /// What counts floods, ahead of nghttp2.
    private static let frames = FuzzedReader(
        "http2-frames", seeds: { frameSeeds },
        run: { bytes, cut, transcript in
            var reader = HTTP2FrameReader(skippingPreface: false)
            cut.pieces(of: 0..<bytes.count) { piece in
                do throws(HTTP2Flood) {
                    try reader.read(bytes.span.extracting(piece), now: 0)
                    return true
                } catch {
                    transcript.note("flood", text: "\(error)")
                    return false
                }
            }
            for index in 0..<16 { transcript.note("count", reader.counts[index]) }
            for frame in reader.takeSideFrames() { transcript.note("frame", text: "\(frame)") }
        })

    private static let server = FuzzedReader(
        "http2-server", seeds: { frameSeeds.map { HTTP2DirectionReader.preface + $0 } },
        run: { bytes, cut, transcript in
            let session = HTTP2Session(role: .server, allowsExtendedConnect: true)
            let start = min(bytes.count, HTTP2DirectionReader.preface.count)
            let end = HTTP2Events.end(ofWholeFramesIn: bytes, from: start)
            HTTP2Events.drive(session, Array(bytes[..<end]), cut, &transcript)
        })

    private static let client = FuzzedReader(
        "http2-client", seeds: { frameSeeds },
        run: { bytes, cut, transcript in
            let session = HTTP2Session(role: .client)
            guard let head = HTTP2Events.request else { return }
            let fields = HTTP2Fields.request(
                head, scheme: "http", authority: Array("h".utf8)[...], target: nil)
            for isEnd in [true, false] { _ = session.request(fields, endsStream: isEnd) }
            let end = HTTP2Events.end(ofWholeFramesIn: bytes, from: 0)
            HTTP2Events.drive(session, Array(bytes[..<end]), cut, &transcript)
        })

    /// What an import reads of one side.
    private static func direction(_ name: String, isClient: Bool) -> FuzzedReader {
        FuzzedReader(
            name,
            seeds: { frameSeeds.map { (isClient ? HTTP2DirectionReader.preface : []) + $0 } },
            run: { bytes, cut, transcript in
                HTTP2Events.read(bytes, hasPreface: isClient, cut, &transcript)
            })
    }

    /// Header blocks; each is preceded by its length.
    private static let fields = FuzzedReader(
        "http2-fields",
        seeds: {
            [
                [6, 0x82, 0x86, 0x84, 0x41, 0x01, 0x68, 3, 0xBE, 0x82, 0x84],
                [9, 0x3F, 0xE1, 0x1F, 0x40, 0x01, 0x61, 0x01, 0x62, 0x82, 2, 0xBE, 0x20],
                [8, 0x88, 0x40, 0x82, 0x94, 0xE7, 0x82, 0x94, 0xE7],
            ]
        },
        run: { bytes, cut, transcript in
            var frames = frame(4, 0, 0, [])
            var place = 0
            var stream: UInt8 = 1
            while place < bytes.count, stream < 200 {
                let end = min(bytes.count, place + 1 + Int(bytes[place]))
                frames += frame(1, 5, stream, Array(bytes[place + 1..<end]))
                stream += 2
                place = end
            }
            HTTP2Events.read(frames, hasPreface: false, cut, &transcript)
        })
}

private enum HTTP2Events {
    static let request = makeRequest()

    private static func makeRequest() -> RequestHead? {
        let bytes = Array("GET / HTTP/1.1\r\nHost: h\r\n\r\n".utf8)
        do throws(HTTP1Violation) {
            return try RequestReader.read(bytes.span)?.head
        } catch { return nil }
    }

    /// How much nghttp2 tells of a frame that is not whole depends on how it is fed.
    static func end(ofWholeFramesIn bytes: [UInt8], from start: Int) -> Int {
        var end = start
        while end + HTTP2FrameHead.length <= bytes.count {
            let next = end + HTTP2FrameHead.length + HTTP2FrameHead(bytes[end...]).size
            guard next <= bytes.count else { break }
            end = next
        }
        return end
    }

    /// Plays one end: takes what comes, gives the windows back, and sends what there is to say.
    static func drive(
        _ session: HTTP2Session, _ bytes: [UInt8], _ cut: Cut, _ transcript: inout Transcript
    ) {
        let output = ByteBuffer(capacity: 32 << 10)
        var streams: [Int32: Transcript] = [:]
        var isBroken = false
        var isGoingAway = false
        var opened: Set<Int32> = []
        // Those that were opened behind a GOAWAY.
        var late: Set<Int32> = []
        // Requests have left before any of their answers comes.
        _ = session.send(into: output)
        cut.pieces(of: 0..<bytes.count) { piece in
            var violation: HTTP2Violation?
            do throws(HTTP2Violation) {
                try session.receive(bytes.span.extracting(piece), now: 0)
            } catch { violation = error }
            for event in session.takeEvents() {
                if isGoingAway, case .head(let stream, _) = event, !opened.contains(stream) {
                    late.insert(stream)
                }
                if let stream = event.stream, late.contains(stream) { continue }
                switch event {
                case .head(let stream, _):
                    opened.insert(stream)
                    note(event, &transcript)
                case .content(let stream, let content):
                    streams[stream, default: Transcript()].append(content.span)
                    session.consume(stream, content.count)
                // Behind the end of all streams, nghttp2 takes what comes with it, and no more.
                case .settings where isGoingAway, .goAway where isGoingAway,
                    .malformed where isGoingAway, .violated where isGoingAway:
                    break
                case .goAway:
                    isGoingAway = true
                    note(event, &transcript)
                default: note(event, &transcript)
                }
            }
            if let violation {
                transcript.note("violation", text: violation.detail)
                isBroken = true
            }
            return violation == nil
        }
        // Not between the reads: whose RST_STREAM is first would be a matter of how they are cut.
        for _ in 0..<64 {
            output.removeAll()
            _ = session.send(into: output)
            if output.isEmpty { break }
        }
        for (stream, content) in streams.sorted(by: { $0.key < $1.key }) {
            transcript.note("content", Int(stream), Int(truncatingIfNeeded: content.digest))
        }
        // They are told ahead of what is wrong with the rest.
        guard !isBroken else { return }
        for frame in session.takeSideFrames() { transcript.note("frame", text: "\(frame)") }
    }

    static func read(
        _ bytes: [UInt8], hasPreface: Bool, _ cut: Cut, _ transcript: inout Transcript
    ) {
        var reader = HTTP2DirectionReader(hasPreface: hasPreface)
        var contentCount = 0
        cut.pieces(of: 0..<bytes.count) { piece in
            reader.append(Array(bytes[piece]))
            do throws(HTTP2Violation) {
                while let event = try reader.next() {
                    if case .content(_, let content) = event {
                        contentCount += content.count
                        transcript.append(content.span)
                    } else {
                        note(event, &transcript)
                    }
                }
                return true
            } catch {
                transcript.note("violation", text: error.detail)
                return false
            }
        }
        Oracle.check(contentCount <= bytes.count, "more content was told than came")
    }

    private static func note(_ event: HTTP2Event, _ transcript: inout Transcript) {
        switch event {
        case .head(let stream, let head):
            transcript.note("head", Int(stream), head.status)
            transcript.note("fields", head.text)
            if head.status == 0 {
                do throws(HTTP1Violation) {
                    transcript.note("as HTTP/1", try head.requestHead().raw)
                } catch { transcript.note("no HTTP/1", text: "\(error)") }
            } else {
                transcript.note("as HTTP/1", head.responseHead().raw)
            }
        case .content: break
        case .trailers(let stream, let fields):
            transcript.note("trailers", Int(stream))
            transcript.note("fields", fields.raw)
        case .ended(let stream): transcript.note("ended", Int(stream))
        case .closed(let stream, let code): transcript.note("closed", Int(stream), Int(code))
        case .settings(let settings): transcript.note("settings", text: "\(settings)")
        case .goAway(let last, let code): transcript.note("goaway", Int(last), Int(code))
        case .promise(let stream, let head, let flaw):
            transcript.note("promise", Int(stream))
            transcript.note("fields", head.text)
            transcript.note("flaw", text: flaw ?? "")
        case .violated(let stream, let detail):
            transcript.note("violated", text: "\(stream) \(detail)")
        case .unsent(let stream): transcript.note("unsent", Int(stream))
        case .malformed(let stream, let head, let detail):
            transcript.note("malformed", Int(stream))
            transcript.note("fields", head.text)
            transcript.note("detail", text: detail)
        }
    }
}

extension HTTP2Event {
    /// What it is about; `nil` for the connection.
    fileprivate var stream: Int32? {
        switch self {
        case .head(let stream, _), .content(let stream, _), .trailers(let stream, _),
            .ended(let stream), .closed(let stream, _), .promise(let stream, _, _),
            .violated(let stream, _), .unsent(let stream), .malformed(let stream, _, _):
            stream
        case .settings, .goAway: nil
        }
    }
}
