internal import Base
internal import HTTPCodecs
internal import HTTPModel

extension FuzzedReader {
    static let http1: [FuzzedReader] = [
        requests, responses, chunks, alternativeServices, webSocketOffer, contents,
    ]

    /// What is wrong with a line is seen at its end at the latest, so each input has one.
    private static let lineEnds = Array("\r\n\r\n".utf8)

    private static let fieldWords = [
        "\r\n", "\r\n\r\n", "HTTP/1.1", "HTTP/1.0", "Host: ", "Content-Length: ", "chunked",
        "Transfer-Encoding: ", "Connection: ", "Upgrade: ", "close", "keep-alive", "Expect: ",
        "100-continue", "Trailer: ", "CONNECT ", "HEAD ", "GET ", "http://", "https://", "gzip",
        "\r\n ", "\t", "[::1]", ":443", "@", "0\r\n\r\n", "18446744073709551616",
        "ffffffffffffffff",
    ]

    /// A client's side: heads, contents, and what is written anew.
    private static let requests = FuzzedReader(
        "http1-request", words: fieldWords,
        seeds: {
            [
                "GET / HTTP/1.1\r\nHost: h\r\n\r\n",
                "\r\nPOST http://u@h:80/a?b#c HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhello"
                    + "CONNECT h:443 HTTP/1.1\r\nHost: h:443\r\n\r\n",
                "PUT /x HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\nTrailer: a\r\n\r\n"
                    + "5;a=b\r\nhello\r\n0\r\nA: b\r\n\r\nGET /n HTTP/1.0\r\n\r\n",
                "OPTIONS * HTTP/1.1\r\nHost: [::1]:80\r\nConnection: upgrade, x\r\nX: 1\r\n"
                    + "Upgrade: websocket\r\nCookie: a\r\nCookie: b\r\nExpect: 100-continue\r\n\r\n",
            ].map { Array($0.utf8) }
        },
        run: { bytes, cut, transcript in
            let state = HTTP1Messages(isRequest: true, method: .get)
            state.read(bytes + lineEnds, cut, &transcript)
        })

    /// An origin's side; the first byte is the method that is answered.
    private static let responses = FuzzedReader(
        "http1-response", words: fieldWords,
        seeds: {
            [
                "0HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabcHTTP/1.1 204 No Content\r\n\r\n",
                "0HTTP/1.1 100 Continue\r\n\r\nHTTP/1.0 200\r\nContent-Type: a\r\n\r\nrest",
                "0HTTP/1.1 404 \r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\nT: v\r\n\r\n",
                "1HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nHTTP/1.1 304 x\r\n\r\n",
                "3HTTP/1.1 200 Connection established\r\n\r\ntunnel",
                "0HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\nx",
            ].map { Array($0.utf8) }
        },
        run: { bytes, cut, transcript in
            guard let first = bytes.first else { return }
            let method: KnownMethod =
                switch first & 3 {
                case 0: .get
                case 1: .head
                case 2: .post
                default: .connect
                }
            let state = HTTP1Messages(isRequest: false, method: method)
            state.read(bytes.dropFirst() + lineEnds, cut, &transcript)
        })

    private static let chunks = FuzzedReader(
        "chunks", words: ["\r\n", "0\r\n\r\n", ";a=b", "7fffffffffffffff", "\r\nA: b", " "],
        seeds: {
            ["5\r\nhello\r\n0\r\n\r\n", "a;x=\"y\"\r\n0123456789\r\n00\r\nT: v\r\n\r\nmore"]
                .map { Array($0.utf8) }
        },
        run: { bytes, cut, transcript in
            let bytes = bytes + lineEnds
            var reader = BodyReader(.chunked)
            var end = 0
            do throws(HTTP1Violation) {
                end = try HTTP1Messages.content(
                    of: &reader, bytes, 0..<bytes.count, cut, &transcript)
            } catch { transcript.note("violation", text: "\(error)") }
            transcript.note("end", reader.isComplete ? end : -1)
            transcript.note("trailers", reader.trailers.raw)
        })

    private static let alternativeServices = FuzzedReader(
        "alt-svc", isCut: false, words: ["h3=", "\":443\"", "clear", "; ma=", ", ", "persist=1"],
        seeds: {
            ["h3=\":443\"; ma=86400, h2=\"a.example:443\";persist=1", "clear", "h3-29=\":1\""]
                .map { Array($0.utf8) }
        },
        run: { bytes, _, transcript in
            do {
                let read = try AlternativeServices(bytes[...])
                let rest = read.withoutHTTP3
                transcript.note("services", read.services.count)
                guard let rest, !rest.isEmpty else { return }
                // What is passed on is read as what it is.
                let again = try AlternativeServices(rest[...])
                Oracle.check(!again.advertisesHTTP3, "HTTP/3 is still advertised: \(rest.text)")
            } catch { transcript.note("violation", text: "\(error)") }
        })

    private static let webSocketOffer = FuzzedReader(
        "websocket-extensions", isCut: false,
        words: [
            "permessage-deflate", "; ", ", ", "server_no_context_takeover",
            "client_max_window_bits", "server_max_window_bits=", "\"", "=15", "=8",
        ],
        seeds: {
            [
                "permessage-deflate; client_max_window_bits",
                "x, permessage-deflate; server_max_window_bits=10; client_no_context_takeover",
            ].map { Array($0.utf8) }
        },
        run: { bytes, _, transcript in
            let half = bytes.count / 2
            let offer = PerMessageDeflateOffer(requestField: bytes[...])
            transcript.note("offer", offer?.field ?? [])
            let answer = offer?.agreement(inResponse: bytes[half...])
            transcript.note("bits", Int(answer?.clientWindowBits ?? 0))
            transcript.note("answer", PerMessageDeflate(responseField: bytes[...]) == nil ? 0 : 1)
        })

    /// Packed contents; the first byte chooses the codings.
    private static let contents = FuzzedReader(
        "content-codings",
        seeds: {
            let text = Array(String(repeating: "content ", count: 40).utf8)
            let encoder = ContentEncoder(.gzip)
            let packed = encoder.encode(text.span) + encoder.finish()
            return [
                [0] + packed,
                [1, 0x78, 0x9C, 0x4B, 0x4C, 0x4A, 0x06, 0x00, 0x02, 0x4D, 0x01, 0x27],
                [2, 0x0B, 0x02, 0x80, 0x61, 0x62, 0x63, 0x64, 0x65, 0x03],
                [3, 0x28, 0xB5, 0x2F, 0xFD, 0x20, 0x05, 0x29, 0, 0, 0x68, 0x65, 0x6C, 0x6C, 0x6F],
                [4] + packed,
            ]
        },
        run: { bytes, cut, transcript in
            guard let first = bytes.first else { return }
            let codings: [ContentCoding] =
                switch first % 5 {
                case 0: [.gzip]
                case 1: [.deflate]
                case 2: [.brotli]
                case 3: [.zstd]
                default: [.gzip, .gzip]
                }
            let limit = 1 << 18
            let decoder = ContentDecoder(codings, limit: .bytes(limit))
            var content: [UInt8] = []
            cut.pieces(of: 1..<bytes.count) { piece in
                decoder.decode(bytes.span.extracting(piece)) { unpacked in
                    content += unpacked
                    return true
                }
            }
            let count = content.count
            Oracle.check(count <= limit, "\(count) bytes of at most \(limit) were unpacked")
            // How much the libraries give of what is broken, and when they know that it is,
            // depends on how they are fed.
            let outcome = decoder.finish()
            guard outcome == .complete || outcome == .limited else { return }
            transcript.note("outcome", text: "\(outcome)")
            transcript.append(content.span)
        })
}

/// One side of a connection of HTTP/1, as a relay reads it: heads out of a growing buffer, contents
/// out of what comes behind.
private struct HTTP1Messages {
    let isRequest: Bool
    let method: KnownMethod

    func read(_ bytes: [UInt8], _ cut: Cut, _ transcript: inout Transcript) {
        var place = 0
        do throws(HTTP1Violation) {
            for _ in 0..<64 {
                guard let next = try message(bytes, from: place, cut, &transcript) else { break }
                place = next
                guard place < bytes.count else { break }
            }
        } catch { transcript.note("violation", text: "\(error)") }
    }

    /// - Returns: where the next message begins, `nil` if there is none.
    private func message(
        _ bytes: [UInt8], from start: Int, _ cut: Cut, _ transcript: inout Transcript
    ) throws(HTTP1Violation) -> Int? {
        var found: (framing: BodyFraming, consumed: Int)?
        var violation: HTTP1Violation?
        var scanned = 0
        cut.pieces(of: start..<bytes.count) { piece in
            do throws(HTTP1Violation) {
                found = try head(
                    bytes.span.extracting(start..<piece.upperBound), scanned, &transcript)
            } catch { violation = error }
            scanned = piece.upperBound - start
            return found == nil && violation == nil
        }
        if let violation { throw violation }
        guard let found else { return nil }
        transcript.note("head ends", start + found.consumed)
        transcript.note("framing", text: "\(found.framing)")
        var reader = BodyReader(found.framing)
        let end = try Self.content(
            of: &reader, bytes, start + found.consumed..<bytes.count, cut, &transcript)
        transcript.note("content ends", reader.isComplete ? end : -1)
        transcript.note("trailers", reader.trailers.raw)
        return reader.isComplete ? end : nil
    }

    private func head(
        _ bytes: Span<UInt8>, _ scanned: Int, _ transcript: inout Transcript
    ) throws(HTTP1Violation) -> (BodyFraming, Int)? {
        if isRequest {
            let read = try RequestReader.read(bytes, alreadyScanned: scanned)
            guard let (head, consumed) = read else { return nil }
            transcript.note("request", head.raw)
            let framing = try MessageFraming.ofRequest(head)
            do throws(HTTP1Violation) {
                transcript.note("target", text: "\(try RequestTarget(head))")
            } catch { transcript.note("no target", text: "\(error)") }
            checkRewritten(head, framing)
            return (framing, consumed)
        }
        let read = try ResponseReader.read(bytes, alreadyScanned: scanned)
        guard let (head, consumed) = read else { return nil }
        transcript.note("response", head.raw)
        var output: [UInt8] = []
        HeadWriter.writeResponse(head, into: &output)
        let again: (head: ResponseHead, consumed: Int)?
        do throws(HTTP1Violation) {
            again = try ResponseReader.read(output.span, limits: wide)
        } catch {
            Oracle.fail("a head written anew is refused: \(error): \(output.text)")
        }
        Oracle.check(again?.head.status == head.status, "a head has another status: \(output.text)")
        let framing = try MessageFraming.ofResponse(
            head, toMethod: method, offer: .none, isRequestWhole: true)
        return (framing, consumed)
    }

    /// What is passed on must be read by the next one as what it was taken for here.
    private func checkRewritten(_ head: RequestHead, _ framing: BodyFraming) {
        var output: [UInt8] = []
        HeadWriter.writeRequest(
            head, forwarding: Forwarding(keepsUpgrade: true, host: Array("h".utf8)), into: &output)
        do throws(HTTP1Violation) {
            let again = try RequestReader.read(output.span, limits: wide)
            Oracle.check(
                again?.consumed == output.count, "a head written anew is not whole: \(output.text)")
            guard let again else { return }
            let next = try MessageFraming.ofRequest(again.head)
            Oracle.check(next == framing, "\(framing) has become \(next): \(output.text)")
        } catch {
            Oracle.fail("a head written anew is refused: \(error): \(output.text)")
        }
    }

    /// Rewriting may add a few bytes.
    private var wide: HeadLimits {
        HeadLimits(
            startLineLimit: 1 << 20, fieldLineLimit: 1 << 20, blockLimit: 1 << 20,
            fieldCountLimit: 1 << 12)
    }

    static func content(
        of reader: inout BodyReader, _ bytes: [UInt8], _ range: Range<Int>, _ cut: Cut,
        _ transcript: inout Transcript
    ) throws(HTTP1Violation) -> Int {
        var end = range.lowerBound
        var violation: HTTP1Violation?
        cut.pieces(of: range) { piece in
            let span = bytes.span.extracting(piece)
            do throws(HTTP1Violation) {
                let consumed = try reader.consume(span) { transcript.append(span.extracting($0)) }
                end = piece.lowerBound + consumed
                Oracle.check(
                    consumed == span.count || reader.isComplete, "bytes of a content were left")
            } catch { violation = error }
            return violation == nil && !reader.isComplete
        }
        if let violation { throw violation }
        return end
    }
}
