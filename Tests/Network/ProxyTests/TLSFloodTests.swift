import Base
import COpenSSL
import Testing
import Traffic

@testable import Proxy
@testable import TLS

extension ProxyTests {
    /// Records without a byte in them, of which each costs a derivation of keys.
    @Suite struct TLSFloods {
        enum Row: String, CaseIterable, CustomTestStringConvertible {
            case clientBeforeARequest
            case clientInAnUpload
            case originBeforeAResponse
            case originInABody

            var testDescription: String { rawValue }
            var isClient: Bool { self == .clientBeforeARequest || self == .clientInAnUpload }
        }

        @Test(arguments: Row.allCases)
        func isEndedAndRecorded(_ row: Row) throws {
            try withProxy { proxy in
                let origin = try proxy.origin(.tls) { wire, _ in
                    if row.isClient {
                        _ = try wire.readToEnd()
                        return
                    }
                    _ = try wire.readHead()
                    if row == .originInABody {
                        try wire.send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf")
                    }
                    try Self.flood(wire)
                    _ = try wire.readToEnd()
                }
                let client = try proxy.secureTunnel(to: origin)
                switch row {
                case .clientBeforeARequest: break
                case .clientInAnUpload:
                    try client.send(
                        "POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nhalf")
                case .originBeforeAResponse, .originInABody:
                    try client.send("GET /a HTTP/1.1\r\nHost: a\r\n\r\n")
                }
                if row.isClient { try Self.flood(client) }
                if row == .originBeforeAResponse {
                    #expect(try client.readResponse().status == 502)
                    try client.finish()
                }
                _ = try client.readToEnd()
                let connection = try proxy.traffic.connection()
                let side = row.isClient ? "client" : "origin"
                let words = "\(side) sent too many handshake messages after the handshake"
                #expect(connection.notes == [ConnectionNote("tls-flood", words)])
                if row == .clientBeforeARequest {
                    #expect(connection.outcome == .refused)
                    #expect(connection.cause == words)
                } else {
                    #expect(try proxy.traffic.exchange().errorDetail?.contains(words) == true)
                }
            }
        }

        /// Sends many times what is allowed, all at once.
        private static func flood(_ wire: Wire) throws {
            guard let session = wire.session else { throw WireFailure("no TLS") }
            let records = ByteBuffer(capacity: 72 * 1024)
            session.outgoing = records
            for _ in 0..<1000 {
                let kind = Int32(SSL_KEY_UPDATE_NOT_REQUESTED)
                try check(unsafe SSL_key_update(session.pointer, kind) == 1, "no update")
                try check(session.handshake() == .done, "no update was sent")
            }
            session.outgoing = nil
            try wire.transmit(records.copy)
        }
    }
}
