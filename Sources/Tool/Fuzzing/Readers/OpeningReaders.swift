internal import Base
internal import DNS
internal import Negotiation
internal import TLS

extension FuzzedReader {
    static let openings: [FuzzedReader] = [
        clientHello, quicDatagrams, quicFrames, dtlsDatagrams, socksServer, socksClient,
        dnsMessage, dnsStream, certificate,
    ]

    private static func number(_ value: Int) -> [UInt8] { [UInt8(value >> 8), UInt8(value & 255)] }
    private static func vector(_ bytes: [UInt8]) -> [UInt8] { number(bytes.count) + bytes }

    /// Where the contents of such vectors, one behind the other, lie; the last may be cut.
    private static func vectors(of bytes: [UInt8]) -> [Range<Int>] {
        var contents: [Range<Int>] = []
        var place = 0
        while place + 2 <= bytes.count {
            let length = Int(bytes[place]) << 8 | Int(bytes[place + 1])
            let end = min(bytes.count, place + 2 + length)
            contents.append(place + 2..<end)
            place = end
        }
        return contents
    }

    /// A hello with the extensions that are read: name, ALPN, versions, groups, key share.
    static let helloMessage = makeHelloMessage()

    private static func makeHelloMessage() -> [UInt8] {
        let name = vector([0] + vector(Array("a.example".utf8)))
        let protocols = vector([2] + Array("h2".utf8) + [8] + Array("http/1.1".utf8))
        let extensions: [(Int, [UInt8])] = [
            (0, name), (0x10, protocols), (0x2B, [4, 3, 4, 3, 3]), (10, vector([0, 29, 0, 23])),
            (11, [1, 0]), (13, vector([4, 3, 8, 4])), (0x33, vector([0, 29, 0, 1, 7])),
            (0x0A0A, []),
        ]
        let body =
            [3, 3] + [UInt8](repeating: 7, count: 32) + [0] + vector([0x13, 0x01, 0xC0, 0x2B])
            + [1, 0] + vector(extensions.flatMap { number($0.0) + vector($0.1) })
        return [1, 0] + number(body.count) + body
    }

    private static let clientHello = FuzzedReader(
        "client-hello",
        seeds: {
            let message = helloMessage
            let cut = message.count / 2
            return [
                [22, 3, 1] + vector(message),
                [22, 3, 3] + vector(Array(message[..<cut])) + [22, 3, 3]
                    + vector(Array(message[cut...])),
                [0x80, 0x1C, 1, 3, 1, 0, 3, 0, 0, 0, 0x10, 1, 0, 0x80] + [UInt8](0..<16),
            ]
        },
        run: { bytes, cut, transcript in
            cut.pieces(of: 0..<bytes.count) { piece in
                do throws(ClientHelloViolation) {
                    let come = bytes.span.extracting(0..<piece.upperBound)
                    let read = try ClientHelloReader.read(come)
                    guard let read else { return true }
                    note(read, &transcript)
                } catch { transcript.note("violation", text: "\(error)") }
                return false
            }
        })

    private static func note(_ hello: ClientHello, _ transcript: inout Transcript) {
        transcript.note("hello", text: hello.ja3String)
        transcript.note("ja4", text: hello.ja4Raw)
        transcript.note("name", text: hello.serverName ?? "")
        transcript.note("ja4", text: hello.ja4 { TLS.Digests.sha256($0) })
    }

    /// Datagrams as they come, each behind its length in two bytes.
    private static let quicDatagrams = FuzzedReader(
        "quic-initial", isCut: false,
        seeds: {
            let packet: [UInt8] =
                [0xC0, 0, 0, 0, 1, 8, 1, 2, 3, 4, 5, 6, 7, 8, 0, 0, 0x40, 0x40]
                + [UInt8](repeating: 9, count: 64)
            let second: [UInt8] =
                [0xD0, 0x6B, 0x33, 0x43, 0xCF, 1, 1, 1, 2, 0, 0x20]
                + [UInt8](repeating: 3, count: 32)
            return [vector(packet), vector(packet + packet) + vector(second)]
        },
        run: { bytes, _, transcript in
            var reader = QUICInitialReader()
            for datagram in vectors(of: bytes) {
                do throws(QUICViolation) {
                    if let hello = try reader.read(bytes.span.extracting(datagram)) {
                        note(hello, &transcript)
                    }
                } catch { transcript.note("violation", text: "\(error)") }
            }
        })

    /// The same of DTLS.
    private static let dtlsDatagrams = FuzzedReader(
        "dtls-hello", isCut: false,
        seeds: {
            let body =
                [0xFE, 0xFD] + helloMessage[6..<38] + [0, 0] + helloMessage.dropFirst(39)
            let half = body.count / 2
            func datagram(_ part: Range<Int>) -> [UInt8] {
                let fragment =
                    [1, 0] + number(body.count) + [0, 0, 0] + number(part.lowerBound) + [0]
                    + number(part.count) + body[part]
                return [22, 0xFE, 0xFF] + [UInt8](repeating: 0, count: 8) + vector(fragment)
            }
            return [
                vector(datagram(0..<body.count)),
                vector(datagram(0..<half)) + vector(datagram(half..<body.count)),
            ]
        },
        run: { bytes, _, transcript in
            var reader = DTLSHelloReader()
            for datagram in vectors(of: bytes) {
                do throws(ClientHelloViolation) {
                    if let hello = try reader.read(Array(bytes[datagram])) {
                        note(hello, &transcript)
                    }
                } catch { transcript.note("violation", text: "\(error)") }
            }
        })

    /// What is inside of packets that are authentic, which no change of bytes would stay: the
    /// content of each, behind its length.
    private static let quicFrames = FuzzedReader(
        "quic-frames", isCut: false,
        seeds: {
            let message = helloMessage
            let crypto: (Int, ArraySlice<UInt8>) -> [UInt8] = {
                [6, 0x40 | UInt8($0 >> 8), UInt8($0 & 255), 0x40 | UInt8($1.count >> 8)]
                    + [UInt8($1.count & 255)] + $1
            }
            let cut = message.count / 2
            return [
                vector(crypto(0, message[...]) + [0, 0, 1]),
                vector(crypto(cut, message[cut...]) + [2, 0, 0, 1, 0, 0, 0])
                    + vector([0, 1] + crypto(0, message[..<cut]) + [0x1C, 0, 0, 1, 7]),
            ]
        },
        run: { bytes, _, transcript in
            var reader = QUICInitialReader()
            for content in vectors(of: bytes) {
                do throws(QUICViolation) {
                    if let hello = try reader.readFrames(Array(bytes[content])) {
                        note(hello, &transcript)
                    }
                } catch { transcript.note("violation", text: "\(error)") }
            }
        })

    private static let socksServer = FuzzedReader(
        "socks-server", lengthLimit: 2048,
        seeds: {
            [
                [0, 5, 1, 0, 5, 1, 0, 3, 4, 0x68, 0x6F, 0x73, 0x74, 0, 80, 0x78],
                [1, 5, 2, 0, 2, 1, 1, 0x75, 1, 0x70, 5, 1, 0, 1, 127, 0, 0, 1, 0, 80],
                [0, 4, 1, 0, 80, 0, 0, 0, 1, 0x75, 0, 0x68, 0],
                [0, 5, 1, 0, 5, 1, 0, 4] + [UInt8](repeating: 1, count: 16) + [1, 187],
            ]
        },
        run: { bytes, cut, transcript in
            guard let first = bytes.first else { return }
            let credential = SOCKSCredential(user: "u", password: "p")
            var machine = SOCKSServerMachine(
                credentials: first & 1 == 0 ? nil : credential.map { [$0] })
            var consumed = 1
            cut.pieces(of: 1..<bytes.count) { piece in
                let step = machine.receive(bytes.span.extracting(piece))
                consumed += step.consumed
                var isOver = step.consumed < piece.count
                for action in step.actions {
                    transcript.note("action", text: "\(action)")
                    switch action {
                    case .connect:
                        let more =
                            first & 2 == 0 ? machine.succeed() : machine.fail(.connectionRefused)
                        transcript.note("then", text: "\(more)")
                        isOver = true
                    case .refuse, .done: isOver = true
                    case .send, .login: break
                    }
                }
                return !isOver
            }
            transcript.note("consumed", consumed)
        })

    private static let socksClient = FuzzedReader(
        "socks-client", lengthLimit: 2048,
        seeds: {
            [
                [0, 5, 0, 5, 0, 0, 1, 127, 0, 0, 1, 0, 80, 1, 2],
                [1, 5, 2, 1, 0, 5, 0, 0, 3, 1, 0x68, 0, 80], [0, 5, 0xFF],
            ]
        },
        run: { bytes, cut, transcript in
            guard let first = bytes.first, let host = SOCKSHost("h.example") else { return }
            var machine = SOCKSClientMachine(
                to: SOCKSDestination(host: host, port: 80),
                credential: first & 1 == 0 ? nil : SOCKSCredential(user: "u", password: "p"))
            var consumed = 1
            var sent: [UInt8] = []
            defer { transcript.note("sent", sent) }
            cut.pieces(of: 1..<bytes.count) { piece in
                do throws(SOCKSViolation) {
                    let step = try machine.receive(bytes.span.extracting(piece))
                    consumed += step.consumed
                    sent += step.send
                    if step.isDone { transcript.note("done", consumed) }
                    return !step.isDone
                } catch {
                    transcript.note("violation", text: "\(error)")
                    // Nothing more is said to who broke the protocol.
                    sent = []
                    return false
                }
            }
        })

    private static let dnsSeeds = makeDnsSeeds()

    private static func makeDnsSeeds() -> [[UInt8]] {
        var query = DNSMessage()
        query.id = 7
        guard let name = DNSName("www.example.com") else { return [] }
        query.questions = [DNSQuestion(name, .a), DNSQuestion(name, .https)]
        let question = DNSMessageWriter.write(query)
        let answer: [UInt8] =
            [0, 7, 0x81, 0x80, 0, 1, 0, 2, 0, 0, 0, 1, 1, 0x61, 0, 0, 1, 0, 1]
            + [0xC0, 12, 0, 5, 0, 1, 0, 0, 0, 60, 0, 4, 1, 0x62, 0xC0, 12]
            + [0xC0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 127, 0, 0, 1]
            + [0, 0, 41, 4, 0xD0, 0, 0, 0, 0, 0, 0]
        return [question, answer]
    }

    private static let dnsMessage = FuzzedReader(
        "dns-message", lengthLimit: 2048, isCut: false, seeds: { dnsSeeds },
        run: { bytes, _, transcript in
            let rule = DNSAnswerRule(names: NameTable(nameLimit: 64))
            let outcome = rule.answer(bytes.span, over: .datagram)
            transcript.note("outcome", text: "\(String(describing: outcome))")
            do throws(DNSViolation) {
                let message = try DNSMessageReader.read(bytes.span)
                transcript.note("message", text: "\(message)")
                let written = DNSMessageWriter.write(message)
                let again = try DNSMessageReader.read(written.span)
                let isCutOff = again.flags.contains(.truncated)
                Oracle.check(
                    isCutOff || again.questions == message.questions,
                    "a message written anew asks for something else")
            } catch { transcript.note("violation", text: "\(error)") }
        })

    private static let dnsStream = FuzzedReader(
        "dns-stream", lengthLimit: 2048, seeds: { dnsSeeds.map { DNSStreamReader.framed($0) } },
        run: { bytes, cut, transcript in
            var start = 0
            cut.pieces(of: 0..<bytes.count) { piece in
                while let range = DNSStreamReader.message(
                    in: bytes.span.extracting(start..<piece.upperBound))
                {
                    transcript.note("message", start + range.lowerBound, start + range.upperBound)
                    start += range.upperBound
                }
                return true
            }
        })

    private static let certificate = FuzzedReader(
        "certificate", lengthLimit: 8192, isCut: false, words: ["-----BEGIN CERTIFICATE-----\n"],
        seeds: {
            return [sampleCertificate, Array("-----BEGIN CERTIFICATE-----\nAAAA\n".utf8)]
        },
        run: { bytes, _, transcript in
            if let certificate = Certificate(der: bytes) {
                transcript.note("subject", text: certificate.subject)
                transcript.note("issuer", text: certificate.issuer)
                transcript.note("from", Int(certificate.validity.notBefore))
                transcript.note("folder", text: certificate.folderName)
                transcript.note("authority", certificate.isAuthority ? 1 : 0)
                transcript.note("self", certificate.isSelfIssued ? 1 : 0)
            }
            do throws(Failure) {
                let all = try Certificate.all(inPEM: bytes, name: "x")
                transcript.note("count", all.count)
            } catch { transcript.note("no PEM", text: error.detail) }
        })
}
