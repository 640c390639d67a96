import Base
import HTTPModel
import Testing

@testable import HTTPCodecs

@Suite struct ResponseReaderTests {
    /// `version|status|reason|fields|consumed`.
    static let sound: [RequestRow] = [
        .init("usual", "HTTP/1.1 200 OK\r\nA: 1\r\n\r\n", "http11|200|OK|A=1|25"),
        .init("HTTP/1.0", "HTTP/1.0 404 Not Found\r\n\r\nbody", "http10|404|Not Found||26"),
        .init("empty reason", "HTTP/1.1 200 \r\n\r\n", "http11|200|||17"),
        .init("no reason", "HTTP/1.1 200\r\n\r\n", "http11|200|||16"),
        .init("blanks in the reason", "HTTP/1.1 200  a\tb \r\n\r\n", "http11|200| a\tb ||22"),
        .init("obs-text in the reason", "HTTP/1.1 200 \u{FC}\r\n\r\n", "http11|200|\u{FC}||19"),
        .init("lowest", "HTTP/1.1 100 Continue\r\n\r\n", "http11|100|Continue||25"),
        .init("highest", "HTTP/1.1 999 ?\r\n\r\n", "http11|999|?||18"),
        .init(
            "interim and final", "HTTP/1.1 103 E\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\n\r\n",
            "http11|103|E|Link=x|27"),
        .init(
            "cookies in order", "HTTP/1.1 200 OK\r\nset-cookie: b\r\nSet-Cookie: a\r\n\r\n",
            "http11|200|OK|set-cookie=b,Set-Cookie=a|49"),
    ]

    @Test(arguments: sound)
    func readsSoundHeads(row: RequestRow) {
        let (whole, deviations) = readings(of: Array(row.input.utf8)) {
            readResponse($0, alreadyScanned: $1)
        }
        #expect(deviations.isEmpty)
        guard case .head(let parts, let consumed) = whole else {
            Issue.record("\(whole)")
            return
        }
        let fields = parts.fields.joined(separator: ",")
        #expect(
            "\(parts.version)|\(parts.status)|\(parts.reason)|\(fields)|\(consumed)" == row.expected
        )
        #expect(parts.raw == Array(row.input.utf8.prefix(consumed)))
    }

    static let refused: [RequestRow] = [
        .init("empty line before", "\r\nHTTP/1.1 200 OK\r\n\r\n", "invalid-status-line"),
        .init("space before", " HTTP/1.1 200 OK\r\n\r\n", "invalid-status-line"),
        .init("HTTP/0.9", "<html>", "invalid-status-line"),
        .init("ICY", "ICY 200 OK\r\n\r\n", "invalid-status-line"),
        .init("SSH", "SSH-2.0-x\r\n", "invalid-status-line"),
        .init("lower case", "http/1.1 200 OK\r\n\r\n", "invalid-status-line"),
        .init("no minor version", "HTTP/1 200 OK\r\n\r\n", "invalid-status-line"),
        .init("HTTP/2", "HTTP/2 200\r\n\r\n", "invalid-status-line"),
        .init("version 2.0", "HTTP/2.0 200 OK\r\n\r\n", "unsupported-version"),
        .init("version 1.2", "HTTP/1.2 200 OK\r\n\r\n", "unsupported-version"),
        .init("two spaces", "HTTP/1.1  200 OK\r\n\r\n", "invalid-status-line"),
        .init("tab", "HTTP/1.1\t200 OK\r\n\r\n", "invalid-status-line"),
        .init("two digits", "HTTP/1.1 20 OK\r\n\r\n", "invalid-status-line"),
        .init("four digits", "HTTP/1.1 2000 OK\r\n\r\n", "invalid-status-line"),
        .init("status 099", "HTTP/1.1 099 OK\r\n\r\n", "invalid-status-line"),
        .init("sign", "HTTP/1.1 +20 OK\r\n\r\n", "invalid-status-line"),
        .init("no space before the reason", "HTTP/1.1 200OK\r\n\r\n", "invalid-status-line"),
        .init("tab before the reason", "HTTP/1.1 200\tOK\r\n\r\n", "invalid-status-line"),
        .init("NUL in the reason", "HTTP/1.1 200 O~00K\r\n\r\n", "invalid-status-line"),
        .init("no status", "HTTP/1.1\r\n\r\n", "invalid-status-line"),
        .init("LF after the status line", "HTTP/1.1 200 OK\n\n", "bare-lf"),
        .init("LF after the code", "HTTP/1.1 200\n\n", "bare-lf"),
        .init("CR in the reason", "HTTP/1.1 200 O\rK\r\n\r\n", "bare-cr"),
        .init("LF after a field", "HTTP/1.1 200 OK\r\nA: 1\n\n", "bare-lf"),
        .init("LF as the empty line", "HTTP/1.1 200 OK\r\nA: 1\r\n\n", "bare-lf"),
        .init("fold", "HTTP/1.1 200 OK\r\nA: 1\r\n b\r\n\r\n", "obs-fold"),
        .init("space before the colon", "HTTP/1.1 200 OK\r\nA : 1\r\n\r\n", "space-before-colon"),
        .init("no colon", "HTTP/1.1 200 OK\r\nA\r\n\r\n", "invalid-field-name"),
        .init("control in a value", "HTTP/1.1 200 OK\r\nA: ~01\r\n\r\n", "invalid-field-value"),
    ]

    @Test(arguments: refused)
    func refuses(row: RequestRow) {
        let (whole, deviations) = readings(of: wire(row.input)) {
            readResponse($0, alreadyScanned: $1)
        }
        #expect(deviations.isEmpty)
        guard case .violation(let violation) = whole else {
            Issue.record("\(whole)")
            return
        }
        #expect(violation.code == row.expected)
    }

    /// What is taken where `HeadLimits.leniency` names it: `version|fields|consumed|codes`.
    static let mended: [RequestRow] = [
        .init("LF alone", "HTTP/1.1 200 OK\nA: 1\n\nx", "http11|A=1|22|lenient-bare-lf"),
        .init("LF in the end", "HTTP/1.1 200\r\nA: 1\r\n\n", "http11|A=1|21|lenient-bare-lf"),
        .init("no fields", "HTTP/1.0 200\n\n", "http10||14|lenient-bare-lf"),
        .init(
            "folds", "HTTP/1.1 200 \r\nA: 1 \r\n\t 2\r\n \r\nB: 3\r\n\r\n",
            "http11|A=1 2,B=3|38|lenient-obs-fold"),
        .init(
            "a value that begins on the next line", "HTTP/1.1 200 \r\nA:\r\n 1\r\n\r\n",
            "http11|A=1|25|lenient-obs-fold"),
        .init(
            "white space before the colon", "HTTP/1.1 200 \r\nA \t: 1\r\n\r\n",
            "http11|A=1|25|lenient-space-before-colon"),
        .init("HTTP/1.9", "HTTP/1.9 200 \r\n\r\n", "http11||17|lenient-version"),
        .init(
            "lengths that agree",
            "HTTP/1.1 200 \r\nContent-Length: 5\r\nA: 1\r\ncontent-length: 5 ,5\r\n\r\n",
            "http11|Content-Length=5,A=1|64|lenient-repeated-length"),
        .init(
            "both lengths",
            "HTTP/1.1 200 \r\nContent-Length: 5\r\nTransfer-Encoding: Chunked\r\n\r\n",
            "http11|Transfer-Encoding=Chunked|64|lenient-both-lengths"),
        .init(
            "chunks in HTTP/1.0", "HTTP/1.0 200 \r\nTransfer-Encoding: chunked\r\n\r\n",
            "http11|Transfer-Encoding=chunked,Connection=close|45|lenient-old-chunks"),
        .init(
            "chunks and a length in HTTP/1.0",
            "HTTP/1.0 200 \r\nTransfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\n",
            "http10|Transfer-Encoding=chunked,Content-Length=1|64|"),
        .init(
            "chunks in HTTP/1.0 behind 204",
            "HTTP/1.0 204 \r\nTransfer-Encoding: chunked\r\n\r\n",
            "http10|Transfer-Encoding=chunked|45|"),
        .init(
            "no coding", "HTTP/1.1 200 \r\nTransfer-Encoding: Identity\r\nA: 1\r\n\r\n",
            "http11|A=1|52|lenient-identity-coding"),
        .init(
            "no coding and a length",
            "HTTP/1.0 200 \r\nContent-Length: 5\r\nTransfer-Encoding: identity\r\n\r\n",
            "http10|Content-Length=5|65|lenient-identity-coding"),
        .init(
            "one after the other",
            "HTTP/1.2 200\nA :\n 1\nContent-Length: 5\nContent-Length: 5\n\n",
            "http11|A=1,Content-Length=5|57|lenient-bare-lf,lenient-obs-fold,"
                + "lenient-space-before-colon,lenient-version,lenient-repeated-length"),
        .init("CR alone", "HTTP/1.1 200\nA: 1\rB: 2\n\n", "bare-cr"),
        .init("a fold before the fields", "HTTP/1.1 200\r\n A: 1\r\n\r\n", "obs-fold"),
        .init("a fold in a name", "HTTP/1.1 200\r\nA\r\n : 1\r\n\r\n", "invalid-field-name"),
        .init("NUL behind a fold", "HTTP/1.1 200\r\nA: 1\r\n ~00\r\n\r\n", "invalid-field-value"),
        .init("HTTP/2.0", "HTTP/2.0 200\r\n\r\n", "unsupported-version"),
    ]

    @Test(arguments: mended)
    func mendsWhatRecipientsTake(row: RequestRow) {
        let limits = HeadLimits.response
        let (whole, deviations) = readings(of: wire(row.input)) {
            readResponse($0, limits: limits, alreadyScanned: $1)
        }
        #expect(deviations.isEmpty)
        switch whole {
        case .head(let parts, let consumed):
            let fields = parts.fields.joined(separator: ",")
            let codes = parts.codes.joined(separator: ",")
            #expect("\(parts.version)|\(fields)|\(consumed)|\(codes)" == row.expected)
            #expect(parts.raw == Array(wire(row.input).prefix(consumed)))
            // What goes out is conforming.
            #expect(readResponse(parts.sent) != .incomplete)
            guard case .head = readResponse(parts.sent) else {
                Issue.record("\(parts.sent.text)")
                return
            }
        case .violation(let violation): #expect(violation.code == row.expected)
        case .incomplete: Issue.record("incomplete")
        }
    }

    @Test(arguments: ["", "H", "HTTP/1.1 200", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\n\r"])
    func waitsForMore(input: String) {
        #expect(readResponse(Array(input.utf8)) == .incomplete)
    }
}

@Suite struct HTTP1ViolationTests {
    @Test func hasDistinctCodesAndWords() {
        let all = HTTP1Violation.allCases
        #expect(Set(all.map(\.code)).count == all.count)
        #expect(Set(all.map(\.detail)).count == all.count)
        for violation in all {
            #expect(
                violation.code.allSatisfy { "abcdefghijklmnopqrstuvwxyz0123456789-".contains($0) })
            #expect(violation.detail != violation.code)
            #expect([400, 414, 431, 501, 505].contains(violation.status))
        }
    }

    @Test(arguments: [
        (HTTP1Violation.bothLengths, true), (.duplicateContentLength, true), (.bareLF, true),
        (.obsoleteFold, true), (.spaceBeforeColon, true), (.chunkedNotFinal, true),
        (.missingChunkEnd, true), (.unsupportedTransferCoding, false), (.startLineTooLong, false),
        (.missingHost, false), (.invalidTarget, false),
    ])
    func tellsSmuggling(violation: HTTP1Violation, isSmuggling: Bool) {
        #expect(violation.isSmuggling == isSmuggling)
    }
}
