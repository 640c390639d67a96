/// Why the first bytes of a connection are no ClientHello that can be served.
///
/// `code` is stable, `detail` is for people only.
package enum ClientHelloViolation: Error, Sendable, Equatable {
    /// The connection does not begin with a TLS record.
    case notTLS(firstByte: UInt8)
    /// A record of another type than handshake came before the hello was whole.
    case recordType(UInt8)
    case emptyRecord
    /// A record announces more than 2^14 bytes (RFC 8446 §5.1).
    case recordTooLong(Int)
    case tooManyRecords(limit: Int)
    /// The first handshake message is another one.
    case notAClientHello(messageType: UInt8)
    case helloTooLong(Int)
    /// The message ends within a field, or a length in it reaches beyond its end.
    case truncatedHello
    /// Bytes are left over behind the last field.
    case trailingBytes(Int)
    /// A field has a length that the specification forbids.
    case badLength(Field)
    /// An extension ends within a field of it.
    case truncatedExtension(UInt16)
    /// An extension came twice (RFC 8446 §4.2).
    case duplicateExtension(UInt16)
    /// An extension's content breaks the specification of that extension.
    case badExtension(UInt16)
    /// The server name is no host name.
    case badServerName(ServerNameFlaw)

    /// The fields outside of the extensions that have a length of their own.
    package enum Field: String, Sendable {
        case sessionID = "session id"
        case cipherSuites = "cipher suites"
        case compressionMethods = "compression methods"
        case challenge
    }

    package enum ServerNameFlaw: String, Sendable {
        case empty = "it is empty"
        case tooLong = "it is longer than 253 bytes"
        case emptyLabel = "it has an empty label"
        case labelTooLong = "it has a label longer than 63 bytes"
        case badByte = "it has a byte that no host name has"
        case several = "there are several"
    }

    /// A stable word that programs may compare.
    package var code: String {
        switch self {
        case .notTLS: "not-tls"
        case .recordType: "unexpected-record"
        case .emptyRecord: "empty-record"
        case .recordTooLong: "record-too-long"
        case .tooManyRecords: "too-many-records"
        case .notAClientHello: "not-a-client-hello"
        case .helloTooLong: "hello-too-long"
        case .truncatedHello: "truncated-hello"
        case .trailingBytes: "trailing-bytes"
        case .badLength: "bad-length"
        case .truncatedExtension: "truncated-extension"
        case .duplicateExtension: "duplicate-extension"
        case .badExtension: "bad-extension"
        case .badServerName: "bad-server-name"
        }
    }

    /// What is wrong, in words.
    package var detail: String {
        switch self {
        case .notTLS(let byte): "the first byte, \(byte), begins no TLS record"
        case .recordType(let type): "a record of type \(type) where the ClientHello was due"
        case .emptyRecord: "a handshake record without content"
        case .recordTooLong(let length): "a record of \(length) bytes"
        case .tooManyRecords(let limit): "a ClientHello in more than \(limit) records"
        case .notAClientHello(let type): "a handshake message of type \(type), not a ClientHello"
        case .helloTooLong(let length): "a ClientHello of \(length) bytes"
        case .truncatedHello: "the ClientHello ends within a field"
        case .trailingBytes(let count): "\(count) bytes behind the end of the ClientHello"
        case .badLength(let field):
            "a forbidden length: \(field.rawValue)"
        case .truncatedExtension(let type): "extension \(type) ends within a field"
        case .duplicateExtension(let type): "extension \(type) came twice"
        case .badExtension(let type): "extension \(type) has forbidden content"
        case .badServerName(let flaw): "the server name is no host name: \(flaw.rawValue)"
        }
    }
}
