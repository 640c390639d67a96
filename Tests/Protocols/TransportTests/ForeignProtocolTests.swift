import Base
import Testing

@testable import Transport

struct ForeignProtocolTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let bytes: [UInt8]
        let text: String
        var knowsUpgrade = false
        var testDescription: String { text }

        init(_ said: String, _ text: String, knowsUpgrade: Bool = false) {
            self.init([UInt8](said.utf8), text, knowsUpgrade: knowsUpgrade)
        }

        init(_ bytes: [UInt8], _ text: String, knowsUpgrade: Bool = false) {
            self.bytes = bytes
            self.text = text
            self.knowsUpgrade = knowsUpgrade
        }
    }

    static let rows = [
        Row("HTTP/1.1 400 Bad Request\r\nX: y\r\n", "plain HTTP: `HTTP/1.1 400 Bad Request`"),
        Row("SSH-2.0-OpenSSH_9.2\r\n", "SSH: `SSH-2.0-OpenSSH_9.2`"),
        Row("220 mail.test ESMTP\r\n", "SMTP: `220 mail.test ESMTP`", knowsUpgrade: true),
        Row("220 (vsFTPd 3.0.3)\r\n", "FTP: `220 (vsFTPd 3.0.3)`", knowsUpgrade: true),
        Row("220 hello\r\n", "SMTP or FTP: `220 hello`", knowsUpgrade: true),
        Row("+OK ready\r\n", "POP3: `+OK ready`", knowsUpgrade: true),
        Row("* OK [CAPABILITY]\r\n", "IMAP: `* OK [CAPABILITY]`", knowsUpgrade: true),
        Row("RFB 003.008\n", "VNC: `RFB 003.008`"),
        Row("-ERR unknown\r\n", "Redis: `-ERR unknown`"),
        Row(
            [0x4A, 0, 0, 0, 10] + [UInt8]("8.0.36".utf8) + [0],
            "MySQL: `4a0000000a382e302e333600` (hexadecimal)", knowsUpgrade: true),
        Row(
            [0, 0, 0, 4, 0, 0, 0, 0, 0], "HTTP/2: `000000040000000000` (hexadecimal)"),
        Row([21, 3, 1, 0, 2, 2, 70], "TLS: `15030100020246` (hexadecimal)"),
        Row("hello", "something else: `hello`"),
        Row("a`b", "something else: `616062` (hexadecimal)"),
        Row([0x1B, 0x5B], "something else: `1b5b` (hexadecimal)"),
        Row([UInt8](), "something else: `` (hexadecimal)"),
        Row(
            String(repeating: "x", count: 500),
            "something else: `\(String(repeating: "x", count: 60))`"),
    ]

    @Test(arguments: rows)
    func isNamed(_ row: Row) {
        let seen = ForeignProtocol(row.bytes)
        #expect(seen.text == row.text)
        #expect(seen.knowsUpgrade == row.knowsUpgrade)
    }

    /// Whatever came of it, it can be shown.
    @Test(arguments: rows)
    func takesEveryPart(_ row: Row) {
        for count in 0...min(row.bytes.count, 64) {
            let text = ForeignProtocol(Array(row.bytes.prefix(count))).text
            #expect(text.utf8.allSatisfy { (0x20...0x7E).contains($0) })
        }
    }
}
